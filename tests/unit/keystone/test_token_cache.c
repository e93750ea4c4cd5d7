/* The cache of tokens: what is found, what is dropped, and sharing between threads. */
#include "keystone/token_cache.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit.h"

static const struct token_cache_limits SMALL = {
    .shards = 1, .shard_entries = 3, .shard_bytes = 4096};
static const struct token_cache_limits WIDE = {
    .shards = 8, .shard_entries = 16, .shard_bytes = 64 * 1024};

static struct token *make_token(const char *user)
{
    char body[256];
    const char *why;
    snprintf(body, sizeof(body),
             "{\"token\": {\"user\": {\"id\": \"%s\"}, \"expires_at\": \"2026-11-21T18:14:47Z\"}}",
             user);
    struct token *token = token_read(slice_of(body), &(struct token_terms){0}, &why);
    assert_non_null(token);
    return token;
}

static void put(struct token_cache *cache, const char *text, uint64_t until_us)
{
    struct token_key key = token_cache_key(cache, slice_of(text));
    struct token *token = make_token(text);
    token_cache_put(cache, &key, token, until_us);
    token_unref(token);
}

static bool has(struct token_cache *cache, const char *text, uint64_t now_us)
{
    struct token_key key = token_cache_key(cache, slice_of(text));
    struct token *token = token_cache_find(cache, &key, now_us);
    bool found = token != NULL;
    if (found)
        assert_memory_equal(token->party.user_id.data, text, strlen(text));
    token_unref(token);
    return found;
}

static void keys(void **state)
{
    (void)state;
    struct token_cache *one = token_cache_create(&SMALL);
    struct token_cache *other = token_cache_create(&SMALL);
    struct token_key a = token_cache_key(one, SLICE_LIT("token"));
    struct token_key b = token_cache_key(one, SLICE_LIT("token"));
    assert_memory_equal(&a, &b, sizeof(a));
    b = token_cache_key(one, SLICE_LIT("tokem"));
    assert_memory_not_equal(&a, &b, sizeof(a));
    b = token_cache_key(other, SLICE_LIT("token")); /* each cache has a secret of its own */
    assert_memory_not_equal(&a, &b, sizeof(a));
    token_cache_destroy(one);
    token_cache_destroy(other);
}

static void expiry(void **state)
{
    (void)state;
    struct token_cache *cache = token_cache_create(&SMALL);
    put(cache, "a", 100);
    assert_true(has(cache, "a", 99));
    assert_false(has(cache, "b", 99));
    assert_false(has(cache, "a", 100));
    assert_false(has(cache, "a", 0)); /* freed, not only hidden */
    put(cache, "a", 100);
    put(cache, "a", 200); /* in its place */
    assert_true(has(cache, "a", 150));
    struct token_cache_counts counts = token_cache_count(cache);
    assert_int_equal(counts.entries, 1);
    assert_int_equal(counts.hits, 2);
    assert_int_equal(counts.misses, 3);
    assert_int_equal(counts.evictions, 0);
    token_cache_destroy(cache);
}

static void eviction_by_count(void **state)
{
    (void)state;
    struct token_cache *cache = token_cache_create(&SMALL);
    put(cache, "a", 100);
    put(cache, "b", 100);
    put(cache, "c", 100);
    assert_true(has(cache, "a", 1)); /* b is the least recently used */
    put(cache, "d", 100);
    assert_true(has(cache, "a", 1));
    assert_false(has(cache, "b", 1));
    assert_true(has(cache, "c", 1) && has(cache, "d", 1));
    assert_int_equal(token_cache_count(cache).entries, 3);
    assert_int_equal(token_cache_count(cache).evictions, 1);
    token_cache_destroy(cache);
}

static void eviction_by_bytes(void **state)
{
    (void)state;
    char user[1501];
    memset(user, 'x', sizeof(user) - 1);
    user[sizeof(user) - 1] = '\0';
    const struct token_cache_limits limits = {
        .shards = 1, .shard_entries = 100, .shard_bytes = 4096};
    struct token_cache *cache = token_cache_create(&limits);
    char body[2048];
    const char *why;
    snprintf(body, sizeof(body),
             "{\"token\": {\"user\": {\"id\": \"%s\"}, \"expires_at\": \"2026-11-21T18:14:47Z\"}}",
             user);
    struct token *large = token_read(slice_of(body), &(struct token_terms){0}, &why);
    struct token_key one = token_cache_key(cache, SLICE_LIT("one"));
    struct token_key two = token_cache_key(cache, SLICE_LIT("two"));
    struct token_key three = token_cache_key(cache, SLICE_LIT("three"));
    token_cache_put(cache, &one, large, 100);
    token_cache_put(cache, &two, large, 100);
    assert_int_equal(token_cache_count(cache).entries, 2);
    token_cache_put(cache, &three, large, 100);
    assert_int_equal(token_cache_count(cache).entries, 2);
    assert_in_range(token_cache_count(cache).bytes, 3000, 4096);
    assert_null(token_cache_find(cache, &one, 1));
    token_unref(large);
    token_cache_destroy(cache);
}

