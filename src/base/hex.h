/* Hexadecimal digits. */
#ifndef BERTH_BASE_HEX_H
#define BERTH_BASE_HEX_H

/* The value of a digit in either case; -1: not a hexadecimal digit. */
static inline int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

#endif
