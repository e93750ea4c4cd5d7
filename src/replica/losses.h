/* What a version has and another one has not: after the database went back, everything that berth
 * had acknowledged and that is gone now.
 *
 * Entities are identified by what clients know (uuid, name), because a database that went back may
 * give the same ids to others. Nobody can tell whether an entity is missing because the database
 * went back, or because somebody has deleted it since. The writer, which may still be making the
 * second version. */
#ifndef BERTH_REPLICA_LOSSES_H
#define BERTH_REPLICA_LOSSES_H

#include "model/difference.h"
#include "replica/version.h"

enum loss_state {
    LOSS_GONE,
    LOSS_OLDER,    /* its generation went back */
    LOSS_CHANGED,  /* it has other contents */
    LOSS_APPEARED, /* only the second version has it: a deletion is gone, or somebody has created
                      it since */
    LOSS_STATE_COUNT
};

/* The row of one version: the pointer of the entity's kind is set, unless the version does not have
 * it. */
struct loss_side {
    const struct catalog_row *row;
    const struct provider *provider;
    const struct consumer *consumer;
    const struct record *record;
};

struct loss {
    enum entity entity; /* a class, a trait, a provider, a consumer or a record */
    enum loss_state state;
    struct loss_side had; /* in the first version */
    struct loss_side has; /* in the second */
    uint32_t allocations; /* of a consumer: how many of the first version are gone */
};

typedef void loss_sink(void *cls, const struct loss *loss);

/* Calls the sink for each loss, kind by kind. An entity whose generation has grown while its
 * contents are the same is none. Both versions exist until this returns. */
void losses_find(const struct version *before, const struct version *after, loss_sink *sink,
                 void *cls);

/* "resource_provider"; NULL: losses are never of that kind. Any thread. */
const char *losses_kind_name(enum entity entity);
/* "gone". Any thread. */
const char *losses_state_name(enum loss_state state);

/* The shape of a record's table. */
const struct record_shape *losses_shape(enum entity entity);

/* Whether a stored field differs between two records of that shape. */
bool losses_field_differs(const struct record_shape *shape, const struct record *a,
                          const struct record *b, unsigned field);

#endif
