/* The memory of a large request is freed on the slow lane and not by the worker that ends the
 * request; that of a small one needs no lane. */
#include "api/leftover.h"

#include <jansson.h>
#include <semaphore.h>

#include "api/api.h"
#include "api/fake_request.h"
#include "api/services/slow_lane.h"
#include "api/text/json_heap.h"
#include "base/arena.h"
#include "base/buf.h"
#include "unit.h"

enum { MIB = 1 << 20 };

static struct api api;
static struct fake_request fake;
static struct memory_budget *budget;

/* Holds the lane's one turn until the test releases it. */
static struct gate {
    struct slow_job job;
    sem_t is_held;
    sem_t is_open;
} gate;

static void hold_turn(void *cls)
{
    struct gate *held = cls;
    sem_post(&held->is_held);
    sem_wait(&held->is_open);
}

static void refuse_turn(void *cls, enum slow_refusal why)
{
    (void)cls;
    (void)why;
    fail();
}

/* A finished request, and a lane on which `waiting` jobs may wait for the turn that is held. */
static void begin(unsigned waiting)
{
    budget = memory_budget_create(64 * MIB);
    api.slow_lane = slow_lane_start(&(struct slow_lane_settings){
        .turns = 1, .permits = 1, .waiting = waiting, .slice_us = 1000});
    assert_non_null(api.slow_lane);
    assert_int_equal(sem_init(&gate.is_held, 0, 0), 0);
    assert_int_equal(sem_init(&gate.is_open, 0, 0), 0);
    gate.job = (struct slow_job){
        .run = hold_turn, .refuse = refuse_turn, .cls = &gate, .deadline_us = UINT64_MAX};
    slow_lane_submit(api.slow_lane, &gate.job);
    sem_wait(&gate.is_held);
    fake_request_open(&fake, &api);
}

static void end(void)
{
    sem_post(&gate.is_open);
    slow_lane_stop(api.slow_lane);
    assert_int_equal(memory_budget_used(budget), 0);
    memory_budget_destroy(budget);
    fake.arena = fake.exchange.http.arena; /* which may have been replaced by now */
    fake_request_close(&fake);
    sem_destroy(&gate.is_held);
    sem_destroy(&gate.is_open);
}

static void parse(const char *text, bool is_large)
{
    json_error_t error;
    fake.passage.heap =
        json_heap_create(fake.arena, (struct memory_share){.budget = budget}, is_large);
    fake.request.body = json_heap_parse(fake.passage.heap, slice_of(text), 0, &error);
    assert_non_null(fake.request.body);
}

static unsigned queued(void)
{
    return slow_lane_figures(api.slow_lane).queued;
}

static void a_small_request_is_freed_at_once(void **state)
{
    (void)state;
    begin(4);
    parse("[1, 2, 3]", false);
    buf_reserve(api_out(&fake.request), 4 * MIB);
    struct arena *arena = fake.arena;
    leftover_drop(&fake.request);
    assert_int_equal(queued(), 0);
    assert_ptr_equal(fake.exchange.http.arena, arena); /* it is reused */
    end();
}

static void a_large_document_is_left_to_the_lane(void **state)
{
    (void)state;
    begin(4);
    parse("[1, 2, 3]", true);
    uint64_t charged = memory_budget_used(budget);
    assert_true(charged > 0);
    leftover_drop(&fake.request);
    assert_int_equal(queued(), 1);
    assert_int_equal(memory_budget_used(budget), charged);
    end();
}

static void a_large_arena_is_left_to_the_lane(void **state)
{
    (void)state;
    begin(4);
    struct arena *arena = fake.arena;
    char *text = arena_alloc(arena, 8 * MIB);
    text[8 * MIB - 1] = 'x';
    leftover_drop(&fake.request);
    assert_int_equal(queued(), 1);
    assert_ptr_not_equal(fake.exchange.http.arena, arena);
    assert_int_equal(text[8 * MIB - 1], 'x'); /* not unmapped */
    end();
}

static void a_large_answer_is_left_to_the_lane(void **state)
{
    (void)state;
    begin(4);
    struct buf *out = api_out(&fake.request);
    char *text = buf_reserve(out, 8 * MIB);
    text[8 * MIB - 1] = 'x';
    leftover_drop(&fake.request);
    assert_int_equal(queued(), 1);
    assert_null(out->data);
    assert_int_equal(text[8 * MIB - 1], 'x');
    end();
}

static void what_the_lane_refuses_is_freed_all_the_same(void **state)
{
    (void)state;
    begin(1);
    parse("[1, 2, 3]", true);
    leftover_drop(&fake.request);
    uint64_t charged = memory_budget_used(budget);
    struct arena *first = fake.exchange.http.arena;
    fake.arena = fake.request.arena = first;
    parse("[4, 5, 6]", true);
    leftover_drop(&fake.request);
    assert_int_equal(queued(), 1);
    assert_int_equal(memory_budget_used(budget), charged); /* of one of the two */
    assert_true(charged > 0);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_request_is_freed_at_once),
        cmocka_unit_test(a_large_document_is_left_to_the_lane),
        cmocka_unit_test(a_large_arena_is_left_to_the_lane),
        cmocka_unit_test(a_large_answer_is_left_to_the_lane),
        cmocka_unit_test(what_the_lane_refuses_is_freed_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
