/* The table of pending queries.
 *
 * A query concerns one token, or whether one project exists. Requests that arrive with the same
 * token meanwhile wait for it, too. A query is found by the token's key in a hash table under the
 * lock, which also protects its waiters and whether it may be joined; all else belongs to the
 * thread of asking.c. A query goes from `arrived` to `waiting` (for the service's own login, or for
 * a free connection), to `asked`, perhaps to `delayed` and back to `waiting`, and ends with a
 * verdict. The verdict is put into the cache before the query leaves the table: a request that
 * finds neither starts a new query. */
#include <stdlib.h>

#include "base/clock.h"
#include "keystone/question.h"

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

void question_move(struct question *question, enum question_place place)
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
    free(question->subject);
    free(question->request_id);
    free(question->url);
    free(question->own_token);
    free(question);
}

void question_end(struct question *question, enum keystone_verdict verdict, struct token *token)
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

void question_shut(struct question *question)
{
    pthread_mutex_lock(&question->keystone->lock);
    question->is_closed = true;
    pthread_mutex_unlock(&question->keystone->lock);
}

void questions_take_arrived(struct keystone *keystone)
{
    pthread_mutex_lock(&keystone->lock);
    struct question *question;
    while ((question = TAILQ_FIRST(&keystone->arrived)) != NULL)
        question_move(question, PLACE_WAITING);
    pthread_mutex_unlock(&keystone->lock);
}

static struct question *find_open(struct keystone *keystone, const struct keystone_question *about)
{
    struct question *question;
    LIST_FOREACH(question, chain_of(keystone, &about->key), in_chain)
    if (!question->is_closed && question->is_project == about->is_project &&
        question->may_be_expired == about->may_be_expired &&
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
        .is_project = about->is_project,
        .subject = slice_dup(about->subject),
        .request_id = about->request_id.len == 0 ? NULL : slice_dup(about->request_id),
        .waiters = waiter,
        .keystone = keystone,
        .call = {.done = keystone->on_answer},
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
    } else if (!about->is_project && (token = token_cache_find(keystone->cache, &about->key,
                                                               clock_monotonic_us())) != NULL) {
        waiter->token = token; /* a query has ended since the caller checked */
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

void questions_open(struct keystone *keystone, void (*on_answer)(struct keystone_call *call))
{
    keystone->on_answer = on_answer;
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
}

void questions_close(struct keystone *keystone)
{
    check(keystone->question_count == 0);
    pthread_mutex_destroy(&keystone->lock);
    free(keystone->chains);
}
