/* One session with a MariaDB server that does as it is told, for mariadb_sessions.py.
 *
 *     mariadb_session_shell URL [NAME=NUMBER]…    lock_timeout, sync_wait
 *
 * Each line of standard input is a command, the milliseconds of its deadline, and a text, separated
 * by tabs: connect, close, notice_end, run, stream, or commit N, whose text has N statements and
 * ends with COMMIT. For each, a line of JSON is printed. One thread. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "store/mariadb/session/session.h"
#include "store/mariadb/session/session_state.h"
#include "store/server/dialects.h"

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
static const char *const KINDS[] = {
    [MARIADB_OTHER] = "OTHER",         [MARIADB_DUPLICATE] = "DUPLICATE",
    [MARIADB_REFERENCE] = "REFERENCE", [MARIADB_CANNOT_HOLD] = "CANNOT_HOLD",
    [MARIADB_NOT_FOUND] = "NOT_FOUND", [MARIADB_LOCKED] = "LOCKED",
    [MARIADB_CONFLICT] = "CONFLICT",   [MARIADB_READ_ONLY] = "READ_ONLY",
    [MARIADB_PASSES] = "PASSES",
};

struct shell {
    struct arena *arena;
    struct mariadb_session *session;
    struct err err;
    uint64_t deadline_us;
    struct slice value; /* the first of the rows, in the arena; without data: none */
    size_t results;     /* of a text, or rows of a stream */
};

static enum server_outcome execute(struct shell *shell, struct slice sql, size_t commits)
{
    struct mariadb_text text = {.sql = sql, .commit = commits};
    struct mariadb_rows rows = {0};
    enum server_outcome outcome = mariadb_session_execute(
        shell->session, &text, &rows, 1, &shell->results, shell->deadline_us, &shell->err);
    struct slice value = mariadb_rows_bytes(&rows, 0, 0);
    if (value.data != NULL)
        shell->value = arena_copy(shell->arena, value);
    mariadb_rows_free(&rows);
    return outcome;
}

static enum server_outcome stream(struct shell *shell, struct slice sql)
{
    struct mariadb_text text = {.sql = sql};
    struct mariadb_rows row = {0};
    enum server_outcome outcome = mariadb_stream_begin(shell->session, &text, &shell->err);
    while (outcome == SERVER_OK) {
        outcome = mariadb_stream_next(shell->session, &row, shell->deadline_us, &shell->err);
        shell->results += outcome == SERVER_OK;
    }
    mariadb_rows_free(&row);
    return outcome == SERVER_END ? SERVER_OK : outcome;
}

static enum server_outcome obey(struct shell *shell, struct slice command, struct slice sql)
{
    if (slice_equal(command, SLICE_LIT("connect")))
        return mariadb_session_connect(shell->session, shell->deadline_us, &shell->err);
    if (slice_equal(command, SLICE_LIT("run")))
        return execute(shell, sql, 0);
    if (slice_equal(command, SLICE_LIT("stream")))
        return stream(shell, sql);
    if (slice_equal(command, SLICE_LIT("notice_end"))) {
        mariadb_session_notice_end(shell->session);
        return SERVER_OK;
    }
    if (slice_equal(command, SLICE_LIT("close"))) {
        mariadb_session_close(shell->session);
        return SERVER_OK;
    }
    check(slice_starts_with(command, SLICE_LIT("commit ")));
    return execute(shell, sql, strtoull(command.data + strlen("commit "), NULL, 10));
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

static void answer(const struct shell *shell, enum server_outcome outcome, uint64_t took_us)
{
    const struct mariadb_failure *failure = mariadb_session_failure(shell->session);
    const struct mariadb_server *server = mariadb_session_server(shell->session);
    struct buf out = {0};
    buf_printf(&out,
               "{\"outcome\": \"%s\", \"ms\": %llu, \"results\": %zu, \"result\": %zu, \"code\": "
               "%u, \"started\": \"%llx\", \"system\": \"%llx\", \"increment\": %llu",
               OUTCOMES[outcome], (unsigned long long)(took_us / 1000), shell->results,
               failure->result, failure->code, (unsigned long long)server->id.started,
               (unsigned long long)server->id.system,
               (unsigned long long)server->auto_increment_increment);
    write_text(&out, "commit", slice_of(COMMITS[shell->session->base.commit]));
    write_text(&out, "kind", slice_of(KINDS[failure->kind]));
    write_text(&out, "message", shell->err.message);
    write_text(&out, "node", slice_of(server->node));
    write_text(&out, "version", slice_of(server->version_text));
    write_text(&out, "value", shell->value);
    write_flag(&out, "open", mariadb_session_is_open(shell->session));
    write_flag(&out, "in_transaction", mariadb_session_in_transaction(shell->session));
    write_flag(&out, "tls", server->uses_tls);
    write_flag(&out, "galera", server->is_galera);
    write_flag(&out, "proxied", server->is_proxied);
    write_flag(&out, "read_only", server->is_read_only);
    buf_append_lit(&out, "}\n");
    check(fwrite(out.data, 1, out.len, stdout) == out.len && fflush(stdout) == 0);
    buf_free(&out);
}

static void obey_line(struct shell *shell, struct slice line)
{
    struct slice command = arena_copy(shell->arena, slice_cut(&line, '\t'));
    uint64_t ms = strtoull(slice_cut(&line, '\t').data, NULL, 10);
    shell->err = (struct err){.arena = shell->arena};
    shell->value = (struct slice){0};
    shell->results = 0;
    uint64_t began_us = clock_monotonic_us();
    shell->deadline_us = began_us + ms * 1000;
    enum server_outcome outcome = obey(shell, command, line);
    answer(shell, outcome, clock_monotonic_us() - began_us);
}

static struct mariadb_session *create(struct arena *arena, int argc, char **argv)
{
    struct err err = {.arena = arena};
    struct mariadb_url url;
    struct server_session_options options = {.wake_fd = -1};
    int sync_wait = MARIADB_SYNC_WAIT_OFF;
    if (argc < 2 || !mariadb_url_parse(slice_of(argv[1]), SLICE_LIT(""), arena, &url, &err)) {
        fprintf(stderr, "mariadb_session_shell: %s\n", argc < 2 ? "no URL" : err.message.data);
        exit(2);
    }
    for (int i = 2; i < argc; i++) {
        struct slice value = slice_of(argv[i]);
        struct slice name = slice_cut(&value, '=');
        if (slice_equal(name, SLICE_LIT("lock_timeout")))
            options.lock_timeout_ms = atoi(value.data);
        else
            sync_wait = atoi(value.data);
    }
    const struct server_address address = {&mariadb_dialect, &url, url.target};
    options.address = &address;
    struct mariadb_session *session = mariadb_session_create(&options);
    mariadb_session_set_sync_wait(session, sync_wait);
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
    mariadb_session_destroy(shell.session);
    arena_destroy(arena);
    return 0;
}
