/* The functions of libmariadb that berth calls once it is connected. A connection is one of the
 * fake libpq, which knows what is on its way and what is lost; a text is a message for each of its
 * statements, and each of their results is one of the connection's. Sending never waits. Rows
 * arrive with their result, but those that have not been read are lost with the connection. One
 * thread. */
#include "libmariadb.h"

#include <libpq-fe.h>
#include <mysql.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake_postgres/process.h"
#include "fake_postgres/server.h"
#include "maria.h"
#include "store/mariadb/session/attempt.h"

enum { SERVER_GONE = 2006, SERVER_LOST_NOW = 2013, MESSAGE_MOST = 400 };

/* A connection; berth has the address of the first field. */
struct maria_conn {
    MYSQL mysql;
    struct pg_conn *pg;
    unsigned long id;
    struct pg_result *result; /* the newest, unless its rows are being read */
    bool has_more;
    unsigned columns;
    uint64_t affected;
    int64_t insert_id;
    unsigned status;
    unsigned code;
    char message[MESSAGE_MOST];
};

/* Rows that are being read. */
struct maria_rows {
    MYSQL_RES base;
    struct maria_conn *conn;
    struct pg_result *result;
    int at;
    char *row[RESULT_COLUMNS_MOST];
    unsigned long lengths[RESULT_COLUMNS_MOST];
    MYSQL_FIELD fields[]; /* one for each column */
};

static struct maria_conn *conn_of(MYSQL *mysql)
{
    return (struct maria_conn *)mysql;
}

/* ---- connections ---- */

/* In place of the thread that connects. Whoever asks is connected to the node that the proxy has
 * chosen; the login is not looked at. */
enum server_outcome __wrap_mariadb_attempt_run(struct mariadb_attempt *attempt,
                                               struct mariadb_failure *failure,
                                               struct slice *reason);
enum server_outcome __wrap_mariadb_attempt_run(struct mariadb_attempt *attempt,
                                               struct mariadb_failure *failure,
                                               struct slice *reason)
{
    char host[32];
    snprintf(host, sizeof(host), "/node%d", libmariadb_node(process_current()));
    const char *const keywords[] = {"host", NULL};
    const char *const values[] = {host, NULL};
    process_pause();
    struct pg_conn *pg = PQconnectStartParams(keywords, values, 0);
    if (PQconnectPoll(pg) != PGRES_POLLING_OK) {
        PQfinish(pg);
        *failure = (struct mariadb_failure){.code = 2002, .kind = MARIADB_PASSES};
        *reason = SLICE_LIT("connection refused");
        attempt->conn = NULL;
        return SERVER_RETRY;
    }
    struct maria_conn *conn = calloc(1, sizeof(*conn));
    check(conn != NULL);
    conn->pg = pg;
    conn->id = (unsigned long)PQbackendPID(pg);
    conn->status = SERVER_STATUS_AUTOCOMMIT;
    maria_begin_session(pg->session, pg->session->pid);
    attempt->conn = &conn->mysql;
    return SERVER_OK;
}

static void forget_result(struct maria_conn *conn)
{
    result_free(conn->result);
    conn->result = NULL;
}

void mysql_close(MYSQL *mysql)
{
    struct maria_conn *conn = conn_of(mysql);
    forget_result(conn);
    PQfinish(conn->pg);
    free(conn);
}

int mysql_close_start(MYSQL *mysql)
{
    mysql_close(mysql);
    return 0;
}

int mysql_close_cont(MYSQL *mysql, int events)
{
    (void)mysql;
    (void)events;
    return 0;
}

my_socket mysql_get_socket(MYSQL *mysql)
{
    return PQsocket(conn_of(mysql)->pg);
}

unsigned long mysql_thread_id(MYSQL *mysql)
{
    return conn_of(mysql)->id;
}

const char *mysql_get_ssl_cipher(MYSQL *mysql)
{
    (void)mysql;
    return NULL;
}

my_bool mariadb_get_infov(MYSQL *mysql, enum mariadb_value value, void *arg, ...)
{
    check(value == MARIADB_CONNECTION_SERVER_STATUS);
    *(unsigned *)arg = conn_of(mysql)->status;
    return 0;
}

/* ---- errors ---- */

unsigned int mysql_errno(MYSQL *mysql)
{
    return conn_of(mysql)->code;
}

const char *mysql_error(MYSQL *mysql)
{
    return conn_of(mysql)->message;
}

const char *mysql_sqlstate(MYSQL *mysql)
{
    (void)mysql;
    return "HY000";
}

static void fail(struct maria_conn *conn, unsigned code, const char *message)
{
    conn->code = code;
    snprintf(conn->message, sizeof(conn->message), "%s", message);
}

/* ---- texts ---- */

/* The end of the statement that begins there: a ";" outside of quotation marks, or that of the
 * text. A doubled quotation mark ends a text and begins one. */
static const char *end_of_statement(const char *at, const char *end)
{
    bool is_quoted = false;
    for (; at < end && (is_quoted || *at != ';'); at++)
        is_quoted ^= *at == '\'';
    return at;
}

static struct message *make_message(const char *sql, size_t len)
{
    struct message *message = malloc(sizeof(*message) + len + 1);
    check(message != NULL);
    char *copied = (char *)(message + 1);
    memcpy(copied, sql, len);
    copied[len] = '\0';
    *message = (struct message){.kind = MESSAGE_STATEMENT, .sql = copied};
    return message;
}

static struct message *split(const char *sql, size_t len)
{
    const char *end = sql + len;
    struct message *first = NULL;
    struct message **last = &first;
    struct message *before = NULL;
    while (sql < end) {
        while (sql < end && *sql == ' ')
            sql++;
        const char *to = end_of_statement(sql, end);
        if (to > sql) {
            *last = make_message(sql, (size_t)(to - sql));
            if (before != NULL)
                before->has_more = true;
            before = *last;
            last = &before->next;
        }
        sql = to + 1;
    }
    check(first != NULL);
    return first;
}

