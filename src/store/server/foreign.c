/* What a read has of berth_foreign: the notes of other programs' writes that memory does not have
 * yet, and the view up to which it then has them. The writer only. */
#include "store/server/dialect.h"
#include "store/server/store_internal.h"

/* A server that was started again, or another one, may lack what memory has read, and gives out the
 * numbers of lost transactions again. */
bool server_is_view_of_server(const struct server_store *store)
{
    const struct server_id *server = &store->follower->id;
    return server_id_equal(&store->foreign.server, server);
}

/* Takes the text. */
static void set_view(struct server_store *store, char **text)
{
    store->read.has_view = foreign_view_set(&store->read.foreign, *text, &store->follower->id);
    *text = NULL;
}

void server_read_foreign(struct server_store *store, struct foreign_notes *notes)
{
    struct server_read *read = &store->read;
    if (!notes->were_asked)
        return;
    read->to_follow = notes->entries;
    notes->entries = (struct log_entries){0};
    set_view(store, &notes->view);
    read->has_foreign = notes->count > 0;
    bool is_lost = store->foreign.text != NULL && !server_is_view_of_server(store);
    store->has_state &= read->has_view && !notes->is_everything && !is_lost;
}

/* What they write is noted, but not in the log, whose next row is all that a commit compares. */
bool server_reads_first(const struct store *base)
{
    return server_head_coexists(server_store_of_const(base)->head);
}

bool server_look_at_snapshot(struct server_store *store, int64_t *horizon, struct err *err)
{
    struct snapshot_look look;
    if (store->follower->dialect->snapshot_look(store->follower, &look, server_deadline(store),
                                                err) != SERVER_OK)
        return false;
    *horizon = look.horizon;
    set_view(store, &look.view);
    server_head_set_coexists(store->head, look.coexists);
    return true;
}

const struct foreign_view *server_foreign_view(struct server_store *store, bool is_continued)
{
    struct server_read *read = &store->read;
    bool is_new = read->has_foreign || (!is_continued && server_head_coexists(store->head));
    if (!read->has_view)
        return NULL;
    read->foreign.taken = store->foreign.taken + is_new;
    return &read->foreign;
}

void server_take_foreign(struct server_store *store)
{
    if (store->read.has_view)
        foreign_view_copy(&store->foreign, &store->read.foreign);
    store->read.has_view = false;
}

void server_note_no_foreign(struct server_store *store)
{
    if (!store->read.has_view)
        return;
    store->read.foreign.taken = store->foreign.taken;
    server_take_foreign(store);
    server_head_note_view(store->head, &store->foreign);
}
