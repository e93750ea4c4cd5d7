/* The thread that queries Keystone: its queries, what the answers mean, and its main loop.
 *
 * Every query has a deadline, so that every request that waits gets an answer. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "keystone/query.h"
#include "keystone/query_thread.h"
#include "keystone/url.h"
#include "log/log.h"

enum {
    TICK_US = 50 * 1000,         /* how often deadlines and delays are checked */
    IDLE_WAIT_US = 1000 * 1000,  /* when idle; then one shard of the cache is cleared of expired
                                  * tokens */
    FIRST_DELAY_US = 500 * 1000, /* before a query is repeated; doubled each time */
    LAST_DELAY_US = 32 * 1000 * 1000,
};

static void end_unanswered(struct keystone_query *query, const char *why)
{
    struct keystone *keystone = query->keystone;
    keystone_outage_failed(&keystone->outage, why, clock_monotonic_us());
    atomic_store(&keystone->counters.is_unavailable, true);
    atomic_fetch_add(&keystone->counters.failed, 1);
    keystone_query_end(query, KEYSTONE_UNAVAILABLE, NULL);
}

static void note_answer(struct keystone *keystone)
{
    keystone_outage_worked(&keystone->outage);
    atomic_store(&keystone->counters.is_unavailable, false);
}

static void end_answered(struct keystone_query *query, struct token *token)
{
    struct keystone *keystone = query->keystone;
    unsigned cache_s = keystone->settings->cache_s;
    note_answer(keystone);
    if (token != NULL && cache_s > 0)
        token_cache_put(keystone->cache, &query->key, token, query->sent_us + cache_s * 1000000ULL);
    keystone_query_end(query, token == NULL ? KEYSTONE_REFUSED : KEYSTONE_ACCEPTED, token);
    token_unref(token);
}

static uint64_t deadline_of(const struct keystone_query *query)
{
    uint64_t hurry_us = atomic_load(&query->keystone->hurry_until_us);
    return query->deadline_us < hurry_us ? query->deadline_us : hurry_us;
}

static void write_project_url(struct buf *url, const struct keystone_query *query)
{
    buf_append_slice(url, keystone_url_beside_tokens(slice_of(query->keystone->session.url)));
    buf_append_lit(url, "/projects/");
    buf_append_slice(url, slice_of(query->subject));
}

static void write_token_url(struct buf *url, const struct keystone_query *query)
{
    buf_append_slice(url, slice_of(query->keystone->session.url));
    if (!query->with_catalog)
        buf_append_lit(url, "?nocatalog");
    if (query->may_be_expired) {
        buf_append_char(url, query->with_catalog ? '?' : '&');
        buf_append_lit(url, "allow_expired=1");
    }
}

static void set_url(struct keystone_query *query)
{
    struct buf url = {0};
    if (query->is_project)
        write_project_url(&url, query);
    else
        write_token_url(&url, query);
    free(query->url);
    query->url = slice_dup(buf_slice(&url));
    buf_free(&url);
}

static void send_query(struct keystone_query *query, uint64_t now_us)
{
    struct keystone *keystone = query->keystone;
    struct keystone_call *call = &query->call;
    uint64_t deadline_us = deadline_of(query);
    uint64_t left_ms = deadline_us > now_us ? (deadline_us - now_us) / 1000 + 1 : 1;
    unsigned timeout_ms = keystone->settings->attempt_timeout_ms;
    set_url(query);
    free(query->own_token);
    query->own_token = slice_dup(slice_of(keystone->session.token));
    call->url = query->url;
    call->timeout_ms = left_ms < timeout_ms ? (unsigned)left_ms : timeout_ms;
    call->headers[0].name = "Accept";
    call->headers[0].value = "application/json";
    call->headers[1].name = "X-Auth-Token";
    call->headers[1].value = query->own_token;
    call->headers[2].name = "X-Subject-Token";
    call->headers[2].value = query->is_project ? NULL : query->subject;
    call->headers[3].name = "OpenStack-Identity-Access-Rules";
    call->headers[3].value = query->is_project ? NULL : "1";
    call->headers[4].name = "X-Openstack-Request-Id";
    call->headers[4].value = query->request_id;
    query->sent_us = now_us;
    query->attempts++;
    atomic_fetch_add(&keystone->counters.queries, 1);
    if (keystone->settings->cache_s == 0 || query->is_project)
        /* a request that arrives now must not get an older answer */
        keystone_query_shut(query);
    keystone_query_move(query, PLACE_SENT);
    keystone_http_start(keystone->http, call);
}

