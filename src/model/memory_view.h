/* What memory has of single entities, for code that reads them from the database again.
 *
 * Implemented by the code that knows memory; the code that knows the database asks. */
#ifndef BERTH_MODEL_MEMORY_VIEW_H
#define BERTH_MODEL_MEMORY_VIEW_H

#include "model/difference.h"

struct known_entity {
    bool is_known;
    int32_t generation; /* of a provider */
    uint32_t position;  /* of a provider: greater than that of its parent */
};

/* Receives a consumer; its uuid is valid as long as the version. */
typedef void consumer_take(void *cls, int64_t id, struct slice uuid);

/* Of consumers, only the holders are ever asked for: a consumer is found by its uuid. */
struct memory_view {
    struct known_entity (*find)(void *cls, enum entity entity, int64_t id);
    /* Passes the consumers that hold allocations of the provider, which need not be known. */
    void (*holders)(void *cls, int64_t provider_id, consumer_take *take, void *take_cls);
    void *cls;
};

#endif
