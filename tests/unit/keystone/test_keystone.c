/* The engine with a Keystone of the test: sharing, limits, renewal, deadlines. */
#include "keystone/keystone.h"

#include <curl/curl.h>
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "await.h"
#include "fake_clock.h"
#include "fake_keystone.h"
#include "keystone/internal.h"
#include "keystone/stats.h"
#include "unit.h"

static struct fake_keystone fake;
static struct keystone_settings settings;
static struct keystone_limits limits;
static struct keystone *keystone;
static struct arena *arena;

/* The linker sends the library's calls here: how often the engine's thread has gone around, which
 * it does at once whenever the clock moves, and how many calls of Keystone are under way. */
static atomic_uint rounds;
static atomic_uint calls;
static atomic_uint calls_most;

static int setup(void **state)
{
    (void)state;
    static const char *const SERVICE_ROLES[] = {"service"};
    arena = arena_create();
    fake_keystone_start(&fake);
    settings = (struct keystone_settings){
        .auth_url = fake.url,
        .login_body = "{}",
        .interface = "internal",
        .attempt_timeout_ms = 20000,
        .cache_s = 300,
        .service_roles = {SERVICE_ROLES, 1},
    };
    limits = keystone_default_limits;
    calls_most = 0;
    keystone = NULL;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fake_clock_run();
    if (keystone != NULL)
        keystone_stop(keystone);
    fake_keystone_stop(&fake);
    arena_destroy(arena);
    return 0;
}

static void start(void)
{
    struct err err = {.arena = arena};
    keystone = keystone_start(&settings, &limits, &err);
    assert_non_null(keystone);
}

/* A request whose `done` wakes the thread that waits for it. */
struct caller {
    struct keystone_request request;
    sem_t done;
};

static void wake(struct keystone_request *request)
{
    sem_post(&((struct caller *)request)->done);
}

static enum keystone_verdict begin(struct caller *caller, const char *token, const char *service)
{
    memset(caller, 0, sizeof(*caller));
    sem_init(&caller->done, 0, 0);
    caller->request = (struct keystone_request){
        .user_token = token == NULL ? (struct slice){0} : slice_of(token),
        .service_token = service == NULL ? (struct slice){0} : slice_of(service),
        .method = SLICE_LIT("GET"),
        .path = SLICE_LIT("/traits"),
        .request_id = SLICE_LIT("req-1"),
        .arena = arena,
        .done = wake,
    };
    return keystone_check(keystone, &caller->request);
}

static enum keystone_verdict finish(struct caller *caller, enum keystone_verdict verdict)
{
    while (verdict == KEYSTONE_PENDING) {
        struct timespec end;
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_sec += 60;
        while (sem_timedwait(&caller->done, &end) != 0)
            assert_int_equal(errno, EINTR);
        verdict = keystone_check(keystone, &caller->request);
    }
    return verdict;
}

static void close_caller(struct caller *caller)
{
    keystone_request_close(&caller->request);
    sem_destroy(&caller->done);
}

CURLMcode __real_curl_multi_poll(CURLM *multi, struct curl_waitfd fds[], unsigned count,
                                 int timeout_ms, int *ready);
CURLMcode __wrap_curl_multi_poll(CURLM *multi, struct curl_waitfd fds[], unsigned count,
                                 int timeout_ms, int *ready);
CURLMcode __wrap_curl_multi_poll(CURLM *multi, struct curl_waitfd fds[], unsigned count,
                                 int timeout_ms, int *ready)
{
    rounds++;
    return __real_curl_multi_poll(multi, fds, count, timeout_ms < 1 ? timeout_ms : 1, ready);
}

CURLMcode __real_curl_multi_add_handle(CURLM *multi, CURL *call);
CURLMcode __wrap_curl_multi_add_handle(CURLM *multi, CURL *call);
CURLMcode __wrap_curl_multi_add_handle(CURLM *multi, CURL *call)
{
    unsigned now = ++calls;
    calls_most = now > calls_most ? now : calls_most;
    return __real_curl_multi_add_handle(multi, call);
}

CURLMcode __real_curl_multi_remove_handle(CURLM *multi, CURL *call);
CURLMcode __wrap_curl_multi_remove_handle(CURLM *multi, CURL *call);
CURLMcode __wrap_curl_multi_remove_handle(CURLM *multi, CURL *call)
{
    calls--;
    return __real_curl_multi_remove_handle(multi, call);
}

