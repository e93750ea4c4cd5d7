/* See head.h.
 *
 * An answer that is older than memory is normal: the writer's next batch may be committed and
 * published while the answer is on its way. But an answer older than what memory had when the query
 * was sent means that the database went back. It is passed on as a state that memory does not
 * contain, so that the writer looks.
 *
 * A commit or a snapshot of a server that has been replaced may be lost by then, although the news
 * of it are still on their way. So what memory had is read after the session has joined the
 * lineage, and a state is noted, under the same lock, only while its server has not been replaced:
 * one of the two sees the other. */
#include "store/postgres/head.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/wait.h"
#include "store/postgres/facts.h"
#include "store/postgres/session.h"

enum { QUERIES_MOST = 2, STATES_KEPT = 64, FACTS_EVERY_US = 10000000 };

/* Queries that arrive meanwhile wait for no longer than this part of the time limit. */
enum { FACTS_SHARE = 5 };

struct query {
    void (*answered)(void *cls, const struct store_head *head);
    void *cls;
};

struct postgres_head {
    struct pg_session *session; /* the thread's */
    uint64_t timeout_us;
    uint64_t recycle_us;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t wake;
    bool is_ending;
    unsigned waiting;
    struct query queries[QUERIES_MOST];
    /* The last states that memory has had, the newest at (count - 1) % STATES_KEPT. */
    struct log_state states[STATES_KEPT];
    uint64_t state_count;
    bool has_started; /* memory has, or had, a state: the server is there */
    int64_t seen;     /* the number in the last answer */
    uint64_t facts_due_us;
    struct store_server server;
};

static bool connect(struct postgres_head *head, uint64_t deadline_us, struct err *err)
{
    if (pg_session_is_old(head->session, head->recycle_us) || pg_session_has_moved(head->session))
        pg_session_close(head->session);
    return pg_session_is_open(head->session) ||
           pg_session_connect(head->session, deadline_us, err) == PG_OK;
}

/* The newest state that memory has had; all zero: none. */
static struct log_state newest_known(struct postgres_head *head)
{
    struct log_state state = {0};
    pthread_mutex_lock(&head->lock);
    if (head->state_count > 0)
        state = head->states[(head->state_count - 1) % STATES_KEPT];
    pthread_mutex_unlock(&head->lock);
    return state;
}

int64_t postgres_head_newest(struct postgres_head *head)
{
    return newest_known(head).number;
}

/* Usually memory has the newest state, and the server need not send what its batch has changed. */
static bool ask_unless_known(struct postgres_head *head, const struct log_state *known,
                             struct log_state *state, uint64_t deadline_us, struct err *err)
{
    const struct pg_parameter mark =
        pg_bytes((struct slice){(const char *)known->mark, LOG_MARK_LEN});
    const struct pg_statement statement = {.sql = LOG_NEWEST_UNLESS_KNOWN,
                                           .parameters = &mark,
                                           .parameters_n = 1,
                                           .binary_results = true,
                                           .is_prepared = true,
                                           .what = "read"};
    struct pg_rows rows = {0};
    bool ok = pg_session_execute(head->session, &statement, &rows, deadline_us, err) == PG_OK &&
              log_newest_state(&rows, known, state) == LOG_NEWEST_KNOWN;
    pg_rows_free(&rows);
    return ok;
}

/* *known: the number of the newest state that memory had when the query was sent. */
static bool ask_once(struct postgres_head *head, struct log_state *state, int64_t *known,
                     uint64_t deadline_us)
{
    struct err err = {.arena = arena_create()};
    bool ok = connect(head, deadline_us, &err);
    const struct log_state newest = newest_known(head);
    *known = newest.number;
    ok = ok && ask_unless_known(head, &newest, state, deadline_us, &err);
    if (!ok)
        pg_session_close(head->session);
    arena_destroy(err.arena);
    return ok;
}

/* A connection that has ended since its last use, or whose server has become a standby, is replaced
 * at once: to ask twice does no harm. */
static bool ask(struct postgres_head *head, struct log_state *state, int64_t *known)
{
    uint64_t deadline_us = clock_monotonic_us() + head->timeout_us;
    bool was_open = pg_session_is_open(head->session);
    return ask_once(head, state, known, deadline_us) ||
           (was_open && clock_monotonic_us() < deadline_us &&
            ask_once(head, state, known, deadline_us));
}

static void ask_facts(struct postgres_head *head)
{
    struct err err = {.arena = arena_create()};
    uint64_t deadline_us = clock_monotonic_us() + head->timeout_us / FACTS_SHARE;
    struct store_server server = {0};
    bool ok = connect(head, deadline_us, &err) &&
              pg_facts_read(head->session, &server, deadline_us, &err);
    uint64_t now_us = clock_monotonic_us();
    if (!ok)
        pg_session_close(head->session);
    arena_destroy(err.arena);
    pthread_mutex_lock(&head->lock);
    head->facts_due_us = now_us + FACTS_EVERY_US;
    server.seen_us = now_us;
    if (ok)
        head->server = server;
    pthread_mutex_unlock(&head->lock);
}

/* Under the lock. */
static bool are_facts_due(const struct postgres_head *head)
{
    return head->has_started && clock_monotonic_us() >= head->facts_due_us;
}

/* Under the lock. */
static void await_work(struct postgres_head *head)
{
    if (head->has_started)
        (void)!wait_until(&head->wake, &head->lock, head->facts_due_us);
    else
        pthread_cond_wait(&head->wake, &head->lock);
}

