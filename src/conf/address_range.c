/* Addresses are compared bit by bit. Any thread. */
#include "conf/address_range.h"

#include <arpa/inet.h>
#include <string.h>

static bool parse_address(struct slice text, bool *is_v6, unsigned char bytes[static 16])
{
    char address[INET6_ADDRSTRLEN];
    if (text.len == 0 || text.len >= sizeof(address) || memchr(text.data, '\0', text.len) != NULL)
        return false;
    memcpy(address, text.data, text.len);
    address[text.len] = '\0';
    *is_v6 = strchr(address, ':') != NULL;
    return inet_pton(*is_v6 ? AF_INET6 : AF_INET, address, bytes) == 1;
}

static bool parse_bits(struct slice text, unsigned most, unsigned *bits)
{
    *bits = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9' || *bits > most)
            return false;
        *bits = *bits * 10 + (unsigned)(text.data[i] - '0');
    }
    return text.len > 0 && *bits <= most;
}

/* Bit 0 is the first one. */
static bool bit(const unsigned char *bytes, unsigned at)
{
    return (bytes[at / 8] >> (7 - at % 8) & 1) != 0;
}

bool address_range_parse(struct slice text, struct address_range *range)
{
    struct slice rest = slice_trim(text);
    bool has_bits = rest.len > 0 && memchr(rest.data, '/', rest.len) != NULL;
    struct slice address = slice_cut(&rest, '/');
    *range = (struct address_range){.bits = 0};
    if (!parse_address(address, &range->is_v6, range->bytes))
        return false;
    unsigned most = range->is_v6 ? 128 : 32;
    range->bits = most;
    if (has_bits && !parse_bits(rest, most, &range->bits))
        return false;
    for (unsigned i = range->bits; i < most; i++)
        if (bit(range->bytes, i))
            return false;
    return true;
}

bool address_range_has(const struct address_range *range, struct slice address)
{
    bool is_v6;
    unsigned char bytes[16];
    if (!parse_address(address, &is_v6, bytes) || is_v6 != range->is_v6)
        return false;
    for (unsigned i = 0; i < range->bits; i++)
        if (bit(bytes, i) != bit(range->bytes, i))
            return false;
    return true;
}
