/* See consumers.h. */
#include "consumers.h"

#include "memory_store/tables_internal.h"

const struct row *consumers_catalog_row(const struct tables *tables, enum table table,
                                        struct slice name)
{
    const struct rows *rows = &tables->rows[table];
    for (uint32_t i = 0; i < rows->count; i++)
        if (slice_equal(rows->row[i].image.catalog.name, name))
            return &rows->row[i];
    return NULL;
}

const struct row *consumers_row(const struct tables *tables, struct slice uuid)
{
    const struct rows *rows = &tables->rows[TABLE_CONSUMERS];
    for (uint32_t i = 0; i < rows->count; i++)
        if (slice_equal(rows->row[i].image.consumer.uuid, uuid))
            return &rows->row[i];
    return NULL;
}

bool consumers_holds(const struct tables *tables, struct slice uuid)
{
    const struct rows *rows = &tables->rows[TABLE_ALLOCATIONS];
    for (uint32_t i = 0; i < rows->count; i++)
        if (slice_equal(rows->row[i].image.allocation.consumer_uuid, uuid))
            return true;
    return false;
}

bool consumers_is_missing(const struct tables *tables, struct slice uuid)
{
    return consumers_holds(tables, uuid) && consumers_row(tables, uuid) == NULL;
}

static bool is_repeated(const struct value *uuids, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (slice_equal(uuids[i].text, uuids[at].text))
            return true;
    return false;
}

void consumers_find(struct call *call, const struct value *uuids, size_t count, bool missing,
                    void (*add)(struct call *call, int64_t id, struct slice uuid))
{
    const struct view view = transaction_view(call->session);
    for (size_t i = 0; i < count; i++) {
        const struct row *row = consumers_row(view.tables, uuids[i].text);
        if (is_repeated(uuids, i))
            continue;
        if (!missing && row != NULL)
            add(call, row->image.consumer.id, uuids[i].text);
        if (missing && consumers_is_missing(view.tables, uuids[i].text))
            add(call, 0, uuids[i].text);
    }
}

/* OUTCOME_BLOCKED: another transaction has one of its keys. */
static enum outcome insert_row(struct call *call, enum table table, const struct change *image)
{
    const struct row_write write = {.table = table,
                                    .row = {.birth = ++server.states.clock, .image = *image}};
    uint64_t keys[ROW_KEYS];
    const size_t count = row_keys(table, image, keys);
    enum outcome outcome = transaction_take(call, keys, count);
    if (outcome == OUTCOME_DONE)
        transaction_write(call->session, &write);
    return outcome;
}

enum outcome consumers_create_owner(struct call *call, enum table table, int64_t now_us,
                                    struct slice external_id, consumers_next_id *next_id,
                                    size_t *rows)
{
    const struct tables *tables = transaction_view(call->session).tables;
    *rows = 0;
    if (consumers_catalog_row(tables, table, external_id) != NULL)
        return OUTCOME_DONE;
    struct change image = {.kind =
                               table == TABLE_PROJECTS ? CHANGE_PROJECT_INSERT : CHANGE_USER_INSERT,
                           .created_at_us = now_us};
    image.catalog =
        (struct change_catalog){next_id(call, table), tables_keep_text(tables, external_id)};
    *rows = 1;
    return insert_row(call, table, &image);
}

enum outcome consumers_create(struct call *call, int64_t now_us, struct slice project,
                              struct slice user, const struct value *uuids, size_t count,
                              consumers_next_id *next_id, size_t *rows)
{
    *rows = 0;
    for (size_t i = 0; i < count; i++) {
        const struct tables *tables = transaction_view(call->session).tables;
        if (!consumers_is_missing(tables, uuids[i].text))
            continue;
        struct change image = {.kind = CHANGE_CONSUMER_INSERT, .created_at_us = now_us};
        image.consumer = (struct change_consumer){
            .id = next_id(call, TABLE_CONSUMERS),
            .project_id = consumers_catalog_row(tables, TABLE_PROJECTS, project)->image.catalog.id,
            .user_id = consumers_catalog_row(tables, TABLE_USERS, user)->image.catalog.id,
            .uuid = tables_keep_text(tables, uuids[i].text),
        };
        enum outcome outcome = insert_row(call, TABLE_CONSUMERS, &image);
        if (outcome != OUTCOME_DONE)
            return outcome;
        ++*rows;
    }
    return OUTCOME_DONE;
}