static void delay(struct keystone_query *query)
{
    uint64_t delay_us = FIRST_DELAY_US;
    for (unsigned i = 1; i < query->attempts && delay_us < LAST_DELAY_US; i++)
        delay_us *= 2;
    query->not_before_us = clock_monotonic_us() + delay_us;
    keystone_query_move(query, PLACE_DELAYED);
}

static bool has_service_types(const struct token_terms *terms)
{
    for (unsigned i = 0; i < TOKEN_SERVICE_COUNT; i++)
        if (terms->service_types[i].data != NULL)
            return true;
    return false;
}

static void on_token_answer(struct keystone_query *query)
{
    const struct token_terms *terms = &query->keystone->settings->terms;
    const char *why = NULL;
    struct token *token = token_read(buf_slice(&query->call.body), terms, &why);
    if (token == NULL) {
        char text[KEYSTONE_WHY_BYTES];
        snprintf(text, sizeof(text), "Keystone's answer is invalid: %s", why);
        end_unanswered(query, text);
    } else if (token->is_restricted && has_service_types(terms) && !token->has_catalog &&
               !query->with_catalog) {
        /* rules count only if the catalog has the service that they concern */
        token_unref(token);
        query->with_catalog = true;
        keystone_query_move(query, PLACE_WAITING);
    } else {
        end_answered(query, token);
    }
}

/* The query only concerns whether the project exists. Other answers, such as 403 if the service may
 * not make the query, are logged but do not count as an outage, because tokens can still be
 * validated. */
static void on_project_answer(struct keystone_query *query)
{
    struct keystone *keystone = query->keystone;
    int status = query->call.status;
    if (status == 200 || status == 404) {
        note_answer(keystone);
        keystone_query_end(query, status == 200 ? KEYSTONE_ACCEPTED : KEYSTONE_REFUSED, NULL);
        return;
    }
    log_write(
        LOG_LEVEL_WARNING, "berth.keystone", LOG_NO_CONTEXT,
        "Keystone answered HTTP %d to a query about a project%s", status,
        status == 403
            ? ": the service user is not allowed to make it, which requires a role such as admin"
            : "");
    atomic_fetch_add(&keystone->counters.failed, 1);
    keystone_query_end(query, KEYSTONE_UNAVAILABLE, NULL);
}

static void on_login_refused(struct keystone_query *query)
{
    struct keystone *keystone = query->keystone;
    bool is_fixed = keystone->settings->login_body == NULL;
    keystone_session_drop(&keystone->session, query->own_token);
    if (query->has_new_login || is_fixed) {
        end_unanswered(query, SESSION_TOKEN_REFUSED);
        return;
    }
    query->has_new_login = true;
    keystone_query_move(query, PLACE_WAITING);
}

static void on_answer(struct keystone_call *call)
{
    struct keystone_query *query =
        (struct keystone_query *)((char *)call - offsetof(struct keystone_query, call));
    char why[KEYSTONE_WHY_BYTES];
    if (call->status == 200 || call->status == 404)
        keystone_session_served(&query->keystone->session, query->own_token);
    if (query->is_project && call->status != 0 && call->status != 401) {
        on_project_answer(query);
        return;
    }
    switch (call->status) {
    case 200:
        on_token_answer(query);
        return;
    case 404:
        end_answered(query, NULL);
        return;
    case 401:
        on_login_refused(query);
        return;
    case 0:
        if (call->is_unreachable && query->attempts <= query->keystone->settings->retries)
            delay(query);
        else {
            snprintf(why, sizeof(why), "%s: %.*s",
                     call->is_unreachable ? "no answer from Keystone" : "cannot query Keystone",
                     KEYSTONE_WHY_BYTES - 32, call->why);
            end_unanswered(query, why);
        }
        return;
    default:
        snprintf(why, sizeof(why), "Keystone answered HTTP %d to a query about a token%s",
                 call->status,
                 call->status == 403       ? ": the service user is not allowed to make it"
                 : call->status / 100 == 3 ? ": redirects are not followed"
                                           : "");
        end_unanswered(query, why);
    }
}

