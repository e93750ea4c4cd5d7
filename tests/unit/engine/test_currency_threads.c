/* Readers on several threads, half of which have event loops and ask by themselves, a store whose
 * threads answer queries at any time and in any order, a writer thread, and another process that
 * commits all the time. States are numbers. Each read must find what was committed before it was
 * submitted, and all must end. For ThreadSanitizer, too. */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/event_loop.h"
#include "engine/currency.h"

enum {
    READERS = 6,
    WITH_LOOP = 3,
    READS = 2000,
    QUERIES = 2,
    FOREIGN_EVERY = 3,
    OWN_EVERY = 2,
    UNCONNECTED_EVERY = 5,
    LOST_EVERY = 7,
};

struct unanswered {
    void (*answered)(void *cls, const struct store_head *head); /* NULL: there is none */
    void *cls;
};

struct reader {
    struct pipeline_request request; /* first */
    pthread_t thread;
    unsigned at_least; /* what it must find */
    atomic_bool is_done;
};

static struct {
    struct currency *currency;
    atomic_uint head; /* the database's state */
    atomic_uint published;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    struct unanswered queries[QUERIES];
    struct pipeline_request *first; /* of the writer's queue */
    struct arena *arena;
    bool is_over;
} world;

static struct store_stamp state(unsigned number)
{
    struct store_stamp stamp = {{0}};
    memcpy(stamp.bytes, &number, sizeof(number));
    return stamp;
}

static unsigned number_of(const struct store_stamp *stamp)
{
    unsigned number;
    memcpy(&number, stamp->bytes, sizeof(number));
    return number;
}

enum store_currency store_currency(const struct store *store, const struct store_stamp *stamp)
{
    (void)store;
    (void)stamp;
    return STORE_MUST_ASK;
}

void store_stop_queries(struct store *store)
{
    (void)store;
}

bool store_covers(const struct store *store, const struct store_stamp *have,
                  const struct store_stamp *head)
{
    (void)store;
    return number_of(have) >= number_of(head);
}

void store_query_head(struct store *store,
                      void (*answered)(void *cls, const struct store_head *head), void *cls)
{
    (void)store;
    pthread_mutex_lock(&world.lock);
    unsigned at = world.queries[0].answered == NULL ? 0 : 1;
    check(world.queries[at].answered == NULL);
    world.queries[at] = (struct unanswered){answered, cls};
    pthread_cond_broadcast(&world.changed);
    pthread_mutex_unlock(&world.lock);
}

/* Its answer comes at once, but is read later. */
struct store_asker {
    int fd;
    unsigned rounds;
};

struct store_asker *store_open_asker(struct store *store)
{
    (void)store;
    struct store_asker *asker = calloc(1, sizeof(*asker));
    check(asker != NULL);
    asker->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    check(asker->fd >= 0);
    return asker;
}

void store_close_asker(struct store_asker *asker)
{
    close(asker->fd);
    free(asker);
}

int store_ask(struct store_asker *asker)
{
    if (++asker->rounds % UNCONNECTED_EVERY == 0)
        return -1;
    check(eventfd_write(asker->fd, 1) == 0);
    return asker->fd;
}

enum store_asked store_take_answer(struct store_asker *asker, struct store_head *head)
{
    eventfd_t ignored;
    if (eventfd_read(asker->fd, &ignored) != 0)
        return STORE_ASKED_NOTHING;
    if (asker->rounds % FOREIGN_EVERY == 0)
        world.head++;
    *head = (struct store_head){.stamp = state(world.head), .is_known = true};
    sched_yield();
    return asker->rounds % LOST_EVERY == 0 ? STORE_ASKED_IN_VAIN : STORE_ASKED_ANSWERED;
}

void store_forget_query(struct store_asker *asker)
{
    (void)asker;
}

/* Each of the store's threads answers the queries of one place. */
static void *answer_queries(void *cls)
{
    struct unanswered *query = cls;
    for (unsigned round = 0;; round++) {
        pthread_mutex_lock(&world.lock);
        while (query->answered == NULL && !world.is_over)
            pthread_cond_wait(&world.changed, &world.lock);
        struct unanswered taken = *query;
        pthread_mutex_unlock(&world.lock);
        if (taken.answered == NULL)
            return NULL;
        if (round % FOREIGN_EVERY == 0)
            world.head++; /* another process commits */
        const struct store_head head = {.stamp = state(world.head), .is_known = true};
        sched_yield();
        pthread_mutex_lock(&world.lock);
        query->answered = NULL;
        pthread_mutex_unlock(&world.lock);
        taken.answered(taken.cls, &head);
    }
}

