/* Turns tokens into a verdict, by keystonemiddleware's rules: first the service token, because a
 * valid one allows the user's token to be expired; then the user's token; then whether the token
 * may be used for the request. If Keystone must be queried, the request leaves the worker and
 * returns through `done`; the step says where it continues.
 *
 * Invariant: an expired token is refused, even if it is cached, unless the request comes from a
 * service. */
#include "keystone/keystone.h"

#include <stdlib.h>

#include "base/clock.h"
#include "keystone/access_rules.h"
#include "keystone/internal.h"
#include "keystone/query_thread.h"
#include "keystone/stats.h"

enum step { STEP_START, STEP_SERVICE_QUERIED, STEP_USER, STEP_USER_QUERIED };

const struct keystone_limits keystone_default_limits = {
    .queries = 1024,
    .queries_sent = 16,
    .query_ms = 60 * 1000,
    .cache_shards = 64,
    .cache_entries = 64 * 512,
    .cache_bytes = 64 * 1024 * 1024,
};

/* Keystone's tokens are visible ASCII without blanks (fernet, JWS, UUID); no other text is sent to
 * Keystone. */
static bool is_usable(struct slice token)
{
    if (token.len == 0 || token.len > KEYSTONE_TOKEN_BYTES_MAX)
        return false;
    for (size_t i = 0; i < token.len; i++)
        if (token.data[i] <= ' ' || token.data[i] >= 0x7f)
            return false;
    return true;
}

static enum keystone_verdict keystone_refuse(struct keystone_request *request, const char *why)
{
    request->why = why;
    return KEYSTONE_REFUSED;
}

static void resume(struct keystone_waiter *waiter)
{
    struct keystone_request *request =
        (struct keystone_request *)((char *)waiter - offsetof(struct keystone_request, waiter));
    request->done(request);
}

/* The token's owner, from the cache or from Keystone. */
static enum keystone_verdict look_up(struct keystone *keystone, struct keystone_request *request,
                                     struct slice token, bool may_be_expired)
{
    struct keystone_query_input about = {
        .key = token_cache_key(keystone->cache, token),
        .subject = token,
        .may_be_expired = may_be_expired,
        .request_id = request->request_id,
    };
    struct keystone_waiter *waiter = &request->waiter;
    *waiter = (struct keystone_waiter){.done = resume};
    waiter->token = token_cache_find(keystone->cache, &about.key, clock_monotonic_us());
    if (waiter->token != NULL)
        return waiter->verdict = KEYSTONE_ACCEPTED;
    return keystone_queries_submit(keystone, &about, waiter);
}

static struct token *take_token(struct keystone_request *request)
{
    struct token *token = request->waiter.token;
    request->waiter.token = NULL;
    return token;
}

/* The problem with a token that Keystone knows; NULL: none. */
static const char *find_fault(const struct token *token, bool may_be_expired)
{
    if (!may_be_expired && token_is_expired(token, clock_wall_us()))
        return "it has expired";
    return token->is_bound ? "it is bound to another authentication method" : NULL;
}

static bool has_service_role(const struct keystone *keystone, const struct token *token)
{
    const struct conf_texts *wanted = &keystone->settings->service_roles;
    for (unsigned i = 0; i < token->party.roles.count; i++)
        for (size_t j = 0; j < wanted->n; j++)
            if (slice_equal(token->party.roles.names[i], slice_of(wanted->items[j])))
                return true;
    return false;
}

static enum keystone_verdict refuse_service(struct keystone *keystone,
                                            struct keystone_request *request, const char *why)
{
    request->service_refused = true;
    request->step = STEP_USER;
    if (keystone->settings->delay_auth_decision)
        return KEYSTONE_ACCEPTED;
    return keystone_refuse(request, why);
}

/* ACCEPTED: continue with the user's token. */
static enum keystone_verdict check_service(struct keystone *keystone,
                                           struct keystone_request *request)
{
    if (request->waiter.verdict != KEYSTONE_ACCEPTED)
        return request->waiter.verdict == KEYSTONE_UNAVAILABLE &&
                       !keystone->settings->delay_auth_decision
                   ? KEYSTONE_UNAVAILABLE
                   : refuse_service(keystone, request, "Keystone does not know the service token");
    request->service = take_token(request);
    const char *fault = find_fault(request->service, false);
    bool has_role = has_service_role(keystone, request->service);
    if (fault == NULL && !has_role && keystone->settings->service_roles_required)
        fault = "the service token has none of service_token_roles";
    if (fault != NULL)
        return refuse_service(keystone, request, fault);
    request->may_be_expired = has_role;
    request->step = STEP_USER;
    return KEYSTONE_ACCEPTED;
}