/* Once the engine has done what is due by now. */
static void wait_for_round(void)
{
    unsigned before = rounds;
    AWAIT(rounds >= before + 2);
}

static void pass_ms(unsigned ms)
{
    fake_clock_add_us((uint64_t)ms * 1000);
    wait_for_round();
}

static bool is_answered(struct caller *caller)
{
    int count = 0;
    sem_getvalue(&caller->done, &count);
    return count > 0;
}

static enum keystone_verdict check_tokens(const char *token, const char *service)
{
    struct caller caller;
    enum keystone_verdict verdict = finish(&caller, begin(&caller, token, service));
    close_caller(&caller);
    return verdict;
}

static struct keystone_stats stats(void)
{
    struct keystone_stats read;
    keystone_stats_read(keystone, &read);
    return read;
}

static void queries_once(void **state)
{
    (void)state;
    start();
    struct caller caller;
    assert_int_equal(finish(&caller, begin(&caller, "good", NULL)), KEYSTONE_ACCEPTED);
    struct identity *identity = &caller.request.identity;
    assert_memory_equal(identity->user_id.data, "user-of-good", identity->user_id.len);
    assert_int_equal(identity->roles.count, 1);
    assert_true(identity_has_role(identity, SLICE_LIT("admin")));
    assert_null(identity->service.user_id.data);
    close_caller(&caller);
    assert_string_equal(fake.last.target, "/v3/auth/tokens?nocatalog");
    assert_string_equal(fake.last.own, "own-1");
    assert_string_equal(fake.last.request_id, "req-1");
    assert_int_equal(check_tokens("good", NULL), KEYSTONE_ACCEPTED);
    assert_int_equal(check_tokens("x", NULL), KEYSTONE_REFUSED);
    assert_int_equal(check_tokens("x", NULL), KEYSTONE_REFUSED); /* a refusal is not cached */
    assert_int_equal(fake_keystone_query_count(&fake), 3);
    assert_int_equal(fake_keystone_logins(&fake), 1);
    struct keystone_stats seen = stats();
    assert_int_equal(seen.tokens_cached, 1);
    assert_int_equal(seen.cache_hits, 1);
    assert_int_equal(seen.queries, 3);
    assert_int_equal(seen.logins, 1);
    assert_int_equal(seen.accepted, 2);
    assert_int_equal(seen.refused, 2);
    assert_int_equal(seen.queries_pending, 0);
}

static void service_tokens(void **state)
{
    (void)state;
    start();
    assert_int_equal(check_tokens("expired", NULL), KEYSTONE_REFUSED);
    struct caller caller;
    assert_int_equal(finish(&caller, begin(&caller, "expired", "service")), KEYSTONE_ACCEPTED);
    assert_memory_equal(caller.request.identity.user_id.data, "user-of-expired", 15);
    assert_memory_equal(caller.request.identity.service.user_id.data, "user-of-service", 15);
    close_caller(&caller);
    /* it is cached now, and still only valid for services */
    assert_int_equal(check_tokens("expired", NULL), KEYSTONE_REFUSED);
    assert_int_equal(check_tokens("expired", "good"), KEYSTONE_REFUSED);
    assert_int_equal(check_tokens("expired", "service"), KEYSTONE_ACCEPTED);
    assert_int_equal(check_tokens("good", "x"), KEYSTONE_REFUSED);
}

enum { SHARERS = 50 };

static void share_a_query(void **state)
{
    (void)state;
    start();
    struct caller callers[SHARERS];
    fake_keystone_hold(&fake, true);
    for (unsigned i = 0; i < SHARERS; i++)
        assert_int_equal(begin(&callers[i], "good", NULL), KEYSTONE_PENDING);
    assert_true(fake_keystone_await_queries(&fake, 1));
    assert_int_equal(stats().queries_pending, 1);
    assert_int_equal(stats().queries_shared, SHARERS - 1);
    fake_keystone_hold(&fake, false);
    for (unsigned i = 0; i < SHARERS; i++) {
        assert_int_equal(finish(&callers[i], KEYSTONE_PENDING), KEYSTONE_ACCEPTED);
        assert_memory_equal(callers[i].request.identity.user_id.data, "user-of-good", 12);
        close_caller(&callers[i]);
    }
    assert_int_equal(fake_keystone_query_count(&fake), 1);
}

