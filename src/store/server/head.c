/* See head.h.
 *
 * An answer that is older than memory is normal: the writer's next batch may be committed and
 * published while the answer is on its way. But an answer older than what memory had when the query
 * was sent means that the database went back. It is passed on as a state that memory does not
 * contain, so that the writer looks.
 *
 * So does an answer that is older than one that had arrived when the query was sent, although
 * memory had neither. What another instance has written may wait here until the writer takes it,
 * and be lost meanwhile: once the writer publishes it, the older answer would pass for an earlier
 * state of the same history. A snapshot that is begun later shows that the newer answer is gone.
 *
 * A commit or a snapshot of a server that has been replaced may be lost by then, although the news
 * of it are still on their way. So what memory had is read after the session has joined the
 * lineage, and a state is noted, under the same lock, only while its server has not been replaced:
 * one of the two sees the other. */
#include "store/server/head.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/wait.h"
#include "store/server/dialect.h"
#include "store/server/io.h"

enum { QUERIES_MOST = 2, STATES_KEPT = 64, FACTS_EVERY_US = 10000000 };

/* Queries that arrive meanwhile wait for no longer than this part of the time limit. */
enum { FACTS_SHARE = 5 };

struct query {
    void (*answered)(void *cls, const struct store_head *head);
    void *cls;
};

struct server_head {
    struct server_session *session;    /* the thread's */
    struct server_meanwhile meanwhile; /* the same */
    struct server_lineage *lineage;
    uint64_t timeout_us;
    uint64_t recycle_us;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t wake;
    _Atomic bool is_stopped; /* queries are not waited for; read without the lock */
    bool is_ending;
    unsigned waiting;
    struct query queries[QUERIES_MOST];
    /* The last states that memory has had, the newest at (count - 1) % STATES_KEPT. */
    struct store_stamp states[STATES_KEPT];
    uint64_t state_count;
    bool coexists;
    struct foreign_view foreign;
    bool has_started; /* memory has, or had, a state: the server is there */
    int64_t seen;     /* the number in the last answer */
    int64_t highest;  /* the highest one, unless it is known to be gone */
    uint64_t losses;  /* how often it has turned out to be gone */
    struct head_news news;
    uint64_t facts_due_us;
    struct store_server server;
};

static struct log_state stamped_state(const struct store_stamp *stamp)
{
    struct log_state state;
    memcpy(&state, stamp->bytes, sizeof(state));
    return state;
}

static bool connect(struct server_head *head, uint64_t deadline_us, struct err *err)
{
    if (server_session_is_old(head->session, head->recycle_us) ||
        server_session_has_moved(head->session))
        server_session_close(head->session);
    return server_session_is_open(head->session) ||
           server_session_connect(head->session, deadline_us, err) == SERVER_OK;
}

/* Under the lock: the newest state that memory has had; all zero: none. */
static struct log_state newest_known(const struct server_head *head)
{
    return head->state_count == 0
               ? (struct log_state){0}
               : stamped_state(&head->states[(head->state_count - 1) % STATES_KEPT]);
}

int64_t server_head_newest(struct server_head *head)
{
    pthread_mutex_lock(&head->lock);
    int64_t number = newest_known(head).number;
    pthread_mutex_unlock(&head->lock);
    return number;
}

/* Under the lock. */
static bool copy_view(const struct server_head *head, struct foreign_view *view)
{
    if (head->coexists)
        foreign_view_copy(view, &head->foreign);
    view->taken = head->foreign.taken;
    return head->coexists;
}

void server_head_prepare(struct server_head *head, struct question *question)
{
    pthread_mutex_lock(&head->lock);
    question->known = newest_known(head);
    question->seen = head->highest;
    question->coexists = copy_view(head, &question->foreign);
    pthread_mutex_unlock(&head->lock);
}

/* Under the lock. */
static void note_seen(struct server_head *head, int64_t number)
{
    if (head->highest < number)
        head->highest = number;
}

void server_head_note_seen(struct server_head *head, int64_t number)
{
    pthread_mutex_lock(&head->lock);
    note_seen(head, number);
    pthread_mutex_unlock(&head->lock);
}

int64_t server_head_highest(struct server_head *head)
{
    pthread_mutex_lock(&head->lock);
    int64_t number = head->highest;
    pthread_mutex_unlock(&head->lock);
    return number;
}

void server_head_note_snapshot(struct server_head *head, int64_t before, int64_t number)
{
    struct log_newest gone = {0};
    pthread_mutex_lock(&head->lock);
    if (number < before && head->highest == before) {
        head->highest = number;
        head->losses++;
        gone = head->news.newest;
        head->news = (struct head_news){0};
    }
    note_seen(head, number);
    pthread_mutex_unlock(&head->lock);
    log_rows_free(&gone.rows);
}

uint64_t server_head_losses(struct server_head *head)
{
    pthread_mutex_lock(&head->lock);
    uint64_t losses = head->losses;
    pthread_mutex_unlock(&head->lock);
    return losses;
}

