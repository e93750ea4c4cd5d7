/* The changes of one commit, row by row, in terms of upstream's tables (operators spec, Database).
 *
 * The products plan changes; store/ turns them into statements; replica/ applies them to the next
 * version. A load of the whole database and a follow of another writer's log produce the same
 * records, so that there is only one way into memory. All ids are database ids; 0 means NULL where
 * a column may be NULL (no row of those tables has id 0). Texts belong to the owner of the list. */
#ifndef BERTH_MODEL_CHANGE_H
#define BERTH_MODEL_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "model/valet.h"

struct arena;
struct node;
struct node_allocation;
struct record;

enum change_kind {
    CHANGE_CLASS_INSERT,         /* resource_classes: catalog */
    CHANGE_CLASS_RENAME,         /* renamed; from a follow: catalog */
    CHANGE_CLASS_DELETE,         /* catalog.id */
    CHANGE_TRAIT_INSERT,         /* traits: catalog */
    CHANGE_TRAIT_DELETE,         /* catalog.id */
    CHANGE_AGGREGATE_INSERT,     /* placement_aggregates: catalog, name is the uuid */
    CHANGE_PROJECT_INSERT,       /* projects: catalog, name is external_id */
    CHANGE_USER_INSERT,          /* users: catalog, name is external_id */
    CHANGE_CONSUMER_TYPE_INSERT, /* consumer_types: catalog */

    CHANGE_PROVIDER_INSERT,     /* provider, with its generation */
    CHANGE_PROVIDER_UPDATE,     /* provider.id, name, parent_id, root_id; the generation is
                                 * unchanged, and so is the uuid except in a merge */
    CHANGE_PROVIDER_GENERATION, /* generation: compare and swap */
    CHANGE_PROVIDER_DELETE, /* provider.id, and the generation to compare; its inventories, traits
                             * and aggregates have been deleted before */

    CHANGE_INVENTORY_INSERT, /* inventory */
    CHANGE_INVENTORY_UPDATE, /* inventory */
    CHANGE_INVENTORY_DELETE, /* inventory.provider_id, class_id */

    CHANGE_PROVIDER_TRAIT_INSERT,     /* link.provider_id, other_id is the trait */
    CHANGE_PROVIDER_TRAIT_DELETE,     /* link */
    CHANGE_PROVIDER_AGGREGATE_INSERT, /* link.provider_id, other_id is the aggregate */
    CHANGE_PROVIDER_AGGREGATE_DELETE, /* link */

    CHANGE_CONSUMER_INSERT, /* consumer */
    CHANGE_CONSUMER_UPDATE, /* consumer; generation is the new value, expected_generation the old
                             * value to compare */
    CHANGE_CONSUMER_DELETE, /* consumer.id, uuid, and the expected_generation to compare; its
                             * allocations have been deleted before */

    CHANGE_ALLOCATION_INSERT,     /* allocation */
    CHANGE_ALLOCATIONS_OF_DELETE, /* allocation.consumer_id, consumer_uuid: all of that consumer's
                                     rows */

    /* Rows of berth's own tables. A put is the whole row, which is inserted or replaces the row
     * with the same id. A delete of a row that memory does not have comes only from a follow. At
     * every step, no two rows have the same uuid, name or instance_uuid. */
    CHANGE_NODE_PUT,               /* row; berth_nodes */
    CHANGE_NODE_DELETE,            /* row.id; its allocation was deleted, or put without the node,
                                    * before */
    CHANGE_NODE_ALLOCATION_PUT,    /* row; berth_node_allocations */
    CHANGE_NODE_ALLOCATION_DELETE, /* row.id */
    CHANGE_VALET_GROUP_PUT,        /* row; likewise for the other tables berth_valet_*,
                                    * model/valet.h */
    CHANGE_VALET_GROUP_DELETE,
    CHANGE_VALET_MEMBER_PUT,
    CHANGE_VALET_MEMBER_DELETE,
    CHANGE_VALET_CLAIM_PUT,
    CHANGE_VALET_CLAIM_DELETE,
    CHANGE_VALET_PLAN_PUT,
    CHANGE_VALET_PLAN_DELETE,
    CHANGE_VALET_PLACEMENT_PUT,
    CHANGE_VALET_PLACEMENT_DELETE,

    /* Only from a load: all providers have been sent, and the trees can be laid out. */
    CHANGE_LOAD_PROVIDERS_END,
    /* Only from a follow: drop what memory has of an entity before its rows are inserted again.
     *
     * A follow consists of, in this order: consumer resets; provider resets and deletes (no
     * provider is deleted in a follow that also updates one); class and trait deletes; catalog
     * inserts and renames; providers, each after its parent; the contents of reset and new
     * providers; consumers; allocations by id; rows of berth's own tables. For a provider it
     * contains:
     *   - new: PROVIDER_INSERT, then its inventories and links as inserts;
     *   - deleted: RESET, PROVIDER_DELETE (children before parents);
     *   - different name, parent or root: PROVIDER_UPDATE and PROVIDER_GENERATION;
     *   - different contents: RESET, PROVIDER_GENERATION, all its inventories and links as inserts;
     *   - only a different generation: PROVIDER_GENERATION.
     * For a row of one of berth's own tables it contains one record: the current row, or that the
     * row does not exist. Two rows may have swapped their names, so names are unique only at the
     * end.
     *
     * These are images of the rows: nothing is compared (expected equals next), and the timestamps
     * are those of the row. Ids may be reused, and two providers or classes may swap names, so an
     * old name is removed from an index only if the index still maps it to that entity. An
     * allocation may have a lower id than allocations that already exist. */
    CHANGE_FOLLOW_PROVIDER_RESET, /* provider.id: drop its inventories, traits and aggregates; used
                                   * amounts stay */
    CHANGE_FOLLOW_CONSUMER_RESET, /* consumer.id, uuid: drop the consumer and its allocations, if
                                   * they exist */
    /* Only from a merge, which has the form of a follow, with these differences: catalog rows that
     * other programs have altered or deleted take the places of inserts and of deletes;
     * PROVIDER_UPDATE may contain a different uuid; and providers are deleted after the others have
     * been updated and inserted, so that one merge may do both. No id is deleted and inserted in
     * the same merge, except that of a trait or aggregate whose name has changed. */
    CHANGE_MERGE_CATALOG_PUT,    /* merged: the current row of an id that memory has; the name of a
                                  * trait or aggregate stays the same */
    CHANGE_MERGE_CATALOG_DELETE, /* merged.row.id, of: nothing refers to it any more */

