/* Blocks of counters, one for each thread that has ever answered. A block outlives its thread with
 * what was counted, and the next new thread continues with it; so the number of blocks is the
 * largest number of threads that existed at the same time. */
#include "api/services/meter.h"
#include "api/definition.h"
#include "api/passage.h"
#include "api/request.h"
#include "base/arena.h"

#include <pthread.h>
#include <stdlib.h>

static const char *const METHODS[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"};
enum { METHOD_COUNT = sizeof(METHODS) / sizeof(METHODS[0]) };

/* The most frequent ones first: they are searched in this order. */
static const uint16_t STATUSES[METER_STATUSES] = {200, 204, 201, 409, 404, 400, 401, 403,
                                                  405, 406, 413, 415, 503, 500, 0};

struct series {
    struct counter statuses[METER_STATUSES];
    struct counter bytes;
    struct histogram took_us;
};

struct block {
    _Alignas(64) _Atomic bool is_taken;
    struct block *next;
    struct {
        struct series series[METER_SERIES_MAX];
        struct counter minors[METER_MINORS];
    } apis[API_COUNT];
    struct histogram candidates;
    struct counter none[AC_NONE_COUNT];
    struct counter arena_bytes;
};

static _Atomic(struct block *) first_block;
static _Thread_local struct block *own;
static pthread_key_t leave_key;
static pthread_once_t leave_once = PTHREAD_ONCE_INIT;

static void leave(void *block)
{
    atomic_store_explicit(&((struct block *)block)->is_taken, false, memory_order_release);
}

static void make_key(void)
{
    check(pthread_key_create(&leave_key, leave) == 0);
}

static struct block *take_block(void)
{
    for (struct block *at = atomic_load(&first_block); at != NULL; at = at->next) {
        bool expected = false;
        if (atomic_compare_exchange_strong(&at->is_taken, &expected, true))
            return at;
    }
    struct block *block = aligned_alloc(64, sizeof(*block));
    check(block != NULL);
    memset(block, 0, sizeof(*block));
    atomic_init(&block->is_taken, true);
    block->next = atomic_load(&first_block);
    while (!atomic_compare_exchange_weak(&first_block, &block->next, block))
        continue;
    return block;
}

static struct block *own_block(void)
{
    if (own != NULL)
        return own;
    pthread_once(&leave_once, make_key);
    own = take_block();
    pthread_setspecific(leave_key, own);
    return own;
}

/* An API may answer some methods that have no row. */
static bool is_in_table(const struct api_request *request)
{
    const struct api_definition *definition = request->definition;
    return request->route >= definition->routes &&
           request->route < definition->routes + definition->route_count;
}

/* Routes, then /healthcheck, then requests without a route, by method. */
static unsigned series_of(const struct api_request *request)
{
    if (is_in_table(request))
        return (unsigned)(request->route - request->definition->routes);
    unsigned routes = request->definition->route_count;
    if (request->passage->phase == PHASE_CHECKING)
        return routes;
    for (unsigned i = 0; i < METHOD_COUNT; i++)
        if (slice_equal(request->http->method, slice_of(METHODS[i])))
            return routes + 1 + i;
    return routes + 1 + METHOD_COUNT;
}

static unsigned status_at(int status)
{
    unsigned at = 0;
    while (at < METER_STATUSES - 1 && STATUSES[at] != status)
        at++;
    return at;
}

void meter_count_answer(const struct api_request *request, uint64_t now_us)
{
    struct block *block = own_block();
    enum api_id id = request->definition->id;
    struct series *series = &block->apis[id].series[series_of(request)];
    const struct http_exchange *http = request->http;
    uint64_t started_us = http->started_us;
    uint64_t arena_bytes = arena_footprint_bytes(request->arena);
    counter_add(&series->statuses[status_at(request->status)], 1);
    counter_add(&series->bytes, http->out.len);
    histogram_add(&series->took_us, &METER_TOOK_SHAPE_US,
                  now_us > started_us ? now_us - started_us : 0);
    counter_add(&block->apis[id].minors[request->has_minor ? request->minor : METER_MINORS - 1], 1);
    if (arena_bytes > counter_read(&block->arena_bytes))
        counter_set(&block->arena_bytes, arena_bytes);
}

void meter_count_candidates(uint64_t count, enum ac_none none)
{
    struct block *block = own_block();
    histogram_add(&block->candidates, &METER_CANDIDATES_SHAPE, count);
    if (none != AC_NONE_FOUND_SOME)
        counter_add(&block->none[none], 1);
}

static void add_series(struct meter_series *total, const struct series *series)
{
    for (unsigned i = 0; i < METER_STATUSES; i++)
        total->statuses[i] += counter_read(&series->statuses[i]);
    total->bytes += counter_read(&series->bytes);
    histogram_read(&series->took_us, &total->took_us);
}

static unsigned series_count(const struct api_definition *definition)
{
    unsigned count = definition->route_count + 1 + METHOD_COUNT + 1;
    check(count <= METER_SERIES_MAX && definition->max_minor < METER_MINORS - 1);
    return count;
}

/* The series of the table's first row with the same method and path. */
static unsigned shared_series(const struct api_definition *definition, unsigned series)
{
    const struct api_route *routes = definition->routes;
    if (series >= definition->route_count)
        return series;
    for (unsigned i = 0; i < series; i++)
        if (strcmp(routes[i].path, routes[series].path) == 0 &&
            strcmp(routes[i].method, routes[series].method) == 0)
            return i;
    return series;
}

static void add_api(struct meter_totals *totals, const struct block *block,
                    const struct api_definition *definition)
{
    struct meter_api *total = &totals->apis[definition->id];
    unsigned count = series_count(definition);
    for (unsigned i = 0; i < count; i++)
        add_series(&total->series[shared_series(definition, i)],
                   &block->apis[definition->id].series[i]);
    for (unsigned i = 0; i < METER_MINORS; i++)
        total->minors[i] += counter_read(&block->apis[definition->id].minors[i]);
}

void meter_read(const struct api_endpoint endpoints[API_COUNT], struct meter_totals *totals)
{
    *totals = (struct meter_totals){.arena_bytes = 0};
    for (const struct block *at = atomic_load(&first_block); at != NULL; at = at->next) {
        for (unsigned i = 0; i < API_COUNT; i++)
            if (endpoints[i].definition != NULL)
                add_api(totals, at, endpoints[i].definition);
        for (unsigned i = 0; i < AC_NONE_COUNT; i++)
            totals->none[i] += counter_read(&at->none[i]);
        histogram_read(&at->candidates, &totals->candidates);
        uint64_t arena_bytes = counter_read(&at->arena_bytes);
        if (arena_bytes > totals->arena_bytes)
            totals->arena_bytes = arena_bytes;
    }
}

bool meter_series_name(const struct api_definition *definition, unsigned series,
                       const char **method, const char **route)
{
    unsigned routes = definition->route_count;
    if (series >= series_count(definition))
        return false;
    if (series < routes) {
        *method = definition->routes[series].method;
        *route = definition->routes[series].path;
        return true;
    }
    *route = series == routes ? "/healthcheck" : "other";
    *method = "any";
    if (series > routes)
        *method = series - routes - 1 < METHOD_COUNT ? METHODS[series - routes - 1] : "other";
    return true;
}

unsigned meter_status(unsigned at)
{
    return STATUSES[at];
}
