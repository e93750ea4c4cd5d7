/* Numbers of different kinds as distinct types, so that they cannot be confused. */
#ifndef BERTH_MODEL_NUMBERS_H
#define BERTH_MODEL_NUMBERS_H

#include <stdint.h>

/* A provider's number in memory: constant while the provider exists, dense, reused. */
struct provider_no {
    uint32_t v;
};

/* A position in the forest; a provider may move to a different slot. */
struct slot_no {
    uint32_t v;
};

/* A row's position in a catalog of resource classes, traits or aggregates. Dense, reused; not the
 * id. */
struct class_no {
    uint32_t v;
};
struct trait_no {
    uint32_t v;
};
struct aggregate_no {
    uint32_t v;
};

enum { NUMBER_MAX = 0xfffffffe };
#define NUMBER_NONE 0xffffffffu

#endif
