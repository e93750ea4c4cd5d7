/* The next version while the writer makes it. */
#ifndef BERTH_REPLICA_EDIT_H
#define BERTH_REPLICA_EDIT_H

#include "replica/version.h"

/* Traits or aggregates of one provider that are being gathered: rows come one by one, but sets are
 * interned whole. */
struct edit_links {
    bool active;
    bool is_traits;
    struct provider_no provider;
    uint32_t *numbers;
    uint32_t count;
    uint32_t capacity;
    uint32_t *at; /* while active: catalog number -> its position in numbers + 1, 0: absent */
    uint32_t at_capacity;
};

struct edit_loading {
    struct provider *provider;
    int64_t parent_id; /* 0: a root */
};

struct edit {
    struct cow cow;
    struct version *version; /* owned until published or abandoned; can be read like any version */
    struct edit_links links;
    bool from_nothing; /* shares no memory with the previous version */
    /* Only while a whole database is loaded: providers not yet laid out, in the order of their
     * rows. */
    bool is_loading;
    struct edit_loading *loading;
    uint32_t loading_count;
    uint32_t loading_capacity;
};

/* An owned, modifiable copy of a live provider's row; the forest points to it. After a change of
 * figures that are repeated in columns, call forest_refresh. */
struct provider *edit_own_provider(struct edit *edit, struct provider_no no);

/* The same, with room for a different number of inventories and a different name; the inventories
 * that fit are copied. */
struct provider *edit_resize_provider(struct edit *edit, struct provider_no no,
                                      uint32_t inventory_count, struct slice name);

#endif
