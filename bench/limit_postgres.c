/* The limits of the PostgreSQL store: claims committed through libpq (limit_claims.h).
 *
 * A batch consists of the very statements that berth sends, with its texts and parameters. They go
 * out through libpq as one pipeline. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "limit_claims.h"
#include "store/postgres/exchange/write_sql.h"
#include "store/postgres/log/write_texts.h"
#include "store/postgres/session/session_state.h"

enum {
    PARAMETERS_MOST = WRITE_SQL_ARRAYS_MOST,
    STATEMENTS_MOST = 8,
    BINARY = 1,
};

/* A statement, with the memory of its parameters. */
struct message {
    const char *sql;
    const char *name; /* under which it is prepared; NULL: it is not, as in berth */
    int count;
    struct pg_parameter parameters[PARAMETERS_MOST];
    struct pg_array arrays[PARAMETERS_MOST];
};

struct messages {
    struct message all[STATEMENTS_MOST];
    size_t count;
};

struct pipeline {
    PGconn *conn;
    char *texts[BUNDLE_KIND_COUNT];
    char names[BUNDLE_KIND_COUNT][16];
    struct messages batches[2];
};

static void open_session(void *self, struct server_session *session)
{
    struct pipeline *pipeline = self;
    pipeline->conn = pg_session_of(session)->conn;
    if (PQsetnonblocking(pipeline->conn, 0) != 0)
        errx(1, "%s", PQerrorMessage(pipeline->conn));
}