static enum keystone_verdict start(struct keystone *keystone, struct keystone_request *request)
{
    if (!is_usable(request->user_token))
        return keystone_refuse(request, request->user_token.len == 0 ? "there is no token"
                                                                     : "it cannot be a token");
    if (request->service_token.len == 0) {
        request->step = STEP_USER;
        return KEYSTONE_ACCEPTED;
    }
    if (!is_usable(request->service_token))
        return refuse_service(keystone, request, "the service token cannot be one");
    request->step = STEP_SERVICE_QUERIED;
    return look_up(keystone, request, request->service_token, false);
}

/* Whether the request is a step in a chain of services, where the user's token is not limited by
 * access rules. keystonemiddleware assumes this if there is any second token, even the same token
 * twice; any client that knows this could then evade access rules. */
static bool is_of_service(const struct keystone_request *request)
{
    return request->may_be_expired && !request->service->is_restricted;
}

static const char *no_service_type(enum token_service service)
{
    static const char *const TEXTS[TOKEN_SERVICE_COUNT] = {
        [TOKEN_SERVICE_PLACEMENT] =
            "it has access rules, and [keystone_authtoken] service_type is not set",
        [TOKEN_SERVICE_BAREMETAL] = "it has access rules, and [baremetal] service_type is not set",
        [TOKEN_SERVICE_VALET] = "it has access rules, and [valet] service_type is not set",
    };
    return TEXTS[service];
}

/* Application credentials may be restricted to some requests; in a chain of services, this does not
 * apply (keystonemiddleware, validate_allowed_request). */
static const char *find_denial(const struct keystone *keystone,
                               const struct keystone_request *request)
{
    const struct token *token = request->user;
    if (!token->is_restricted)
        return NULL;
    if (keystone->settings->terms.service_types[request->service_of_ours].data == NULL)
        return no_service_type(request->service_of_ours);
    if ((token->services & 1U << request->service_of_ours) == 0)
        return "it has access rules, and its catalog has no service of our service_type";
    if (is_of_service(request))
        return NULL;
    struct slice path = access_rules_encode_path(request->arena, request->mount, request->path);
    return access_rules_allow(token, request->service_of_ours, request->method, path)
               ? NULL
               : "its access rules do not allow this";
}

static void fill_identity(struct keystone_request *request)
{
    const struct token *user = request->user;
    request->identity = (struct identity){
        .user_id = user->party.user_id,
        .user_domain_id = user->party.user_domain_id,
        .project_id = user->party.project_id,
        .project_domain_id = user->party.project_domain_id,
        .domain_id = user->domain_id,
        .system_scope = user->is_system ? SLICE_LIT("all") : (struct slice){0},
        .roles = user->party.roles,
        .names = user->names,
        .outside_admin_project = !user->is_admin_project,
    };
    if (request->service != NULL && !request->service_refused)
        request->identity.service = request->service->party;
}

static enum keystone_verdict check_user(struct keystone *keystone, struct keystone_request *request)
{
    if (request->waiter.verdict == KEYSTONE_UNAVAILABLE && !keystone->settings->delay_auth_decision)
        return KEYSTONE_UNAVAILABLE;
    if (request->waiter.verdict != KEYSTONE_ACCEPTED)
        return keystone_refuse(request, "Keystone does not know it");
    request->user = take_token(request);
    const char *fault = find_fault(request->user, request->may_be_expired);
    if (fault == NULL)
        fault = find_denial(keystone, request);
    if (fault != NULL)
        return keystone_refuse(request, fault);
    fill_identity(request);
    return KEYSTONE_ACCEPTED;
}

