/* See limit_claims.h. */
#include "limit_claims.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "latencies.h"
#include "store/log_changes.h"
#include "store/server/store_internal.h"

struct provider {
    int64_t id;
    int64_t generation;
};

struct limit {
    const struct limit_client *client;
    void *self;
    struct provider *providers;
    size_t provider_count, provider_next;
    int64_t consumer_next, allocation_next, project, user;
    uint64_t serial;
    struct log_state state; /* after the batch that was built last */
    struct limit_batch *batches[2];
};

void *limit_zalloc(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL)
        errx(1, "out of memory");
    return memory;
}

double limit_cpu_s(long long id)
{
    char path[64];
    unsigned long long ran_ns = 0;
    snprintf(path, sizeof(path), "/proc/%lld/schedstat", id);
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%llu", &ran_ns) != 1)
        err(1, "%s", path);
    fclose(file);
    return (double)ran_ns / 1e9;
}

/* ---- the database at the start ---- */

static int64_t read_number(const struct limit *limit, const char *sql)
{
    size_t rows = 0;
    int64_t *numbers = limit->client->read(limit->self, sql, 1, &rows);
    if (rows != 1)
        errx(1, "%s: no row", sql);
    return numbers[0];
}

static void read_providers(struct limit *limit)
{
    int64_t *numbers = limit->client->read(
        limit->self, "SELECT id, coalesce(generation, 0) FROM resource_providers ORDER BY id", 2,
        &limit->provider_count);
    if (limit->provider_count == 0)
        errx(1, "no providers in the database");
    limit->providers = limit_zalloc(limit->provider_count, sizeof(*limit->providers));
    for (size_t i = 0; i < limit->provider_count; i++)
        limit->providers[i] = (struct provider){numbers[2 * i], numbers[2 * i + 1]};
}

/* The writer's session, with its settings: the store has connected it. */
static struct server_session *open_writer(const struct limit_client *client, const char *url)
{
    struct err reason = {.arena = arena_create()};
    const struct store_options options = {
        .connection = slice_of(url), .busy_timeout_ms = 5000, .sync_schema = true};
    if (strncmp(url, client->scheme, strlen(client->scheme)) != 0)
        errx(1, "%s is not the URL of a %s database", url, client->server);
    struct store *store = store_open(&options, &reason);
    if (store == NULL)
        errx(1, "%.*s", SLICE_ARG(reason.message));
    arena_destroy(reason.arena);
    return server_store_of(store)->writer;
}

static void open_limit(struct limit *limit, const char *url)
{
    limit->client->open(limit->self, open_writer(limit->client, url));
    read_providers(limit);
    limit->consumer_next = read_number(limit, "SELECT coalesce(max(id), 0) + 1 FROM consumers");
    limit->allocation_next = read_number(limit, "SELECT coalesce(max(id), 0) + 1 FROM allocations");
    limit->project = read_number(limit, "SELECT min(id) FROM projects");
    limit->user = read_number(limit, "SELECT min(id) FROM users");
    if (read_number(limit, "SELECT count(*) FROM berth_log") != 0)
        errx(1, "the database is not a new copy");
    for (size_t i = 0; i < 2; i++) {
        limit->batches[i] = limit_zalloc(1, sizeof(*limit->batches[i]));
        limit->batches[i]->at = i;
        limit->batches[i]->arena = arena_create();
    }
}

/* ---- building a batch ---- */

static void make_uuid(struct limit *limit, char uuid[static LIMIT_UUID_ROOM])
{
    /* as unordered as random uuids: a real table does not append to its index either */
    uint64_t mixed = (limit->serial++ + 1) * 0x9E3779B97F4A7C15U;
    snprintf(uuid, LIMIT_UUID_ROOM, "%08x-%04x-4%03x-8%03x-%012llx", (unsigned)(mixed >> 32),
             (unsigned)(mixed >> 16) & 0xffff, (unsigned)(mixed >> 4) & 0xfff,
             (unsigned)(mixed & 0xfff), (unsigned long long)limit->consumer_next & 0xffffffffffff);
}

