/* Ids are reserved in blocks, so that no other program gets the same ones. A block that is used up
 * is followed by one twice as large. The writer only. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "log/log.h"
#include "store/rows.h"
#include "store/server/dialect.h"
#include "store/server/store_internal.h"

enum { BLOCK_LEAST = 32, BLOCK_MOST = 4096 };

/* Classes have no sequence. The database may have none of the highest ids any more, because another
 * instance has deleted these classes, and memory may not know yet. */
static int64_t floor_of(const struct id_block *block)
{
    int64_t last = block->used > 0 ? block->ids[block->used - 1] : 0;
    int64_t floor = block->floor > block->read ? block->floor : block->read;
    return floor > last ? floor : last;
}

/* The ids belong to the block. */
static void begin_block(struct id_block *block, const struct id_range *range)
{
    free(block->ids);
    *block = (struct id_block){.ids = range->at,
                               .count = range->count,
                               .is_told = block->is_told,
                               .highest = block->highest,
                               .read = block->read,
                               .floor = block->floor};
    for (size_t i = 0; i < range->count; i++)
        if (range->at[i] > block->highest)
            block->highest = range->at[i];
}

/* On the connection that is open: a new one may lead to a server whose sequences are behind. */
static enum lack fetch(struct server_store *store, enum store_table table, size_t count,
                       struct err *err)
{
    struct id_block *block = &store->ids[table];
    if (!server_session_is_open(store->follower))
        return LACKS_ANSWER;
    struct id_range range = {.floor = floor_of(block),
                             .most = id_table_most(table),
                             .room = count,
                             .at = calloc(count, sizeof(*range.at))};
    check(range.at != NULL);
    if (store->follower->dialect->ids_reserve(store->follower, table, &range,
                                              server_deadline(store), err) != SERVER_OK) {
        free(range.at);
        return LACKS_ANSWER;
    }
    begin_block(block, &range);
    return range.count > 0 ? LACKS_NONE : LACKS_IDS;
}

/* Rows may have been inserted with ids of another origin: the table was copied from another
 * database. And memory may have rows that a database that went back has not. */
bool server_mend_sequences(struct server_store *store, struct server_session *session,
                           struct err *err)
{
    bool ok = true;
    for (int table = 0; ok && table < STORE_TABLE_COUNT; table++) {
        struct id_block *block = &store->ids[table];
        ok = session->dialect->ids_mend(session, (enum store_table)table, block->floor,
                                        server_deadline(store), err) == SERVER_OK;
        block->used = block->committed = block->count;
    }
    return ok;
}

static void tell(const struct server_store *store, enum store_table table)
{
    log_write(
        LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT,
        "the database '%.*s' gives out no ids for new rows of %s: its sequence is used up, or "
        "there is none",
        SLICE_ARG(store->address.target), id_table_name(table));
}

/* Once, until ids are given out again. */
static void tell_silence(struct server_store *store, enum lack lack, const struct err *err)
{
    if (lack == LACKS_ANSWER && !store->silence_is_told && err_is_set(err))
        log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT,
                  "requests that need ids for new rows are answered 503 from now on: %.*s",
                  SLICE_ARG(err->message));
    else if (lack == LACKS_NONE && store->silence_is_told)
        log_write(LOG_LEVEL_INFO, "berth", LOG_NO_CONTEXT,
                  "the database '%.*s' gives out ids again", SLICE_ARG(store->address.target));
    if (lack != LACKS_IDS)
        store->silence_is_told = lack == LACKS_ANSWER;
}

void server_distrust_ids(struct server_store *store)
{
    server_drop_ids(store);
    for (int table = 0; table < STORE_TABLE_COUNT; table++)
        store->ids[table].floor = store->ids[table].highest;
    store->has_reconnected = false;
    store->mends_first = true;
}

static bool mend_first(struct server_store *store, struct err *err)
{
    if (!server_ensure_session(store, store->follower, err))
        return false;
    if (store->has_reconnected)
        server_distrust_ids(store);
    store->mends_first = store->mends_first && !server_mend_sequences(store, store->follower, err);
    return !store->mends_first;
}

/* Asks for a whole block first; another instance may meanwhile have taken what was left for it. */
static enum lack reserve(struct server_store *store, enum store_table table, struct err *err)
{
    size_t count =
        store->ids[table].count < BLOCK_LEAST ? BLOCK_LEAST : store->ids[table].count * 2;
    if (!mend_first(store, err))
        return LACKS_ANSWER;
    enum lack lack = fetch(store, table, count < BLOCK_MOST ? count : BLOCK_MOST, err);
    return lack == LACKS_IDS ? fetch(store, table, 1, err) : lack;
}

