/* See currency_bench.h. */
#include "currency_bench.h"

#include <sys/eventfd.h>

#include "base/arena.h"
#include "fake_clock.h"
#include "unit.h"

struct script script;
struct currency_bench bench;

static struct store_stamp state(unsigned number)
{
    struct store_stamp stamp = {{0}};
    memcpy(stamp.bytes, &number, sizeof(number));
    return stamp;
}

unsigned number_of(const struct store_stamp *stamp)
{
    unsigned number;
    memcpy(&number, stamp->bytes, sizeof(number));
    return number;
}

/* ---- the store ---- */

enum store_currency store_currency(const struct store *store, const struct store_stamp *stamp)
{
    (void)store;
    (void)stamp;
    return script.currency;
}

void store_stop_queries(struct store *store)
{
    (void)store;
}

bool store_covers(const struct store *store, const struct store_stamp *have,
                  const struct store_stamp *head)
{
    (void)store;
    /* nothing is known of other states than those that memory has had */
    if (number_of(have) > script.newest || number_of(head) > script.newest)
        return number_of(have) == number_of(head);
    return number_of(head) > 0 && number_of(have) >= number_of(head);
}

void store_query_head(struct store *store,
                      void (*answered)(void *cls, const struct store_head *head), void *cls)
{
    (void)store;
    const struct store_head unknown = {.is_known = false};
    unsigned at = script.query[0].answered == NULL ? 0 : 1;
    assert_null(script.query[at].answered);
    script.sent++;
    if (script.fails_at_once)
        answered(cls, &unknown);
    else
        script.query[at] = (struct unanswered){answered, cls};
}

static void answer(unsigned query, const struct store_head *head)
{
    struct unanswered taken = script.query[query];
    assert_non_null(taken.answered);
    script.query[query].answered = NULL;
    taken.answered(taken.cls, head);
}

void answer_state(unsigned query, unsigned number)
{
    answer(query, &(struct store_head){.is_known = true, .stamp = state(number)});
}

void answer_unknown(unsigned query)
{
    answer(query, &(struct store_head){.is_known = false});
}

/* ---- the asker ---- */

static struct store_asker *const THE_ASKER = (struct store_asker *)&script;

struct store_asker *store_open_asker(struct store *store)
{
    (void)store;
    if (!script.has_asker)
        return NULL;
    script.open_askers++;
    return THE_ASKER;
}

void store_close_asker(struct store_asker *asker)
{
    assert_ptr_equal(asker, THE_ASKER);
    script.open_askers--;
}

int store_ask(struct store_asker *asker)
{
    assert_ptr_equal(asker, THE_ASKER);
    assert_false(script.has_asked);
    if (!script.is_connected)
        return -1;
    script.has_asked = true;
    script.asked++;
    return script.asker_fd;
}

enum store_asked store_take_answer(struct store_asker *asker, struct store_head *head)
{
    assert_ptr_equal(asker, THE_ASKER);
    eventfd_t ignored;
    (void)!eventfd_read(script.asker_fd, &ignored);
    bool is_answered = script.asked_result == STORE_ASKED_ANSWERED;
    *head = (struct store_head){.is_known = is_answered, .stamp = state(script.asked_state)};
    script.has_asked &= script.asked_result == STORE_ASKED_PENDING;
    return script.asked_result;
}

void store_forget_query(struct store_asker *asker)
{
    assert_ptr_equal(asker, THE_ASKER);
    script.forgotten += script.has_asked;
    script.has_asked = false;
}

/* ---- requests and the writer ---- */

void done(struct pipeline_request *request)
{
    bench.done[request - bench.request]++;
}

static void hand_over(void *cls, struct pipeline_request *request)
{
    (void)cls;
    bench.with_writer[bench.with_writer_count++] = request;
}

void writer_answers(int status)
{
    assert_int_equal(bench.with_writer_count, 1);
    struct pipeline_request *request = bench.with_writer[--bench.with_writer_count];
    if (status != 0)
        err_set(&request->err, status, NULL, "The writer's own text.");
    request->done(request);
}

void publish(unsigned number)
{
    struct store_stamp stamp = state(number);
    script.newest = number;
    currency_published(bench.currency, &stamp);
}

void submit(unsigned request)
{
    bench.request[request] = (struct pipeline_request){.done = done, .err = {.arena = bench.arena}};
    currency_submit(bench.currency, &bench.request[request]);
}

void assert_requests(const char *expected)
{
    for (unsigned i = 0; expected[i] != '\0'; i++) {
        assert_int_equal(bench.done[i], expected[i] != '-');
        assert_int_equal(bench.request[i].err.status, expected[i] == 'r' ? 503 : 0);
    }
}

struct currency_figures figures(void)
{
    return currency_figures(bench.currency);
}

int set_up(void **state)
{
    (void)state;
    fake_clock_stop();
    memset(&script, 0, sizeof(script));
    memset(&bench, 0, sizeof(bench));
    script.currency = STORE_MUST_ASK;
    bench.arena = arena_create();
    bench.currency = currency_create(NULL, (struct currency_writer){hand_over, NULL});
    publish(1);
    return 0;
}

int tear_down(void **state)
{
    (void)state;
    currency_stop(bench.currency);
    currency_destroy(bench.currency);
    assert_int_equal(script.open_askers, 0);
    arena_destroy(bench.arena);
    return 0;
}