/* Takes the queries that wait, and asks for the server's facts when they are due; returns the
 * number of queries. 0: the thread ends. */
static unsigned take_queries(struct postgres_head *head, struct query *queries)
{
    pthread_mutex_lock(&head->lock);
    while (!head->is_ending && (head->waiting == 0 || are_facts_due(head))) {
        if (!are_facts_due(head)) {
            await_work(head);
            continue;
        }
        pthread_mutex_unlock(&head->lock);
        ask_facts(head);
        pthread_mutex_lock(&head->lock);
    }
    unsigned count = head->waiting;
    memcpy(queries, head->queries, count * sizeof(*queries));
    head->waiting = 0;
    pthread_mutex_unlock(&head->lock);
    return count;
}

static void note_seen(struct postgres_head *head, int64_t number)
{
    pthread_mutex_lock(&head->lock);
    head->seen = number;
    pthread_mutex_unlock(&head->lock);
}

static void *run_head(void *cls)
{
    struct postgres_head *head = cls;
    struct query queries[QUERIES_MOST];
    int64_t known;
    unsigned count;
    pthread_setname_np(pthread_self(), "head");
    while ((count = take_queries(head, queries)) > 0) {
        struct log_state state;
        struct store_head answer = {.is_known = ask(head, &state, &known)};
        if (answer.is_known) {
            answer.stamp = log_state_stamp(&state);
            note_seen(head, state.number);
        }
        if (answer.is_known && state.number < known)
            memset(answer.stamp.bytes, 0xff, sizeof(answer.stamp.bytes)); /* nobody has it */
        for (unsigned i = 0; i < count; i++)
            queries[i].answered(queries[i].cls, &answer);
    }
    return NULL;
}

struct postgres_head *postgres_head_create(const struct pg_url *url, struct pg_lineage *lineage,
                                           struct pg_connection_counts *counts, uint64_t timeout_us,
                                           uint64_t recycle_us)
{
    struct postgres_head *head = calloc(1, sizeof(*head));
    check(head != NULL);
    head->timeout_us = timeout_us;
    head->recycle_us = recycle_us;
    head->session = pg_session_create(&(struct pg_session_options){
        .url = url, .lineage = lineage, .wake_fd = -1, .counts = counts});
    pthread_mutex_init(&head->lock, NULL);
    wait_init(&head->wake);
    if (pthread_create(&head->thread, NULL, run_head, head) == 0)
        return head;
    pg_session_destroy(head->session);
    free(head);
    return NULL;
}

void postgres_head_destroy(struct postgres_head *head)
{
    if (head == NULL)
        return;
    pthread_mutex_lock(&head->lock);
    check(head->waiting == 0);
    head->is_ending = true;
    pthread_mutex_unlock(&head->lock);
    pthread_cond_signal(&head->wake);
    pthread_join(head->thread, NULL);
    pg_session_destroy(head->session);
    pthread_cond_destroy(&head->wake);
    pthread_mutex_destroy(&head->lock);
    free(head);
}

void postgres_head_query(struct postgres_head *head,
                         void (*answered)(void *cls, const struct store_head *head), void *cls)
{
    pthread_mutex_lock(&head->lock);
    check(head->waiting < QUERIES_MOST);
    head->queries[head->waiting++] = (struct query){answered, cls};
    pthread_mutex_unlock(&head->lock);
    pthread_cond_signal(&head->wake);
}

bool postgres_head_note(struct postgres_head *head, const struct log_state *state,
                        const struct pg_session *session, bool is_continued)
{
    pthread_mutex_lock(&head->lock);
    bool starts = !head->has_started;
    bool is_valid = !pg_session_has_moved(session);
    if (is_valid) {
        head->state_count = is_continued ? head->state_count : 0;
        head->states[head->state_count++ % STATES_KEPT] = *state;
        head->has_started = true;
    }
    pthread_mutex_unlock(&head->lock);
    if (starts && is_valid)
        pthread_cond_signal(&head->wake);
    return is_valid;
}

int64_t postgres_head_seen(struct postgres_head *head)
{
    pthread_mutex_lock(&head->lock);
    int64_t number = head->seen;
    pthread_mutex_unlock(&head->lock);
    return number;
}

struct store_server postgres_head_server(struct postgres_head *head)
{
    pthread_mutex_lock(&head->lock);
    struct store_server server = head->server;
    pthread_mutex_unlock(&head->lock);
    return server;
}

/* Under the lock: whether memory has had that state. */
static bool has_had(const struct postgres_head *head, const struct store_stamp *stamp)
{
    uint64_t kept = head->state_count < STATES_KEPT ? head->state_count : STATES_KEPT;
    for (uint64_t i = 0; i < kept; i++) {
        struct store_stamp one = log_state_stamp(&head->states[i]);
        if (memcmp(&one, stamp, sizeof(one)) == 0)
            return true;
    }
    return false;
}

static int64_t stamped_number(const struct store_stamp *stamp)
{
    struct log_state state;
    memcpy(&state, stamp->bytes, sizeof(state));
    return state.number;
}

bool postgres_head_covers(struct postgres_head *head, const struct store_stamp *have,
                          const struct store_stamp *newest)
{
    if (memcmp(have, newest, sizeof(*have)) == 0)
        return true;
    pthread_mutex_lock(&head->lock);
    bool covers = stamped_number(newest) < stamped_number(have) && has_had(head, have) &&
                  has_had(head, newest);
    pthread_mutex_unlock(&head->lock);
    return covers;
}
