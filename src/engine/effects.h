/* The index of effects: what one request's changes mean for consumers and providers, before and
 * after. The engine derives it from the list of changes and the version to which they apply. The
 * rules (rules.h) and the generations of providers use nothing else, so neither depends on which
 * planner wrote the changes. The writer only; everything is in the batch's arena. */
#ifndef BERTH_ENGINE_EFFECTS_H
#define BERTH_ENGINE_EFFECTS_H

#include "base/hash_map.h"
#include "engine/plan.h"
#include "model/capacity.h"

/* One inserted row of allocations. */
struct effect_allocation {
    const struct change_allocation *row;
    struct effect_allocation *next; /* the next one of the same consumer */
    uint32_t provider;              /* index in effects.providers */
};

struct effect_consumer {
    int64_t id;
    struct slice uuid;
    const struct consumer *before;     /* NULL: it did not exist */
    const struct change_consumer *row; /* its row after the request; NULL: unchanged, or deleted */
    bool is_gone;                      /* its row is deleted */
    bool is_released;                  /* everything that it held before is released */
    struct effect_allocation *gets;    /* the newest first */
};

enum effect_on_provider {
    EFFECT_INVENTORY = 1, /* an inventory is added, changed or deleted */
    EFFECT_TRAIT = 2,     /* a trait is added or removed */
    EFFECT_AGGREGATE = 4, /* an aggregate is added or removed */
    EFFECT_ALLOCATED = 8, /* a consumer receives an allocation of it */
    EFFECT_RELEASED = 16, /* a consumer releases an allocation of it */
};

struct effect_provider {
    int64_t id;
    const struct provider *before;     /* NULL: it is new */
    const struct change_provider *row; /* as inserted, renamed or moved; NULL: unchanged */
    bool is_gone;
    unsigned on;                     /* bits of enum effect_on_provider */
    struct effect_content *contents; /* inventories, traits, aggregates: the newest first */
    bool is_raised; /* its generation has been raised by this request (generations.c) */
    bool is_said;   /* the planner decided by how much */
    unsigned steps;
};

/* One change of a provider's inventories or links. */
struct effect_content {
    const struct change *change;
    struct effect_content *next; /* the next one of the same provider */
};

/* A name that the request adds to a catalog. */
struct effect_name {
    int64_t key; /* of the catalog and the id */
    struct slice name;
};

/* The changes to one inventory. */
struct effect_stock {
    int64_t key;                 /* of provider and class; two inventories may have the same key */
    const struct change *change; /* the last change */
};

/* The changes to a row of one of berth's own tables. */
struct effect_row {
    int64_t key;                 /* of the table and the id */
    const struct change *change; /* the last change: a put with the whole row, or a delete */
};

struct effects {
    const struct version *before; /* the version to which the changes apply */
    const struct change_list *changes;
    struct arena *arena;
    uint64_t kinds; /* one bit for each enum change_kind that occurs */
    struct effect_consumer *consumers;
    size_t consumer_count;
    size_t consumer_capacity;
    struct effect_provider *providers;
    size_t provider_count;
    size_t provider_capacity;
    struct effect_name *names;
    size_t name_count;
    size_t name_capacity;
    struct effect_stock *stocks;
    size_t stock_count;
    size_t stock_capacity;
    struct effect_row *rows;
    size_t row_count;
    size_t row_capacity;
    struct hash_map stock_ids; /* the ids of each kind; empty while there are few */
    struct hash_map consumer_ids;
    struct hash_map name_ids;
    struct hash_map provider_ids;
    struct hash_map row_ids;
};

_Static_assert(CHANGE_KIND_COUNT <= 64, "kinds are bits");

/* Derives the effects of the plan's list on the plan's version. The texts and records belong to the
 * list and are valid as long as the batch. */
void effects_derive(struct effects *effects, const struct plan *plan);

/* Adds the providers that consequences affect: those of the plan's current list, on the plan's
 * current version. What is already known of a provider stays; consumers are not examined. */
void effects_add_providers(struct effects *effects, const struct plan *plan);

static inline bool effects_have(const struct effects *effects, enum change_kind kind)
{
    return (effects->kinds >> kind & 1) != 0;
}

/* NULL: the request does not affect it. */
struct effect_provider *effects_provider(const struct effects *effects, int64_t id);
struct effect_consumer *effects_consumer(const struct effects *effects, int64_t id);

/* The same, created if missing. Valid until the next one is created. */
struct effect_provider *effects_provider_of(struct effects *effects,
                                            const struct provider *provider);

/* The request's last change to the row with that id, in the table that `put` belongs to; NULL: it
 * does not change that row. */
const struct change *effects_row(const struct effects *effects, enum change_kind put, int64_t id);

/* The id of the provider's root after the request. */
int64_t effects_root_id(const struct effects *effects, const struct effect_provider *provider);

/* The consumer's project, type and user after the request; data == NULL: it has none, or is
 * deleted. */
struct slice effects_project(const struct effects *effects, const struct effect_consumer *consumer);
struct slice effects_type(const struct effects *effects, const struct effect_consumer *consumer);
struct slice effects_user(const struct effects *effects, const struct effect_consumer *consumer);

/* The name of a resource class after the request. */
struct slice effects_class_name(const struct effects *effects, int64_t class_id);

/* The id of the class or trait with that name after the request. False: there is none. */
bool effects_name_id(const struct effects *effects, enum change_kind insert, struct slice name,
                     int64_t *id) BERTH_MUST_CHECK;

struct slice effects_aggregate_uuid(const struct effects *effects, int64_t aggregate_id);

/* The provider's inventory of that class after the request; false: it has none. */
bool effects_inventory(const struct effects *effects, const struct effect_provider *provider,
                       int64_t class_id, struct inventory_figures *figures);

/* Whether the consumer holds anything after the request. */
bool effects_holds_something(const struct effect_consumer *consumer);

#endif
