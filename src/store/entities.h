/* Shared by a follow and a merge: entities that are read again, all together, and then sent in the
 * order that model/change.h promises. One thread, inside one transaction. */
#ifndef BERTH_STORE_ENTITIES_H
#define BERTH_STORE_ENTITIES_H

#include "store/row_reader.h"
#include "store/store.h"
#include "store/tree_order.h"

/* What is known about a provider. */
struct provider_history {
    int64_t id;
    bool known;    /* memory has it */
    bool deleted;  /* the one in memory has been deleted */
    bool updated;  /* uuid, name, parent or root */
    bool contents; /* inventories, traits, aggregates */
};

struct wanted {
    int64_t id;
    enum change_kind kind;
};

struct wanted_list {
    struct wanted *items;
    size_t count, capacity;
};

/* Initialised with its arena, which owns everything, and zeros. */
struct entities {
    struct arena *arena;
    struct wanted_list wanted[ROWS_PARENTS];
    struct provider_history *histories;
    size_t history_count, history_capacity;
    struct change_list gone; /* resets and deletes, sent first */
    struct change_list left; /* providers that are deleted after the others have been placed */
    struct change_list rows[ROWS_PARENTS]; /* as read */
    struct change_list providers;          /* one record or two for each */
    uint32_t *depths;                      /* of these records */
    size_t depth_count, depth_capacity;
};

/* First, everything that has changed is noted. */

/* A row of a catalog, which is sent as a change of that kind, if there is one. */
void entities_want_catalog(struct entities *entities, enum rows_table table, int64_t id,
                           enum change_kind kind);
/* Once for each provider. Appends the reset that its history requires to `gone`. */
void entities_want_provider(struct entities *entities, const struct provider_history *history);
/* The consumer with that id, if there is one, and its allocations. */
void entities_want_consumer(struct entities *entities, int64_t id);
void entities_reset_consumer(struct entities *entities, int64_t id, struct slice uuid);
/* A row of our own tables, which is sent as a put or a delete. */
void entities_want_record(struct entities *entities, enum record_table table, int64_t id);

/* Then it is read. `forest`: the places of all providers; NULL: their ancestors are read. False:
 * err is set. */
bool entities_read(struct entities *entities, const struct row_reader *reader,
                   const struct tree_order *forest, struct err *err) BERTH_MUST_CHECK;

/* The row of an entity that was read; NULL: there is none. */
const struct change *entities_row(struct entities *entities, enum rows_table table, int64_t id);

/* Then it is sent. */
void entities_send(struct entities *entities, store_sink *sink, void *cls);

#endif