/* With the cache off no request gets an answer from before it began. */
/* Between a look into the cache and the query, another request's query may have ended. */
static void cached_since(void **state)
{
    (void)state;
    start();
    assert_int_equal(check_tokens("good", NULL), KEYSTONE_ACCEPTED);
    const struct keystone_query_input about = {
        .key = token_cache_key(keystone->cache, SLICE_LIT("good")),
        .subject = SLICE_LIT("good"),
    };
    struct keystone_waiter waiter = {.done = NULL}; /* it is not called */
    assert_int_equal(keystone_queries_submit(keystone, &about, &waiter), KEYSTONE_ACCEPTED);
    assert_int_equal(waiter.verdict, KEYSTONE_ACCEPTED);
    assert_true(slice_equal(waiter.token->party.user_id, SLICE_LIT("user-of-good")));
    token_unref(waiter.token);
    assert_int_equal(fake_keystone_query_count(&fake), 1);
}

static void no_sharing_without_a_cache(void **state)
{
    (void)state;
    settings.cache_s = 0;
    start();
    struct caller one, two;
    fake_keystone_hold(&fake, true);
    assert_int_equal(begin(&one, "good", NULL), KEYSTONE_PENDING);
    assert_true(fake_keystone_await_queries(&fake, 1));
    assert_int_equal(begin(&two, "good", NULL), KEYSTONE_PENDING);
    assert_true(fake_keystone_await_queries(&fake, 2));
    fake_keystone_hold(&fake, false);
    assert_int_equal(finish(&one, KEYSTONE_PENDING), KEYSTONE_ACCEPTED);
    assert_int_equal(finish(&two, KEYSTONE_PENDING), KEYSTONE_ACCEPTED);
    close_caller(&one);
    close_caller(&two);
    assert_int_equal(check_tokens("good", NULL), KEYSTONE_ACCEPTED);
    assert_int_equal(fake_keystone_query_count(&fake), 3);
    assert_int_equal(stats().tokens_cached, 0);
}

static void bounded_queries(void **state)
{
    (void)state;
    limits.queries = 4;
    limits.queries_sent = 2;
    start();
    struct caller callers[4];
    char names[4][8];
    fake_keystone_hold(&fake, true);
    for (unsigned i = 0; i < 4; i++) {
        snprintf(names[i], sizeof(names[i]), "good-%u", i);
        assert_int_equal(begin(&callers[i], names[i], NULL), KEYSTONE_PENDING);
    }
    assert_true(fake_keystone_await_queries(&fake, 2));
    assert_int_equal(check_tokens("good-5", NULL), KEYSTONE_UNAVAILABLE);
    assert_int_equal(stats().queries_dropped, 1);
    assert_int_equal(stats().queries_pending, 4);
    wait_for_round();
    fake_keystone_hold(&fake, false);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(finish(&callers[i], KEYSTONE_PENDING), KEYSTONE_ACCEPTED);
        close_caller(&callers[i]);
    }
    assert_int_equal(calls_most, 2); /* no more at once */
    assert_int_equal(check_tokens("good-5", NULL), KEYSTONE_ACCEPTED);
}

/* Long enough that none ends by the library's own clock. */
enum { QUERY_MS = 15000, HURRY_MS = 10000, TICK_MS = 50 };

static void deadlines(void **state)
{
    (void)state;
    struct caller caller;
    limits.query_ms = QUERY_MS;
    fake_clock_stop();
    start();
    assert_int_equal(check_tokens("good", NULL), KEYSTONE_ACCEPTED);
    fake_keystone_hold(&fake, true);
    assert_int_equal(begin(&caller, "good-2", NULL), KEYSTONE_PENDING);
    assert_true(fake_keystone_await_queries(&fake, 2));
    pass_ms(QUERY_MS - 1);
    assert_false(is_answered(&caller));
    pass_ms(1 + TICK_MS);
    assert_true(is_answered(&caller));
    assert_int_equal(finish(&caller, KEYSTONE_PENDING), KEYSTONE_UNAVAILABLE);
    close_caller(&caller);
    assert_int_equal(check_tokens("good", NULL), KEYSTONE_ACCEPTED); /* known tokens still work */
    assert_true(stats().is_unavailable);
    fake_keystone_hold(&fake, false);
    assert_int_equal(check_tokens("good-2", NULL), KEYSTONE_ACCEPTED);
    assert_false(stats().is_unavailable);
    assert_int_equal(stats().queries_failed, 1);
    assert_int_equal(stats().unavailable, 1);
}

