/* Detects that a program that does not use SQLite, such as cp, has written to the file.
 *
 * In WAL mode only checkpoints write to the file, whichever process makes them. SQLite sets
 * nBackfillAttempted in the wal-index before the first page is written and nBackfill after the last
 * one ("WAL-Index File Format"), and a WAL that starts over has new salts. So if these three values
 * stayed the same while both counts were equal, there was no checkpoint, and if the file's size or
 * modification time has changed, another program has written to it.
 *
 * Not detected: a write between two checks with a checkpoint in between, or after a checkpoint that
 * failed or was killed, until the next one succeeds. The writer only. */
#include <sys/stat.h>

#include "store/sqlite/sentinel.h"

enum { /* 64-bit words of the wal-index */
       SALTS_WORD = 4,
       BACKFILL_WORD = 12,  /* its first half; the second one is a read mark */
       ATTEMPTED_WORD = 16, /* the same; the second one is not used */
};

static uint32_t first_half(const _Atomic uint64_t *at)
{
    uint64_t word = atomic_load(at);
    uint32_t half;
    memcpy(&half, &word, sizeof(half));
    return half;
}

static struct sentinel_look look_at_index(const struct sentinel *sentinel)
{
    const _Atomic uint64_t *index = sentinel->index;
    return (struct sentinel_look){
        .salts = atomic_load(index + SALTS_WORD),
        .copied = first_half(index + BACKFILL_WORD),
        .attempted = first_half(index + ATTEMPTED_WORD),
    };
}

static bool has_same_index(const struct sentinel_look *one, const struct sentinel_look *other)
{
    return one->salts == other->salts && one->copied == other->copied &&
           one->attempted == other->attempted;
}

static bool has_same_file(const struct sentinel_look *one, const struct sentinel_look *other)
{
    return one->size == other->size && one->modified.tv_sec == other->modified.tv_sec &&
           one->modified.tv_nsec == other->modified.tv_nsec;
}

/* False: a checkpoint is running, or did not finish. */
static bool take_look(const struct sentinel *sentinel, struct sentinel_look *look)
{
    struct stat file;
    *look = look_at_index(sentinel);
    if (look->copied != look->attempted || stat(sentinel->db.path, &file) != 0)
        return false;
    look->size = file.st_size;
    look->modified = file.st_mtim;
    struct sentinel_look after = look_at_index(sentinel);
    return has_same_index(look, &after);
}

bool sentinel_sees_overwriting(struct sentinel *sentinel)
{
    struct sentinel_look now;
    if (sentinel->index == NULL)
        return false;
    bool is_known = take_look(sentinel, &now);
    bool is_overwritten = is_known && sentinel->has_looked &&
                          has_same_index(&sentinel->last_look, &now) &&
                          !has_same_file(&sentinel->last_look, &now);
    sentinel->has_looked = is_known;
    sentinel->last_look = now;
    return is_overwritten;
}
