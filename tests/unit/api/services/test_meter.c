/* Per-thread counting: what is counted where, that nothing is lost when threads start and end, and
 * that no client can create a series. */
#include "api/api.h"
#include "api/services/meter.h"

#include <pthread.h>

#include "api/fake_request.h"
#include "api/routes.h"
#include "placement/api/definition.h"
#include "unit.h"

enum { THREADS = 6, ROUNDS = 20000 };

static const struct api_endpoint ENDPOINTS[API_COUNT] = {
    [API_PLACEMENT] = {.definition = &placement_definition}};

static unsigned series_named(const char *method, const char *route)
{
    const char *m;
    const char *r;
    unsigned found = METER_SERIES_MAX;
    for (unsigned i = 0; meter_series_name(&placement_definition, i, &m, &r); i++)
        if (strcmp(m, method) == 0 && strcmp(r, route) == 0 && found == METER_SERIES_MAX)
            found = i;
    assert_true(found < METER_SERIES_MAX);
    return found;
}

static uint64_t count_of(const struct meter_totals *totals, unsigned series, unsigned status)
{
    for (unsigned i = 0; i < METER_STATUSES; i++)
        if (meter_status(i) == status)
            return totals->apis[API_PLACEMENT].series[series].statuses[i];
    fail();
    return 0;
}

static void count(const char *method, const char *path, int status, unsigned minor,
                  uint64_t took_us)
{
    static const struct api API = {0};
    struct fake_request fake;
    fake_request_open(&fake, &API);
    struct api_request *request = &fake.request;
    request->http->method = slice_of(method);
    request->path = slice_of(path);
    request->minor = minor;
    request->status = status;
    request->http->started_us = 1000000;
    buf_append_lit(&request->http->out, "0123456789");
    if (routes_find(request->endpoint->routes, request->path, request) != ROUTE_FOUND)
        request->route = NULL;
    meter_count_answer(request, 1000000 + took_us);
    fake_request_close(&fake);
}

static void answers(void **state)
{
    (void)state;
    static struct meter_totals before;
    static struct meter_totals after;
    unsigned show = series_named("GET", "/resource_providers/{uuid}");
    unsigned other = series_named("GET", "other");
    unsigned odd = series_named("other", "other");
    meter_read(ENDPOINTS, &before);
    count("GET", "/resource_providers/a", 200, 39, 60);
    count("GET", "/resource_providers/b", 200, 39, 60);
    count("GET", "/resource_providers/c", 404, 0, 20000000);
    count("GET", "/nowhere", 404, 1, 0);
    count("GET", "/anywhere", 599, 1, 0);
    count("BREW", "/", 405, 1, 0);
    count("PURGE", "/", 405, 1, 0);
    meter_read(ENDPOINTS, &after);
    assert_int_equal(count_of(&after, show, 200) - count_of(&before, show, 200), 2);
    assert_int_equal(count_of(&after, show, 404) - count_of(&before, show, 404), 1);
    assert_int_equal(count_of(&after, other, 404) - count_of(&before, other, 404), 1);
    assert_int_equal(count_of(&after, other, 0) - count_of(&before, other, 0), 1);
    assert_int_equal(count_of(&after, odd, 405) - count_of(&before, odd, 405), 2);
    assert_int_equal(after.apis[API_PLACEMENT].series[show].bytes -
                         before.apis[API_PLACEMENT].series[show].bytes,
                     30);
    assert_int_equal(after.apis[API_PLACEMENT].minors[39] - before.apis[API_PLACEMENT].minors[39],
                     2);
    assert_int_equal(after.apis[API_PLACEMENT].minors[0] - before.apis[API_PLACEMENT].minors[0], 1);
    const struct histogram_total *took = &after.apis[API_PLACEMENT].series[show].took_us;
    const struct histogram_total *took_before = &before.apis[API_PLACEMENT].series[show].took_us;
    assert_int_equal(took->sum - took_before->sum, 20000120);
    assert_int_equal(took->buckets[1] - took_before->buckets[1], 2);
    unsigned last = METER_TOOK_SHAPE_US.count;
    assert_int_equal(took->buckets[last] - took_before->buckets[last], 1);
    assert_true(after.arena_bytes > 0);
}