    CHANGE_KIND_COUNT
};

/* For a switch: all kinds that belong to a table of model/valet.h. */
#define CHANGE_VALET_CASES                                                                         \
    CHANGE_VALET_GROUP_PUT:                                                                        \
    case CHANGE_VALET_GROUP_DELETE:                                                                \
    case CHANGE_VALET_MEMBER_PUT:                                                                  \
    case CHANGE_VALET_MEMBER_DELETE:                                                               \
    case CHANGE_VALET_CLAIM_PUT:                                                                   \
    case CHANGE_VALET_CLAIM_DELETE:                                                                \
    case CHANGE_VALET_PLAN_PUT:                                                                    \
    case CHANGE_VALET_PLAN_DELETE:                                                                 \
    case CHANGE_VALET_PLACEMENT_PUT:                                                               \
    case CHANGE_VALET_PLACEMENT_DELETE

/* The table of a kind; puts and deletes alternate, in the order of the tables. */
static inline enum valet_table change_valet_table(enum change_kind kind)
{
    return (enum valet_table)((unsigned)(kind - CHANGE_VALET_GROUP_PUT) / 2);
}

static inline bool change_is_valet_put(enum change_kind kind)
{
    return (unsigned)(kind - CHANGE_VALET_GROUP_PUT) % 2 == 0;
}

/* Times are microseconds since 1970 UTC; 0: NULL. */
struct change_catalog {
    int64_t id;
    struct slice name;
};

struct change_renamed {
    struct change_catalog row; /* the new name */
    struct slice before;       /* the name that is replaced */
};

struct change_merged {
    struct change_catalog row;
    enum change_kind of; /* the kind that inserts rows of that catalog */
};

struct change_provider {
    int64_t id;
    int64_t parent_id; /* 0: a root */
    int64_t root_id;   /* its own id for a root */
    int64_t generation;
    struct slice uuid; /* as stored; at most 36 bytes */
    struct slice name;
};

struct change_generation {
    int64_t provider_id;
    int64_t expected;
    int64_t next;
};

/* The generation after a write. The largest 32-bit value is followed by 0; only another program can
 * have set it. */
static inline int64_t change_next_generation(int32_t generation)
{
    return generation == INT32_MAX ? 0 : generation + 1;
}

struct change_inventory {
    int64_t provider_id;
    int64_t class_id;
    int32_t total;
    int32_t reserved;
    int32_t min_unit;
    int32_t max_unit;
    int32_t step_size;
    double allocation_ratio;
};

struct change_link {
    int64_t provider_id;
    int64_t other_id;
};

struct change_consumer {
    int64_t id;
    int64_t project_id;
    int64_t user_id;
    int64_t type_id; /* 0: NULL, shown as "unknown" */
    int64_t generation;
    int64_t expected_generation;
    struct slice uuid;
};

struct change_allocation {
    int64_t id;
    int64_t consumer_id;
    int64_t provider_id;
    int64_t class_id;
    int64_t used;
    struct slice consumer_uuid;
};

/* A row of one of berth's own tables. The list's owner owns the record, as it owns texts. */
struct change_row {
    int64_t id;
    const struct record *record; /* NULL: deleted */
};

struct change {
    enum change_kind kind;
    bool is_root_only;       /* of a PROVIDER_UPDATE: name and parent are unchanged */
    bool is_generation_only; /* of a CONSUMER_UPDATE: project, user and type are unchanged */
    bool is_new;             /* of a put of a planned row: it is inserted, and replaces none */
    bool keeps_names;        /* of a put: the RECORD_UNIQUE fields are unchanged */
    int64_t created_at_us;
    int64_t updated_at_us; /* for an update: the current time */
    union {
        struct change_catalog catalog;
        struct change_renamed renamed;
        struct change_merged merged;
        struct change_provider provider;
        struct change_generation generation;
        struct change_inventory inventory;
        struct change_link link;
        struct change_consumer consumer;
        struct change_allocation allocation;
        struct change_row row; /* it has times of its own: those of the change are 0 */
    };
};

/* A growing list; `arena` owns its items and texts. */
struct change_list {
    struct arena *arena;
    struct change *items;
    size_t count;
    size_t capacity;
};

/* Appends a zeroed change of that kind and returns it. The pointer is valid until the next
 * append. */
struct change *change_append(struct change_list *list, enum change_kind kind);

/* Appends a copy of a planned change, with its texts and its record in the list's arena. */
void change_append_copy(struct change_list *list, const struct change *change);

/* Append the record of a row of berth's own tables. */
void change_put_node(struct change_list *list, const struct node *node);
void change_delete_node(struct change_list *list, int64_t id);
void change_put_node_allocation(struct change_list *list, const struct node_allocation *allocation);
void change_delete_node_allocation(struct change_list *list, int64_t id);
void change_put_valet(struct change_list *list, enum valet_table table,
                      const struct record *record);
void change_delete_valet(struct change_list *list, enum valet_table table, int64_t id);

#endif
