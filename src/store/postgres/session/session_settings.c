/* Settings are applied by a statement, not by the "options" of the connection: PgBouncer refuses
 * these, and the same statement can tell whether a pooler is in between.
 * Directly connected, they hold for the session. Behind a pooler they would stay with a server
 * process that others use next, so each transaction sets its own. It also checks the server,
 * because a pooler may have connected to another one meanwhile, as after a failover. Pure; any
 * thread. */
#include "store/postgres/session/session_settings.h"

/* Texts are read back as UTC and ISO; extra_float_digits makes floats exact. The timeouts are the
 * caller's, or stay as they are. */
#define SET(scope)                                                                                 \
    "set_config('TimeZone', 'UTC', " scope "), set_config('DateStyle', 'ISO', " scope "), "        \
    "set_config('extra_float_digits', '1', " scope "), "                                           \
    "set_config('statement_timeout', "                                                             \
    "coalesce($1::text, current_setting('statement_timeout')), " scope "), "                       \
    "set_config('idle_in_transaction_session_timeout', "                                           \
    "coalesce($2::text, current_setting('idle_in_transaction_session_timeout')), " scope "), "     \
    "set_config('lock_timeout', coalesce($3::text, current_setting('lock_timeout')), " scope ")"

/* Of statements without a BEGIN. At another level they could fail because of what other programs
 * do. */
#define ISOLATION "set_config('default_transaction_isolation', 'read committed', false)"

const char PG_SETTINGS_OF_TRANSACTION[] = "SELECT " SET("true");

const char PG_SETTINGS_OF_SESSION[] =
    "SELECT pg_backend_pid(), host(inet_server_addr()), "
    "CASE WHEN pg_backend_pid() = $4 THEN row(" SET("false") ", " ISOLATION ")::text END";

/* A cast that fails. The server cannot execute it in advance, because it needs the current time. */
const char PG_SERVER_IS_SAME[] = "SELECT CASE WHEN pg_postmaster_start_time() = $1::timestamptz"
                                 " AND " PG_TIMELINE " IS NOT DISTINCT FROM $2::bigint"
                                 " THEN 0 ELSE ('!' || pg_postmaster_start_time())::int END";

void pg_server_values(const struct server_id *id,
                      struct pg_parameter values[static PG_SERVER_PARAMETERS])
{
    values[0] =
        pg_binary(PG_TIMESTAMPTZ, (struct slice){(const char *)&id->started, sizeof(id->started)});
    values[1] = id->timeline == 0 ? pg_null(PG_INT8) : pg_int8(id->timeline);
}

size_t pg_settings_values(const struct server_session_options *options,
                          struct pg_parameter values[static PG_SETTINGS_OWN])
{
    const int timeouts_ms[] = {options->statement_timeout_ms, options->idle_in_transaction_ms,
                               options->lock_timeout_ms};
    for (size_t i = 0; i < PG_SETTINGS_OWN; i++)
        values[i] = timeouts_ms[i] > 0 ? pg_int4(timeouts_ms[i]) : pg_null(PG_INT4);
    return PG_SETTINGS_OWN;
}