/* PUT /resource_classes/{name} is two rows of the table: rename, and from 1.7 on ensure. */
static void rows_of_one_route(void **state)
{
    (void)state;
    static struct meter_totals before;
    static struct meter_totals after;
    unsigned put = series_named("PUT", "/resource_classes/{name}");
    meter_read(ENDPOINTS, &before);
    count("PUT", "/resource_classes/CUSTOM_A", 200, 2, 1);
    count("PUT", "/resource_classes/CUSTOM_A", 201, 39, 1);
    meter_read(ENDPOINTS, &after);
    assert_int_equal(count_of(&after, put, 200) - count_of(&before, put, 200), 1);
    assert_int_equal(count_of(&after, put, 201) - count_of(&before, put, 201), 1);
}

/* Every row of the table has a series, each method and route once. */
static void series(void **state)
{
    (void)state;
    const char *method;
    const char *route;
    for (unsigned i = 0; i < PLACEMENT_ROUTE_COUNT; i++) {
        assert_true(meter_series_name(&placement_definition, i, &method, &route));
        assert_string_equal(route, placement_routes[i].path);
    }
    assert_true(series_named("any", "/healthcheck") == PLACEMENT_ROUTE_COUNT);
    assert_false(meter_series_name(&placement_definition, METER_SERIES_MAX, &method, &route));
}

static void candidates(void **state)
{
    (void)state;
    static struct meter_totals before;
    static struct meter_totals after;
    meter_read(ENDPOINTS, &before);
    meter_count_candidates(7, AC_NONE_FOUND_SOME);
    meter_count_candidates(0, AC_NONE_CAPACITY);
    meter_count_candidates(0, AC_NONE_CAPACITY);
    meter_read(ENDPOINTS, &after);
    assert_int_equal(after.none[AC_NONE_CAPACITY] - before.none[AC_NONE_CAPACITY], 2);
    assert_int_equal(after.none[AC_NONE_FOUND_SOME], 0);
    assert_int_equal(after.candidates.sum - before.candidates.sum, 7);
    assert_int_equal(after.candidates.buckets[0] - before.candidates.buckets[0], 2);
}

static void *count_many(void *cls)
{
    (void)cls;
    for (unsigned i = 0; i < ROUNDS; i++)
        meter_count_candidates(i % 3, i % 3 == 0 ? AC_NONE_SHARING : AC_NONE_FOUND_SOME);
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    static struct meter_totals before;
    static struct meter_totals totals;
    meter_read(ENDPOINTS, &before);
    uint64_t seen = histogram_count(&before.candidates);
    for (unsigned turn = 0; turn < 3; turn++) { /* later threads reuse the blocks of earlier ones */
        pthread_t ids[THREADS];
        for (unsigned i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&ids[i], NULL, count_many, NULL), 0);
        for (unsigned i = 0; i < 50; i++) {
            meter_read(ENDPOINTS, &totals);
            assert_true(histogram_count(&totals.candidates) >= seen);
            seen = histogram_count(&totals.candidates);
        }
        for (unsigned i = 0; i < THREADS; i++)
            pthread_join(ids[i], NULL);
    }
    meter_read(ENDPOINTS, &totals);
    assert_int_equal(histogram_count(&totals.candidates) - histogram_count(&before.candidates),
                     3 * THREADS * ROUNDS);
    assert_int_equal(totals.none[AC_NONE_SHARING] - before.none[AC_NONE_SHARING],
                     3 * THREADS * ((ROUNDS + 2) / 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),    cmocka_unit_test(rows_of_one_route), cmocka_unit_test(series),
        cmocka_unit_test(candidates), cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