/* What was known before is of no use beside it. */
void server_head_note_answer(struct server_head *head, const struct question *question,
                             const struct log_state *state, const struct store_stamp *stamp,
                             const struct server_id *server, struct log_newest *newest)
{
    struct log_newest old = *newest;
    bool is_next = state->number == question->known.number + 1;
    pthread_mutex_lock(&head->lock);
    head->seen = state->number;
    note_seen(head, state->number);
    if (is_next) {
        old = head->news.newest;
        head->news = (struct head_news){*newest, *stamp, *server};
    }
    pthread_mutex_unlock(&head->lock);
    *newest = old;
}

bool server_head_take_news(struct server_head *head, const struct store_stamp *stamp,
                           struct head_news *news)
{
    pthread_mutex_lock(&head->lock);
    bool is_there =
        head->news.newest.rows.count > 0 && memcmp(&head->news.head, stamp, sizeof(*stamp)) == 0;
    if (is_there) {
        *news = head->news;
        head->news = (struct head_news){0};
    }
    pthread_mutex_unlock(&head->lock);
    return is_there;
}

static bool ask_once(struct server_head *head, struct question *question, struct store_stamp *stamp,
                     uint64_t deadline_us, struct err *err)
{
    const struct server_id *server = &head->session->id;
    struct question_answer answer = {0};
    struct log_state state;
    bool ok = connect(head, deadline_us, err);
    server_head_prepare(head, question);
    question_begin(question, server);
    ok = ok &&
         head->session->dialect->question_ask(head->session, question, &answer, deadline_us, err) ==
             SERVER_OK &&
         question_state(question, &answer, &state, stamp);
    server_head_note_seen(head, answer.newest.seen);
    if (ok)
        server_head_note_answer(head, question, &state, stamp, server, &answer.newest);
    else
        server_session_close(head->session);
    log_rows_free(&answer.newest.rows);
    return ok;
}

/* A connection that has ended since its last use, or whose server has become a standby, is replaced
 * at once: to ask twice does no harm. */
static bool ask(struct server_head *head, struct question *question, struct store_stamp *stamp,
                struct err *err)
{
    uint64_t deadline_us = clock_monotonic_us() + head->timeout_us;
    bool was_open = server_session_is_open(head->session);
    bool ok = ask_once(head, question, stamp, deadline_us, err);
    if (ok || !was_open || clock_monotonic_us() >= deadline_us)
        return ok;
    *err = (struct err){.arena = err->arena};
    return ask_once(head, question, stamp, deadline_us, err);
}

static void ask_facts(struct server_head *head)
{
    struct err err = {.arena = arena_create()};
    uint64_t deadline_us = clock_monotonic_us() + head->timeout_us / FACTS_SHARE;
    struct store_server server = {0};
    bool ok = connect(head, deadline_us, &err) &&
              head->session->dialect->facts(head->session, &server, deadline_us, &err);
    uint64_t now_us = clock_monotonic_us();
    if (!ok)
        server_session_close(head->session);
    arena_destroy(err.arena);
    pthread_mutex_lock(&head->lock);
    head->facts_due_us = now_us + FACTS_EVERY_US;
    server.seen_us = now_us;
    if (ok)
        head->server = server;
    pthread_mutex_unlock(&head->lock);
}

static bool head_goes_on(void *cls)
{
    const struct server_head *head = cls;
    return !head->is_stopped;
}

/* Under the lock. */
static bool are_facts_due(const struct server_head *head)
{
    return head->has_started && clock_monotonic_us() >= head->facts_due_us;
}

/* Under the lock, which is released meanwhile: does what is not a query, or waits for something to
 * do. */
static void do_other_work(struct server_head *head)
{
    if (are_facts_due(head)) {
        pthread_mutex_unlock(&head->lock);
        ask_facts(head);
        pthread_mutex_lock(&head->lock);
    } else if (head->has_started) {
        (void)!wait_until(&head->wake, &head->lock, head->facts_due_us);
    } else {
        pthread_cond_wait(&head->wake, &head->lock);
    }
}

/* Takes the queries that wait, and does other work while there are none, or when it is due; returns
 * the number of queries. 0: the thread ends. */
static unsigned take_queries(struct server_head *head, struct query *queries)
{
    pthread_mutex_lock(&head->lock);
    while (!head->is_ending && (head->waiting == 0 || are_facts_due(head)))
        do_other_work(head);
    unsigned count = head->waiting;
    memcpy(queries, head->queries, count * sizeof(*queries));
    head->waiting = 0;
    pthread_mutex_unlock(&head->lock);
    return count;
}

static void *run_head(void *cls)
{
    struct server_head *head = cls;
    struct query queries[QUERIES_MOST];
    struct question question = {0};
    struct arena *arena = arena_create();
    unsigned count;
    pthread_setname_np(pthread_self(), "head");
    while ((count = take_queries(head, queries)) > 0) {
        struct store_head answer = {0};
        struct err err = {.arena = arena};
        answer.is_known = ask(head, &question, &answer.stamp, &err);
        answer.reason = err.message;
        for (unsigned i = 0; i < count; i++)
            queries[i].answered(queries[i].cls, &answer);
        arena_reset(arena);
    }
    arena_destroy(arena);
    question_free(&question);
    return NULL;
}