/* A connection that has ended while it was idle is replaced. */
static enum lack reserve_again(struct server_store *store, enum store_table table, struct err *err)
{
    server_session_notice_end(store->follower);
    bool was_open = server_session_is_open(store->follower);
    uint64_t soon_us = clock_monotonic_us() + store->timeout_us / 2;
    enum lack lack = reserve(store, table, err);
    if (lack != LACKS_ANSWER || !was_open || server_session_is_open(store->follower) ||
        clock_monotonic_us() > soon_us)
        return lack;
    *err = server_ignored(store);
    return reserve(store, table, err);
}

static enum lack refill(struct server_store *store, enum store_table table)
{
    struct id_block *block = &store->ids[table];
    if (store->is_silent || store->read.is_open || store->must_not_wait)
        return LACKS_ANSWER;
    if (block->is_used_up)
        return LACKS_IDS;
    struct err err = server_ignored(store);
    enum lack lack = reserve_again(store, table, &err);
    tell_silence(store, lack, &err);
    store->is_silent = lack == LACKS_ANSWER;
    block->is_used_up = lack == LACKS_IDS;
    if (block->is_used_up && !block->is_told)
        tell(store, table);
    block->is_told = block->is_used_up;
    return lack;
}

/* Somebody else has got an id of the block, as on a cluster whose number of nodes has changed: it
 * is not given out, or given out again, or memory would have two rows with it. Those that are on
 * their way to the database stay: it refuses them. */
static void lose_id(struct id_block *block, int64_t id)
{
    size_t at = block->handed > block->committed ? block->handed : block->committed;
    for (size_t end = block->count; at < end;) {
        size_t middle = at + (end - at) / 2;
        if (block->ids[middle] < id)
            at = middle + 1;
        else
            end = middle;
    }
    if (at == block->count || block->ids[at] != id)
        return;
    memmove(&block->ids[at], &block->ids[at + 1], (block->count - at - 1) * sizeof(*block->ids));
    block->count--;
    block->used -= at < block->used;
}

void server_note_id(struct server_store *store, enum rows_table table, int64_t id)
{
    const struct rows_info *info = rows_info(table);
    enum store_table ids = info == NULL ? rows_record_info(table)->ids : info->ids;
    if (ids >= STORE_TABLE_COUNT)
        return;
    struct id_block *block = &store->ids[ids];
    block->read = id > block->read ? id : block->read;
    block->highest = id > block->highest ? id : block->highest;
    lose_id(block, id);
}

/* Ids of classes are not reserved: other instances may have used them by now. */
static void skip_used(struct id_block *block)
{
    while (block->used < block->count && block->ids[block->used] <= block->read)
        block->used++;
}

int64_t server_next_id(struct store *base, enum store_table table)
{
    struct server_store *store = server_store_of(base);
    if (store->has_reconnected)
        server_distrust_ids(store);
    struct id_block *block = &store->ids[table];
    if (table == STORE_CLASSES)
        skip_used(block);
    enum lack lack = block->used < block->count ? LACKS_NONE : refill(store, table);
    if (lack == LACKS_NONE)
        return block->ids[block->used++];
    if (store->lack == LACKS_NONE) {
        store->lack = lack;
        store->lacking = table;
    }
    return ID_NONE + store->lacks++;
}

bool server_lacks_id(struct store *base, struct err *err)
{
    struct server_store *store = server_store_of(base);
    enum lack lack = store->lack;
    store->lack = LACKS_NONE;
    if (lack == LACKS_IDS)
        return !err_set(err, 503, NULL, "The database gives out no ids for new rows of %s.",
                        id_table_name(store->lacking));
    if (lack == LACKS_ANSWER)
        return !err_set(err, 503, NULL,
                        "The database does not answer when it is asked for ids. Try again later.");
    return false;
}

void server_reuse_ids(struct store *base)
{
    struct server_store *store = server_store_of(base);
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        struct id_block *block = &store->ids[table];
        block->used = block->handed > block->committed ? block->handed : block->committed;
        block->is_used_up = false;
    }
    store->is_silent = false;
    store->lack = LACKS_NONE;
}

void server_hand_over_ids(struct server_store *store)
{
    for (int table = 0; table < STORE_TABLE_COUNT; table++)
        store->ids[table].handed = store->ids[table].used;
}

void server_decide_ids(struct server_store *store, bool kept)
{
    for (int table = 0; table < STORE_TABLE_COUNT; table++) {
        struct id_block *block = &store->ids[table];
        if (kept && block->handed > block->committed)
            block->committed = block->handed;
        block->handed = 0;
    }
}

void server_drop_ids(struct server_store *store)
{
    for (int table = 0; table < STORE_TABLE_COUNT; table++)
        store->ids[table].used = store->ids[table].committed = store->ids[table].count;
}

void server_free_ids(struct server_store *store)
{
    for (int table = 0; table < STORE_TABLE_COUNT; table++)
        free(store->ids[table].ids);
}
