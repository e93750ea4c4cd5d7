/* See fixture.h. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "model/record.h"
#include "store/mariadb/exchange/cells.h"
#include "store/mariadb/exchange/rows_sql.h"
#include "store/waves.h"
#include "upstream.h"

const struct mariadb_indexes MARIADB_ALL_INDEXES = {true, true, true};

/* ---- connections ---- */

/* Of a URL ("mysql+pymysql://root@/?unix_socket=/path"), or the path itself. */
static const char *socket_path(void)
{
    static const char parameter[] = "unix_socket=";
    const char *value = getenv("BERTH_TEST_MARIADB_ADMIN");
    if (value == NULL)
        value = getenv("BERTH_TEST_MARIADB_SOCKET");
    if (value == NULL)
        fail_msg("BERTH_TEST_MARIADB_SOCKET is the unix socket of a server");
    const char *at = strstr(value, parameter);
    return at == NULL ? value : at + sizeof(parameter) - 1;
}

/* As the user who may create databases. */
static MYSQL *connect_to(const char *database)
{
    MYSQL *mysql = mysql_init(NULL);
    mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    if (mysql_real_connect(mysql, NULL, "root", NULL, database, 0, socket_path(),
                           CLIENT_MULTI_STATEMENTS | CLIENT_FOUND_ROWS) == NULL)
        fail_msg("%s", mysql_error(mysql));
    run(mysql, "SET sql_mode='TRADITIONAL';"
               "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;"
               "SET innodb_lock_wait_timeout=1");
    return mysql;
}

MYSQL *server_connect(const struct server *server)
{
    return connect_to(server->database);
}

/* Takes the results of a text; returns how many there were before an error. */
static unsigned take_results(MYSQL *mysql, const char *sql, size_t len, bool *ok)
{
    unsigned results = 0;
    int status = mysql_real_query(mysql, sql, len);
    while (status == 0) {
        mysql_free_result(mysql_store_result(mysql));
        results++;
        status = mysql_next_result(mysql);
    }
    *ok = status < 0;
    return results;
}

void run(MYSQL *mysql, const char *sql)
{
    bool ok;
    (void)take_results(mysql, sql, strlen(sql), &ok);
    if (!ok)
        fail_msg("%s: %s", sql, mysql_error(mysql));
}

const char *value_of(struct server *server, const char *sql)
{
    const char *value = "-";
    if (mysql_query(server->mysql, sql) != 0)
        fail_msg("%s: %s", sql, mysql_error(server->mysql));
    MYSQL_RES *result = mysql_store_result(server->mysql);
    assert_non_null(result);
    MYSQL_ROW row = mysql_fetch_row(result);
    if (row != NULL && row[0] == NULL)
        value = "NULL";
    else if (row != NULL)
        value =
            arena_copy(server->arena, (struct slice){row[0], mysql_fetch_lengths(result)[0] + 1})
                .data;
    mysql_free_result(result);
    return value;
}

/* ---- tables ---- */

static const char *type_of(const struct record_field *field)
{
    static const char *const types[] = {
        [RECORD_TEXT] = "LONGTEXT", [RECORD_BOOL] = "TINYINT",   [RECORD_TIME] = "DATETIME(6)",
        [RECORD_JSON] = "LONGTEXT", [RECORD_WORDS] = "LONGTEXT", [RECORD_REFERENCE] = "BIGINT",
    };
    bool is_key = (field->flags & RECORD_UNIQUE) != 0 && field->kind == RECORD_TEXT;
    return is_key ? "VARBINARY(1020)" : types[field->kind];
}

static void append_record_table(const struct record_table_info *table, struct buf *sql)
{
    buf_printf(sql, "CREATE TABLE %s(id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY", table->name);
    for (unsigned i = 0; i < table->shape->stored; i++) {
        const struct record_field *field = &table->shape->fields[i];
        buf_printf(sql, ",`%s` %s", field->name, type_of(field));
        if ((field->flags & RECORD_UNIQUE) != 0)
            buf_printf(sql, ",UNIQUE KEY %s_%s(`%s`)", table->name, field->name, field->name);
    }
    buf_append_lit(sql, ")ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;");
}

void server_begin(struct server *server, const char *charset)
{
    struct buf sql = {0};
    *server = (struct server){.arena = arena_create()};
    server->list.arena = server->arena;
    static unsigned count; /* a test that failed leaves its database */
    snprintf(server->database, sizeof(server->database), "berth_test_%d_%u", (int)getpid(),
             ++count);
    MYSQL *first = connect_to(NULL);
    buf_printf(&sql, "CREATE DATABASE %s CHARACTER SET %s%c", server->database, charset, 0);
    run(first, sql.data);
    mysql_close(first);
    server->mysql = server_connect(server);
    sql.len = 0;
    append_upstream(&sql);
    run(server->mysql, sql.data);
    sql.len = 0;
    for (int i = 0; i < RECORD_TABLE_COUNT; i++)
        append_record_table(&record_tables[i], &sql);
    buf_append_char(&sql, 0);
    run(server->mysql, sql.data);
    buf_free(&sql);
}

void server_end(struct server *server)
{
    char sql[100];
    snprintf(sql, sizeof(sql), "DROP DATABASE %s", server->database);
    run(server->mysql, sql);
    mysql_close(server->mysql);
    arena_destroy(server->arena);
}

/* ---- batches ---- */

