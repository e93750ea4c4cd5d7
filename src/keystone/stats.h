/* Counters of the authentication with Keystone, for metrics. */
#ifndef BERTH_KEYSTONE_STATS_H
#define BERTH_KEYSTONE_STATS_H

#include <stdbool.h>
#include <stdint.h>

struct keystone_stats {
    /* at present */
    uint64_t tokens_cached;
    uint64_t tokens_cached_bytes;
    uint64_t queries_pending; /* about callers' tokens, including waiting ones */
    bool is_unavailable;      /* the last query was not answered */
    /* since the start */
    uint64_t cache_hits; /* for user and service tokens */
    uint64_t cache_misses;
    uint64_t cache_evictions; /* because the cache was full */
    uint64_t queries;         /* about tokens; each attempt counts */
    uint64_t queries_shared;  /* requests that joined another request's query */
    uint64_t queries_failed;  /* ended without a verdict: 503 for all waiting requests */
    uint64_t queries_dropped; /* not made, because too many were pending; 503 */
    uint64_t logins;          /* of the service itself, including failed ones */
    uint64_t accepted;        /* requests */
    uint64_t refused;         /* 401 */
    uint64_t unavailable;     /* 503 */
};

struct keystone;

/* Any thread; takes some hundred nanoseconds for each shard of the cache. */
void keystone_stats_read(struct keystone *keystone, struct keystone_stats *out);

#endif
