/* Shares the write lock with another instance.
 *
 * When SQLite's lock is free, the first process to request it gets it, and that is always a writer
 * that begins again at once. So a process that notices another writer (begin was busy, or found its
 * commits) leaves the lock free after its own commits: until the other has committed, which the
 * wal-index shows, so that two loaded instances take turns; or for 2 ms, and 4 ms if the other did
 * not take it, because on a busy machine a waiting process is woken late (waiting longer costs more
 * commits than it gains). If the other has not taken it four times, it has nothing to write, and is
 * offered a turn every 40 ms until it writes again. The writer only. */

#include "base/clock.h"
#include "base/wait.h"
#include "store/sqlite/internal.h"

enum {
    FIRST_OFFER_US = 2000,
    OFFER_US = 4000,
    OFFERS = 4,                   /* one after the other */
    PAUSE_US = 40000,             /* after those, between two */
    REMEMBERED_FOR_US = 10000000, /* longer than any process waits for the lock */
    ASK_EVERY_US = 200,
};

void sqlite_saw_other(struct sqlite_store *store)
{
    store->sharing.seen_at_us = (int64_t)clock_monotonic_us();
    store->sharing.unused = 0;
}

void sqlite_plan_leaving_free(struct sqlite_store *store)
{
    struct sharing *sharing = &store->sharing;
    int64_t now_us = (int64_t)clock_monotonic_us();
    sharing->free_until_us = 0;
    if (sharing->seen_at_us == 0 || now_us - sharing->seen_at_us > REMEMBERED_FOR_US)
        return;
    if (sharing->unused >= OFFERS && now_us - sharing->left_at_us < PAUSE_US)
        return;
    sharing->left_at_us = now_us;
    sharing->free_until_us = now_us + (sharing->unused == 0 ? FIRST_OFFER_US : OFFER_US);
    sharing->unused++;
}

void sqlite_leave_free(struct sqlite_store *store)
{
    const struct followed *followed = &store->followed;
    int64_t until_us = store->sharing.free_until_us;
    store->sharing.free_until_us = 0;
    for (;;) {
        int64_t left_us = until_us - (int64_t)clock_monotonic_us();
        /* If there is no stamp, another process has committed since. */
        if (left_us <= 0 || !followed->stamp_known || !sqlite_is_current(store, &followed->stamp))
            return;
        int64_t us = left_us < ASK_EVERY_US ? left_us : ASK_EVERY_US;
        wait_sleep_us((uint64_t)us);
    }
}
