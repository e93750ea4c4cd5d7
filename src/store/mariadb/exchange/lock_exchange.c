/* Takes the lock of the next batch, and reads the log's rows in the same round trip. The last of
 * them counts as the newest state. */
#include "store/mariadb/exchange/exchanges.h"
#include "store/mariadb/log/log_sql.h"
#include "store/mariadb/log/write_texts.h"
#include "store/mariadb/session/backend.h"
#include "store/mariadb/session/session_state.h"

enum { SINCE_RESULT = MARIADB_LOCK_RESULTS, RESULTS };
_Static_assert((int)RESULTS <= (int)MARIADB_KEPT_MOST, "a session has room for all results");

enum server_outcome mariadb_lock_send(struct server_session *base, const struct log_range *since,
                                      struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    session->sql.len = 0;
    mariadb_write_texts_lock(session->server.is_galera, base->options.lock_timeout_ms, session,
                             &session->sql);
    mariadb_log_sql_locked(session, since, &session->sql);
    const struct mariadb_text text = {.sql = buf_slice(&session->sql), .what = "locked"};
    mariadb_session_free_kept(session);
    return mariadb_text_start(session, &text, session->kept, RESULTS, err);
}

enum server_outcome mariadb_lock_drive(struct server_session *base, struct locked_news *news,
                                       uint64_t until_us, uint64_t deadline_us, struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    enum server_outcome outcome = mariadb_text_drive(session, until_us, deadline_us, err);
    if (outcome != SERVER_WOKEN)
        mariadb_log_since_end(session, outcome);
    if (outcome == SERVER_FAILED && session->failure.is_too_large)
        return SERVER_LOST; /* so that it is asked for again */
    if (outcome != SERVER_OK)
        return outcome;
    mariadb_log_locked(&session->kept[SINCE_RESULT], news);
    outcome =
        mariadb_backend_check(session, &session->kept[MARIADB_LOCK_ROW], MARIADB_LOCK_COLUMNS, err);
    news->is_there &= outcome == SERVER_OK;
    return outcome;
}
