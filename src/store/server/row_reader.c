/* See store/row_reader.h. The thread of the reader's session, inside its snapshot. */
#include "store/server/dialect.h"
#include "store/server/store_internal.h"

enum { STEP_ROWS = 100 }; /* after so many, the writer has made a step */

/* The position of the column of a table of upstream. */
static unsigned column_at(enum rows_table table, const char *name, bool of_consumer)
{
    const struct rows_info *info = rows_info(table);
    unsigned at = 0;
    while (((info->columns[at].flags & ROWS_OF_CONSUMER) != 0) != of_consumer ||
           strcmp(info->columns[at].name, name) != 0)
        check(++at < info->count);
    return at;
}

/* Rows of a table, while everything is read. */
struct streaming {
    struct server_store *store;
    enum rows_table table;
    unsigned uuid;     /* the column with the consumer's uuid */
    unsigned consumer; /* and that with its id */
    uint64_t rows;     /* so far */
    row_take *take;
    void *cls;
};

static struct streaming begin_streaming(struct server_store *store, enum rows_table table)
{
    struct streaming streaming = {.store = store, .table = table};
    if (table == ROWS_CONSUMERS) {
        consumer_ids_free(&store->consumer_ids);
        streaming.uuid = column_at(table, "uuid", false);
    } else if (table == ROWS_ALLOCATIONS) {
        streaming.uuid = column_at(table, "consumer_id", false);
        streaming.consumer = column_at(table, "id", true);
    }
    return streaming;
}

/* Consumers come before allocations. */
static void join_consumer(const struct streaming *streaming, struct cell *cells)
{
    struct consumer_ids *ids = &streaming->store->consumer_ids;
    const struct cell *uuid = &cells[streaming->uuid];
    if (streaming->table == ROWS_CONSUMERS && !uuid->is_null)
        consumer_ids_add(ids, uuid->text, cells[0].integer);
    if (streaming->table != ROWS_ALLOCATIONS)
        return;
    int64_t id = uuid->is_null ? 0 : consumer_ids_find(ids, uuid->text);
    cells[streaming->consumer] = (struct cell){.is_null = id == 0, .integer = id};
}

static void note_step(const struct server_store *store)
{
    if (store->steps != NULL)
        atomic_fetch_add_explicit(store->steps, 1, memory_order_relaxed);
}

static void take_streamed(void *cls, size_t at, struct cell *cells)
{
    struct streaming *streaming = cls;
    (void)at;
    if (++streaming->rows % STEP_ROWS == 0)
        note_step(streaming->store);
    server_note_id(streaming->store, streaming->table, cells[0].integer);
    join_consumer(streaming, cells);
    streaming->take(streaming->cls, cells);
}

/* Observers read by ids only. */
static bool stream(void *cls, enum rows_table table, row_take *take, void *take_cls,
                   struct err *err)
{
    struct server_reader *reader = cls;
    struct streaming streaming = begin_streaming(reader->noting, table);
    note_step(reader->noting);
    streaming.take = take;
    streaming.cls = take_cls;
    bool ok =
        reader->session->dialect->rows_stream(reader->session, table, take_streamed, &streaming,
                                              reader->timeout_us, err) == SERVER_OK;
    if (table == ROWS_ALLOCATIONS)
        consumer_ids_free(&reader->noting->consumer_ids);
    return ok;
}

struct finding {
    const struct server_reader *reader;
    const struct row_set *sets;
};

static void take_found(void *cls, size_t at, struct cell *cells)
{
    const struct finding *finding = cls;
    const struct row_set *set = &finding->sets[at];
    if (finding->reader->noting != NULL)
        server_note_id(finding->reader->noting, set->table, cells[0].integer);
    row_set_take(set, cells);
}

static bool find_sets(void *cls, const struct row_set *sets, size_t count, struct err *err)
{
    struct server_reader *reader = cls;
    struct finding finding = {reader, sets};
    if (count == 0 ||
        reader->session->dialect->rows_find(reader->session, sets, count, take_found, &finding,
                                            reader->timeout_us, err) == SERVER_OK)
        return true;
    server_session_close(reader->session); /* the snapshot is of no use any more */
    return false;
}

static bool find_consumers(void *cls, const struct slice *uuids, size_t count, consumer_take *take,
                           void *take_cls, struct err *err)
{
    struct server_reader *reader = cls;
    if (reader->session->dialect->consumers_find(reader->session, uuids, count, take, take_cls,
                                                 reader->timeout_us, err) == SERVER_OK)
        return true;
    server_session_close(reader->session); /* as above */
    return false;
}

struct row_reader server_row_reader(struct server_reader *reader)
{
    return (struct row_reader){.name = reader->target.data,
                               .cls = reader,
                               .stream = stream,
                               .find = find_sets,
                               .find_consumers = find_consumers};
}
