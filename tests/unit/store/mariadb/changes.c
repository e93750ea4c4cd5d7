/* See changes.h. */
#include "changes.h"

struct change *add(struct server *server, enum change_kind kind)
{
    struct change *change = change_append(&server->list, kind);
    change->created_at_us = CREATED_S * second_us + 123456;
    change->updated_at_us = UPDATED_S * second_us + 999999;
    return change;
}

void add_name(struct server *server, enum change_kind kind, int64_t id, struct slice name)
{
    add(server, kind)->catalog = (struct change_catalog){id, name};
}

void add_rename(struct server *server, int64_t id, struct slice before, struct slice name)
{
    add(server, CHANGE_CLASS_RENAME)->renamed = (struct change_renamed){{id, name}, before};
}

struct slice text_of(struct server *server, const char *prefix, int64_t id)
{
    return arena_printf(server->arena, "%s%lld", prefix, (long long)id);
}

void add_provider(struct server *server, int64_t id, int64_t parent, int64_t root)
{
    add(server, CHANGE_PROVIDER_INSERT)->provider = (struct change_provider){
        id, parent, root, 3, text_of(server, "uuid-", id), text_of(server, "name-", id)};
}

void add_provider_delete(struct server *server, int64_t id, int64_t generation)
{
    add(server, CHANGE_PROVIDER_DELETE)->provider = (struct change_provider){
        .id = id, .generation = generation, .uuid = text_of(server, "uuid-", id)};
}

void add_generation(struct server *server, int64_t id, int64_t expected, int64_t next)
{
    add(server, CHANGE_PROVIDER_GENERATION)->generation =
        (struct change_generation){id, expected, next};
}

void add_inventory(struct server *server, enum change_kind kind, int64_t provider, int64_t class,
                   int32_t total, double ratio)
{
    add(server, kind)->inventory =
        (struct change_inventory){provider, class, total, 1, 2, 3, 4, ratio};
}

void add_link(struct server *server, enum change_kind kind, int64_t provider, int64_t other)
{
    add(server, kind)->link = (struct change_link){provider, other};
}

struct change *add_consumer(struct server *server, enum change_kind kind, int64_t id,
                            int64_t expected, int64_t next)
{
    struct change *change = add(server, kind);
    change->consumer =
        (struct change_consumer){id, 1, 1, 0, next, expected, text_of(server, "consumer-", id)};
    return change;
}

void add_allocation(struct server *server, int64_t id, int64_t consumer, int64_t provider,
                    int64_t class)
{
    add(server, CHANGE_ALLOCATION_INSERT)->allocation = (struct change_allocation){
        id, consumer, provider, class, 5, text_of(server, "consumer-", consumer)};
}

void add_allocations_of(struct server *server, int64_t consumer)
{
    add(server, CHANGE_ALLOCATIONS_OF_DELETE)->allocation = (struct change_allocation){
        .consumer_id = consumer, .consumer_uuid = text_of(server, "consumer-", consumer)};
}

/* Classes, traits and aggregates 1 to 3; a project, a user, a type; providers 1 to 3 with
 * inventories, of which 2 is below 1. */
static void add_basics(struct server *server)
{
    for (int64_t id = 1; id <= 3; id++) {
        add_name(server, CHANGE_CLASS_INSERT, id, text_of(server, "class-", id));
        add_name(server, CHANGE_TRAIT_INSERT, id, text_of(server, "trait-", id));
        add_name(server, CHANGE_AGGREGATE_INSERT, id, text_of(server, "aggregate-", id));
    }
    add_name(server, CHANGE_PROJECT_INSERT, 1, SLICE_LIT("project"));
    add_name(server, CHANGE_USER_INSERT, 1, SLICE_LIT("user"));
    add_name(server, CHANGE_CONSUMER_TYPE_INSERT, 1, SLICE_LIT("type"));
    add_provider(server, 1, 0, 1);
    add_provider(server, 2, 1, 1);
    add_provider(server, 3, 0, 3);
    for (int64_t id = 1; id <= 3; id++) {
        add_inventory(server, CHANGE_INVENTORY_INSERT, id, 1, 10, 1.5);
        add_inventory(server, CHANGE_INVENTORY_INSERT, id, 2, 20, 16.1);
        add_link(server, CHANGE_PROVIDER_TRAIT_INSERT, id, 1);
        add_link(server, CHANGE_PROVIDER_AGGREGATE_INSERT, id, 1);
        add_consumer(server, CHANGE_CONSUMER_INSERT, id, 0, 7);
        add_allocation(server, id, id, id, 1);
    }
}

void begin(struct server *server, const char *charset)
{
    server_begin(server, charset);
    add_basics(server);
    expect_written(server);
}

/* The row at that position in the list was refused, and this error says so. */
void expect_culprit(struct server *server, unsigned error, size_t by_message, size_t by_row)
{
    struct outcome outcome = commit(server);
    assert_false(outcome.is_ok);
    if (outcome.error != error)
        fail_msg("%u: %s", outcome.error, outcome.message);
    assert_int_equal(outcome.result, 0);
    if (outcome.culprit != by_message)
        fail_msg("%zu for: %s", outcome.culprit, outcome.message);
    if (outcome.row != 0)
        assert_int_equal(outcome.by_row, by_row);
}
