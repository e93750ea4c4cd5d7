/* Executes a batch on tables one by one, and in waves (store/waves.h), and compares the results. */
#ifndef BERTH_TESTS_CHECK_WAVES_H
#define BERTH_TESTS_CHECK_WAVES_H

#include "store/waves.h"
#include "tables.h"

struct check_waves_seen {
    size_t changes;
    size_t statements;
    size_t folded; /* compare-and-sets that are part of another's row */
    uint32_t waves;
    bool is_refused;
};

/* A batch from these bytes (random_batch.h). A difference fails a check. */
struct check_waves_seen check_waves_of_bytes(const uint8_t *data, size_t size);

#endif
