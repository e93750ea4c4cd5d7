/* The sums of the ids and generations of a table's rows. The writer updates them wherever it
 * inserts, changes or deletes a row, so that nobody has to walk all rows to compare them with those
 * of the database (engine/examine.h). The number of the rows is that of the tree they are in. */
#ifndef BERTH_REPLICA_ROW_SUMS_H
#define BERTH_REPLICA_ROW_SUMS_H

#include <stdint.h>

/* Modulo 2^64: an embedded database may have any ids. */
struct row_sums {
    uint64_t ids;
    uint64_t generations; /* 0 if the rows have none */
};

static inline void row_sums_add(struct row_sums *sums, int64_t id, int64_t generation)
{
    sums->ids += (uint64_t)id;
    sums->generations += (uint64_t)generation;
}

static inline void row_sums_subtract(struct row_sums *sums, int64_t id, int64_t generation)
{
    sums->ids -= (uint64_t)id;
    sums->generations -= (uint64_t)generation;
}

#endif