struct text write_text(struct server *server)
{
    struct text text = {0};
    const size_t ends[] = {server->list.count};
    const struct store_batch batch = {.changes = server->list.items, .ends = ends, .requests = 1};
    const struct waves waves = waves_arrange(&batch, server->arena);
    text.chunks = calloc(server->list.count + 1, sizeof(*text.chunks));
    text.ends = calloc(server->list.count + 1, sizeof(*text.ends));
    assert_non_null(text.chunks);
    assert_non_null(text.ends);
    buf_append_lit(&text.sql, "BEGIN;");
    text.results = 1;
    for (size_t i = 0; i < waves.count; i++) {
        const struct bundle_limit limit = mariadb_write_limit(waves.bundles[i].kind);
        struct bundle chunk = {0};
        while (bundle_next_chunk(&waves.bundles[i], batch.changes, &limit, &chunk)) {
            text.results +=
                mariadb_write_append(&chunk, batch.changes, &MARIADB_ALL_INDEXES, &text.sql);
            text.chunks[text.count] = chunk;
            text.ends[text.count++] = text.results;
        }
    }
    return text;
}

void text_free(struct text *text)
{
    buf_free(&text->sql);
    free(text->chunks);
    free(text->ends);
}

/* Before ROLLBACK, which empties the list of errors. */
static size_t read_row_number(MYSQL *mysql)
{
    size_t number = 0;
    if (mysql_query(mysql, "GET DIAGNOSTICS CONDITION 1 @berth_row=ROW_NUMBER") != 0)
        return 0; /* MySQL */
    assert_int_equal(mysql_query(mysql, "SELECT @berth_row"), 0);
    MYSQL_RES *result = mysql_store_result(mysql);
    MYSQL_ROW row = mysql_fetch_row(result);
    if (row != NULL && row[0] != NULL)
        number = strtoul(row[0], NULL, 10);
    mysql_free_result(result);
    return number;
}

static void name_culprit(struct server *server, const struct text *text, struct outcome *outcome)
{
    size_t at = 0;
    while (at < text->count && text->ends[at] <= outcome->results)
        at++;
    assert_true(at < text->count);
    outcome->chunk = text->chunks[at];
    outcome->result = outcome->results - (at == 0 ? 1 : text->ends[at - 1]);
    struct mariadb_row_failure failure = {outcome->error, slice_of(outcome->message), 0};
    outcome->culprit = mariadb_culprit(&outcome->chunk, server->list.items, &failure);
    failure.row = outcome->row;
    outcome->by_row = mariadb_culprit(&outcome->chunk, server->list.items, &failure);
}

static struct outcome send_batch(struct server *server, MYSQL *mysql, const char *end)
{
    struct outcome outcome = {0};
    struct text text = write_text(server);
    buf_append_slice(&text.sql, slice_of(end));
    outcome.results = take_results(mysql, text.sql.data, text.sql.len, &outcome.is_ok);
    if (outcome.is_ok) {
        assert_int_equal(outcome.results, text.results + (end[0] == '\0' ? 0 : 1));
    } else {
        outcome.error = mysql_errno(mysql);
        outcome.message = arena_printf(server->arena, "%s", mysql_error(mysql)).data;
        outcome.row = read_row_number(mysql);
        run(mysql, "ROLLBACK");
        name_culprit(server, &text, &outcome);
    }
    text_free(&text);
    server->list.count = 0;
    return outcome;
}

struct outcome commit(struct server *server)
{
    return send_batch(server, server->mysql, "COMMIT");
}

struct outcome begin_batch(struct server *server, MYSQL *mysql)
{
    return send_batch(server, mysql, "");
}

void expect_written(struct server *server)
{
    struct outcome outcome = commit(server);
    if (!outcome.is_ok)
        fail_msg("%u: %s", outcome.error, outcome.message);
}

void expect_missing(struct server *server, enum bundle_kind kind)
{
    struct outcome outcome = commit(server);
    assert_false(outcome.is_ok);
    if (outcome.error != 1690)
        fail_msg("%u: %s", outcome.error, outcome.message);
    assert_int_equal(outcome.chunk.kind, kind);
    assert_true(mariadb_write_is_check(outcome.result));
    assert_true(outcome.culprit == SIZE_MAX);
}

/* ---- reading ---- */

size_t read_rows(struct server *server, enum rows_table table, struct buf *sql,
                 struct change *changes, size_t most)
{
    struct mariadb_cells cells;
    size_t visible = 0;
    if (mysql_real_query(server->mysql, sql->data, sql->len) != 0)
        fail_msg("%.*s: %s", (int)sql->len, sql->data, mysql_error(server->mysql));
    buf_free(sql);
    MYSQL_RES *result = mysql_store_result(server->mysql);
    assert_non_null(result);
    mariadb_cells_begin(&cells, table);
    assert_int_equal(mysql_num_fields(result), cells.count);
    for (MYSQL_ROW row; (row = mysql_fetch_row(result)) != NULL;) {
        struct change change;
        mariadb_cells_read(&cells, (const char *const *)row, mysql_fetch_lengths(result));
        if (!rows_change(table, cells.at, server->arena, &change) || visible++ >= most)
            continue;
        if (!rows_is_record(table))
            rows_copy_texts(table, server->arena, &change);
        changes[visible - 1] = change;
    }
    mysql_free_result(result);
    return visible;
}

static size_t read_by_id(struct server *server, enum rows_table table, int64_t id,
                         struct change *change)
{
    struct buf sql = {0};
    mariadb_rows_sql_of_ids(table, &id, 1, &MARIADB_ALL_INDEXES, &sql);
    return read_rows(server, table, &sql, change, 1);
}

struct change read_row(struct server *server, enum rows_table table, int64_t id)
{
    struct change change = {0};
    assert_int_equal(read_by_id(server, table, id, &change), 1);
    return change;
}

size_t count_rows(struct server *server, enum rows_table table, int64_t id)
{
    struct change change;
    return read_by_id(server, table, id, &change);
}
