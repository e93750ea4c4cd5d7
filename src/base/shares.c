/* A table of counters for each of several parts of a hash; every change is made in all of them. */
#include "base/shares.h"

enum { BITS_APART = 21 }; /* three numbers of at least ten bits from 64 */

static unsigned row_of(uint64_t holder, unsigned table)
{
    return (unsigned)(holder >> (table * BITS_APART)) % SHARES_ROWS;
}

uint64_t shares_add(struct shares *shares, uint64_t holder, uint64_t bytes)
{
    uint64_t least = UINT64_MAX;
    for (unsigned table = 0; table < SHARES_TABLES; table++) {
        uint64_t has = atomic_fetch_add(&shares->rows[table][row_of(holder, table)], bytes) + bytes;
        least = has < least ? has : least;
    }
    return least;
}

void shares_subtract(struct shares *shares, uint64_t holder, uint64_t bytes)
{
    for (unsigned table = 0; table < SHARES_TABLES; table++)
        atomic_fetch_sub(&shares->rows[table][row_of(holder, table)], bytes);
}

uint64_t shares_of(const struct shares *shares, uint64_t holder)
{
    uint64_t least = UINT64_MAX;
    for (unsigned table = 0; table < SHARES_TABLES; table++) {
        uint64_t has = atomic_load(&shares->rows[table][row_of(holder, table)]);
        least = has < least ? has : least;
    }
    return least;
}
