/* The thread that queries Keystone: its queries, what the answers mean, and its main loop.
 *
 * Every query has a deadline, so that every request that waits gets an answer. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "keystone/asking.h"
#include "keystone/question.h"
#include "keystone/url.h"
#include "log/log.h"

enum {
    TICK_US = 50 * 1000,         /* how often deadlines and delays are checked */
    IDLE_WAIT_US = 1000 * 1000,  /* when idle; then one shard of the cache is cleared of expired
                                  * tokens */
    FIRST_DELAY_US = 500 * 1000, /* before a query is repeated; doubled each time */
    LAST_DELAY_US = 32 * 1000 * 1000,
};

static void end_unanswered(struct question *question, const char *why)
{
    struct keystone *keystone = question->keystone;
    keystone_outage_failed(&keystone->outage, why, clock_monotonic_us());
    atomic_store(&keystone->counters.is_away, true);
    atomic_fetch_add(&keystone->counters.failed, 1);
    question_end(question, KEYSTONE_UNAVAILABLE, NULL);
}

static void note_answer(struct keystone *keystone)
{
    keystone_outage_worked(&keystone->outage);
    atomic_store(&keystone->counters.is_away, false);
}

static void end_answered(struct question *question, struct token *token)
{
    struct keystone *keystone = question->keystone;
    unsigned cache_s = keystone->settings->cache_s;
    note_answer(keystone);
    if (token != NULL && cache_s > 0)
        token_cache_put(keystone->cache, &question->key, token,
                        question->asked_us + cache_s * 1000000ULL);
    question_end(question, token == NULL ? KEYSTONE_REFUSED : KEYSTONE_ACCEPTED, token);
    token_unref(token);
}

static uint64_t deadline_of(const struct question *question)
{
    uint64_t hurry_us = atomic_load(&question->keystone->hurry_until_us);
    return question->deadline_us < hurry_us ? question->deadline_us : hurry_us;
}

static void write_project_url(struct buf *url, const struct question *question)
{
    buf_append_slice(url, keystone_url_beside_tokens(slice_of(question->keystone->session.url)));
    buf_append_lit(url, "/projects/");
    buf_append_slice(url, slice_of(question->subject));
}

static void write_token_url(struct buf *url, const struct question *question)
{
    buf_append_slice(url, slice_of(question->keystone->session.url));
    if (!question->with_catalog)
        buf_append_lit(url, "?nocatalog");
    if (question->may_be_expired) {
        buf_append_char(url, question->with_catalog ? '?' : '&');
        buf_append_lit(url, "allow_expired=1");
    }
}

static void set_url(struct question *question)
{
    struct buf url = {0};
    if (question->is_project)
        write_project_url(&url, question);
    else
        write_token_url(&url, question);
    free(question->url);
    question->url = slice_dup(buf_slice(&url));
    buf_free(&url);
}

static void asking_ask(struct question *question, uint64_t now_us)
{
    struct keystone *keystone = question->keystone;
    struct keystone_call *call = &question->call;
    uint64_t deadline_us = deadline_of(question);
    uint64_t left_ms = deadline_us > now_us ? (deadline_us - now_us) / 1000 + 1 : 1;
    unsigned timeout_ms = keystone->settings->attempt_timeout_ms;
    set_url(question);
    free(question->own_token);
    question->own_token = slice_dup(slice_of(keystone->session.token));
    call->url = question->url;
    call->timeout_ms = left_ms < timeout_ms ? (unsigned)left_ms : timeout_ms;
    call->headers[0].name = "Accept";
    call->headers[0].value = "application/json";
    call->headers[1].name = "X-Auth-Token";
    call->headers[1].value = question->own_token;
    call->headers[2].name = "X-Subject-Token";
    call->headers[2].value = question->is_project ? NULL : question->subject;
    call->headers[3].name = "OpenStack-Identity-Access-Rules";
    call->headers[3].value = question->is_project ? NULL : "1";
    call->headers[4].name = "X-Openstack-Request-Id";
    call->headers[4].value = question->request_id;
    question->asked_us = now_us;
    question->attempts++;
    atomic_fetch_add(&keystone->counters.questions, 1);
    if (keystone->settings->cache_s == 0 || question->is_project)
        /* a request that arrives now must not get an older answer */
        question_shut(question);
    question_move(question, PLACE_ASKED);
    keystone_http_start(keystone->http, call);
}

static void delay(struct question *question)
{
    uint64_t delay_us = FIRST_DELAY_US;
    for (unsigned i = 1; i < question->attempts && delay_us < LAST_DELAY_US; i++)
        delay_us *= 2;
    question->not_before_us = clock_monotonic_us() + delay_us;
    question_move(question, PLACE_DELAYED);
}

static bool has_service_types(const struct token_terms *terms)
{
    for (unsigned i = 0; i < TOKEN_SERVICE_COUNT; i++)
        if (terms->service_types[i].data != NULL)
            return true;
    return false;
}