static enum keystone_verdict keystone_go_on(struct keystone *keystone,
                                            struct keystone_request *request)
{
    enum keystone_verdict verdict = KEYSTONE_ACCEPTED;
    if (request->step == STEP_START)
        verdict = start(keystone, request);
    if (verdict == KEYSTONE_PENDING)
        return verdict;
    if (request->step == STEP_SERVICE_QUERIED)
        verdict = check_service(keystone, request);
    if (verdict != KEYSTONE_ACCEPTED)
        return verdict;
    if (request->step == STEP_USER) {
        request->step = STEP_USER_QUERIED;
        if (look_up(keystone, request, request->user_token, request->may_be_expired) ==
            KEYSTONE_PENDING)
            return KEYSTONE_PENDING;
    }
    return check_user(keystone, request);
}

enum keystone_verdict keystone_check(struct keystone *keystone, struct keystone_request *request)
{
    struct keystone_counters *counters = &keystone->counters;
    enum keystone_verdict verdict = keystone_go_on(keystone, request);
    switch (verdict) {
    case KEYSTONE_PENDING:
        break;
    case KEYSTONE_ACCEPTED:
        atomic_fetch_add_explicit(&counters->accepted, 1, memory_order_relaxed);
        break;
    case KEYSTONE_REFUSED:
        atomic_fetch_add_explicit(&counters->refused, 1, memory_order_relaxed);
        break;
    case KEYSTONE_UNAVAILABLE:
        atomic_fetch_add_explicit(&counters->unavailable, 1, memory_order_relaxed);
        break;
    }
    return verdict;
}

void keystone_request_close(struct keystone_request *request)
{
    token_unref(request->user);
    token_unref(request->service);
    token_unref(request->waiter.token);
    request->user = request->service = request->waiter.token = NULL;
}

struct slice keystone_www_authenticate(const struct keystone *keystone)
{
    return keystone->settings->www_authenticate;
}

bool keystone_delays(const struct keystone *keystone)
{
    return keystone->settings->delay_auth_decision;
}

static void destroy(struct keystone *keystone)
{
    token_cache_destroy(keystone->cache);
    free(keystone);
}

struct keystone *keystone_start(const struct keystone_settings *settings,
                                const struct keystone_limits *limits, struct err *err)
{
    struct keystone *keystone = calloc(1, sizeof(*keystone));
    check(keystone != NULL);
    const struct token_cache_limits cache_limits = {
        .shards = limits->cache_shards,
        .shard_entries = limits->cache_entries / limits->cache_shards,
        .shard_bytes = limits->cache_bytes / limits->cache_shards,
    };
    keystone->settings = settings;
    keystone->limits = *limits;
    keystone->cache = token_cache_create(&cache_limits);
    atomic_store(&keystone->hurry_until_us, UINT64_MAX);
    if (query_thread_start(keystone, err))
        return keystone;
    query_thread_stop(keystone);
    destroy(keystone);
    return NULL;
}

void keystone_hurry(struct keystone *keystone, unsigned ms)
{
    atomic_store(&keystone->hurry_until_us, clock_monotonic_us() + ms * 1000ULL);
    keystone_http_wake(keystone->http);
}

void keystone_stop(struct keystone *keystone)
{
    query_thread_stop(keystone);
    destroy(keystone);
}

void keystone_stats_read(struct keystone *keystone, struct keystone_stats *out)
{
    struct token_cache_counts cache = token_cache_count(keystone->cache);
    struct keystone_counters *counters = &keystone->counters;
    pthread_mutex_lock(&keystone->lock);
    uint64_t pending = keystone->query_count;
    pthread_mutex_unlock(&keystone->lock);
    *out = (struct keystone_stats){
        .tokens_cached = cache.entries,
        .tokens_cached_bytes = cache.bytes,
        .queries_pending = pending,
        .is_unavailable = atomic_load(&counters->is_unavailable),
        .cache_hits = cache.hits,
        .cache_misses = cache.misses,
        .cache_evictions = cache.evictions,
        .queries = atomic_load(&counters->queries),
        .queries_shared = atomic_load(&counters->shared),
        .queries_failed = atomic_load(&counters->failed),
        .queries_dropped = atomic_load(&counters->dropped),
        .logins = atomic_load(&counters->logins),
        .accepted = atomic_load(&counters->accepted),
        .refused = atomic_load(&counters->refused),
        .unavailable = atomic_load(&counters->unavailable),
    };
}
