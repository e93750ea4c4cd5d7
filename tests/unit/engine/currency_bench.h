/* A scripted store for tests of requests that wait for queries: the test decides when and how each
 * query is answered, what is published, and when the writer takes the news. States are numbers.
 *
 * Only the test's thread has an asker, once it has begun an event loop. */
#ifndef BERTH_TESTS_CURRENCY_BENCH_H
#define BERTH_TESTS_CURRENCY_BENCH_H

#include <stdatomic.h>

#include "base/event_loop.h"
#include "engine/currency.h"

enum { REQUESTS = 40 };

struct unanswered {
    void (*answered)(void *cls, const struct store_head *head); /* NULL: there is none */
    void *cls;
};

extern struct script {
    enum store_currency currency;
    struct unanswered query[2];
    _Atomic unsigned sent;
    bool fails_at_once;
    unsigned newest; /* that memory has had */
    /* the asker */
    bool has_asker;
    int asker_fd;
    bool is_connected;
    bool has_asked;
    unsigned asked;
    unsigned forgotten;
    enum store_asked asked_result;
    unsigned asked_state; /* its answer */
    unsigned open_askers;
} script;

extern struct currency_bench {
    struct currency *currency;
    struct arena *arena;
    struct pipeline_request request[REQUESTS];
    _Atomic unsigned done[REQUESTS];
    struct pipeline_request *with_writer[REQUESTS];
    unsigned with_writer_count;
} bench;

unsigned number_of(const struct store_stamp *stamp);
/* Of all requests. */
void done(struct pipeline_request *request);

void answer_state(unsigned query, unsigned number);
void answer_unknown(unsigned query);

/* The writer has read the database, or (status) could not. */
void writer_answers(int status);

void publish(unsigned number);
void submit(unsigned request);

/* "dr-": request 0 is done, 1 was refused with 503, 2 waits. */
void assert_requests(const char *expected);

struct currency_figures figures(void);

int set_up(void **state);
int tear_down(void **state);

#endif
