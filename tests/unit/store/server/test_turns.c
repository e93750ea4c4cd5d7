/* Turns of instances on different nodes: who waits for whom, and what comes of it when several
 * write without a pause. */
#include "unit.h"

#include <stdlib.h>

#include "store/server/turns.h"

enum { OWN = 1, HERE = 7, COMMIT_US = 10000, SLOT_US = 30000 };

/* At a time of its own. */
static void note_at(struct turns *turns, uint64_t writer, uint16_t node, uint64_t now_us)
{
    unsigned char mark[LOG_MARK_LEN];
    turns_make_mark(writer, (uint64_t)turns->newest, node, mark);
    turns_note(turns, OWN, turns->newest + 1, mark, now_us);
}

static void note(struct turns *turns, uint64_t writer, uint16_t node)
{
    note_at(turns, writer, node, turns->newest_us);
}

static uint64_t wait_us(const struct turns *turns)
{
    return turns_next(turns, HERE, turns->newest_us).wait_us;
}

static struct turns begin(void)
{
    struct turns turns = {0};
    turns_note_commit(&turns, COMMIT_US);
    return turns;
}

static void test_nobody_else(void **state)
{
    struct turns turns = begin();
    (void)state;
    assert_int_equal(wait_us(&turns), 0);
    for (int i = 0; i < 3; i++)
        note(&turns, OWN, HERE);
    assert_false(turns_next(&turns, HERE, 0).is_shared);
    assert_int_equal(wait_us(&turns), 0);
}

/* There, the lock orders them. So it does on a server that is no node. */
static void test_on_the_same_node(void **state)
{
    struct turns turns = begin();
    (void)state;
    note(&turns, OWN, HERE);
    note(&turns, 2, HERE);
    note(&turns, OWN, HERE);
    assert_false(turns_next(&turns, HERE, 0).is_shared);
    assert_int_equal(wait_us(&turns), 0);
    turns = begin();
    note(&turns, 2, 0);
    assert_false(turns_next(&turns, 0, 0).is_shared);
}

static void test_each_after_the_other(void **state)
{
    struct turns turns = begin();
    (void)state;
    note(&turns, 2, 8);
    assert_true(turns_next(&turns, HERE, 0).is_shared);
    assert_int_equal(wait_us(&turns), 0); /* it has not written yet */
    note(&turns, 3, 9);
    note(&turns, OWN, HERE);
    assert_int_equal(wait_us(&turns), 2 * SLOT_US);
    note(&turns, 2, 8);
    assert_int_equal(wait_us(&turns), SLOT_US);
    note(&turns, 3, 9);
    assert_int_equal(wait_us(&turns), 0);
    note(&turns, OWN, HERE);
    assert_int_equal(turns_next(&turns, HERE, turns.newest_us + SLOT_US).wait_us, SLOT_US);
    assert_int_equal(turns_next(&turns, HERE, turns.newest_us + 3 * SLOT_US).wait_us, 0);
}

/* It is not waited for again, until it writes. */
static void test_one_that_does_not_use_its_turn(void **state)
{
    struct turns turns = begin();
    (void)state;
    note(&turns, 2, 8);
    note(&turns, OWN, HERE);
    assert_int_equal(wait_us(&turns), SLOT_US);
    note(&turns, OWN, HERE);
    assert_false(turns_next(&turns, HERE, 0).is_shared);
    assert_int_equal(wait_us(&turns), 0);
    note(&turns, 2, 8);
    note(&turns, 3, 9);
    note(&turns, OWN, HERE);
    note(&turns, 3, 9); /* 2 has missed its turn */
    note(&turns, OWN, HERE);
    assert_int_equal(wait_us(&turns), SLOT_US);
}

/* One that has used the last one may only have been too slow. */
static void test_one_that_has_used_its_turn(void **state)
{
    struct turns turns = begin();
    (void)state;
    note(&turns, 2, 8);
    note(&turns, OWN, HERE);
    note(&turns, 2, 8);
    note(&turns, OWN, HERE);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(wait_us(&turns), SLOT_US);
        note(&turns, OWN, HERE);
    }
    assert_int_equal(wait_us(&turns), 0);
}