int mysql_send_query_start(int *failed, MYSQL *mysql, const char *sql, unsigned long len)
{
    struct maria_conn *conn = conn_of(mysql);
    forget_result(conn);
    *failed = PQstatus(conn->pg) != CONNECTION_OK;
    if (*failed) {
        fail(conn, SERVER_GONE, "Server has gone away");
        return 0;
    }
    if (!conn->pg->is_swallowed && conn->pg->session != NULL)
        fake_server_receive(conn->pg->session, split(sql, len));
    return 0;
}

int mysql_send_query_cont(int *failed, MYSQL *mysql, int events)
{
    (void)mysql;
    (void)events;
    *failed = 1;
    return 0;
}

/* Takes the next answer. *failed: there is none, or it is an error. Returns what is waited for. */
static int take_answer(struct maria_conn *conn, bool gives_up, bool *failed)
{
    *failed = true;
    if (PQisBusy(conn->pg) && !gives_up)
        return MYSQL_WAIT_READ;
    forget_result(conn);
    struct pg_result *result = PQisBusy(conn->pg) ? NULL : PQgetResult(conn->pg);
    if (result == NULL) {
        fail(conn, SERVER_LOST_NOW, "Lost connection to server during query");
        return 0;
    }
    conn->status = result->server_status;
    conn->has_more = result->has_more;
    conn->columns = (unsigned)result->columns;
    conn->affected = result->affected;
    conn->insert_id = result->insert_id;
    *failed = result->status == PGRES_FATAL_ERROR;
    fail(conn, *failed ? result->code : 0, *failed ? result->message : "");
    conn->result = result;
    if (result->told > 0 && server.hooks.on_told != NULL)
        server.hooks.on_told(conn->pg->process, result->told);
    return 0;
}

int mysql_read_query_result_start(my_bool *failed, MYSQL *mysql)
{
    return mysql_read_query_result_cont(failed, mysql, 0);
}

int mysql_read_query_result_cont(my_bool *failed, MYSQL *mysql, int events)
{
    bool has_failed;
    int waits_for = take_answer(conn_of(mysql), (events & MYSQL_WAIT_TIMEOUT) != 0, &has_failed);
    *failed = has_failed;
    return waits_for;
}

int mysql_next_result_start(int *failed, MYSQL *mysql)
{
    return mysql_next_result_cont(failed, mysql, 0);
}

int mysql_next_result_cont(int *failed, MYSQL *mysql, int events)
{
    bool has_failed;
    int waits_for = take_answer(conn_of(mysql), (events & MYSQL_WAIT_TIMEOUT) != 0, &has_failed);
    *failed = has_failed;
    return waits_for;
}

my_bool mysql_more_results(MYSQL *mysql)
{
    return conn_of(mysql)->has_more;
}

unsigned int mysql_field_count(MYSQL *mysql)
{
    return conn_of(mysql)->columns;
}

my_ulonglong mysql_affected_rows(MYSQL *mysql)
{
    return conn_of(mysql)->affected;
}

my_ulonglong mysql_insert_id(MYSQL *mysql)
{
    return (my_ulonglong)conn_of(mysql)->insert_id;
}

/* ---- rows ---- */

MYSQL_RES *mysql_use_result(MYSQL *mysql)
{
    struct maria_conn *conn = conn_of(mysql);
    check(conn->result != NULL);
    const size_t columns = (size_t)conn->result->columns;
    struct maria_rows *rows = malloc(sizeof(*rows) + columns * sizeof(rows->fields[0]));
    check(rows != NULL);
    memset(rows->fields, 0, columns * sizeof(rows->fields[0]));
    rows->base = (MYSQL_RES){0};
    rows->at = 0;
    rows->conn = conn;
    rows->result = conn->result;
    conn->result = NULL;
    for (int i = 0; i < rows->result->columns; i++)
        rows->fields[i].type =
            rows->result->types[i] == PG_INT8 ? MYSQL_TYPE_LONGLONG : MYSQL_TYPE_VAR_STRING;
    return &rows->base;
}

unsigned int mysql_num_fields(MYSQL_RES *result)
{
    return (unsigned)((struct maria_rows *)result)->result->columns;
}

MYSQL_FIELD *mysql_fetch_fields(MYSQL_RES *result)
{
    return ((struct maria_rows *)result)->fields;
}

int mysql_fetch_row_start(MYSQL_ROW *row, MYSQL_RES *result)
{
    struct maria_rows *rows = (struct maria_rows *)result;
    const struct pg_result *from = rows->result;
    *row = NULL;
    if (rows->conn->pg->drops) {
        fail(rows->conn, SERVER_LOST_NOW, "Lost connection to server during query");
        return 0;
    }
    if (rows->at == from->rows)
        return 0;
    for (int i = 0; i < from->columns; i++) {
        struct slice value = from->values[rows->at * from->columns + i];
        rows->row[i] = (char *)value.data;
        rows->lengths[i] = value.len;
    }
    rows->at++;
    *row = rows->row;
    return 0;
}

int mysql_fetch_row_cont(MYSQL_ROW *row, MYSQL_RES *result, int events)
{
    (void)events;
    return mysql_fetch_row_start(row, result);
}

unsigned long *mysql_fetch_lengths(MYSQL_RES *result)
{
    return ((struct maria_rows *)result)->lengths;
}

void mysql_free_result(MYSQL_RES *result)
{
    struct maria_rows *rows = (struct maria_rows *)result;
    result_free(rows->result);
    free(rows);
}
