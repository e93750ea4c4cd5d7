/* The thread that asks Keystone, and the questions that are pending.
 *
 * A question is about one token; requests that come with the same token meanwhile wait for it, too.
 * It is found by the token's key in a hash table under the lock, which also guards its waiters and
 * its being joined; all else belongs to the thread. A question goes from `arrived` to `waiting`
 * (for the service's own login, or for a free connection), to `asked`, perhaps to `delayed` and
 * back to `waiting`, and ends with a verdict, which is put into the cache before it leaves the
 * table: who finds neither asks anew.
 *
 * Every question has a deadline, so that every request that waits gets an answer. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "keystone/internal.h"
#include "log/log.h"

enum {
    TICK_US = 50 * 1000,         /* deadlines and delays are looked at that often */
    IDLE_WAIT_US = 1000 * 1000,  /* with nothing to do; then a shard of the cache is swept */
    FIRST_DELAY_US = 500 * 1000, /* before an attempt is repeated; doubled each time */
    LAST_DELAY_US = 32 * 1000 * 1000,
};

enum question_place { PLACE_ARRIVED, PLACE_WAITING, PLACE_ASKED, PLACE_DELAYED };

struct question {
    /* under the lock */
    LIST_ENTRY(question) in_chain;
    struct keystone_waiter *waiters;
    bool is_closed; /* nobody may join any more */

    /* set at the start */
    struct token_key key;
    bool may_be_expired;
    uint64_t deadline_us;
    char *token;
    char *request_id;

    /* the thread's own */
    TAILQ_ENTRY(question) in_queue;
    enum question_place place;
    struct keystone *keystone;
    struct keystone_call call;
    char *url;
    uint64_t asked_us; /* the last attempt began */
    uint64_t not_before_us;
    unsigned attempts;
    bool with_catalog;
    bool has_new_login; /* a token of ours was refused, another was tried */
    char *own_token;    /* the service's, that it was asked with */
};

static char *copy(struct slice text)
{
    char *out = strndup(text.data == NULL ? "" : text.data, text.len);
    check(out != NULL);
    return out;
}

static struct question_chain *chain_of(struct keystone *keystone, const struct token_key *key)
{
    uint32_t number;
    memcpy(&number, key->bytes + 8, sizeof(number));
    return &keystone->chains[number & (keystone->chain_count - 1)];
}

static struct question_queue *queue_of(struct question *question)
{
    struct keystone *keystone = question->keystone;
    switch (question->place) {
    case PLACE_ARRIVED:
        return &keystone->arrived;
    case PLACE_WAITING:
        return &keystone->waiting;
    case PLACE_ASKED:
        return &keystone->asked;
    case PLACE_DELAYED:
        break;
    }
    return &keystone->delayed;
}

static void move(struct question *question, enum question_place place)
{
    TAILQ_REMOVE(queue_of(question), question, in_queue);
    question->keystone->asked_count -= question->place == PLACE_ASKED;
    question->place = place;
    question->keystone->asked_count += place == PLACE_ASKED;
    TAILQ_INSERT_TAIL(queue_of(question), question, in_queue);
}

static void free_question(struct question *question)
{
    keystone_call_clear(&question->call);
    free(question->token);
    free(question->request_id);
    free(question->url);
    free(question->own_token);
    free(question);
}

/* All that wait get the verdict. The token, if there is one, stays the caller's. */
static void end_question(struct question *question, enum keystone_verdict verdict,
                         struct token *token)
{
    struct keystone *keystone = question->keystone;
    keystone_http_cancel(keystone->http, &question->call);
    keystone->asked_count -= question->place == PLACE_ASKED;
    pthread_mutex_lock(&keystone->lock);
    TAILQ_REMOVE(queue_of(question), question, in_queue);
    LIST_REMOVE(question, in_chain);
    keystone->question_count--;
    struct keystone_waiter *waiter = question->waiters;
    pthread_mutex_unlock(&keystone->lock);
    while (waiter != NULL) {
        struct keystone_waiter *next = waiter->next;
        waiter->verdict = verdict;
        waiter->token = token == NULL ? NULL : token_ref(token);
        waiter->done(waiter);
        waiter = next;
    }
    free_question(question);
}

