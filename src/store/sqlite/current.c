/* Checks whether the database is still in a state seen before. Any thread. */
#include "store/sqlite/internal.h"

bool sqlite_is_current(const struct sqlite_store *store, const struct store_stamp *stamp)
{
    if (store->in_memory) {
        uint64_t commits = atomic_load_explicit(&store->commits, memory_order_acquire);
        return memcmp(stamp->bytes, &commits, sizeof(commits)) == 0;
    }
    struct sentinel *sentinel = atomic_load_explicit(&store->sentinel, memory_order_acquire);
    return sentinel != NULL && sentinel_is_current(sentinel, stamp);
}