/* Whoever asks is left some time before all others, and however often others write. */
static void test_one_that_asks(void **state)
{
    enum { ASKED_US = 200000 };
    struct turns turns = begin();
    (void)state;
    note(&turns, OWN, HERE);
    turns_note_ask(&turns, 2, turns.newest_us);
    note(&turns, OWN, HERE); /* which was on its way */
    assert_true(turns_next(&turns, HERE, 0).is_shared);
    assert_int_equal(wait_us(&turns), ASKED_US);
    for (int i = 0; i < 3; i++)
        note_at(&turns, 3, HERE, turns.newest_us + ASKED_US / 4);
    assert_int_equal(wait_us(&turns), ASKED_US / 4);
    note_at(&turns, 3, HERE, turns.newest_us + ASKED_US / 4);
    assert_int_equal(wait_us(&turns), 0);
    turns_note_ask(&turns, 2, turns.newest_us);
    note(&turns, 2, 8); /* it has used it */
    assert_int_equal(wait_us(&turns), 0);
}

static void test_has_written(void **state)
{
    enum { SECOND_US = 1000000 };
    struct turns turns = begin();
    (void)state;
    assert_false(turns_has_written(&turns, 0));
    note_at(&turns, OWN, HERE, SECOND_US);
    note_at(&turns, 2, 8, 2 * SECOND_US);
    assert_true(turns_has_written(&turns, 2 * SECOND_US - 1));
    assert_false(turns_has_written(&turns, 2 * SECOND_US));
}

static void test_nodes(void **state)
{
    (void)state;
    assert_int_equal(turns_node(""), 0);
    assert_int_not_equal(turns_node("a"), 0);
    assert_int_equal(turns_node("node1"), turns_node("node1"));
    assert_int_not_equal(turns_node("node1"), turns_node("node2"));
}

/* Batches of others may be larger. */
static void test_others_take_longer(void **state)
{
    struct turns turns = begin();
    (void)state;
    for (int i = 0; i < 20; i++) {
        note(&turns, OWN, HERE);
        note_at(&turns, 2, 8, turns.newest_us + 40000);
    }
    note(&turns, OWN, HERE);
    assert_in_range(wait_us(&turns), 45000, 60000);
}

static void test_went_back(void **state)
{
    struct turns turns = begin();
    unsigned char mark[LOG_MARK_LEN];
    (void)state;
    note(&turns, 2, 8);
    note(&turns, OWN, HERE);
    turns_make_mark(4, 0, HERE, mark);
    turns_note(&turns, OWN, 1, mark, turns.newest_us);
    assert_false(turns_next(&turns, HERE, 0).is_shared);
    assert_int_equal(turns.newest, 1);
    assert_int_equal(turns.own_number, 0);
}

/* However many there are, and however long a commit takes. */
static void test_bounded(void **state)
{
    enum { LONG_US = 60000000, SLOT_MOST_US = 300000 };
    struct turns turns = {0};
    (void)state;
    turns_note_commit(&turns, LONG_US);
    for (unsigned i = 0; i < 3 * TURNS_MOST; i++)
        note(&turns, 100 + i, 8);
    note(&turns, OWN, HERE);
    const struct store_turn turn = turns_next(&turns, HERE, turns.newest_us);
    assert_int_equal(turn.wait_us, TURNS_MOST * SLOT_MOST_US);
    assert_in_range(turn.look_us, 1000, 50000);
}

/* ---- several at once ---- */

enum { WRITERS_MOST = 5, ROWS = 3000, SEEN_US = 1000, ASKS_AFTER = 2, ASK_SEEN_US = 100000 };

/* Writes without a pause. A row is there for everybody SEEN_US after its commit. */
struct writer {
    struct turns turns;
    uint64_t id;
    int64_t seen;     /* the newest row that it has seen */
    int64_t on;       /* the row on which it is committing; 0: it is not */
    uint64_t busy_us; /* it looks again, or its commit is decided */
    uint64_t began_us;
    unsigned rows, refused, in_a_row;
    uint64_t asked_us; /* others see it ASK_SEEN_US later; 0: they have */
    unsigned takes_us;
};

struct log {
    struct {
        uint64_t writer, at_us;
    } rows[ROWS + 1];
    int64_t newest;
};

static void look(struct writer *writer, const struct log *log, uint64_t now_us)
{
    unsigned char mark[LOG_MARK_LEN];
    while (writer->seen < log->newest && log->rows[writer->seen + 1].at_us + SEEN_US <= now_us) {
        writer->seen++;
        turns_make_mark(log->rows[writer->seen].writer, 0, (uint16_t)log->rows[writer->seen].writer,
                        mark);
        turns_note(&writer->turns, writer->id, writer->seen, mark, now_us);
    }
}