static void end_unanswered(struct question *question, const char *why)
{
    struct keystone *keystone = question->keystone;
    keystone_outage_failed(&keystone->outage, why, clock_monotonic_us());
    atomic_store(&keystone->counters.is_away, true);
    atomic_fetch_add(&keystone->counters.failed, 1);
    end_question(question, KEYSTONE_UNAVAILABLE, NULL);
}

static void end_answered(struct question *question, struct token *token)
{
    struct keystone *keystone = question->keystone;
    unsigned cache_s = keystone->settings->cache_s;
    keystone_outage_worked(&keystone->outage);
    atomic_store(&keystone->counters.is_away, false);
    if (token != NULL && cache_s > 0)
        token_cache_put(keystone->cache, &question->key, token,
                        question->asked_us + cache_s * 1000000ULL);
    end_question(question, token == NULL ? KEYSTONE_REFUSED : KEYSTONE_ACCEPTED, token);
    token_unref(token);
}

static uint64_t deadline_of(const struct question *question)
{
    uint64_t hurry_us = atomic_load(&question->keystone->hurry_until_us);
    return question->deadline_us < hurry_us ? question->deadline_us : hurry_us;
}

static void set_url(struct question *question)
{
    struct buf url = {0};
    buf_append_slice(&url, slice_of(question->keystone->session.url));
    if (!question->with_catalog)
        buf_append_lit(&url, "?nocatalog");
    if (question->may_be_expired) {
        buf_append_char(&url, question->with_catalog ? '?' : '&');
        buf_append_lit(&url, "allow_expired=1");
    }
    free(question->url);
    question->url = copy(buf_slice(&url));
    buf_free(&url);
}

static void ask(struct question *question, uint64_t now_us)
{
    struct keystone *keystone = question->keystone;
    struct keystone_call *call = &question->call;
    uint64_t deadline_us = deadline_of(question);
    uint64_t left_ms = deadline_us > now_us ? (deadline_us - now_us) / 1000 + 1 : 1;
    unsigned timeout_ms = keystone->settings->attempt_timeout_ms;
    set_url(question);
    free(question->own_token);
    question->own_token = copy(slice_of(keystone->session.token));
    call->url = question->url;
    call->timeout_ms = left_ms < timeout_ms ? (unsigned)left_ms : timeout_ms;
    call->headers[0].name = "Accept";
    call->headers[0].value = "application/json";
    call->headers[1].name = "X-Auth-Token";
    call->headers[1].value = question->own_token;
    call->headers[2].name = "X-Subject-Token";
    call->headers[2].value = question->token;
    call->headers[3].name = "OpenStack-Identity-Access-Rules";
    call->headers[3].value = "1";
    call->headers[4].name = "X-Openstack-Request-Id";
    call->headers[4].value = question->request_id;
    question->asked_us = now_us;
    question->attempts++;
    atomic_fetch_add(&keystone->counters.questions, 1);
    if (keystone->settings->cache_s == 0) {
        /* whoever comes now must not be told what was so before he came */
        pthread_mutex_lock(&keystone->lock);
        question->is_closed = true;
        pthread_mutex_unlock(&keystone->lock);
    }
    move(question, PLACE_ASKED);
    keystone_http_start(keystone->http, call);
}

static void delay(struct question *question)
{
    uint64_t delay_us = FIRST_DELAY_US;
    for (unsigned i = 1; i < question->attempts && delay_us < LAST_DELAY_US; i++)
        delay_us *= 2;
    question->not_before_us = clock_monotonic_us() + delay_us;
    move(question, PLACE_DELAYED);
}

