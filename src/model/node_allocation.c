/* The table of an allocation's fields. Constant data; pure. */
#include "model/node_allocation.h"

#include "base/arena.h"

// clang-format off: a table
enum {
    POST = RECORD_IN_POST,
    USER = RECORD_IN_POST | RECORD_IN_PATCH,
    SORT = RECORD_SORTABLE,
    NULLABLE = RECORD_NULLABLE,
    INTERNAL = RECORD_INTERNAL,
};

#define FIELD(at, text, minor, what, with, value, limit)                                           \
    [NODE_ALLOCATION_##at] = {.name = (text),                                                      \
                              .since = (minor),                                                    \
                              .kind = RECORD_##what,                                               \
                              .flags = (with),                                                     \
                              .initial = (value),                                                  \
                              .max_chars = (limit)}

static const struct record_field node_allocation_fields[NODE_ALLOCATION_FIELD_COUNT] = {
    FIELD(UUID, "uuid", 52, TEXT, POST | SORT | RECORD_UNIQUE | RECORD_IS_UUID, NULL, 36),
    FIELD(NAME, "name", 52, TEXT, USER | SORT | NULLABLE | RECORD_UNIQUE, NULL, 255),
    FIELD(RESOURCE_CLASS, "resource_class", 52, TEXT, POST | SORT | NULLABLE, NULL, 80),
    FIELD(TRAITS, "traits", 52, WORDS, POST, "", 0),
    FIELD(CANDIDATE_NODES, "candidate_nodes", 52, WORDS, POST, "", 0),
    FIELD(EXTRA, "extra", 52, JSON, USER, "{}", 0),
    FIELD(OWNER, "owner", 60, TEXT, POST | SORT | NULLABLE, NULL, 255),
    FIELD(STATE, "state", 52, TEXT, SORT, "allocating", 0),
    FIELD(LAST_ERROR, "last_error", 52, TEXT, SORT | NULLABLE, NULL, 0),
    FIELD(CREATED_AT, "created_at", 52, TIME, SORT, NULL, 0),
    FIELD(UPDATED_AT, "updated_at", 52, TIME, SORT, NULL, 0),

    FIELD(NODE_ID, "node_id", 52, REFERENCE, INTERNAL, NULL, 0),
    FIELD(OWNER_INSTANCE, "owner_instance", 52, TEXT, INTERNAL | NULLABLE, NULL, 0),
    FIELD(DUE_AT, "due_at", 52, TIME, INTERNAL, NULL, 0),
    FIELD(CALLER_PROJECT, "caller_project", 52, TEXT, INTERNAL | NULLABLE, NULL, 0),
    FIELD(CALLER_USER, "caller_user", 52, TEXT, INTERNAL | NULLABLE, NULL, 0),
    FIELD(CONSUMER_ADOPTED, "consumer_adopted", 52, BOOL, INTERNAL | NULLABLE, NULL, 0),

    FIELD(NODE, "node_uuid", 52, DERIVED, 0, NULL, 0),
    FIELD(LINKS, "links", 52, DERIVED, 0, NULL, 0),
};
// clang-format on

const struct record_shape NODE_ALLOCATION_SHAPE = {
    node_allocation_fields, NODE_ALLOCATION_FIELD_COUNT, NODE_ALLOCATION_STORED_COUNT};

struct node_allocation_draft node_allocation_draft_new(int64_t id)
{
    struct node_allocation_draft draft = {.id = id};
    record_init(&NODE_ALLOCATION_SHAPE, draft.value);
    return draft;
}

struct node_allocation_draft node_allocation_draft_of(const struct node_allocation *allocation)
{
    struct node_allocation_draft draft = {.id = allocation->record.id};
    record_open(&NODE_ALLOCATION_SHAPE, &allocation->record, draft.value);
    return draft;
}

const struct node_allocation *node_allocation_pack(const struct node_allocation_draft *draft,
                                                   struct arena *arena)
{
    check(draft->value[NODE_ALLOCATION_UUID].text.len > 0);
    return node_allocation_of(record_pack(&NODE_ALLOCATION_SHAPE, draft->id, draft->value, arena));
}