static void hand_over(void *cls, struct pipeline_request *request)
{
    (void)cls;
    pthread_mutex_lock(&world.lock);
    request->next = world.first;
    world.first = request;
    pthread_cond_broadcast(&world.changed);
    pthread_mutex_unlock(&world.lock);
}

static void publish(unsigned number)
{
    struct store_stamp stamp = state(number);
    world.published = number;
    currency_published(world.currency, &stamp);
}

/* Takes the news for each request, and commits now and then. */
static void *write_and_follow(void *cls)
{
    (void)cls;
    for (unsigned round = 0;; round++) {
        pthread_mutex_lock(&world.lock);
        while (world.first == NULL && !world.is_over)
            pthread_cond_wait(&world.changed, &world.lock);
        struct pipeline_request *request = world.first;
        world.first = request == NULL ? NULL : request->next;
        pthread_mutex_unlock(&world.lock);
        if (request == NULL)
            return NULL;
        publish(world.head);
        request->done(request);
        if (round % OWN_EVERY != 0)
            continue;
        currency_commit_begins(world.currency);
        unsigned committed = ++world.head;
        sched_yield();
        publish(committed);
        currency_commit_ended(world.currency);
    }
}

static void done(struct pipeline_request *request)
{
    struct reader *reader = (struct reader *)request;
    check(!err_is_set(&request->err) && world.published >= reader->at_least);
    atomic_store(&reader->is_done, true);
}

static void submit(struct reader *reader)
{
    reader->request = (struct pipeline_request){.done = done, .err = {.arena = world.arena}};
    atomic_store(&reader->is_done, false);
    reader->at_least = world.head;
    currency_submit(world.currency, &reader->request);
}

static void *read_often(void *cls)
{
    struct reader *reader = cls;
    for (unsigned i = 0; i < READS; i++) {
        submit(reader);
        while (!atomic_load(&reader->is_done))
            sched_yield();
    }
    return NULL;
}

static void *read_in_loop(void *cls)
{
    struct reader *reader = cls;
    struct epoll_event event;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    check(epoll >= 0);
    event_loop_begin();
    (void)event_loop_wait(epoll, &event, 1, 0);
    for (unsigned i = 0; i < READS; i++) {
        submit(reader);
        while (!atomic_load(&reader->is_done))
            (void)event_loop_wait(epoll, &event, 1, 1);
    }
    close(epoll);
    return NULL;
}

static void test_strict_reads(void **unused)
{
    (void)unused;
    static struct reader readers[READERS];
    pthread_t others[QUERIES + 1];
    world.arena = arena_create();
    pthread_mutex_init(&world.lock, NULL);
    pthread_cond_init(&world.changed, NULL);
    world.head = 1;
    world.currency = currency_create(NULL, (struct currency_writer){hand_over, NULL});
    publish(1);
    for (unsigned i = 0; i < QUERIES; i++)
        assert_int_equal(pthread_create(&others[i], NULL, answer_queries, &world.queries[i]), 0);
    assert_int_equal(pthread_create(&others[QUERIES], NULL, write_and_follow, NULL), 0);
    for (unsigned i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i].thread, NULL,
                                        i < WITH_LOOP ? read_in_loop : read_often, &readers[i]),
                         0);
    for (unsigned i = 0; i < READERS; i++)
        pthread_join(readers[i].thread, NULL);
    struct currency_figures figures = currency_figures(world.currency);
    assert_int_equal(figures.requests, READERS * READS);
    assert_true(figures.waited > 0 && figures.waited < figures.requests);
    assert_int_equal(figures.failed, 0);
    currency_stop(world.currency);
    pthread_mutex_lock(&world.lock);
    world.is_over = true;
    pthread_cond_broadcast(&world.changed);
    pthread_mutex_unlock(&world.lock);
    for (unsigned i = 0; i <= QUERIES; i++)
        pthread_join(others[i], NULL);
    currency_destroy(world.currency);
    pthread_cond_destroy(&world.changed);
    pthread_mutex_destroy(&world.lock);
    arena_destroy(world.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_strict_reads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
