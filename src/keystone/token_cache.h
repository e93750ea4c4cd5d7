/* Tokens that Keystone has confirmed, by a keyed hash of them: the tokens themselves are not kept.
 */
#ifndef BERTH_KEYSTONE_TOKEN_CACHE_H
#define BERTH_KEYSTONE_TOKEN_CACHE_H

#include <stdint.h>

#include "base/slice.h"
#include "keystone/token.h"

enum { TOKEN_KEY_BYTES = 32 };

/* SHA-256 of a token behind a secret of the cache. */
struct token_key {
    unsigned char bytes[TOKEN_KEY_BYTES];
};

struct token_cache_limits {
    unsigned shards;        /* a power of two; each has its own lock */
    unsigned shard_entries; /* when a shard has more, who was longest unused goes */
    size_t shard_bytes;     /* the same, for tokens and entries together */
};

struct token_cache_counts {
    uint64_t entries;
    uint64_t bytes;
    uint64_t hits;
    uint64_t misses;
    uint64_t evictions; /* for want of room */
};

struct token_cache;

struct token_cache *token_cache_create(const struct token_cache_limits *limits);
void token_cache_destroy(struct token_cache *cache);

/* Any thread. */
struct token_key token_cache_key(const struct token_cache *cache, struct slice token);

/* The token with a reference for the caller; NULL: it is not there, or was kept long enough. Times
 * here and below are of the monotonic clock. Any thread. */
struct token *token_cache_find(struct token_cache *cache, const struct token_key *key,
                               uint64_t now_us);

/* Keeps the token (a reference of its own) until then, in the place of one with that key. One that
 * is too large for a shard is not kept. Any thread. */
void token_cache_put(struct token_cache *cache, const struct token_key *key, struct token *token,
                     uint64_t until_us);

/* Lets go of what was kept long enough, in one shard after the other: a call looks at one. One
 * thread at a time. */
void token_cache_drop_expired(struct token_cache *cache, uint64_t now_us);

struct token_cache_counts token_cache_count(struct token_cache *cache);

#endif
