/* The limits of the PostgreSQL store: claims committed through libpq.
 *
 * A claim is what PUT /allocations of a new consumer writes. A batch of claims consists of the very
 * statements that berth sends: their texts and parameters come from berth's own code, the session
 * is the one of its writer, and the log continues as berth would continue it. They go out through
 * libpq as one pipeline. But there is no HTTP and no planning, and while one batch is on its way
 * the next one is built: this is what one writer on this server could reach at that mean size of a
 * batch.
 *
 * The database is a scratch copy in upstream's schema with providers (filled by clouds.py).
 * Single-threaded, except for the store's own threads, which sleep. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "latencies.h"
#include "store/log_changes.h"
#include "store/postgres/session_internal.h"
#include "store/postgres/write_sql.h"
#include "store/postgres/write_texts.h"
#include "store/server/store_internal.h"
#include "store/waves.h"

enum {
    BATCH_MAX = 1024,
    CLASSES = 3,               /* VCPU, MEMORY_MB, DISK_GB: classes 0, 1, 2 */
    CHANGES = 1 + CLASSES + 1, /* of a claim */
    PARAMETERS_MOST = WRITE_SQL_ARRAYS_MOST,
    STATEMENTS_MOST = 8,
    BINARY = 1,
    UUID_ROOM = 40,
};

/* A statement, with the memory of its parameters. */
struct message {
    const char *sql;
    const char *name; /* under which it is prepared; NULL: it is not, as in berth */
    int count;
    struct pg_parameter parameters[PARAMETERS_MOST];
    struct pg_array arrays[PARAMETERS_MOST];
};

/* A batch that is ready to be sent. */
struct built {
    struct arena *arena;
    size_t claims;
    struct message messages[STATEMENTS_MOST];
    size_t count;
    struct change changes[BATCH_MAX * CHANGES];
    size_t ends[BATCH_MAX];
    char uuids[BATCH_MAX][UUID_ROOM];
    struct buf entries;
    struct log_state before;
    unsigned char mark[LOG_MARK_LEN];
};

struct provider {
    int64_t id;
    int64_t generation;
};

struct limit {
    struct store *store;
    PGconn *conn;
    struct provider *providers;
    size_t provider_count, provider_next;
    int64_t consumer_next, allocation_next, project, user;
    uint64_t serial;
    struct log_state state; /* after the batch that was built last */
    char *texts[BUNDLE_KIND_COUNT];
    char names[BUNDLE_KIND_COUNT][16];
    struct built *built[2];
};

static void *must_zalloc(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL)
        errx(1, "out of memory");
    return memory;
}

/* ---- the database at the start ---- */

static PGresult *read_rows(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        errx(1, "%s: %s", sql, PQerrorMessage(conn));
    return result;
}

static int64_t read_number(PGconn *conn, const char *sql)
{
    PGresult *result = read_rows(conn, sql);
    if (PQntuples(result) != 1)
        errx(1, "%s: no row", sql);
    int64_t number = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return number;
}

static void read_providers(struct limit *limit)
{
    PGresult *result = read_rows(
        limit->conn, "SELECT id, coalesce(generation, 0) FROM resource_providers ORDER BY id");
    limit->provider_count = (size_t)PQntuples(result);
    if (limit->provider_count == 0)
        errx(1, "no providers in the database");
    limit->providers = must_zalloc(limit->provider_count, sizeof(*limit->providers));
    for (int i = 0; i < PQntuples(result); i++)
        limit->providers[i] = (struct provider){strtoll(PQgetvalue(result, i, 0), NULL, 10),
                                                strtoll(PQgetvalue(result, i, 1), NULL, 10)};
    PQclear(result);
}

/* The writer's session, with its settings: the store has connected it. */
static void open_store(struct limit *limit, const char *url)
{
    struct err reason = {.arena = arena_create()};
    const struct store_options options = {
        .connection = slice_of(url), .busy_timeout_ms = 5000, .sync_schema = true};
    if (strncmp(url, "postgresql", strlen("postgresql")) != 0)
        errx(1, "%s is not the URL of a PostgreSQL database", url);
    limit->store = store_open(&options, &reason);
    if (limit->store == NULL)
        errx(1, "%.*s", SLICE_ARG(reason.message));
    arena_destroy(reason.arena);
    limit->conn = pg_session_of(server_store_of(limit->store)->writer)->conn;
    if (PQsetnonblocking(limit->conn, 0) != 0)
        errx(1, "%s", PQerrorMessage(limit->conn));
    read_providers(limit);
    limit->consumer_next =
        read_number(limit->conn, "SELECT coalesce(max(id), 0) + 1 FROM consumers");
    limit->allocation_next =
        read_number(limit->conn, "SELECT coalesce(max(id), 0) + 1 FROM allocations");
    limit->project = read_number(limit->conn, "SELECT min(id) FROM projects");
    limit->user = read_number(limit->conn, "SELECT min(id) FROM users");
    if (read_number(limit->conn, "SELECT count(*) FROM berth_log") != 0)
        errx(1, "the database is not a new copy");
}

/* ---- building a batch ---- */