/* The thread's main loop. */

static void end_late(struct keystone_query_queue *queue, uint64_t now_us)
{
    struct keystone_query *query, *next;
    for (query = TAILQ_FIRST(queue); query != NULL; query = next) {
        next = TAILQ_NEXT(query, in_queue);
        if (deadline_of(query) <= now_us)
            end_unanswered(query, "Keystone did not answer in time");
    }
}

static void wake_delayed(struct keystone *keystone, uint64_t now_us)
{
    struct keystone_query *query, *next;
    for (query = TAILQ_FIRST(&keystone->delayed); query != NULL; query = next) {
        next = TAILQ_NEXT(query, in_queue);
        if (query->not_before_us <= now_us)
            keystone_query_move(query, PLACE_WAITING);
    }
}

static void send_waiting(struct keystone *keystone, uint64_t now_us)
{
    struct keystone_query *query;
    while ((query = TAILQ_FIRST(&keystone->waiting)) != NULL &&
           keystone->sent_count < keystone->limits.queries_sent)
        switch (keystone_session_state(&keystone->session)) {
        case SESSION_READY:
            send_query(query, now_us);
            break;
        case SESSION_FAILED:
            end_unanswered(query, keystone->session.why);
            break;
        case SESSION_BUSY:
            return;
        }
}

static void drop_expired(struct keystone *keystone, uint64_t now_us)
{
    if (now_us - keystone->swept_us < IDLE_WAIT_US)
        return;
    keystone->swept_us = now_us;
    token_cache_drop_expired(keystone->cache, now_us);
}

static bool has_queries(const struct keystone *keystone)
{
    return !TAILQ_EMPTY(&keystone->waiting) || !TAILQ_EMPTY(&keystone->sent) ||
           !TAILQ_EMPTY(&keystone->delayed);
}

static bool is_stopping(struct keystone *keystone)
{
    pthread_mutex_lock(&keystone->lock);
    bool stopping = keystone->stopping;
    pthread_mutex_unlock(&keystone->lock);
    return stopping;
}

static void *work(void *cls)
{
    struct keystone *keystone = cls;
    uint64_t looked_us = 0;
    while (!is_stopping(keystone)) {
        keystone_queries_take_arrived(keystone);
        uint64_t now_us = clock_monotonic_us();
        if (now_us - looked_us >= TICK_US) {
            looked_us = now_us;
            end_late(&keystone->waiting, now_us);
            end_late(&keystone->sent, now_us);
            end_late(&keystone->delayed, now_us);
            wake_delayed(keystone, now_us);
            drop_expired(keystone, now_us);
        }
        send_waiting(keystone, now_us);
        atomic_store(&keystone->counters.logins, keystone->session.logins);
        unsigned wait_us = has_queries(keystone) ? TICK_US : IDLE_WAIT_US;
        keystone_http_run(keystone->http, wait_us / 1000);
    }
    return NULL;
}

bool query_thread_start(struct keystone *keystone, struct err *err)
{
    keystone_queries_open(keystone, on_answer);
    keystone->http = keystone_http_create(keystone->settings, err);
    if (keystone->http == NULL)
        return false;
    keystone_session_open(&keystone->session, keystone->settings, keystone->http);
    if (pthread_create(&keystone->thread, NULL, work, keystone) == 0)
        return true;
    keystone_session_close(&keystone->session);
    keystone_http_destroy(keystone->http);
    keystone->http = NULL;
    return err_set(err, 503, NULL, "cannot start the thread that queries Keystone");
}

void query_thread_stop(struct keystone *keystone)
{
    if (keystone->http != NULL) {
        pthread_mutex_lock(&keystone->lock);
        keystone->stopping = true;
        pthread_mutex_unlock(&keystone->lock);
        keystone_http_wake(keystone->http);
        pthread_join(keystone->thread, NULL);
        keystone_session_close(&keystone->session);
        keystone_http_destroy(keystone->http);
    }
    keystone_queries_close(keystone);
}
