/* Metrics of policies and, if callers are authenticated by Keystone, of tokens and of queries about
 * them. */
#include "api/admin/admin_internal.h"
#include "api/api.h"
#include "keystone/stats.h"
#include "policy/keeper.h"

static void write_policies(const struct admin *admin, struct exposition *exposition)
{
    struct policy_keeper_figures figures = policy_keeper_figures(admin->api->policies);
    exposition_single(exposition, METRIC_POLICY_RELOADS, figures.reloads);
    exposition_single(exposition, METRIC_POLICY_FAILURES, figures.failures);
    exposition_single(exposition, METRIC_POLICY_STALE, figures.is_stale);
}

static void write_labelled(struct exposition *exposition, const char *name, const char *value,
                           uint64_t count)
{
    struct label label = label_of(name, value);
    exposition_count(exposition, &label, 1, count);
}

static void write_tokens(const struct keystone_stats *stats, struct exposition *exposition)
{
    exposition_begin(exposition, METRIC_AUTHENTICATIONS);
    write_labelled(exposition, "result", "accepted", stats->accepted);
    write_labelled(exposition, "result", "refused", stats->refused);
    write_labelled(exposition, "result", "unavailable", stats->unavailable);
    exposition_single(exposition, METRIC_TOKENS_CACHED, stats->tokens_cached);
    exposition_single(exposition, METRIC_TOKENS_CACHED_BYTES, stats->tokens_cached_bytes);
    exposition_begin(exposition, METRIC_TOKEN_LOOKUPS);
    write_labelled(exposition, "result", "hit", stats->cache_hits);
    write_labelled(exposition, "result", "miss", stats->cache_misses);
    exposition_single(exposition, METRIC_TOKEN_EVICTIONS, stats->cache_evictions);
}

static void write_queries(const struct keystone_stats *stats, struct exposition *exposition)
{
    exposition_single(exposition, METRIC_KEYSTONE_QUERIES, stats->queries);
    exposition_single(exposition, METRIC_KEYSTONE_SHARED, stats->queries_shared);
    exposition_single(exposition, METRIC_KEYSTONE_FAILED, stats->queries_failed);
    exposition_single(exposition, METRIC_KEYSTONE_DROPPED, stats->queries_dropped);
    exposition_single(exposition, METRIC_KEYSTONE_PENDING, stats->queries_pending);
    exposition_single(exposition, METRIC_KEYSTONE_LOGINS, stats->logins);
    exposition_single(exposition, METRIC_KEYSTONE_UNAVAILABLE, stats->is_unavailable);
}

void auth_metrics_write(const struct admin *admin, struct exposition *exposition)
{
    write_policies(admin, exposition);
    if (admin->api->keystone == NULL)
        return;
    struct keystone_stats stats;
    keystone_stats_read(admin->api->keystone, &stats);
    write_tokens(&stats, exposition);
    write_queries(&stats, exposition);
}