static void make_uuid(struct limit *limit, char uuid[static UUID_ROOM])
{
    /* as unordered as random uuids: a real table does not append to its index either */
    uint64_t mixed = (limit->serial++ + 1) * 0x9E3779B97F4A7C15U;
    snprintf(uuid, UUID_ROOM, "%08x-%04x-4%03x-8%03x-%012llx", (unsigned)(mixed >> 32),
             (unsigned)(mixed >> 16) & 0xffff, (unsigned)(mixed >> 4) & 0xfff,
             (unsigned)(mixed & 0xfff), (unsigned long long)limit->consumer_next & 0xffffffffffff);
}

static void add_claim(struct limit *limit, struct built *built, int64_t now_us)
{
    static const int64_t used[CLASSES] = {1, 1024, 10};
    struct change *change = &built->changes[built->claims * CHANGES];
    char *uuid = built->uuids[built->claims];
    struct provider *provider = &limit->providers[limit->provider_next++ % limit->provider_count];
    make_uuid(limit, uuid);
    *change++ = (struct change){
        .kind = CHANGE_CONSUMER_INSERT,
        .created_at_us = now_us,
        .updated_at_us = now_us,
        .consumer = {.id = limit->consumer_next,
                     .project_id = limit->project,
                     .user_id = limit->user,
                     .generation = 1,
                     .uuid = slice_of(uuid)},
    };
    for (int i = 0; i < CLASSES; i++)
        *change++ = (struct change){
            .kind = CHANGE_ALLOCATION_INSERT,
            .created_at_us = now_us,
            .updated_at_us = now_us,
            .allocation = {.id = limit->allocation_next++,
                           .consumer_id = limit->consumer_next,
                           .provider_id = provider->id,
                           .class_id = i,
                           .used = used[i],
                           .consumer_uuid = slice_of(uuid)},
        };
    *change = (struct change){
        .kind = CHANGE_PROVIDER_GENERATION,
        .updated_at_us = now_us,
        .generation = {provider->id, provider->generation, provider->generation + 1},
    };
    provider->generation++;
    limit->consumer_next++;
    built->claims++;
    built->ends[built->claims - 1] = built->claims * CHANGES;
}

static struct message *add_message(struct built *built, const char *sql, const char *name)
{
    struct message *message = &built->messages[built->count++];
    check(built->count <= STATEMENTS_MOST);
    message->sql = sql;
    message->name = name;
    message->count = 0;
    return message;
}

static void add_log_row(struct limit *limit, struct built *built)
{
    built->before = limit->state;
    built->entries.len = 0;
    check(log_changes_append(&built->entries, built->changes, built->claims * CHANGES));
    memcpy(built->mark, &limit->serial, sizeof(limit->serial));
    const struct log_row row = {
        .number = built->before.number + 1,
        .mark = {(const char *)built->mark, LOG_MARK_LEN},
        .before = {(const char *)built->before.digest, LOG_DIGEST_LEN},
        .entries = buf_slice(&built->entries),
    };
    struct message *message = add_message(built, PG_LOG_INSERT, "limit_log");
    pg_log_insert_parameters(&row, &built->before, message->parameters);
    message->count = PG_LOG_INSERT_PARAMETERS;
    check(log_row_state(&row, &limit->state));
}

static void add_bundle(struct limit *limit, struct built *built, const struct bundle *bundle)
{
    char **text = &limit->texts[bundle->kind];
    if (*text == NULL) {
        struct buf sql = {0};
        write_sql_append(bundle->kind, &sql);
        *text = sql.data; /* kept until the end of the process */
        snprintf(limit->names[bundle->kind], sizeof(limit->names[0]), "limit_%u", bundle->kind);
    }
    struct message *message = add_message(built, *text, limit->names[bundle->kind]);
    message->count = (int)write_sql_fill(bundle, built->changes, message->arrays);
    for (int i = 0; i < message->count; i++)
        message->parameters[i] = pg_array_parameter(&message->arrays[i]);
}

static void build(struct limit *limit, struct built *built, size_t claims)
{
    int64_t now_us = clock_wall_us();
    arena_reset(built->arena);
    built->claims = built->count = 0;
    while (built->claims < claims)
        add_claim(limit, built, now_us);
    add_message(built, PG_BEGIN_WRITE, NULL);
    add_message(built, PG_TAKE_LOCK, "limit_lock");
    add_log_row(limit, built);
    const struct store_batch batch = {
        .changes = built->changes, .ends = built->ends, .requests = built->claims};
    struct waves waves = waves_arrange(&batch, built->arena);
    for (size_t i = 0; i < waves.count; i++)
        add_bundle(limit, built, &waves.bundles[i]);
    add_message(built, "COMMIT", NULL);
}

/* ---- sending it ---- */

static struct slice value_of(const struct pg_parameter *parameter)
{
    if (parameter->number_len > 0)
        return (struct slice){(const char *)parameter->number, parameter->number_len};
    return parameter->bytes;
}