static int64_t *read_numbers(void *self, const char *sql, size_t columns, size_t *rows)
{
    struct pipeline *pipeline = self;
    PGresult *result = PQexec(pipeline->conn, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        errx(1, "%s: %s", sql, PQerrorMessage(pipeline->conn));
    *rows = (size_t)PQntuples(result);
    int64_t *numbers = limit_zalloc(*rows * columns + 1, sizeof(*numbers));
    for (size_t i = 0; i < *rows * columns; i++)
        numbers[i] = strtoll(PQgetvalue(result, (int)(i / columns), (int)(i % columns)), NULL, 10);
    PQclear(result);
    return numbers;
}

/* ---- building a batch ---- */

static struct message *add_message(struct messages *messages, const char *sql, const char *name)
{
    struct message *message = &messages->all[messages->count++];
    check(messages->count <= STATEMENTS_MOST);
    message->sql = sql;
    message->name = name;
    message->count = 0;
    return message;
}

static void add_log_row(struct messages *messages, const struct limit_batch *batch)
{
    struct message *message = add_message(messages, PG_LOG_INSERT, "limit_log");
    pg_log_insert_parameters(&batch->row, &batch->before, message->parameters);
    message->count = PG_LOG_INSERT_PARAMETERS;
}

static void add_bundle(struct pipeline *pipeline, struct messages *messages,
                       const struct limit_batch *batch, const struct bundle *bundle)
{
    char **text = &pipeline->texts[bundle->kind];
    if (*text == NULL) {
        struct buf sql = {0};
        write_sql_append(bundle->kind, &sql);
        *text = sql.data; /* kept until the end of the process */
        snprintf(pipeline->names[bundle->kind], sizeof(pipeline->names[0]), "limit_%u",
                 bundle->kind);
    }
    struct message *message = add_message(messages, *text, pipeline->names[bundle->kind]);
    message->count = (int)write_sql_fill(bundle, batch->changes, message->arrays);
    for (int i = 0; i < message->count; i++)
        message->parameters[i] = pg_array_parameter(&message->arrays[i]);
}

static void build_messages(void *self, const struct limit_batch *batch)
{
    struct pipeline *pipeline = self;
    struct messages *messages = &pipeline->batches[batch->at];
    messages->count = 0;
    add_message(messages, PG_BEGIN_WRITE, NULL);
    add_message(messages, PG_TAKE_LOCK, "limit_lock");
    add_log_row(messages, batch);
    for (size_t i = 0; i < batch->waves.count; i++)
        add_bundle(pipeline, messages, batch, &batch->waves.bundles[i]);
    add_message(messages, "COMMIT", NULL);
}

/* ---- sending it ---- */

static struct slice value_of(const struct pg_parameter *parameter)
{
    if (parameter->number_len > 0)
        return (struct slice){(const char *)parameter->number, parameter->number_len};
    return parameter->bytes;
}

static void prepare_all(PGconn *conn, const struct messages *messages)
{
    for (size_t i = 0; i < messages->count; i++) {
        const struct message *message = &messages->all[i];
        Oid types[PARAMETERS_MOST];
        for (int p = 0; p < message->count; p++)
            types[p] = (Oid)message->parameters[p].type;
        PGresult *result = message->name == NULL ? NULL
                                                 : PQprepare(conn, message->name, message->sql,
                                                             message->count, types);
        if (result != NULL && PQresultStatus(result) != PGRES_COMMAND_OK)
            errx(1, "%s: %s", message->sql, PQerrorMessage(conn));
        PQclear(result);
    }
}

static void begin_pipeline(void *self, const struct limit_batch *batch)
{
    struct pipeline *pipeline = self;
    prepare_all(pipeline->conn, &pipeline->batches[batch->at]);
    if (PQenterPipelineMode(pipeline->conn) != 1)
        errx(1, "%s", PQerrorMessage(pipeline->conn));
}

static void queue(PGconn *conn, const struct message *message)
{
    const char *values[PARAMETERS_MOST];
    int lengths[PARAMETERS_MOST], formats[PARAMETERS_MOST];
    for (int i = 0; i < message->count; i++) {
        struct slice value = value_of(&message->parameters[i]);
        values[i] = value.data;
        lengths[i] = (int)value.len;
        formats[i] = BINARY;
    }
    int sent = message->name == NULL
                   ? PQsendQueryParams(conn, message->sql, 0, NULL, NULL, NULL, NULL, BINARY)
                   : PQsendQueryPrepared(conn, message->name, message->count, values, lengths,
                                         formats, BINARY);
    if (sent == 0)
        errx(1, "%s", PQerrorMessage(conn));
}

static void send_messages(void *self, const struct limit_batch *batch)
{
    struct pipeline *pipeline = self;
    const struct messages *messages = &pipeline->batches[batch->at];
    for (size_t i = 0; i < messages->count; i++)
        queue(pipeline->conn, &messages->all[i]);
    if (PQpipelineSync(pipeline->conn) != 1)
        errx(1, "%s", PQerrorMessage(pipeline->conn));
}

static void expect(PGconn *conn, ExecStatusType wanted, ExecStatusType or_wanted)
{
    PGresult *result = PQgetResult(conn);
    ExecStatusType status = PQresultStatus(result);
    if (status != wanted && status != or_wanted)
        errx(1, "%s%s", PQresStatus(status), PQresultErrorMessage(result));
    PQclear(result);
}

static void await_results(void *self, const struct limit_batch *batch)
{
    struct pipeline *pipeline = self;
    for (size_t i = 0; i < pipeline->batches[batch->at].count; i++) {
        expect(pipeline->conn, PGRES_COMMAND_OK, PGRES_TUPLES_OK);
        if (PQgetResult(pipeline->conn) != NULL)
            errx(1, "a statement has two results");
    }
    expect(pipeline->conn, PGRES_PIPELINE_SYNC, PGRES_PIPELINE_SYNC);
}

static void end_pipeline(void *self)
{
    struct pipeline *pipeline = self;
    if (PQexitPipelineMode(pipeline->conn) != 1)
        errx(1, "%s", PQerrorMessage(pipeline->conn));
}

static double backend_cpu_s(void *self)
{
    struct pipeline *pipeline = self;
    return limit_cpu_s(PQbackendPID(pipeline->conn));
}

int main(int argc, char **argv)
{
    static const struct limit_client libpq = {
        .scheme = "postgresql",
        .server = "PostgreSQL",
        .open = open_session,
        .read = read_numbers,
        .build = build_messages,
        .begin = begin_pipeline,
        .send = send_messages,
        .await = await_results,
        .end = end_pipeline,
        .cpu_s = backend_cpu_s,
    };
    static struct pipeline pipeline;
    return limit_claims_main(&libpq, &pipeline, argc, argv);
}
