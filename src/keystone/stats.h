/* What the authentication with Keystone has done so far, for metrics. */
#ifndef BERTH_KEYSTONE_STATS_H
#define BERTH_KEYSTONE_STATS_H

#include <stdbool.h>
#include <stdint.h>

struct keystone_stats {
    /* now */
    uint64_t tokens_cached;
    uint64_t tokens_cached_bytes;
    uint64_t questions_pending; /* of callers' tokens, waiting ones counted in */
    bool is_away;               /* the last question was not answered */
    /* since the start */
    uint64_t cache_hits; /* of user and service tokens alike */
    uint64_t cache_misses;
    uint64_t cache_evictions;   /* for want of room */
    uint64_t questions;         /* asked about tokens; each attempt counts */
    uint64_t questions_shared;  /* waited for a question that another request had asked */
    uint64_t questions_failed;  /* ended without a verdict: 503 for all that waited */
    uint64_t questions_dropped; /* not asked: too many were pending; 503 */
    uint64_t logins;            /* of the service itself, tried */
    uint64_t accepted;          /* requests */
    uint64_t refused;           /* 401 */
    uint64_t unavailable;       /* 503 */
};

struct keystone;

/* Any thread; some hundred nanoseconds for each of the cache's shards. */
void keystone_stats_read(struct keystone *keystone, struct keystone_stats *out);

#endif
