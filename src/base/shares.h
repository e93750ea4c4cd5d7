/* How much each of many holders has of something, in a table of fixed size.
 *
 * A holder is a hash (hash.h). It is counted in several rows, each chosen by other bits of the
 * hash, and the lowest of these counters is what it has: never too little, and too much only if
 * every row is also that of another holder. With k others that is the case for about one holder in
 * (ROWS / k)^3, so a client that takes all it can get does not take the share of one that happens
 * to have the same row (a count-min sketch: Cormode and Muthukrishnan, 2005). Any thread; there are
 * no locks. */
#ifndef BERTH_BASE_SHARES_H
#define BERTH_BASE_SHARES_H

#include <stdatomic.h>
#include <stdint.h>

enum { SHARES_ROWS = 1024, SHARES_TABLES = 3 };

/* Zeroed: nobody has anything. */
struct shares {
    _Atomic uint64_t rows[SHARES_TABLES][SHARES_ROWS];
};

/* Adds bytes, and returns what the holder has then. */
uint64_t shares_add(struct shares *shares, uint64_t holder, uint64_t bytes);

/* Subtracts bytes that were added for this holder. */
void shares_subtract(struct shares *shares, uint64_t holder, uint64_t bytes);

/* What the holder has. */
uint64_t shares_of(const struct shares *shares, uint64_t holder);

#endif
