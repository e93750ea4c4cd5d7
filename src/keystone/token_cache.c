/* Shards, each a hash table with chains and a list from the most to the least recently used, under
 * a lock that is held for some tens of nanoseconds. Released tokens are freed outside the lock with
 * their last reference, which may be a request's. The key is uniformly distributed, so its first
 * bytes select shard and chain. base/hash_map is not used, because it cannot remove items and is in
 * an arena. */
#include "keystone/token_cache.h"

#include <nettle/sha2.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct entry {
    struct entry *next; /* in its chain */
    struct entry *newer;
    struct entry *older;
    struct token_key key;
    struct token *token;
    uint64_t until_us;
};

struct shard {
    _Alignas(64) pthread_mutex_t lock;
    struct entry **chains;
    struct entry *newest;
    struct entry *oldest;
    struct token_cache_counts counts;
};

struct token_cache {
    struct token_cache_limits limits;
    unsigned chain_count;     /* of a shard; a power of two */
    unsigned swept;           /* the shard to be cleared next */
    struct sha256_ctx secret; /* after hashing a block of random bytes */
    struct shard shards[];
};

static void draw_secret(struct sha256_ctx *secret)
{
    uint8_t block[SHA256_BLOCK_SIZE];
    check(getrandom(block, sizeof(block), 0) == (ssize_t)sizeof(block));
    sha256_init(secret);
    sha256_update(secret, sizeof(block), block);
    explicit_bzero(block, sizeof(block));
}

struct token_key token_cache_key(const struct token_cache *cache, struct slice token)
{
    struct sha256_ctx hash = cache->secret;
    struct token_key key;
    sha256_update(&hash, token.len, (const uint8_t *)token.data);
    sha256_digest(&hash, sizeof(key.bytes), key.bytes);
    return key;
}

static unsigned power_of_two(unsigned at_least)
{
    unsigned power = 1;
    while (power < at_least)
        power *= 2;
    return power;
}

struct token_cache *token_cache_create(const struct token_cache_limits *limits)
{
    unsigned shards = limits->shards;
    check(shards > 0 && (shards & (shards - 1)) == 0 && limits->shard_entries > 0);
    size_t size = sizeof(struct token_cache) + shards * sizeof(struct shard);
    struct token_cache *cache = aligned_alloc(_Alignof(struct token_cache), size);
    check(cache != NULL);
    memset(cache, 0, size);
    cache->limits = *limits;
    cache->chain_count = power_of_two(limits->shard_entries);
    draw_secret(&cache->secret);
    for (unsigned i = 0; i < shards; i++) {
        pthread_mutex_init(&cache->shards[i].lock, NULL);
        cache->shards[i].chains = calloc(cache->chain_count, sizeof(struct entry *));
        check(cache->shards[i].chains != NULL);
    }
    return cache;
}

static struct shard *shard_of(struct token_cache *cache, const struct token_key *key)
{
    return &cache->shards[(key->bytes[0] | key->bytes[1] << 8) & (int)(cache->limits.shards - 1)];
}

static struct entry **chain_of(struct token_cache *cache, struct shard *shard,
                               const struct token_key *key)
{
    uint32_t number;
    memcpy(&number, key->bytes + 4, sizeof(number));
    return &shard->chains[number & (cache->chain_count - 1)];
}

static struct entry *token_cache_search(struct token_cache *cache, struct shard *shard,
                                        const struct token_key *key)
{
    struct entry *entry = *chain_of(cache, shard, key);
    while (entry != NULL && memcmp(&entry->key, key, sizeof(*key)) != 0)
        entry = entry->next;
    return entry;
}

static size_t bytes_of(const struct entry *entry)
{
    return sizeof(*entry) + entry->token->bytes;
}

static void unlink_use(struct shard *shard, struct entry *entry)
{
    *(entry->newer == NULL ? &shard->newest : &entry->newer->older) = entry->older;
    *(entry->older == NULL ? &shard->oldest : &entry->older->newer) = entry->newer;
}

