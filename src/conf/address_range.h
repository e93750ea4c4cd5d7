/* Ranges of addresses: 10.0.0.0/8, 2001:db8::/32, or one address. */
#ifndef BERTH_CONF_ADDRESS_RANGE_H
#define BERTH_CONF_ADDRESS_RANGE_H

#include <stdbool.h>

#include "base/check.h"
#include "base/slice.h"

struct address_range {
    bool is_v6;
    unsigned bits; /* that count, from the front */
    unsigned char bytes[16];
};

/* As Python's ipaddress.ip_network has it: an address, and behind a slash the number of bits; those
 * behind them are 0. False: the text is none. */
bool address_range_parse(struct slice text, struct address_range *range) BERTH_MUST_CHECK;

/* Whether the address, as text, lies in the range. False for what is no address. */
bool address_range_has(const struct address_range *range, struct slice address);

#endif