static void on_token_told(struct question *question)
{
    const struct token_terms *terms = &question->keystone->settings->terms;
    const char *why = NULL;
    struct token *token = token_read(buf_slice(&question->call.body), terms, &why);
    if (token == NULL) {
        char text[KEYSTONE_WHY_BYTES];
        snprintf(text, sizeof(text), "Keystone's answer is not understood: %s", why);
        end_unanswered(question, text);
    } else if (token->is_restricted && terms->service_type.data != NULL && !token->has_catalog &&
               !question->with_catalog) {
        /* rules count only if the catalog has the service that they speak of */
        token_unref(token);
        question->with_catalog = true;
        move(question, PLACE_WAITING);
    } else {
        end_answered(question, token);
    }
}

static void on_login_refused(struct question *question)
{
    struct keystone *keystone = question->keystone;
    bool is_fixed = keystone->settings->login_body == NULL;
    keystone_session_drop(&keystone->session, question->own_token);
    if (question->has_new_login || is_fixed) {
        end_unanswered(question, "Keystone refuses the service's own token (HTTP 401)");
        return;
    }
    question->has_new_login = true;
    move(question, PLACE_WAITING);
}

static void on_answer(struct keystone_call *call)
{
    struct question *question = (struct question *)((char *)call - offsetof(struct question, call));
    char why[KEYSTONE_WHY_BYTES];
    switch (call->status) {
    case 200:
        on_token_told(question);
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
                     call->is_unreachable ? "no answer from Keystone" : "Keystone cannot be asked",
                     KEYSTONE_WHY_BYTES - 32, call->why);
            end_unanswered(question, why);
        }
        return;
    default:
        snprintf(why, sizeof(why), "Keystone answers HTTP %d to a question about a token%s",
                 call->status,
                 call->status == 403       ? ": the service's user may not ask"
                 : call->status / 100 == 3 ? ": redirects are not followed"
                                           : "");
        end_unanswered(question, why);
    }
}

/* The thread's rounds. */

static void take_arrived(struct keystone *keystone)
{
    pthread_mutex_lock(&keystone->lock);
    struct question *question;
    while ((question = TAILQ_FIRST(&keystone->arrived)) != NULL)
        move(question, PLACE_WAITING);
    pthread_mutex_unlock(&keystone->lock);
}

static void end_late(struct question_queue *queue, uint64_t now_us)
{
    struct question *question, *next;
    for (question = TAILQ_FIRST(queue); question != NULL; question = next) {
        next = TAILQ_NEXT(question, in_queue);
        if (deadline_of(question) <= now_us)
            end_unanswered(question, "Keystone does not answer in time");
    }
}

static void wake_delayed(struct keystone *keystone, uint64_t now_us)
{
    struct question *question, *next;
    for (question = TAILQ_FIRST(&keystone->delayed); question != NULL; question = next) {
        next = TAILQ_NEXT(question, in_queue);
        if (question->not_before_us <= now_us)
            move(question, PLACE_WAITING);
    }
}

static void ask_waiting(struct keystone *keystone, uint64_t now_us)
{
    struct question *question;
    while ((question = TAILQ_FIRST(&keystone->waiting)) != NULL &&
           keystone->asked_count < keystone->limits.questions_asked)
        switch (keystone_session_state(&keystone->session)) {
        case SESSION_READY:
            ask(question, now_us);
            break;
        case SESSION_FAILED:
            end_unanswered(question, keystone->session.why);
            break;
        case SESSION_BUSY:
            return;
        }
}

static void sweep(struct keystone *keystone, uint64_t now_us)
{
    if (now_us - keystone->swept_us < IDLE_WAIT_US)
        return;
    keystone->swept_us = now_us;
    token_cache_sweep(keystone->cache, now_us);
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
        take_arrived(keystone);
        uint64_t now_us = clock_monotonic_us();
        if (now_us - looked_us >= TICK_US) {
            looked_us = now_us;
            end_late(&keystone->waiting, now_us);
            end_late(&keystone->asked, now_us);
            end_late(&keystone->delayed, now_us);
            wake_delayed(keystone, now_us);
            sweep(keystone, now_us);
        }
        ask_waiting(keystone, now_us);
        atomic_store(&keystone->counters.logins, keystone->session.logins);
        keystone_http_run(keystone->http,
                          (has_questions(keystone) ? TICK_US : IDLE_WAIT_US) / 1000);
    }
    return NULL;
}

