/* Where memory differs from the database: entities that are to be read again.
 *
 * Whoever knows memory compares it with the rows of the database (replica/compare.h) and notes no
 * more than ids; whoever knows the database reads those entities and reports them as a follow does
 * (store_merge(), model/change.h). An entity is what its id names: a row that somebody deleted and
 * another that got its id are one entity with another content. */
#ifndef BERTH_MODEL_DIFFERENCE_H
#define BERTH_MODEL_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "model/valet.h"

enum entity {
    ENTITY_CLASS,
    ENTITY_TRAIT,
    ENTITY_AGGREGATE,
    ENTITY_PROJECT,
    ENTITY_USER,
    ENTITY_CONSUMER_TYPE,
    ENTITY_PROVIDER,
    ENTITY_CONSUMER, /* with its allocations */
    ENTITY_NODE,
    ENTITY_NODE_ALLOCATION,
    ENTITY_VALET, /* those of model/valet.h, in its order */
    ENTITY_COUNT = ENTITY_VALET + VALET_TABLE_COUNT
};

struct difference {
    enum entity entity;
    bool is_known;     /* memory has it */
    bool is_gone;      /* the database does not have it. Of two providers the child comes first */
    bool is_other;     /* of a trait or an aggregate that is known: it has another name, so that all
                          that refers to it is noted as well */
    bool has_moved;    /* of a provider: uuid, name, parent or root */
    bool has_contents; /* of a provider: inventories, traits or aggregates */
    int64_t id;
    struct slice uuid; /* of a consumer that is known: in memory; as long as the version lives */
};

/* A consumer may be there twice: memory has its id under one uuid, the database under another. */
struct differences {
    struct difference *items;
    size_t count;
};

#endif
