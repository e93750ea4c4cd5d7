/* An allocation of the Bare Metal API (bare metal spec, 2): the table of its fields and its row. It
 * is different from an allocation in Placement. In other respects, see model/node.h. */
#ifndef BERTH_MODEL_NODE_ALLOCATION_H
#define BERTH_MODEL_NODE_ALLOCATION_H

#include "model/record.h"

enum node_allocation_field {
    NODE_ALLOCATION_UUID,
    NODE_ALLOCATION_NAME,
    NODE_ALLOCATION_RESOURCE_CLASS,
    NODE_ALLOCATION_TRAITS,
    NODE_ALLOCATION_CANDIDATE_NODES, /* uuids */
    NODE_ALLOCATION_EXTRA,
    NODE_ALLOCATION_OWNER,
    NODE_ALLOCATION_STATE,
    NODE_ALLOCATION_LAST_ERROR,
    NODE_ALLOCATION_CREATED_AT,
    NODE_ALLOCATION_UPDATED_AT,
    /* never shown */
    NODE_ALLOCATION_NODE_ID,        /* of an active allocation; the node may no longer exist */
    NODE_ALLOCATION_OWNER_INSTANCE, /* the process that looks for a node */
    NODE_ALLOCATION_DUE_AT,         /* when the search for a node begins */
    NODE_ALLOCATION_CALLER_PROJECT, /* of the request's client: the consumer in Placement gets it
                                     * (spec, C3) */
    NODE_ALLOCATION_CALLER_USER,
    NODE_ALLOCATION_CONSUMER_ADOPTED, /* its consumer existed before it (spec, C4); null: it has not
                                       * been mirrored to Placement */
    NODE_ALLOCATION_STORED_COUNT,
    /* derived when the allocation is shown */
    NODE_ALLOCATION_NODE = NODE_ALLOCATION_STORED_COUNT, /* "node_uuid" */
    NODE_ALLOCATION_LINKS,
    NODE_ALLOCATION_FIELD_COUNT
};

extern const struct record_shape NODE_ALLOCATION_SHAPE;

struct node_allocation {
    struct record record;
};

struct node_allocation_draft {
    int64_t id;
    struct record_value value[NODE_ALLOCATION_STORED_COUNT];
};

static inline const struct node_allocation *node_allocation_of(const struct record *record)
{
    return (const struct node_allocation *)record;
}

static inline struct slice node_allocation_text(const struct node_allocation *allocation,
                                                enum node_allocation_field field)
{
    return record_text(&allocation->record, field);
}

static inline bool node_allocation_is_null(const struct node_allocation *allocation,
                                           enum node_allocation_field field)
{
    return record_is_null(&allocation->record, field);
}

/* Null counts as false. */
static inline bool node_allocation_bool(const struct node_allocation *allocation,
                                        enum node_allocation_field field)
{
    return record_bool(&allocation->record, field);
}

/* Microseconds since 1970 UTC; 0: null. */
static inline int64_t node_allocation_time(const struct node_allocation *allocation,
                                           enum node_allocation_field field)
{
    return record_number(&allocation->record, field);
}

/* The id of its node; 0: none. */
static inline int64_t node_allocation_node_id(const struct node_allocation *allocation)
{
    return record_number(&allocation->record, NODE_ALLOCATION_NODE_ID);
}

/* Whether the field has exactly that text. */
static inline bool node_allocation_text_is(const struct node_allocation *allocation,
                                           enum node_allocation_field field, const char *text)
{
    struct slice has = node_allocation_text(allocation, field);
    return has.data != NULL && slice_equal(has, slice_of(text));
}

/* A draft of a new allocation in state allocating; `uuid` must still be set. */
struct node_allocation_draft node_allocation_draft_new(int64_t id);

/* A draft of an existing allocation, which still owns the texts. */
struct node_allocation_draft node_allocation_draft_of(const struct node_allocation *allocation);

static inline void node_allocation_set_text(struct node_allocation_draft *draft,
                                            enum node_allocation_field field, struct slice text)
{
    draft->value[field].text = text;
}

static inline void node_allocation_set_bool(struct node_allocation_draft *draft,
                                            enum node_allocation_field field, bool is_true)
{
    draft->value[field].number = is_true ? RECORD_TRUE : RECORD_FALSE;
}

static inline void node_allocation_set_time(struct node_allocation_draft *draft,
                                            enum node_allocation_field field, int64_t us)
{
    draft->value[field].number = us;
}

/* 0: none. */
static inline void node_allocation_set_node_id(struct node_allocation_draft *draft, int64_t id)
{
    draft->value[NODE_ALLOCATION_NODE_ID].number = id;
}

/* Sets null, or the initial value of a field that cannot be null. */
static inline void node_allocation_set_null(struct node_allocation_draft *draft,
                                            enum node_allocation_field field)
{
    draft->value[field] = (struct record_value){{NULL, 0}, RECORD_NULL};
}

const struct node_allocation *node_allocation_pack(const struct node_allocation_draft *draft,
                                                   struct arena *arena);

static inline size_t node_allocation_bytes(const struct node_allocation *allocation)
{
    return allocation->record.bytes;
}

#endif