/* Asking. */

static struct question *find_open(struct keystone *keystone, const struct keystone_question *about)
{
    struct question *question;
    LIST_FOREACH(question, chain_of(keystone, &about->key), in_chain)
    if (!question->is_closed && question->may_be_expired == about->may_be_expired &&
        memcmp(&question->key, &about->key, sizeof(about->key)) == 0)
        return question;
    return NULL;
}

static void add_question(struct keystone *keystone, const struct keystone_question *about,
                         struct keystone_waiter *waiter)
{
    struct question *question = calloc(1, sizeof(*question));
    check(question != NULL);
    *question = (struct question){
        .key = about->key,
        .may_be_expired = about->may_be_expired,
        .deadline_us = clock_monotonic_us() + keystone->limits.question_ms * 1000ULL,
        .token = copy(about->token),
        .request_id = about->request_id.len == 0 ? NULL : copy(about->request_id),
        .waiters = waiter,
        .keystone = keystone,
        .call = {.done = on_answer},
    };
    LIST_INSERT_HEAD(chain_of(keystone, &about->key), question, in_chain);
    TAILQ_INSERT_TAIL(&keystone->arrived, question, in_queue);
    keystone->question_count++;
}

enum keystone_verdict keystone_questions_ask(struct keystone *keystone,
                                             const struct keystone_question *about,
                                             struct keystone_waiter *waiter)
{
    enum keystone_verdict verdict = KEYSTONE_PENDING;
    bool is_new = false;
    waiter->next = NULL;
    pthread_mutex_lock(&keystone->lock);
    struct question *open = find_open(keystone, about);
    struct token *token = NULL;
    if (open != NULL) {
        waiter->next = open->waiters;
        open->waiters = waiter;
        atomic_fetch_add(&keystone->counters.shared, 1);
    } else if ((token = token_cache_find(keystone->cache, &about->key, clock_monotonic_us())) !=
               NULL) {
        waiter->token = token; /* a question has ended since the caller looked */
        verdict = waiter->verdict = KEYSTONE_ACCEPTED;
    } else if (keystone->question_count >= keystone->limits.questions) {
        atomic_fetch_add(&keystone->counters.dropped, 1);
        verdict = waiter->verdict = KEYSTONE_UNAVAILABLE;
    } else {
        add_question(keystone, about, waiter);
        is_new = true;
    }
    pthread_mutex_unlock(&keystone->lock);
    if (is_new)
        keystone_http_wake(keystone->http);
    return verdict;
}

bool keystone_questions_start(struct keystone *keystone, struct err *err)
{
    keystone->chain_count = 1;
    while (keystone->chain_count < keystone->limits.questions)
        keystone->chain_count *= 2;
    keystone->chains = calloc(keystone->chain_count, sizeof(*keystone->chains));
    check(keystone->chains != NULL);
    TAILQ_INIT(&keystone->arrived);
    TAILQ_INIT(&keystone->waiting);
    TAILQ_INIT(&keystone->asked);
    TAILQ_INIT(&keystone->delayed);
    pthread_mutex_init(&keystone->lock, NULL);
    keystone->http = keystone_http_create(keystone->settings, err);
    if (keystone->http == NULL)
        return false;
    keystone_session_open(&keystone->session, keystone->settings, keystone->http);
    check(pthread_create(&keystone->thread, NULL, work, keystone) == 0);
    return true;
}

void keystone_questions_stop(struct keystone *keystone)
{
    if (keystone->http != NULL) {
        pthread_mutex_lock(&keystone->lock);
        keystone->stopping = true;
        pthread_mutex_unlock(&keystone->lock);
        keystone_http_wake(keystone->http);
        pthread_join(keystone->thread, NULL);
        check(keystone->question_count == 0);
        keystone_session_close(&keystone->session);
        keystone_http_destroy(keystone->http);
    }
    pthread_mutex_destroy(&keystone->lock);
    free(keystone->chains);
}