static void decide(struct writer *writer, struct log *log, uint64_t now_us)
{
    unsigned char mark[LOG_MARK_LEN];
    bool is_first = log->newest == writer->on;
    writer->on = 0;
    if (!is_first) {
        writer->refused++;
        if (++writer->in_a_row % ASKS_AFTER == 0 && writer->asked_us == 0)
            writer->asked_us = now_us;
        return;
    }
    log->newest++;
    log->rows[log->newest].writer = writer->id;
    log->rows[log->newest].at_us = now_us;
    writer->seen = log->newest;
    writer->rows++;
    writer->in_a_row = 0;
    turns_make_mark(writer->id, 0, (uint16_t)writer->id, mark);
    turns_note(&writer->turns, writer->id, log->newest, mark, now_us);
    turns_note_commit(&writer->turns, now_us - writer->began_us);
}

static void act(struct writer *writer, struct log *log, uint64_t now_us)
{
    if (writer->on > 0 && log->newest > 0 && writer->busy_us <= now_us) {
        decide(writer, log, now_us);
        writer->busy_us = now_us;
        return;
    }
    look(writer, log, now_us);
    const struct store_turn turn = turns_next(&writer->turns, (uint16_t)writer->id, now_us);
    if (turn.wait_us > 0) {
        writer->busy_us = now_us + (turn.wait_us < turn.look_us ? turn.wait_us : turn.look_us);
        return;
    }
    writer->on = writer->seen;
    writer->began_us = now_us;
    writer->busy_us = now_us + writer->takes_us / 2 + (unsigned)rand() % writer->takes_us;
}

static void see_asks(struct writer *writers, unsigned count, uint64_t now_us)
{
    for (unsigned i = 0; i < count; i++) {
        if (writers[i].asked_us == 0 || writers[i].asked_us + ASK_SEEN_US > now_us)
            continue;
        writers[i].asked_us = 0;
        for (unsigned k = 0; k < count; k++)
            if (k != i)
                turns_note_ask(&writers[k].turns, writers[i].id, now_us);
    }
}

/* Until the log is full. */
static void run_all(struct writer *writers, unsigned count)
{
    static struct log log;
    log = (struct log){.newest = 1, .rows[1] = {.writer = 99}};
    srand(1);
    while (log.newest < ROWS) {
        struct writer *next = &writers[0];
        for (unsigned i = 1; i < count; i++)
            if (writers[i].busy_us < next->busy_us)
                next = &writers[i];
        see_asks(writers, count, next->busy_us);
        act(next, &log, next->busy_us);
    }
}

static void expect_fair(const unsigned *takes_us, unsigned count, unsigned refused_percent_most)
{
    struct writer writers[WRITERS_MOST] = {0};
    unsigned refused = 0;
    for (unsigned i = 0; i < count; i++)
        writers[i] = (struct writer){.id = i + 1, .takes_us = takes_us[i]};
    run_all(writers, count);
    for (unsigned i = 0; i < count; i++) {
        assert_true(writers[i].rows >= ROWS / count * 6 / 10);
        refused += writers[i].refused;
    }
    assert_in_range(refused, 0, ROWS * refused_percent_most / 100);
}

static void test_equals(void **state)
{
    static const unsigned takes_us[] = {8000, 8000, 8000, 8000, 8000};
    (void)state;
    for (unsigned count = 2; count <= WRITERS_MOST; count++)
        expect_fair(takes_us, count, 20);
}

/* One has larger batches. */
static void test_different(void **state)
{
    static const unsigned takes_us[] = {4000, 12000, 6000};
    (void)state;
    expect_fair(takes_us, 2, 40);
    expect_fair(takes_us, 3, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nobody_else),
        cmocka_unit_test(test_on_the_same_node),
        cmocka_unit_test(test_each_after_the_other),
        cmocka_unit_test(test_one_that_does_not_use_its_turn),
        cmocka_unit_test(test_one_that_has_used_its_turn),
        cmocka_unit_test(test_one_that_asks),
        cmocka_unit_test(test_has_written),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_others_take_longer),
        cmocka_unit_test(test_went_back),
        cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_equals),
        cmocka_unit_test(test_different),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
