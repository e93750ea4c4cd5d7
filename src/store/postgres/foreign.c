/* What a read has of berth_foreign: the notes of other programs' writes that memory does not have
 * yet, and the view up to which it then has them. The writer only. */
#include "store/postgres/store_internal.h"

/* A server that was started again, or another one, may lack what memory has read, and gives out the
 * numbers of lost transactions again. */
static bool is_view_of_server(const struct postgres_store *store)
{
    const struct server_id *server = &pg_session_server(store->follower)->id;
    return server_id_equal(&store->foreign.server, server);
}

bool postgres_queue_foreign(struct postgres_store *store, struct err *err)
{
    struct pg_parameter parameters[FOREIGN_PARAMETERS];
    const struct pg_statement statement = {.sql = FOREIGN_NEW,
                                           .parameters = parameters,
                                           .parameters_n = FOREIGN_PARAMETERS,
                                           .binary_results = true,
                                           .is_prepared = true,
                                           .what = "read"};
    foreign_view_parameters(&store->foreign, is_view_of_server(store), parameters);
    return pg_pipeline_queue(store->follower, &statement, err) == SERVER_OK;
}

static void set_view(struct postgres_store *store, struct slice snapshot)
{
    store->read.has_view =
        foreign_view_set(&store->read.foreign, snapshot, &pg_session_server(store->follower)->id);
}

void postgres_read_foreign(struct postgres_store *store, const struct pg_rows *rows)
{
    struct postgres_read *read = &store->read;
    struct foreign_entries found = {.entries = &read->to_follow};
    if (pg_rows_count(rows) == 0)
        return;
    foreign_entries_read(rows, 1, &found);
    set_view(store, pg_rows_bytes(rows, 0, 0));
    read->has_foreign = found.count > 0;
    bool is_lost = store->foreign.snapshot != NULL && !is_view_of_server(store);
    store->has_state &= read->has_view && !found.is_everything && !is_lost;
}

bool postgres_look_at_snapshot(struct postgres_store *store, int64_t *oldest, struct err *err)
{
    const struct pg_statement look = {.sql = FOREIGN_LOOK, .binary_results = true, .what = "read"};
    struct pg_rows rows = {0};
    int64_t triggers = 0;
    bool ok = pg_session_execute(store->follower, &look, &rows, postgres_deadline(store), err) ==
                  SERVER_OK &&
              pg_rows_int(&rows, 0, 0, oldest) && pg_rows_int(&rows, 0, 1, &triggers);
    if (ok) {
        set_view(store, pg_rows_bytes(&rows, 0, 2));
        postgres_head_set_coexists(store->head, triggers > 0);
    }
    pg_rows_free(&rows);
    return ok;
}

const struct foreign_view *postgres_foreign_view(struct postgres_store *store, bool is_continued)
{
    struct postgres_read *read = &store->read;
    bool is_new = read->has_foreign || (!is_continued && postgres_head_coexists(store->head));
    if (!read->has_view)
        return NULL;
    read->foreign.taken = store->foreign.taken + is_new;
    return &read->foreign;
}

void postgres_take_foreign(struct postgres_store *store)
{
    if (store->read.has_view)
        foreign_view_copy(&store->foreign, &store->read.foreign);
    store->read.has_view = false;
}

void postgres_note_no_foreign(struct postgres_store *store)
{
    if (!store->read.has_view)
        return;
    store->read.foreign.taken = store->foreign.taken;
    postgres_take_foreign(store);
    postgres_head_note_view(store->head, &store->foreign);
}
