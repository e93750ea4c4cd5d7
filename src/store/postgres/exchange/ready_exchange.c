/* Prepares a connection for the statements of batches and reads. */
#include "store/postgres/exchange/exchanges.h"
#include "store/postgres/session/session_state.h"

static const char STANDBY[] = "SELECT pg_is_in_recovery()";

/* Statements are planned once, for arrays of any length: without this, a plan would be made for
 * each batch, or the first one, made while a table was small, would be kept. Each row is found
 * through an index. Plans that must use what is off all the same seem so expensive that they would
 * be compiled first, for a tenth of a second. Behind a pooler the settings would stay with a server
 * process that others use next, and statements are planned each time there, with the lengths of
 * their arrays. A server process that waits for a lock or a standby notices that its client has
 * gone. */
static const char PLANNER[] = "SELECT set_config('plan_cache_mode', 'force_generic_plan', false),"
                              " set_config('enable_hashjoin', 'off', false),"
                              " set_config('enable_mergejoin', 'off', false),"
                              " set_config('enable_seqscan', 'off', false),"
                              " set_config('enable_sort', 'off', false),"
                              " set_config('jit', 'off', false),"
                              " CASE WHEN current_setting('client_connection_check_interval', true)"
                              " IS NOT NULL THEN set_config('client_connection_check_interval',"
                              " '2000', false) END,"
                              " pg_is_in_recovery()";

enum server_outcome pg_make_ready(struct server_session *base, uint64_t deadline_us,
                                  struct err *err)
{
    struct pg_session *session = pg_session_of(base);
    bool is_pooled = session->server.is_pooled;
    const struct pg_statement statement = {
        .sql = is_pooled ? STANDBY : PLANNER, .binary_results = true, .what = "used"};
    struct pg_rows rows = {0};
    int64_t is_standby = 1;
    enum server_outcome outcome = pg_session_execute(session, &statement, &rows, deadline_us, err);
    if (outcome == SERVER_OK &&
        (!pg_rows_int(&rows, 0, is_pooled ? 0 : 7, &is_standby) || is_standby != 0)) {
        err_set(err, 503, NULL, "the database '%.*s' %s", SLICE_ARG(base->target), pg_standby);
        outcome = SERVER_RETRY;
    }
    pg_rows_free(&rows);
    return outcome;
}
