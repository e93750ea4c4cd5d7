/* Tokens that Keystone has confirmed, found by a keyed hash: the tokens themselves are not
 * stored. */
#ifndef BERTH_KEYSTONE_TOKEN_CACHE_H
#define BERTH_KEYSTONE_TOKEN_CACHE_H

#include <stdint.h>

#include "base/slice.h"
#include "keystone/token.h"

enum { TOKEN_KEY_BYTES = 32 };

/* SHA-256 of a secret of the cache followed by the token. */
struct token_key {
    unsigned char bytes[TOKEN_KEY_BYTES];
};

struct token_cache_limits {
    unsigned shards;        /* a power of two; each has its own lock */
    unsigned shard_entries; /* beyond this number, the least recently used entry of the shard is
                             * removed */
    size_t shard_bytes;     /* the same limit in bytes, for tokens and entries together */
};

struct token_cache_counts {
    uint64_t entries;
    uint64_t bytes;
    uint64_t hits;
    uint64_t misses;
    uint64_t evictions; /* because the cache was full */
};

struct token_cache;

struct token_cache *token_cache_create(const struct token_cache_limits *limits);
void token_cache_destroy(struct token_cache *cache);

/* Any thread. */
struct token_key token_cache_key(const struct token_cache *cache, struct slice token);

/* The token with a reference for the caller; NULL: it is not in the cache, or has expired there.
 * Times here and below are on the monotonic clock. Any thread. */
struct token *token_cache_find(struct token_cache *cache, const struct token_key *key,
                               uint64_t now_us);

/* Stores the token (with a reference of its own) until that time, replacing one with the same key.
 * A token that is too large for a shard is not stored. Any thread. */
void token_cache_put(struct token_cache *cache, const struct token_key *key, struct token *token,
                     uint64_t until_us);

/* Removes expired entries, one shard after the other: each call processes one. One thread at a
 * time. */
void token_cache_drop_expired(struct token_cache *cache, uint64_t now_us);

struct token_cache_counts token_cache_count(struct token_cache *cache);

#endif
