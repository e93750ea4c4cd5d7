/* One session that does as it is told, for sessions.py.
 *
 *     session_shell URL [NAME=NUMBER]…    prepared (enum pg_prepared_use), statement_timeout,
 * idle_in_transaction
 *
 * Each line of standard input is a command, the milliseconds of its deadline, and statements,
 * separated by tabs: connect, close, run, prepared, begin, commit, pipeline, stream, facts. For
 * each, a line of JSON is printed. One thread. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "store/postgres/report/facts.h"
#include "store/postgres/session/pipeline.h"
#include "store/postgres/session/session_state.h"
#include "store/server/dialects.h"

enum { STATEMENTS_MOST = 100 };

static const char *const OUTCOMES[] = {
    [SERVER_OK] = "OK",         [SERVER_REFUSED] = "REFUSED", [SERVER_RETRY] = "RETRY",
    [SERVER_FAILED] = "FAILED", [SERVER_LOST] = "LOST",       [SERVER_TIMEOUT] = "TIMEOUT",
    [SERVER_END] = "END",       [SERVER_WOKEN] = "WOKEN",
};
static const char *const COMMITS[] = {
    [SERVER_COMMIT_NONE] = "NONE",
    [SERVER_COMMIT_SENT] = "SENT",
    [SERVER_COMMIT_DONE] = "DONE",
    [SERVER_COMMIT_UNKNOWN] = "UNKNOWN",
};

struct shell {
    struct arena *arena;
    struct pg_session *session;
    struct err err;
    uint64_t deadline_us;
    const char *statements[STATEMENTS_MOST];
    size_t statements_n;
    struct slice value; /* the first of the last rows, in the arena; without data: none */
    size_t results;     /* statements of a pipeline, or rows of a stream */
    struct store_server facts;
};

static bool is_commit(const char *sql)
{
    return strcmp(sql, "COMMIT") == 0;
}

static void keep_value(struct shell *shell, struct pg_rows *rows)
{
    struct slice value = pg_rows_bytes(rows, 0, 0);
    if (value.data != NULL)
        shell->value = arena_copy(shell->arena, value);
    pg_rows_free(rows);
}

static enum server_outcome execute(struct shell *shell, const char *sql, bool prepared)
{
    struct pg_statement statement = {
        .sql = sql, .is_prepared = prepared, .is_commit = is_commit(sql)};
    struct pg_rows rows = {0};
    enum server_outcome outcome =
        pg_session_execute(shell->session, &statement, &rows, shell->deadline_us, &shell->err);
    keep_value(shell, &rows);
    return outcome;
}

static enum server_outcome queue(struct shell *shell, const char *sql)
{
    struct pg_statement statement = {.sql = sql, .is_prepared = true, .is_commit = is_commit(sql)};
    if (strncmp(sql, "BEGIN", 5) == 0)
        return pg_pipeline_queue_begin(shell->session, sql, &shell->err);
    return pg_pipeline_queue(shell->session, &statement, &shell->err);
}

static enum server_outcome pipeline(struct shell *shell)
{
    enum server_outcome outcome = pg_pipeline_begin(shell->session, &shell->err);
    for (size_t i = 0; i < shell->statements_n && outcome == SERVER_OK; i++)
        outcome = queue(shell, shell->statements[i]);
    if (outcome == SERVER_OK)
        outcome = pg_pipeline_send(shell->session, shell->deadline_us, &shell->err);
    while (outcome == SERVER_OK) {
        struct pg_rows rows = {0};
        outcome = pg_pipeline_next(shell->session, &rows, shell->deadline_us, &shell->err);
        shell->results += outcome == SERVER_OK;
        keep_value(shell, &rows);
    }
    return outcome == SERVER_END
               ? pg_pipeline_finish(shell->session, shell->deadline_us, &shell->err)
               : outcome;
}

static enum server_outcome stream(struct shell *shell)
{
    struct pg_statement statement = {.sql = shell->statements[0]};
    struct pg_rows rows = {0};
    enum server_outcome outcome =
        pg_stream_begin(shell->session, &statement, shell->deadline_us, &shell->err);
    while (outcome == SERVER_OK) {
        outcome = pg_stream_next(shell->session, &rows, shell->deadline_us, &shell->err);
        shell->results += outcome == SERVER_OK;
    }
    return outcome == SERVER_END ? SERVER_OK : outcome;
}

static enum server_outcome obey(struct shell *shell, struct slice command)
{
    const char *sql = shell->statements_n > 0 ? shell->statements[0] : "";
    if (slice_equal(command, SLICE_LIT("connect")))
        return pg_session_connect(shell->session, shell->deadline_us, &shell->err);
    if (slice_equal(command, SLICE_LIT("begin")))
        return pg_session_begin(shell->session, sql, shell->deadline_us, &shell->err);
    if (slice_equal(command, SLICE_LIT("pipeline")))
        return pipeline(shell);
    if (slice_equal(command, SLICE_LIT("stream")))
        return stream(shell);
    if (slice_equal(command, SLICE_LIT("facts")))
        return pg_facts_read(shell->session, &shell->facts, shell->deadline_us, &shell->err)
                   ? SERVER_OK
                   : SERVER_FAILED;
    if (slice_equal(command, SLICE_LIT("close"))) {
        pg_session_close(shell->session);
        return SERVER_OK;
    }
    bool prepared = slice_equal(command, SLICE_LIT("prepared"));
    check(prepared || slice_equal(command, SLICE_LIT("run")));
    return execute(shell, sql, prepared);
}