static void hurry(void **state)
{
    (void)state;
    fake_clock_stop();
    start();
    fake_keystone_hold(&fake, true);
    struct caller caller;
    assert_int_equal(begin(&caller, "good", NULL), KEYSTONE_PENDING);
    assert_true(fake_keystone_await_queries(&fake, 1));
    keystone_hurry(keystone, HURRY_MS);
    pass_ms(HURRY_MS - 1);
    assert_false(is_answered(&caller));
    pass_ms(1 + TICK_MS);
    assert_true(is_answered(&caller));
    assert_int_equal(finish(&caller, KEYSTONE_PENDING), KEYSTONE_UNAVAILABLE);
    close_caller(&caller);
    /* later requests also wait for a shorter time */
    assert_int_equal(begin(&caller, "good-2", NULL), KEYSTONE_PENDING);
    pass_ms(TICK_MS);
    assert_true(is_answered(&caller));
    assert_int_equal(finish(&caller, KEYSTONE_PENDING), KEYSTONE_UNAVAILABLE);
    close_caller(&caller);
}

static void own_token_is_replaced(void **state)
{
    (void)state;
    start();
    assert_int_equal(check_tokens("good", NULL), KEYSTONE_ACCEPTED);
    pthread_mutex_lock(&fake.lock);
    fake.own_valid = 2;
    pthread_mutex_unlock(&fake.lock);
    assert_int_equal(check_tokens("good-2", NULL), KEYSTONE_ACCEPTED);
    assert_int_equal(fake_keystone_logins(&fake), 2);
    assert_int_equal(fake_keystone_query_count(&fake), 3);
    pthread_mutex_lock(&fake.lock);
    fake.own_valid = 100; /* whatever the service does */
    pthread_mutex_unlock(&fake.lock);
    assert_int_equal(check_tokens("good-3", NULL), KEYSTONE_UNAVAILABLE);
    assert_int_equal(fake_keystone_logins(&fake), 3);
    assert_int_equal(fake_keystone_query_count(&fake), 5);
}

static void refused_login(void **state)
{
    (void)state;
    fake.login_status = 401;
    fake_clock_stop();
    start();
    for (int i = 0; i < 20; i++)
        assert_int_equal(check_tokens("good", NULL), KEYSTONE_UNAVAILABLE);
    assert_int_equal(fake_keystone_logins(&fake), 1); /* wrong passwords are not repeated quickly */
    assert_int_equal(fake_keystone_query_count(&fake), 0);
}

/* Logins succeed, and their tokens are refused: two Keystones with different keys. */
static void refused_tokens_of_own(void **state)
{
    (void)state;
    fake.own_valid = 1000;
    fake_clock_stop();
    start();
    for (int i = 0; i < 50; i++)
        assert_int_equal(check_tokens("good", NULL), KEYSTONE_UNAVAILABLE);
    assert_int_equal(fake_keystone_logins(&fake), 2);
    pthread_mutex_lock(&fake.lock);
    fake.own_valid = 0;
    pthread_mutex_unlock(&fake.lock);
    pass_ms(999);
    assert_int_equal(check_tokens("good", NULL), KEYSTONE_UNAVAILABLE);
    pass_ms(1);
    assert_int_equal(check_tokens("good", NULL), KEYSTONE_ACCEPTED);
}

static void bad_statuses(void **state)
{
    (void)state;
    start();
    static const int STATUSES[] = {204, 301, 302, 400, 403, 413, 500, 503};
    for (size_t i = 0; i < sizeof(STATUSES) / sizeof(STATUSES[0]); i++) {
        pthread_mutex_lock(&fake.lock);
        fake.token_status = STATUSES[i];
        pthread_mutex_unlock(&fake.lock);
        assert_int_equal(check_tokens("good", NULL), KEYSTONE_UNAVAILABLE);
    }
    assert_int_equal(fake_keystone_query_count(&fake), sizeof(STATUSES) / sizeof(STATUSES[0]));
    pthread_mutex_lock(&fake.lock);
    fake.token_status = 0;
    pthread_mutex_unlock(&fake.lock);
    assert_int_equal(check_tokens("good", NULL), KEYSTONE_ACCEPTED);
}

