/* Who has locked a row: the log names the session, so that an operator can end it. */
#include "log/log.h"
#include "store/postgres/exchanges.h"
#include "store/postgres/store_internal.h"

void postgres_log_lock_holder(struct postgres_store *store, int64_t provider_id)
{
    struct err ignored = postgres_ignored(store);
    struct slice holder = {0};
    bool is_named = !store->read.is_open &&
                    postgres_ensure_session(store, store->follower, &ignored) &&
                    pg_row_holder(store->follower, provider_id, ignored.arena, &holder,
                                  postgres_deadline(store), &ignored) == SERVER_OK &&
                    holder.data != NULL;
    if (!is_named)
        holder = SLICE_LIT("a session that is not known");
    log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT,
              "the database '%.*s': the row of the provider with the id %lld is locked by %.*s. "
              "Requests that change it are answered 503",
              SLICE_ARG(store->url.target), (long long)provider_id, SLICE_ARG(holder));
}