static void write_text(struct buf *out, const char *name, struct slice text)
{
    buf_printf(out, ", \"%s\": ", name);
    if (text.data == NULL)
        buf_append_lit(out, "null");
    else
        json_write_string(out, text);
}

static void write_flag(struct buf *out, const char *name, bool flag)
{
    buf_printf(out, ", \"%s\": %s", name, flag ? "true" : "false");
}

static void write_facts(struct buf *out, const struct store_server *facts)
{
    static const char *const REPLICATIONS[] = {
        [STORE_REPLICATION_NONE] = "none",
        [STORE_REPLICATION_ASYNC] = "async",
        [STORE_REPLICATION_SYNC] = "sync",
        [STORE_REPLICATION_UNKNOWN] = "unknown",
    };
    buf_append_lit(out, ", \"facts\": {\"replication\": ");
    json_write_string(out, slice_of(REPLICATIONS[facts->replication]));
    write_text(out, "server_address", slice_of(facts->address));
    write_text(out, "server_version", slice_of(facts->version));
    write_text(out, "synchronous_commit", slice_of(report_setting(facts, "synchronous_commit")));
    write_flag(out, "standby", facts->is_standby);
    write_flag(out, "read_only", facts->is_read_only);
    buf_printf(out, ", \"timeline\": %u, \"standbys\": %u}", facts->timeline, facts->standbys);
}

static void answer(const struct shell *shell, enum server_outcome outcome, uint64_t took_us)
{
    const struct pg_failure *failure = pg_session_failure(shell->session);
    const struct pg_server *server = pg_session_server(shell->session);
    struct buf out = {0};
    buf_printf(
        &out,
        "{\"outcome\": \"%s\", \"ms\": %llu, \"results\": %zu, \"statement\": %zu, \"version\": %d",
        OUTCOMES[outcome], (unsigned long long)(took_us / 1000), shell->results, failure->statement,
        server->version);
    write_text(&out, "commit", slice_of(COMMITS[shell->session->base.commit]));
    write_text(&out, "message", shell->err.message);
    write_text(&out, "sqlstate", slice_of(failure->sqlstate));
    write_text(&out, "address", slice_of(server->address));
    write_text(&out, "value", shell->value);
    write_flag(&out, "open", pg_session_is_open(shell->session));
    write_flag(&out, "in_transaction", pg_session_in_transaction(shell->session));
    write_flag(&out, "pooled", server->is_pooled);
    write_flag(&out, "tls", server->uses_tls);
    write_facts(&out, &shell->facts);
    buf_append_lit(&out, "}\n");
    check(fwrite(out.data, 1, out.len, stdout) == out.len && fflush(stdout) == 0);
    buf_free(&out);
}

static void obey_line(struct shell *shell, struct slice line)
{
    struct slice command = slice_cut(&line, '\t');
    uint64_t ms = strtoull(slice_cut(&line, '\t').data, NULL, 10);
    shell->err = (struct err){.arena = shell->arena};
    shell->value = (struct slice){0};
    shell->statements_n = shell->results = 0;
    while (line.len > 0 && shell->statements_n < STATEMENTS_MOST)
        shell->statements[shell->statements_n++] =
            arena_copy(shell->arena, slice_cut(&line, '\t')).data;
    uint64_t began_us = clock_monotonic_us();
    shell->deadline_us = began_us + ms * 1000;
    enum server_outcome outcome = obey(shell, command);
    answer(shell, outcome, clock_monotonic_us() - began_us);
}

static struct pg_session *create(struct arena *arena, int argc, char **argv)
{
    struct err err = {.arena = arena};
    struct pg_url url;
    struct server_session_options options = {.wake_fd = -1};
    enum pg_prepared_use prepared = PG_PREPARED_AUTO;
    if (argc < 2 || !pg_url_parse(slice_of(argv[1]), SLICE_LIT(""), arena, &url, &err)) {
        fprintf(stderr, "session_shell: %s\n", argc < 2 ? "no URL" : err.message.data);
        exit(2);
    }
    for (int i = 2; i < argc; i++) {
        struct slice value = slice_of(argv[i]);
        struct slice name = slice_cut(&value, '=');
        int number = atoi(value.data);
        if (slice_equal(name, SLICE_LIT("prepared")))
            prepared = (enum pg_prepared_use)number;
        else if (slice_equal(name, SLICE_LIT("statement_timeout")))
            options.statement_timeout_ms = number;
        else
            options.idle_in_transaction_ms = number;
    }
    const struct server_address address = {&pg_dialect, &url, url.target};
    options.address = &address;
    struct pg_session *session = pg_session_create(&options);
    pg_session_set_prepared(session, prepared);
    return session;
}

int main(int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct shell shell = {.arena = arena, .session = create(arena, argc, argv)};
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    while ((len = getline(&line, &room, stdin)) > 0)
        obey_line(&shell, (struct slice){line, (size_t)len - 1});
    free(line);
    pg_session_destroy(shell.session);
    arena_destroy(arena);
    return 0;
}
