/* Whether projects exist: the queries, how many at once, and what ends them. */
#include "keystone/projects.h"

#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

#include "fake_keystone.h"
#include "unit.h"

static struct fake_keystone fake;
static struct keystone_settings settings;
static struct keystone_limits limits;
static struct keystone *keystone;
static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = arena_create();
    fake_keystone_start(&fake);
    settings = (struct keystone_settings){
        .auth_url = fake.url,
        .login_body = "{}",
        .interface = "internal",
        .attempt_timeout_ms = 20000,
        .cache_s = 300,
    };
    limits = keystone_default_limits;
    keystone = NULL;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    keystone_stop(keystone);
    fake_keystone_stop(&fake);
    arena_destroy(arena);
    return 0;
}

struct caller {
    sem_t done;
    unsigned answers;
    enum keystone_verdict verdict;
    size_t unknown;
};

static void answered(void *cls, enum keystone_verdict verdict, size_t unknown)
{
    struct caller *caller = cls;
    caller->answers++;
    caller->verdict = verdict;
    caller->unknown = unknown;
    sem_post(&caller->done);
}

static void begin(struct caller *caller, const struct slice *projects, size_t count)
{
    if (keystone == NULL) {
        struct err err = {.arena = arena};
        keystone = keystone_start(&settings, &limits, &err);
        assert_non_null(keystone);
    }
    *caller = (struct caller){.verdict = KEYSTONE_PENDING};
    sem_init(&caller->done, 0, 0);
    keystone_projects_check(keystone, projects, count, SLICE_LIT("req-1"), arena, answered, caller);
}

static enum keystone_verdict finish(struct caller *caller)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 60;
    while (sem_timedwait(&caller->done, &end) != 0)
        assert_int_equal(errno, EINTR);
    assert_int_equal(caller->answers, 1);
    sem_destroy(&caller->done);
    return caller->verdict;
}

static enum keystone_verdict check_tokens(const char *project)
{
    struct slice id = slice_of(project);
    struct caller caller;
    begin(&caller, &id, 1);
    return finish(&caller);
}

static void one(void **state)
{
    (void)state;
    assert_int_equal(check_tokens("good"), KEYSTONE_ACCEPTED);
    assert_string_equal(fake.last.method, "GET");
    assert_string_equal(fake.last.target, "/v3/projects/good");
    assert_string_equal(fake.last.own, "own-1");
    assert_string_equal(fake.last.subject, "");
    assert_string_equal(fake.last.request_id, "req-1");
    assert_int_equal(check_tokens("x"), KEYSTONE_REFUSED);
    assert_int_equal(check_tokens("good"), KEYSTONE_ACCEPTED);
    assert_int_equal(fake_keystone_query_count(&fake), 3); /* nothing is cached */
    assert_int_equal(fake_keystone_logins(&fake), 1);
}

/* Any id becomes one segment of the URL. */
static void odd_ids(void **state)
{
    (void)state;
    assert_int_equal(check_tokens("g/../x?y#z%2f \xc3\xa9"), KEYSTONE_ACCEPTED);
    assert_string_equal(fake.last.target, "/v3/projects/g%2F..%2Fx%3Fy%23z%252f%20%C3%A9");
    assert_int_equal(check_tokens("9e4b7d20-81fa-4c36-b5d9-3a60e2f7c814"), KEYSTONE_REFUSED);
    assert_string_equal(fake.last.target, "/v3/projects/9e4b7d2081fa4c36b5d93a60e2f7c814");
    unsigned queries = fake_keystone_query_count(&fake);
    assert_int_equal(check_tokens(""), KEYSTONE_REFUSED);
    assert_int_equal(check_tokens("."), KEYSTONE_REFUSED);
    assert_int_equal(check_tokens(".."), KEYSTONE_REFUSED);
    assert_int_equal(fake_keystone_query_count(&fake), queries);
}

enum { MANY = 200 };

static void many(void **state)
{
    (void)state;
    struct slice ids[MANY];
    struct caller caller;
    for (unsigned i = 0; i < MANY; i++)
        ids[i] = arena_printf(arena, "g%u", i);
    begin(&caller, ids, MANY);
    assert_int_equal(finish(&caller), KEYSTONE_ACCEPTED);
    assert_int_equal(fake_keystone_query_count(&fake), MANY);
    assert_in_range(fake.projects_most, 1, 8);
    ids[20] = SLICE_LIT("x");
    begin(&caller, ids, MANY);
    assert_int_equal(finish(&caller), KEYSTONE_REFUSED);
    assert_int_equal(caller.unknown, 20);
    assert_true(fake_keystone_query_count(&fake) < 2 * MANY - 20); /* that ended the queries */
}

/* Queries for a token and a project with the same text are independent. */
static void beside_tokens(void **state)
{
    (void)state;
    struct slice id = SLICE_LIT("good");
    struct caller first;
    struct caller second;
    fake_keystone_hold(&fake, true);
    begin(&first, &id, 1);
    assert_true(fake_keystone_await_queries(&fake, 1));
    begin(&second, &id, 1); /* later requests do not get an earlier answer */
    assert_true(fake_keystone_await_queries(&fake, 2));
    fake_keystone_hold(&fake, false);
    assert_int_equal(finish(&first), KEYSTONE_ACCEPTED);
    assert_int_equal(finish(&second), KEYSTONE_ACCEPTED);
}

static void not_answered(void **state)
{
    (void)state;
    static const int STATUSES[] = {403, 500, 503, 301};
    assert_int_equal(check_tokens("good"), KEYSTONE_ACCEPTED);
    for (unsigned i = 0; i < 4; i++) {
        fake.token_status = STATUSES[i];
        assert_int_equal(check_tokens("good"), KEYSTONE_UNAVAILABLE);
    }
    fake.token_status = 0;
    fake.own_valid = 2; /* a new login, then it goes on */
    assert_int_equal(check_tokens("good"), KEYSTONE_ACCEPTED);
    assert_int_equal(fake_keystone_logins(&fake), 2);
}

/* Not each query, but all of them together have that time. */
static void in_time(void **state)
{
    (void)state;
    struct slice ids[MANY];
    struct caller caller;
    for (unsigned i = 0; i < MANY; i++)
        ids[i] = arena_printf(arena, "g%u", i);
    limits.query_ms = 300;
    fake_keystone_hold(&fake, true);
    begin(&caller, ids, MANY);
    assert_int_equal(finish(&caller), KEYSTONE_UNAVAILABLE);
    assert_true(fake_keystone_query_count(&fake) <= 8);
    fake_keystone_hold(&fake, false);
}

/* The number of kept queries is limited. */
static void too_many(void **state)
{
    (void)state;
    struct slice ids[MANY];
    struct caller caller;
    for (unsigned i = 0; i < MANY; i++)
        ids[i] = arena_printf(arena, "g%u", i);
    limits.queries = 4;
    begin(&caller, ids, MANY);
    assert_int_equal(finish(&caller), KEYSTONE_UNAVAILABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one, setup, teardown),
        cmocka_unit_test_setup_teardown(odd_ids, setup, teardown),
        cmocka_unit_test_setup_teardown(many, setup, teardown),
        cmocka_unit_test_setup_teardown(beside_tokens, setup, teardown),
        cmocka_unit_test_setup_teardown(not_answered, setup, teardown),
        cmocka_unit_test_setup_teardown(in_time, setup, teardown),
        cmocka_unit_test_setup_teardown(too_many, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