static void too_large_for_a_shard(void **state)
{
    (void)state;
    const struct token_cache_limits limits = {.shards = 1, .shard_entries = 10, .shard_bytes = 400};
    struct token_cache *cache = token_cache_create(&limits);
    char user[300];
    memset(user, 'x', sizeof(user) - 1);
    user[sizeof(user) - 1] = '\0';
    char small[2] = "a";
    put(cache, small, 100);
    struct token *token = make_token("b");
    token->bytes = 4000;
    struct token_key key = token_cache_key(cache, SLICE_LIT("large"));
    token_cache_put(cache, &key, token, 100);
    assert_null(token_cache_find(cache, &key, 1));
    assert_true(has(cache, "a", 1)); /* nothing was dropped for an entry that does not fit anyway */
    assert_int_equal(token_cache_count(cache).entries, 1);
    token_unref(token);
    token_cache_destroy(cache);
}

static void dropping_expired(void **state)
{
    (void)state;
    /* all in one shard must fit, too: the shard of a token is random */
    const struct token_cache_limits roomy = {
        .shards = 8, .shard_entries = 64, .shard_bytes = 64 * 1024};
    struct token_cache *cache = token_cache_create(&roomy);
    char name[16];
    for (int i = 0; i < 64; i++) {
        snprintf(name, sizeof(name), "token-%d", i);
        put(cache, name, i % 2 == 0 ? 100 : 200);
    }
    assert_int_equal(token_cache_count(cache).entries, 64);
    for (int i = 0; i < 8; i++)
        token_cache_drop_expired(cache, 150);
    assert_int_equal(token_cache_count(cache).entries, 32);
    assert_true(has(cache, "token-1", 150));
    for (int i = 0; i < 8; i++)
        token_cache_drop_expired(cache, 200);
    assert_int_equal(token_cache_count(cache).entries, 0);
    assert_int_equal(token_cache_count(cache).bytes, 0);
    token_cache_destroy(cache);
}

/* A request keeps the entry that it found, whatever happens to the cache. */
static void kept_by_a_reader(void **state)
{
    (void)state;
    struct token_cache *cache = token_cache_create(&SMALL);
    put(cache, "a", 100);
    struct token_key key = token_cache_key(cache, SLICE_LIT("a"));
    struct token *token = token_cache_find(cache, &key, 1);
    token_cache_drop_expired(cache, 100);
    assert_false(has(cache, "a", 1));
    token_cache_destroy(cache);
    assert_memory_equal(token->party.user_id.data, "a", 1);
    token_unref(token);
}

enum { THREADS = 4, ROUNDS = 20000, NAMES = 200 };

struct runner {
    struct token_cache *cache;
    unsigned seed;
    uint64_t hits;
};

static void *run(void *cls)
{
    struct runner *runner = cls;
    char name[16];
    for (int i = 0; i < ROUNDS; i++) {
        runner->seed = runner->seed * 1103515245 + 12345;
        unsigned which = runner->seed >> 8;
        snprintf(name, sizeof(name), "token-%u", which % NAMES);
        uint64_t now_us = (uint64_t)i;
        if (has(runner->cache, name, now_us))
            runner->hits++;
        else
            put(runner->cache, name, now_us + which % 1000);
        if (i % 64 == 0 && runner->seed % 2 == 0)
            (void)token_cache_count(runner->cache);
    }
    return NULL;
}

static void many_threads(void **state)
{
    (void)state;
    struct token_cache *cache = token_cache_create(&WIDE);
    struct runner runners[THREADS];
    pthread_t threads[THREADS];
    uint64_t hits = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        runners[i] = (struct runner){.cache = cache, .seed = i + 1};
        assert_int_equal(pthread_create(&threads[i], NULL, run, &runners[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        hits += runners[i].hits;
    }
    struct token_cache_counts counts = token_cache_count(cache);
    assert_int_equal(counts.hits, hits);
    assert_int_equal(counts.hits + counts.misses, THREADS * ROUNDS);
    assert_in_range(hits, 1000, THREADS * ROUNDS);
    assert_in_range(counts.entries, 1, 8 * 16);
    token_cache_destroy(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys),
        cmocka_unit_test(expiry),
        cmocka_unit_test(eviction_by_count),
        cmocka_unit_test(eviction_by_bytes),
        cmocka_unit_test(too_large_for_a_shard),
        cmocka_unit_test(dropping_expired),
        cmocka_unit_test(kept_by_a_reader),
        cmocka_unit_test(many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
