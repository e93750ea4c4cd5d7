/* Differences between memory and the database: the entities that must be read again.
 *
 * The code that knows memory compares it with the rows of the database (replica/compare.h) and
 * notes only ids; the code that knows the database reads those entities and reports them as a
 * follow does (store_merge(), model/change.h). An entity is identified by its id: if a row was
 * deleted and another row has received its id, they are one entity whose content has changed. */
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
    ENTITY_VALET, /* the tables of model/valet.h, in their order */
    ENTITY_COUNT = ENTITY_VALET + VALET_TABLE_COUNT
};

struct difference {
    enum entity entity;
    bool is_known;     /* memory has it */
    bool is_gone;      /* the database does not have it. Of two providers the child comes first */
    bool is_other;     /* of a known trait or aggregate: its name has changed, so everything that
                        * refers to it is noted, too */
    bool has_moved;    /* of a provider: uuid, name, parent or root differ */
    bool has_contents; /* of a provider: inventories, traits or aggregates differ */
    int64_t id;
    struct slice uuid; /* of a known consumer: its uuid in memory, valid as long as the version */
};

/* A consumer may be listed twice: memory has its id under one uuid, the database under another. */
struct differences {
    struct difference *items;
    size_t count;
};

#endif