static void link_newest(struct shard *shard, struct entry *entry)
{
    entry->newer = NULL;
    entry->older = shard->newest;
    *(shard->newest == NULL ? &shard->oldest : &shard->newest->newer) = entry;
    shard->newest = entry;
}

static void let_go(struct token_cache *cache, struct shard *shard, struct entry *entry)
{
    struct entry **link = chain_of(cache, shard, &entry->key);
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    unlink_use(shard, entry);
    shard->counts.entries--;
    shard->counts.bytes -= bytes_of(entry);
    token_unref(entry->token);
    free(entry);
}

struct token *token_cache_find(struct token_cache *cache, const struct token_key *key,
                               uint64_t now_us)
{
    struct shard *shard = shard_of(cache, key);
    struct token *token = NULL;
    pthread_mutex_lock(&shard->lock);
    struct entry *entry = token_cache_search(cache, shard, key);
    if (entry != NULL && entry->until_us <= now_us) {
        let_go(cache, shard, entry);
        entry = NULL;
    }
    if (entry != NULL) {
        token = token_ref(entry->token);
        if (shard->newest != entry) {
            unlink_use(shard, entry);
            link_newest(shard, entry);
        }
        shard->counts.hits++;
    } else {
        shard->counts.misses++;
    }
    pthread_mutex_unlock(&shard->lock);
    return token;
}

void token_cache_put(struct token_cache *cache, const struct token_key *key, struct token *token,
                     uint64_t until_us)
{
    struct shard *shard = shard_of(cache, key);
    struct entry *entry = calloc(1, sizeof(*entry));
    check(entry != NULL);
    *entry = (struct entry){.key = *key, .token = token_ref(token), .until_us = until_us};
    pthread_mutex_lock(&shard->lock);
    struct entry *before = token_cache_search(cache, shard, key);
    if (before != NULL)
        let_go(cache, shard, before);
    if (bytes_of(entry) > cache->limits.shard_bytes) {
        pthread_mutex_unlock(&shard->lock);
        token_unref(token);
        free(entry);
        return;
    }
    struct entry **chain = chain_of(cache, shard, key);
    entry->next = *chain;
    *chain = entry;
    link_newest(shard, entry);
    shard->counts.entries++;
    shard->counts.bytes += bytes_of(entry);
    while (shard->oldest != NULL && (shard->counts.entries > cache->limits.shard_entries ||
                                     shard->counts.bytes > cache->limits.shard_bytes)) {
        let_go(cache, shard, shard->oldest);
        shard->counts.evictions++;
    }
    pthread_mutex_unlock(&shard->lock);
}

void token_cache_drop_expired(struct token_cache *cache, uint64_t now_us)
{
    struct shard *shard = &cache->shards[cache->swept++ & (cache->limits.shards - 1)];
    pthread_mutex_lock(&shard->lock);
    for (struct entry *entry = shard->oldest; entry != NULL;) {
        struct entry *newer = entry->newer;
        if (entry->until_us <= now_us)
            let_go(cache, shard, entry);
        entry = newer;
    }
    pthread_mutex_unlock(&shard->lock);
}

struct token_cache_counts token_cache_count(struct token_cache *cache)
{
    struct token_cache_counts sum = {0};
    for (unsigned i = 0; i < cache->limits.shards; i++) {
        struct shard *shard = &cache->shards[i];
        pthread_mutex_lock(&shard->lock);
        sum.entries += shard->counts.entries;
        sum.bytes += shard->counts.bytes;
        sum.hits += shard->counts.hits;
        sum.misses += shard->counts.misses;
        sum.evictions += shard->counts.evictions;
        pthread_mutex_unlock(&shard->lock);
    }
    return sum;
}

void token_cache_destroy(struct token_cache *cache)
{
    for (unsigned i = 0; i < cache->limits.shards; i++) {
        struct shard *shard = &cache->shards[i];
        while (shard->oldest != NULL)
            let_go(cache, shard, shard->oldest);
        free(shard->chains);
        pthread_mutex_destroy(&shard->lock);
    }
    free(cache);
}