static void prepare_all(struct limit *limit, const struct built *built)
{
    for (size_t i = 0; i < built->count; i++) {
        const struct message *message = &built->messages[i];
        Oid types[PARAMETERS_MOST];
        for (int p = 0; p < message->count; p++)
            types[p] = (Oid)message->parameters[p].type;
        PGresult *result = message->name == NULL ? NULL
                                                 : PQprepare(limit->conn, message->name,
                                                             message->sql, message->count, types);
        if (result != NULL && PQresultStatus(result) != PGRES_COMMAND_OK)
            errx(1, "%s: %s", message->sql, PQerrorMessage(limit->conn));
        PQclear(result);
    }
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

static void send_batch(PGconn *conn, const struct built *built)
{
    for (size_t i = 0; i < built->count; i++)
        queue(conn, &built->messages[i]);
    if (PQpipelineSync(conn) != 1)
        errx(1, "%s", PQerrorMessage(conn));
}

static void expect(PGconn *conn, ExecStatusType wanted, ExecStatusType or_wanted)
{
    PGresult *result = PQgetResult(conn);
    ExecStatusType status = PQresultStatus(result);
    if (status != wanted && status != or_wanted)
        errx(1, "%s%s", PQresStatus(status), PQresultErrorMessage(result));
    PQclear(result);
}

static void await_batch(PGconn *conn, const struct built *built)
{
    for (size_t i = 0; i < built->count; i++) {
        expect(conn, PGRES_COMMAND_OK, PGRES_TUPLES_OK);
        if (PQgetResult(conn) != NULL)
            errx(1, "a statement has two results");
    }
    expect(conn, PGRES_PIPELINE_SYNC, PGRES_PIPELINE_SYNC);
}

/* The CPU time so far of the server process, which is on this machine. */
static double backend_cpu_s(PGconn *conn)
{
    char path[64];
    unsigned long long ran_ns = 0;
    snprintf(path, sizeof(path), "/proc/%d/schedstat", PQbackendPID(conn));
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%llu", &ran_ns) != 1)
        err(1, "%s", path);
    fclose(file);
    return (double)ran_ns / 1e9;
}

/* A mean that is not an integer is reached by alternating between the two nearest sizes. */
static size_t next_size(double mean, uint64_t batches, uint64_t claimed)
{
    uint64_t due = (uint64_t)((double)(batches + 1) * mean + 0.5);
    return due > claimed ? (size_t)(due - claimed) : 1;
}

static void commit_claims(struct limit *limit, double mean, double seconds)
{
    struct latencies latencies = {0};
    size_t at = 0;
    uint64_t built = next_size(mean, 0, 0), claimed = 0;
    build(limit, limit->built[0], built);
    prepare_all(limit, limit->built[0]);
    if (PQenterPipelineMode(limit->conn) != 1)
        errx(1, "%s", PQerrorMessage(limit->conn));
    double start = clock_s(CLOCK_MONOTONIC), cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID), end = start;
    double backend = backend_cpu_s(limit->conn);
    while (end - start < seconds) {
        double sent = clock_s(CLOCK_MONOTONIC);
        send_batch(limit->conn, limit->built[at]);
        size_t size = next_size(mean, latencies.count + 1, built);
        build(limit, limit->built[1 - at], size);
        built += size;
        await_batch(limit->conn, limit->built[at]);
        end = clock_s(CLOCK_MONOTONIC);
        latencies_add(&latencies, end - sent);
        claimed += limit->built[at]->claims;
        at = 1 - at;
    }
    cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    backend = backend_cpu_s(limit->conn) - backend;
    if (PQexitPipelineMode(limit->conn) != 1)
        errx(1, "%s", PQerrorMessage(limit->conn));
    if (read_number(limit->conn, "SELECT max(number) FROM berth_log") != (int64_t)latencies.count)
        errx(1, "not every batch is in the log");
    latencies_sort(&latencies);
    printf("{\"mean_batch\": %.2f, \"claims_per_s\": %.1f, \"commits_per_s\": %.1f, "
           "\"p50_us\": %.1f, \"p99_us\": %.1f, \"cpu_us_per_claim\": %.2f, "
           "\"backend_us_per_claim\": %.2f}\n",
           (double)claimed / (double)latencies.count, (double)claimed / (end - start),
           (double)latencies.count / (end - start), latencies_percentile(&latencies, 0.50),
           latencies_percentile(&latencies, 0.99), cpu * 1e6 / (double)claimed,
           backend * 1e6 / (double)claimed);
}

int main(int argc, char **argv)
{
    double mean = argc == 4 ? strtod(argv[2], NULL) : 0;
    double seconds = argc == 4 ? strtod(argv[3], NULL) : 0;
    if (seconds <= 0 || mean < 1 || mean > BATCH_MAX - 1) {
        fputs("usage: limit_postgres URL MEAN_BATCH SECONDS\n", stderr);
        return 2;
    }
    struct limit limit = {0};
    open_store(&limit, argv[1]);
    for (int i = 0; i < 2; i++) {
        limit.built[i] = must_zalloc(1, sizeof(*limit.built[i]));
        limit.built[i]->arena = arena_create();
    }
    commit_claims(&limit, mean, seconds);
    return 0;
}
