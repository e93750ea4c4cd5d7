/* The next version while it is being made. One edit at a time, on the writer thread. */
#ifndef BERTH_REPLICA_EDIT_H
#define BERTH_REPLICA_EDIT_H

#include "replica/version.h"

/* Traits or aggregates of one provider on their way in: rows come one by one, sets are interned
 * whole. */
struct edit_links {
    bool active;
    bool is_traits;
    struct provider_no provider;
    uint32_t *numbers;
    uint32_t count;
    uint32_t capacity;
    uint32_t *at; /* while active: catalog number -> its position in numbers + 1, 0: not there */
    uint32_t at_capacity;
};

struct edit_loading {
    struct provider *provider;
    int64_t parent_id; /* 0: a root */
};

struct edit {
    struct cow cow;
    struct version *version; /* owned until published or abandoned; readable like any version */
    struct edit_links links;
    bool from_nothing; /* shares no memory with the version before */
    /* Only while a whole database is loaded: providers not yet laid out, in the order of their
     * rows. */
    bool is_loading;
    struct edit_loading *loading;
    uint32_t loading_count;
    uint32_t loading_capacity;
};

/* An owned, changeable copy of a live provider's row; the forest points at it. Changing figures
 * that the columns repeat is followed by forest_refresh. */
struct provider *edit_own_provider(struct edit *edit, struct provider_no no);

/* The same with room for another number of inventories and another name; the common part is copied.
 */
struct provider *edit_resize_provider(struct edit *edit, struct provider_no no,
                                      uint32_t inventory_count, struct slice name);

#endif