static void add_claim(struct limit *limit, struct limit_batch *batch, int64_t now_us)
{
    static const int64_t used[LIMIT_CLASSES] = {1, 1024, 10};
    struct change *change = &batch->changes[batch->claims * LIMIT_CHANGES];
    char *uuid = batch->uuids[batch->claims];
    struct provider *provider = &limit->providers[limit->provider_next++ % limit->provider_count];
    make_uuid(limit, uuid);
    *change++ = (struct change){
        .kind = CHANGE_CONSUMER_INSERT,
        .created_at_us = now_us,
        .consumer = {.id = limit->consumer_next,
                     .project_id = limit->project,
                     .user_id = limit->user,
                     .generation = 1,
                     .uuid = slice_of(uuid)},
    };
    for (int i = 0; i < LIMIT_CLASSES; i++)
        *change++ = (struct change){
            .kind = CHANGE_ALLOCATION_INSERT,
            .created_at_us = now_us,
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
    batch->claims++;
    batch->ends[batch->claims - 1] = batch->claims * LIMIT_CHANGES;
}

static void make_log_row(struct limit *limit, struct limit_batch *batch)
{
    batch->before = limit->state;
    batch->entries.len = 0;
    check(log_changes_append(&batch->entries, batch->changes, batch->claims * LIMIT_CHANGES));
    memcpy(batch->mark, &limit->serial, sizeof(limit->serial));
    batch->row = (struct log_row){
        .number = batch->before.number + 1,
        .mark = {(const char *)batch->mark, LOG_MARK_LEN},
        .before = {(const char *)batch->before.digest, LOG_DIGEST_LEN},
        .entries = buf_slice(&batch->entries),
    };
    check(log_row_state(&batch->row, &limit->state));
}

static void build(struct limit *limit, struct limit_batch *batch, size_t claims)
{
    int64_t now_us = clock_wall_us();
    arena_reset(batch->arena);
    batch->claims = 0;
    while (batch->claims < claims)
        add_claim(limit, batch, now_us);
    make_log_row(limit, batch);
    const struct store_batch changes = {
        .changes = batch->changes, .ends = batch->ends, .requests = batch->claims};
    batch->waves = waves_arrange(&changes, batch->arena);
    limit->client->build(limit->self, batch);
}

/* ---- committing ---- */

/* A mean that is not an integer is reached by alternating between the two nearest sizes. */
static size_t next_size(double mean, uint64_t batches, uint64_t claimed)
{
    uint64_t due = (uint64_t)((double)(batches + 1) * mean + 0.5);
    return due > claimed ? (size_t)(due - claimed) : 1;
}

static void commit_claims(struct limit *limit, double mean, double seconds)
{
    const struct limit_client *client = limit->client;
    struct latencies latencies = {0};
    struct limit_batch *sent = limit->batches[0], *next = limit->batches[1];
    uint64_t built = next_size(mean, 0, 0), claimed = 0;
    build(limit, sent, built);
    if (client->begin != NULL)
        client->begin(limit->self, sent);
    double start = clock_s(CLOCK_MONOTONIC), cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID), end = start;
    double backend = client->cpu_s(limit->self);
    while (end - start < seconds) {
        double sent_s = clock_s(CLOCK_MONOTONIC);
        client->send(limit->self, sent);
        size_t size = next_size(mean, latencies.count + 1, built);
        build(limit, next, size);
        built += size;
        client->await(limit->self, sent);
        end = clock_s(CLOCK_MONOTONIC);
        latencies_add(&latencies, end - sent_s);
        claimed += sent->claims;
        struct limit_batch *done = sent;
        sent = next;
        next = done;
    }
    cpu = clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    backend = client->cpu_s(limit->self) - backend;
    if (client->end != NULL)
        client->end(limit->self);
    if (read_number(limit, "SELECT max(number) FROM berth_log") != (int64_t)latencies.count)
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

int limit_claims_main(const struct limit_client *client, void *self, int argc, char **argv)
{
    double mean = argc == 4 ? strtod(argv[2], NULL) : 0;
    double seconds = argc == 4 ? strtod(argv[3], NULL) : 0;
    if (seconds <= 0 || mean < 1 || mean > LIMIT_BATCH_MOST - 1) {
        fprintf(stderr, "usage: %s URL MEAN_BATCH SECONDS\n", argv[0]);
        return 2;
    }
    struct limit limit = {.client = client, .self = self};
    open_limit(&limit, argv[1]);
    commit_claims(&limit, mean, seconds);
    return 0;
}
