/* Ranges of addresses: 10.0.0.0/8, 2001:db8::/32, or one address. */
#ifndef BERTH_CONF_ADDRESS_RANGE_H
#define BERTH_CONF_ADDRESS_RANGE_H

#include <stdbool.h>

#include "base/check.h"
#include "base/slice.h"

struct address_range {
    bool is_v6;
    unsigned bits; /* significant leading bits */
    unsigned char bytes[16];
};

/* The syntax of Python's ipaddress.ip_network: an address, optionally with a slash and a number of
 * bits; the bits after those must be 0. False: the text is not such a range. */
bool address_range_parse(struct slice text, struct address_range *range) BERTH_MUST_CHECK;

/* Whether the address, given as text, lies in the range. False for text that is not an address. */
bool address_range_has(const struct address_range *range, struct slice address);

#endif