static void on_token_answer(struct question *question)
{
    const struct token_terms *terms = &question->keystone->settings->terms;
    const char *why = NULL;
    struct token *token = token_read(buf_slice(&question->call.body), terms, &why);
    if (token == NULL) {
        char text[KEYSTONE_WHY_BYTES];
        snprintf(text, sizeof(text), "Keystone's answer is invalid: %s", why);
        end_unanswered(question, text);
    } else if (token->is_restricted && has_service_types(terms) && !token->has_catalog &&
               !question->with_catalog) {
        /* rules count only if the catalog has the service that they concern */
        token_unref(token);
        question->with_catalog = true;
        question_move(question, PLACE_WAITING);
    } else {
        end_answered(question, token);
    }
}

/* The query only concerns whether the project exists. Other answers, such as 403 if the service may
 * not make the query, are logged but do not count as an outage, because tokens can still be
 * validated. */
static void on_project_answer(struct question *question)
{
    struct keystone *keystone = question->keystone;
    int status = question->call.status;
    if (status == 200 || status == 404) {
        note_answer(keystone);
        question_end(question, status == 200 ? KEYSTONE_ACCEPTED : KEYSTONE_REFUSED, NULL);
        return;
    }
    log_write(
        LOG_LEVEL_WARNING, "berth.keystone", LOG_NO_CONTEXT,
        "Keystone answered HTTP %d to a query about a project%s", status,
        status == 403
            ? ": the service user is not allowed to make it, which requires a role such as admin"
            : "");
    atomic_fetch_add(&keystone->counters.failed, 1);
    question_end(question, KEYSTONE_UNAVAILABLE, NULL);
}

static void on_login_refused(struct question *question)
{
    struct keystone *keystone = question->keystone;
    bool is_fixed = keystone->settings->login_body == NULL;
    keystone_session_drop(&keystone->session, question->own_token);
    if (question->has_new_login || is_fixed) {
        end_unanswered(question, SESSION_TOKEN_REFUSED);
        return;
    }
    question->has_new_login = true;
    question_move(question, PLACE_WAITING);
}

static void on_answer(struct keystone_call *call)
{
    struct question *question = (struct question *)((char *)call - offsetof(struct question, call));
    char why[KEYSTONE_WHY_BYTES];
    if (call->status == 200 || call->status == 404)
        keystone_session_served(&question->keystone->session, question->own_token);
    if (question->is_project && call->status != 0 && call->status != 401) {
        on_project_answer(question);
        return;
    }
    switch (call->status) {
    case 200:
        on_token_answer(question);
        return;
    case 404:
        end_answered(question, NULL);
        return;
    case 401:
        on_login_refused(question);
        return;
    case 0:
        if (call->is_unreachable && question->attempts <= question->keystone->settings->retries)
            delay(question);
        else {
            snprintf(why, sizeof(why), "%s: %.*s",
                     call->is_unreachable ? "no answer from Keystone" : "cannot query Keystone",
                     KEYSTONE_WHY_BYTES - 32, call->why);
            end_unanswered(question, why);
        }
        return;
    default:
        snprintf(why, sizeof(why), "Keystone answered HTTP %d to a query about a token%s",
                 call->status,
                 call->status == 403       ? ": the service user is not allowed to make it"
                 : call->status / 100 == 3 ? ": redirects are not followed"
                                           : "");
        end_unanswered(question, why);
    }
}

/* The thread's main loop. */

static void end_late(struct question_queue *queue, uint64_t now_us)
{
    struct question *question, *next;
    for (question = TAILQ_FIRST(queue); question != NULL; question = next) {
        next = TAILQ_NEXT(question, in_queue);
        if (deadline_of(question) <= now_us)
            end_unanswered(question, "Keystone did not answer in time");
    }
}

static void wake_delayed(struct keystone *keystone, uint64_t now_us)
{
    struct question *question, *next;
    for (question = TAILQ_FIRST(&keystone->delayed); question != NULL; question = next) {
        next = TAILQ_NEXT(question, in_queue);
        if (question->not_before_us <= now_us)
            question_move(question, PLACE_WAITING);
    }
}

static void ask_waiting(struct keystone *keystone, uint64_t now_us)
{
    struct question *question;
    while ((question = TAILQ_FIRST(&keystone->waiting)) != NULL &&
           keystone->asked_count < keystone->limits.questions_asked)
        switch (keystone_session_state(&keystone->session)) {
        case SESSION_READY:
            asking_ask(question, now_us);
            break;
        case SESSION_FAILED:
            end_unanswered(question, keystone->session.why);
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

static bool has_questions(const struct keystone *keystone)
{
    return !TAILQ_EMPTY(&keystone->waiting) || !TAILQ_EMPTY(&keystone->asked) ||
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
        questions_take_arrived(keystone);
        uint64_t now_us = clock_monotonic_us();
        if (now_us - looked_us >= TICK_US) {
            looked_us = now_us;
            end_late(&keystone->waiting, now_us);
            end_late(&keystone->asked, now_us);
            end_late(&keystone->delayed, now_us);
            wake_delayed(keystone, now_us);
            drop_expired(keystone, now_us);
        }
        ask_waiting(keystone, now_us);
        atomic_store(&keystone->counters.logins, keystone->session.logins);
        unsigned wait_us = has_questions(keystone) ? TICK_US : IDLE_WAIT_US;
        keystone_http_run(keystone->http, wait_us / 1000);
    }
    return NULL;
}

bool asking_start(struct keystone *keystone, struct err *err)
{
    questions_open(keystone, on_answer);
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

void asking_stop(struct keystone *keystone)
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
    questions_close(keystone);
}
