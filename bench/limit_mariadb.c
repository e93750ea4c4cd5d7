/* The limits of the MariaDB store: claims committed through libmariadb (limit_claims.h).
 *
 * A batch is the very text that berth sends: its statements come from berth's own code. */
#include <err.h>
#include <stdlib.h>

#include "limit_claims.h"
#include "store/mariadb/exchange/write_sql.h"
#include "store/mariadb/log/log_sql.h"
#include "store/mariadb/log/write_texts.h"
#include "store/mariadb/session/session_state.h"

struct texts {
    const struct mariadb_session *session;
    MYSQL *conn;
    long long thread; /* of the server */
    struct buf batches[2];
};

static void fail(const struct texts *texts)
{
    errx(1, "%s", mysql_error(texts->conn));
}

static int64_t *read_numbers(void *self, const char *sql, size_t columns, size_t *rows)
{
    const struct texts *texts = self;
    if (mysql_query(texts->conn, sql) != 0)
        fail(texts);
    MYSQL_RES *result = mysql_store_result(texts->conn);
    if (result == NULL)
        errx(1, "%s: no result", sql);
    *rows = mysql_num_rows(result);
    int64_t *numbers = limit_zalloc(*rows * columns + 1, sizeof(*numbers));
    for (size_t i = 0; i < *rows; i++) {
        MYSQL_ROW row = mysql_fetch_row(result);
        for (size_t c = 0; c < columns; c++)
            numbers[i * columns + c] = strtoll(row[c], NULL, 10);
    }
    mysql_free_result(result);
    return numbers;
}

static void open_session(void *self, struct server_session *session)
{
    struct texts *texts = self;
    size_t rows = 0;
    texts->session = mariadb_session_of(session);
    texts->conn = texts->session->conn;
    int64_t *thread = read_numbers(
        self, "SELECT tid FROM information_schema.processlist WHERE id = connection_id()", 1,
        &rows);
    texts->thread = rows == 1 ? thread[0] : 0;
}

/* ---- building a batch ---- */

/* Returns the number of statements. */
static size_t append_chunks(const struct texts *texts, const struct limit_batch *batch,
                            const struct bundle *bundle, struct buf *sql)
{
    const struct bundle_limit limit = mariadb_write_limit(bundle->kind);
    struct bundle chunk = {0};
    size_t statements = 0;
    while (bundle_next_chunk(bundle, batch->changes, &limit, &chunk))
        statements += mariadb_write_append(&chunk, batch->changes, &texts->session->indexes, sql);
    return statements;
}

static void build_text(void *self, const struct limit_batch *batch)
{
    struct texts *texts = self;
    struct buf *sql = &texts->batches[batch->at];
    bool is_cluster = texts->session->server.is_galera;
    size_t statements = MARIADB_LOCK_RESULTS + 2; /* with the row of the log, and its check */
    sql->len = 0;
    mariadb_write_texts_lock(is_cluster, texts->session->base.options.lock_timeout_ms, NULL, sql);
    mariadb_log_sql_insert(&batch->row, &batch->before, sql);
    mariadb_write_append_check(1, sql);
    for (size_t i = 0; i < batch->waves.count; i++)
        statements += append_chunks(texts, batch, &batch->waves.bundles[i], sql);
    mariadb_write_texts_commit(is_cluster, &batch->row, statements, sql);
}

/* ---- sending it ---- */

static void send_text(void *self, const struct limit_batch *batch)
{
    struct texts *texts = self;
    const struct buf *sql = &texts->batches[batch->at];
    if (mysql_send_query(texts->conn, sql->data, sql->len) != 0)
        fail(texts);
}

static void skip_result(const struct texts *texts)
{
    MYSQL_RES *result = mysql_store_result(texts->conn);
    if (result == NULL && mysql_field_count(texts->conn) > 0)
        fail(texts);
    mysql_free_result(result);
}

static void await_results(void *self, const struct limit_batch *batch)
{
    const struct texts *texts = self;
    (void)batch;
    if (mysql_read_query_result(texts->conn) != 0)
        fail(texts);
    skip_result(texts);
    while (mysql_more_results(texts->conn)) {
        if (mysql_next_result(texts->conn) != 0)
            fail(texts);
        skip_result(texts);
    }
}

/* MySQL does not show its threads there. */
static double thread_cpu_s(void *self)
{
    const struct texts *texts = self;
    return texts->thread == 0 ? 0 : limit_cpu_s(texts->thread);
}

int main(int argc, char **argv)
{
    static const struct limit_client libmariadb = {
        .scheme = "mysql",
        .server = "MariaDB",
        .open = open_session,
        .read = read_numbers,
        .build = build_text,
        .send = send_text,
        .await = await_results,
        .cpu_s = thread_cpu_s,
    };
    static struct texts texts;
    return limit_claims_main(&libmariadb, &texts, argc, argv);
}