struct server_head *server_head_create(const struct server_address *address,
                                       struct server_lineage *lineage,
                                       struct server_connection_counts *counts, uint64_t timeout_us,
                                       uint64_t recycle_us)
{
    struct server_head *head = calloc(1, sizeof(*head));
    check(head != NULL);
    head->lineage = lineage;
    head->timeout_us = timeout_us;
    head->recycle_us = recycle_us;
    head->meanwhile = (struct server_meanwhile){.run = head_goes_on, .cls = head};
    head->session =
        server_session_create(&(struct server_session_options){.address = address,
                                                               .lineage = lineage,
                                                               .wake_fd = -1,
                                                               .counts = counts,
                                                               .meanwhile = &head->meanwhile});
    pthread_mutex_init(&head->lock, NULL);
    wait_init(&head->wake);
    if (pthread_create(&head->thread, NULL, run_head, head) == 0)
        return head;
    server_session_destroy(head->session);
    free(head);
    return NULL;
}

void server_head_stop(struct server_head *head)
{
    head->is_stopped = true;
}

void server_head_destroy(struct server_head *head)
{
    if (head == NULL)
        return;
    server_head_stop(head);
    pthread_mutex_lock(&head->lock);
    check(head->waiting == 0);
    head->is_ending = true;
    pthread_mutex_unlock(&head->lock);
    pthread_cond_signal(&head->wake);
    pthread_join(head->thread, NULL);
    server_session_destroy(head->session);
    foreign_view_free(&head->foreign);
    log_rows_free(&head->news.newest.rows);
    pthread_cond_destroy(&head->wake);
    pthread_mutex_destroy(&head->lock);
    free(head);
}

void server_head_query(struct server_head *head,
                       void (*answered)(void *cls, const struct store_head *head), void *cls)
{
    pthread_mutex_lock(&head->lock);
    check(head->waiting < QUERIES_MOST);
    head->queries[head->waiting++] = (struct query){answered, cls};
    pthread_mutex_unlock(&head->lock);
    pthread_cond_signal(&head->wake);
}

bool server_head_note(struct server_head *head, const struct log_state *state,
                      const struct foreign_view *view, const struct server_id *server,
                      bool is_continued)
{
    pthread_mutex_lock(&head->lock);
    bool starts = !head->has_started;
    bool is_valid = !server_lineage_has_moved(head->lineage, server);
    if (is_valid) {
        head->state_count = is_continued ? head->state_count : 0;
        if (view != NULL)
            foreign_view_copy(&head->foreign, view);
        head->states[head->state_count++ % STATES_KEPT] =
            log_state_stamp(state, head->foreign.taken);
        head->has_started = true;
    }
    pthread_mutex_unlock(&head->lock);
    if (starts && is_valid)
        pthread_cond_signal(&head->wake);
    return is_valid;
}

void server_head_note_view(struct server_head *head, const struct foreign_view *view)
{
    pthread_mutex_lock(&head->lock);
    foreign_view_copy(&head->foreign, view);
    pthread_mutex_unlock(&head->lock);
}

void server_head_set_coexists(struct server_head *head, bool coexists)
{
    pthread_mutex_lock(&head->lock);
    head->coexists = coexists;
    pthread_mutex_unlock(&head->lock);
}

bool server_head_coexists(struct server_head *head)
{
    pthread_mutex_lock(&head->lock);
    bool coexists = head->coexists;
    pthread_mutex_unlock(&head->lock);
    return coexists;
}

bool server_head_view(struct server_head *head, struct foreign_view *view)
{
    pthread_mutex_lock(&head->lock);
    bool coexists = copy_view(head, view);
    pthread_mutex_unlock(&head->lock);
    return coexists;
}

int64_t server_head_seen(struct server_head *head)
{
    pthread_mutex_lock(&head->lock);
    int64_t number = head->seen;
    pthread_mutex_unlock(&head->lock);
    return number;
}

struct store_server server_head_server(struct server_head *head)
{
    pthread_mutex_lock(&head->lock);
    struct store_server server = head->server;
    pthread_mutex_unlock(&head->lock);
    return server;
}

/* Under the lock: when memory has had that state, in the order of the states; 0: it has not. */
static uint64_t had_at(const struct server_head *head, const struct store_stamp *stamp)
{
    uint64_t kept = head->state_count < STATES_KEPT ? head->state_count : STATES_KEPT;
    for (uint64_t at = head->state_count; at > head->state_count - kept; at--)
        if (memcmp(&head->states[(at - 1) % STATES_KEPT], stamp, sizeof(*stamp)) == 0)
            return at;
    return 0;
}

bool server_head_covers(struct server_head *head, const struct store_stamp *have,
                        const struct store_stamp *newest)
{
    if (memcmp(have, newest, sizeof(*have)) == 0)
        return true;
    pthread_mutex_lock(&head->lock);
    uint64_t newest_at = had_at(head, newest);
    bool covers = newest_at > 0 && newest_at < had_at(head, have);
    pthread_mutex_unlock(&head->lock);
    return covers;
}