static void fixed_token(void **state)
{
    (void)state;
    settings.auth_url = arena_printf(arena, "%s/v3/", fake.url).data;
    settings.login_body = NULL;
    settings.own_token = "own-7";
    start();
    assert_int_equal(check_tokens("good", NULL), KEYSTONE_ACCEPTED);
    assert_string_equal(fake.last.own, "own-7");
    assert_string_equal(fake.last.target, "/v3/auth/tokens?nocatalog");
    pthread_mutex_lock(&fake.lock);
    fake.own_valid = 8;
    pthread_mutex_unlock(&fake.lock);
    assert_int_equal(check_tokens("good-2", NULL), KEYSTONE_UNAVAILABLE);
    assert_int_equal(fake_keystone_logins(&fake), 0);
}

static void nobody_listens(void **state)
{
    (void)state;
    settings.auth_url = "http://127.0.0.1:1";
    settings.retries = 0;
    start();
    assert_int_equal(check_tokens("good", NULL), KEYSTONE_UNAVAILABLE);
    assert_int_equal(check_tokens(NULL, NULL), KEYSTONE_REFUSED);
}

/* An attempt that does not reach Keystone is repeated after half a second, and after twice as long
 * each time. The library ends the
 * attempt, by its own clock. */
static void retries(void **state)
{
    (void)state;
    struct caller caller;
    settings.attempt_timeout_ms = 500;
    settings.retries = 2;
    fake_clock_stop();
    start();
    assert_int_equal(check_tokens("good", NULL), KEYSTONE_ACCEPTED);
    fake_keystone_hold(&fake, true);
    assert_int_equal(begin(&caller, "good-2", NULL), KEYSTONE_PENDING);
    assert_true(fake_keystone_await_queries(&fake, 2));
    AWAIT(calls == 0);
    wait_for_round(); /* after which the delay has begun */
    pass_ms(499);
    assert_int_equal(calls, 0);
    pass_ms(1 + TICK_MS);
    assert_true(fake_keystone_await_queries(&fake, 3));
    AWAIT(calls == 0);
    wait_for_round();
    pass_ms(999);
    assert_int_equal(calls, 0);
    pass_ms(1 + TICK_MS);
    assert_true(fake_keystone_await_queries(&fake, 4));
    assert_int_equal(finish(&caller, KEYSTONE_PENDING), KEYSTONE_UNAVAILABLE);
    close_caller(&caller);
    assert_int_equal(fake_keystone_query_count(&fake), 4);
}

enum { THREADS = 4, ROUNDS = 150, NAMES = 40 };

static void *run(void *cls)
{
    unsigned seed = *(unsigned *)cls;
    unsigned *wrong = cls;
    *wrong = 0;
    for (int i = 0; i < ROUNDS; i++) {
        seed = seed * 1103515245 + 12345;
        bool good = (seed >> 9) % 4 != 0;
        char token[32];
        snprintf(token, sizeof(token), "%s-%u", good ? "good" : "x", (seed >> 11) % NAMES);
        if (check_tokens(token, NULL) != (good ? KEYSTONE_ACCEPTED : KEYSTONE_REFUSED))
            ++*wrong;
        if (i % 16 == 0)
            (void)stats();
    }
    return NULL;
}

static void many_threads(void **state)
{
    (void)state;
    limits.cache_shards = 1;
    limits.cache_entries = 20; /* fewer than there are: some are dropped and queried again */
    start();
    pthread_t threads[THREADS];
    unsigned seeds[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        seeds[i] = i + 1;
        assert_int_equal(pthread_create(&threads[i], NULL, run, &seeds[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(seeds[i], 0);
    }
    struct keystone_stats seen = stats();
    assert_int_equal(seen.accepted + seen.refused, THREADS * ROUNDS);
    assert_int_equal(seen.queries, fake_keystone_query_count(&fake));
    assert_in_range(seen.cache_hits, 1, THREADS * ROUNDS);
    assert_in_range(seen.tokens_cached, 1, 20);
}

#define WITH_FAKE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FAKE(queries_once),
        WITH_FAKE(service_tokens),
        WITH_FAKE(share_a_query),
        WITH_FAKE(cached_since),
        WITH_FAKE(no_sharing_without_a_cache),
        WITH_FAKE(bounded_queries),
        WITH_FAKE(deadlines),
        WITH_FAKE(hurry),
        WITH_FAKE(own_token_is_replaced),
        WITH_FAKE(refused_login),
        WITH_FAKE(refused_tokens_of_own),
        WITH_FAKE(bad_statuses),
        WITH_FAKE(fixed_token),
        WITH_FAKE(nobody_listens),
        WITH_FAKE(retries),
        WITH_FAKE(many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
