/* See log_rows.h. Pure; any thread. */
#include "store/server/log_rows.h"

#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

/* No log reaches this number: another program wrote it. */
static const int64_t NUMBER_MOST = INT64_MAX / 2;

static void hash_number(struct sha256_ctx *hash, int64_t number)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)((uint64_t)number >> (8 * (7 - i)));
    sha256_update(hash, sizeof(bytes), bytes);
}

static void hash_bytes(struct sha256_ctx *hash, struct slice bytes)
{
    sha256_update(hash, bytes.len, (const uint8_t *)bytes.data);
}

void log_rows_free(struct log_rows *rows)
{
    free(rows->at);
    if (rows->answer != NULL)
        rows->free_answer(rows->answer);
    *rows = (struct log_rows){0};
}

bool log_row_state(const struct log_row *row, struct log_state *state)
{
    *state = (struct log_state){.number = row->number};
    if (row->number <= 0 || row->number > NUMBER_MOST || row->mark.len != LOG_MARK_LEN ||
        row->before.len != LOG_DIGEST_LEN)
        return false;
    struct sha256_ctx hash;
    sha256_init(&hash);
    hash_number(&hash, row->number);
    hash_bytes(&hash, row->mark);
    hash_bytes(&hash, row->before);
    hash_bytes(&hash, row->entries);
    sha256_digest(&hash, LOG_DIGEST_LEN, state->digest);
    memcpy(state->mark, row->mark.data, LOG_MARK_LEN);
    return true;
}

/* A mark is that of one batch, so a row with the same number and mark is the same row. */
static bool is_same_row(const struct log_row *row, const struct log_state *known)
{
    return known != NULL && row->number == known->number &&
           slice_equal(row->mark, (struct slice){(const char *)known->mark, LOG_MARK_LEN});
}

enum log_found log_newest_state(const struct log_newest *newest, const struct log_state *known,
                                struct log_state *state)
{
    *state = (struct log_state){0};
    if (!newest->is_primary)
        return LOG_FOUND_STANDBY;
    if (newest->rows.count == 0)
        return LOG_FOUND_STATE;
    const struct log_row *row = &newest->rows.at[0];
    if (!newest->is_known)
        return log_row_state(row, state) ? LOG_FOUND_STATE : LOG_FOUND_FOREIGN;
    if (!is_same_row(row, known))
        return LOG_FOUND_FOREIGN;
    *state = *known;
    return LOG_FOUND_STATE;
}

bool log_state_equal(const struct log_state *a, const struct log_state *b)
{
    return a->number == b->number && memcmp(a->mark, b->mark, LOG_MARK_LEN) == 0 &&
           memcmp(a->digest, b->digest, LOG_DIGEST_LEN) == 0;
}

struct store_stamp log_state_stamp(const struct log_state *state, uint32_t taken)
{
    struct store_stamp stamp = {{0}};
    _Static_assert(sizeof(*state) + sizeof(taken) < sizeof(stamp), "a stamp contains both");
    memcpy(stamp.bytes, state, sizeof(*state));
    memcpy(stamp.bytes + sizeof(*state), &taken, sizeof(taken));
    stamp.bytes[sizeof(*state) + sizeof(taken)] = 1; /* no state has the stamp that is all zero */
    return stamp;
}

struct store_stamp log_stamp_of_none(void)
{
    struct store_stamp stamp;
    memset(stamp.bytes, 0xff, sizeof(stamp.bytes));
    return stamp;
}
