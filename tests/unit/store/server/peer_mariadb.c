/* MariaDB's part of peer.h. */
#include "peer_kinds.h"

#include "store/mariadb/session/session.h"
#include "store/mariadb/session/session_state.h"

enum { RESULTS_MOST = 8 };

static enum server_outcome execute(struct server_session *session, const char *sql, struct buf *row,
                                   uint64_t deadline_us, struct err *err)
{
    const struct mariadb_text text = {.sql = slice_of(sql)};
    struct mariadb_rows rows[RESULTS_MOST] = {0};
    size_t results = 0;
    enum server_outcome outcome = mariadb_session_execute(mariadb_session_of(session), &text, rows,
                                                          RESULTS_MOST, &results, deadline_us, err);
    const struct mariadb_rows *last =
        &rows[results > 0 && results <= RESULTS_MOST ? results - 1 : 0];
    size_t columns = mariadb_rows_count(last) > 0 ? last->types.len : 0;
    for (size_t i = 0; i < columns; i++) {
        buf_append_slice(row, i == 0 ? SLICE_LIT("") : SLICE_LIT("|"));
        buf_append_slice(row, mariadb_rows_bytes(last, 0, i));
    }
    for (size_t i = 0; i < RESULTS_MOST; i++)
        mariadb_rows_free(&rows[i]);
    return outcome;
}

static int64_t connection(const struct server_session *session)
{
    return (int64_t)mariadb_session_server(mariadb_session_of_const(session))->connection_id;
}

static const char *terminate(struct arena *arena, int64_t connection)
{
    return arena_printf(arena, "KILL %lld", (long long)connection).data;
}

static const char *has_ended(struct arena *arena, int64_t connection)
{
    return arena_printf(arena,
                        "SELECT NOT EXISTS (SELECT 1 FROM information_schema.processlist"
                        " WHERE id = %lld)",
                        (long long)connection)
        .data;
}

static const char *set_last_id(struct arena *arena, const char *table, int64_t last)
{
    return arena_printf(arena, "ALTER TABLE %s AUTO_INCREMENT = %lld", table, (long long)last + 1)
        .data;
}

/* The table of transactions is brought up to date if nobody has read it for a tenth of a second. */
#define QUEUE(of_commit)                                                                           \
    "DO SLEEP(0.12);"                                                                              \
    "SELECT COUNT(*) FROM information_schema.processlist p LEFT JOIN"                              \
    " information_schema.innodb_trx ON id = trx_mysql_thread_id WHERE db = DATABASE()"             \
    " AND (trx_state = 'LOCK WAIT' OR p.state = '" of_commit "')"

#define BOTH                                                                                       \
    .execute = execute, .connection = connection, .terminate = terminate, .has_ended = has_ended,  \
    .set_last_id = set_last_id, .standby = {"SET GLOBAL read_only = 1"},                           \
    .primary = {"SET GLOBAL read_only = 0"}

/* Commits wait for a replica, and there is none. */
const struct peer_kind peer_mysql = {
    BOTH,
    .queue = QUEUE("Waiting for semi-sync ACK from replica"),
    .hold = {"SET GLOBAL rpl_semi_sync_source_timeout = 3600000",
             "SET GLOBAL rpl_semi_sync_source_enabled = 1"},
    .release = {"SET GLOBAL rpl_semi_sync_source_enabled = 0"},
};

const struct peer_kind peer_mariadb = {
    BOTH,
    .queue = QUEUE("Waiting for backup lock"),
    .hold = {"BACKUP STAGE START", "BACKUP STAGE FLUSH", "BACKUP STAGE BLOCK_DDL",
             "BACKUP STAGE BLOCK_COMMIT"},
    .release = {"BACKUP STAGE END"},
};
