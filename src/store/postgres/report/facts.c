/* See facts.h. The timeline is that of the WAL being written, because pg_control_checkpoint()
 * keeps the old one until the first checkpoint after a promotion; a standby writes none. One thread
 * at a time. */
#include "store/postgres/report/facts.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/report.h"

enum {
    FACT_ADDRESS,
    FACT_PORT,
    FACT_VERSION,
    FACT_STANDBY,
    FACT_READ_ONLY,
    FACT_TIMELINE,
    FACT_COMMIT,
    FACT_SYNC_NAMES,
    FACT_STANDBYS,
};

enum { BACKUPS_SHOWN_FROM = 130000 };

/* Not every process that sends WAL sends it to a standby: a logical slot feeds a copy of another
 * kind, and a base backup uses a temporary one. That a process sends a backup is shown to everybody
 * from version 13 on, before it only to members of pg_read_all_stats. */
#define FACTS(backups)                                                                             \
    "SELECT host(inet_server_addr()), inet_server_port(), current_setting('server_version'),"      \
    " pg_is_in_recovery(), current_setting('transaction_read_only') = 'on',"                       \
    " CASE WHEN NOT pg_is_in_recovery()"                                                           \
    " THEN left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END,"                             \
    " current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),"        \
    " (SELECT count(*) FROM pg_stat_get_wal_senders() w WHERE state IS DISTINCT FROM 'backup'"     \
    " AND NOT EXISTS (SELECT FROM pg_replication_slots s WHERE s.active_pid = w.pid"               \
    " AND (s.slot_type = 'logical' OR s.temporary))" backups ")"

static const char FACTS_BEFORE_13[] = FACTS("");
static const char FACTS_FROM_13[] =
    FACTS(" AND NOT EXISTS (SELECT FROM pg_stat_progress_basebackup b WHERE b.pid = w.pid)");

static void copy(char *out, size_t room, struct slice text)
{
    snprintf(out, room, "%.*s", SLICE_ARG(text));
}

static int64_t number(const struct pg_rows *rows, size_t column)
{
    int64_t value = 0;
    return pg_rows_int(rows, 0, column, &value) ? value : 0;
}

static void write_address(const struct pg_rows *rows, char *out, size_t room)
{
    struct slice host = pg_rows_bytes(rows, 0, FACT_ADDRESS);
    bool is_ipv6 = memchr(host.data == NULL ? "" : host.data, ':', host.len) != NULL;
    if (host.data == NULL)
        snprintf(out, room, "unix socket");
    else
        snprintf(out, room, is_ipv6 ? "[%.*s]:%lld" : "%.*s:%lld", SLICE_ARG(host),
                 (long long)number(rows, FACT_PORT));
}

static enum store_replication replication(const struct pg_rows *rows)
{
    struct slice commit = pg_rows_bytes(rows, 0, FACT_COMMIT);
    bool waits = !slice_equal(commit, SLICE_LIT("off")) && !slice_equal(commit, SLICE_LIT("local"));
    if (waits && pg_rows_bytes(rows, 0, FACT_SYNC_NAMES).len > 0)
        return STORE_REPLICATION_SYNC;
    return number(rows, FACT_STANDBYS) > 0 ? STORE_REPLICATION_ASYNC : STORE_REPLICATION_NONE;
}

bool pg_facts_read(struct pg_session *session, struct store_server *facts, uint64_t deadline_us,
                   struct err *err)
{
    bool is_newer = pg_session_server(session)->version >= BACKUPS_SHOWN_FROM;
    const struct pg_statement statement = {
        .sql = is_newer ? FACTS_FROM_13 : FACTS_BEFORE_13, .is_prepared = true, .what = "read"};
    struct pg_rows rows = {0};
    if (pg_session_execute(session, &statement, &rows, deadline_us, err) != SERVER_OK)
        return false;
    struct slice timeline = pg_rows_bytes(&rows, 0, FACT_TIMELINE);
    *facts = (struct store_server){
        .is_standby = number(&rows, FACT_STANDBY) != 0,
        .is_read_only = number(&rows, FACT_READ_ONLY) != 0,
        .is_pooled = pg_session_server(session)->is_pooled,
        .uses_tls = pg_session_server(session)->uses_tls,
        .knows_standbys = true,
        .has_timeline = true,
        .timeline = timeline.data == NULL ? 0 : (uint32_t)strtoul(timeline.data, NULL, 16),
        .standbys = (unsigned)number(&rows, FACT_STANDBYS),
        .replication = replication(&rows),
        .isolation = "read committed",
    };
    write_address(&rows, facts->address, sizeof(facts->address));
    copy(facts->version, sizeof(facts->version), pg_rows_bytes(&rows, 0, FACT_VERSION));
    report_add_setting(facts, "synchronous_commit", pg_rows_bytes(&rows, 0, FACT_COMMIT));
    pg_rows_free(&rows);
    return true;
}
