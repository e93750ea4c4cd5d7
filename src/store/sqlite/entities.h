/* Shared by a follow and a merge: entities are read again one by one, and sent when all have been
 * read, in the order that model/change.h promises. Writer thread, inside its transaction. */
#ifndef BERTH_STORE_SQLITE_ENTITIES_H
#define BERTH_STORE_SQLITE_ENTITIES_H

#include "store/sqlite/tree_order.h"

/* The lists in the order in which they are sent; all in one arena. */
struct entities {
    struct store *store;
    const struct tree_order *forest; /* NULL: parents are read one by one */
    struct err *err;
    struct arena *arena;
    struct change_list gone;      /* resets and deletes */
    struct change_list catalogs;  /* inserts and updates */
    struct change_list providers; /* one record or two for each */
    struct change_list left;      /* providers that are deleted after the others have been placed */
    struct change_list contents;
    struct change_list consumers;
    struct change_list allocations;
    struct change_list rows; /* of our own tables */
    uint32_t *depths;        /* of `providers` */
    size_t depth_count, depth_capacity;
};

struct entities entities_begin(struct store *store, const struct tree_order *forest,
                               struct arena *arena, struct err *err);

/* What is known about one provider. */
struct provider_history {
    int64_t id;
    bool known;    /* memory has it */
    bool deleted;  /* the one in memory has been deleted */
    bool updated;  /* uuid, name, parent or root */
    bool contents; /* inventories, traits, aggregates */
};

/* Reads a row into the list; appends nothing if there is no visible row. */
bool entities_read(struct entities *entities, enum rows_table table, int64_t id,
                   struct change_list *list) BERTH_MUST_CHECK;
/* The reset that its history requires, and its current contents. */
bool entities_read_provider(struct entities *entities,
                            const struct provider_history *history) BERTH_MUST_CHECK;
void entities_reset_consumer(struct entities *entities, int64_t id, struct slice uuid);
/* The consumer with that id and its allocations. */
bool entities_read_consumer(struct entities *entities, int64_t id) BERTH_MUST_CHECK;

void entities_send(struct entities *entities, store_sink *sink, void *cls);

#endif
