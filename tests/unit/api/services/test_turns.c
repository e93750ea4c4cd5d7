/* The order of turns: owners take turns whatever they have, one owner never takes all permits, and
 * jobs that are too many or too late are removed. */
#include "api/services/turns.h"

#include <string.h>

#include "unit.h"

enum { PERMITS = 16 };

/* Named "a0", "a1", "b0": owner and number. */
struct named {
    struct turns_job job; /* first */
    char name[4];
};

static const char *name_of(const struct turns_job *job)
{
    return job == NULL ? "-" : ((const struct named *)job)->name;
}

static struct turns_job *add(struct turns *turns, struct named *named, const char *name)
{
    memcpy(named->name, name, strlen(name) + 1);
    return turns_add(turns, &named->job, (uint64_t)name[0]);
}

static void add_all(struct turns *turns, struct named *jobs, const char *const *names,
                    unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        assert_null(add(turns, &jobs[i], names[i]));
}

/* One turn after the other, without ending a job. */
static void assert_turns(struct turns *turns, const char *const *names, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct turns_job *job = turns_give(turns);
        assert_string_equal(name_of(job), names[i]);
        turns_yield(turns, job);
    }
}

/* Ends all jobs that may run, until none is left. */
static void drain(struct turns *turns)
{
    struct turns_job *job;
    while ((job = turns_give(turns)) != NULL)
        turns_end(turns, job);
    assert_int_equal(turns_counts(turns).permits, 0);
    assert_int_equal(turns_counts(turns).waiting, 0);
    turns_destroy(turns);
}

static void owners_take_turns(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"a0", "a1", "a2", "b0", "b1", "c0"};
    static const char *const TURNS[] = {"a0", "b0", "c0", "a1", "b1", "c0", "a2", "b0", "c0", "a0"};
    struct named jobs[6];
    struct turns *turns = turns_create(1, PERMITS, 100);
    add_all(turns, jobs, NAMES, 6);
    assert_turns(turns, TURNS, 10);
    drain(turns);
}

/* Four endless jobs of one owner, and one of another, which has one of the turns all the time. */
static void one_of_two_turns_is_the_others(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"a0", "a1", "a2", "a3", "b0"};
    struct named jobs[5];
    struct turns *turns = turns_create(2, PERMITS, 100);
    add_all(turns, jobs, NAMES, 5);
    struct turns_job *first = turns_give(turns);
    assert_string_equal(name_of(first), "a0");
    struct turns_job *second = turns_give(turns);
    assert_string_equal(name_of(second), "b0");
    assert_null(turns_give(turns));
    for (unsigned i = 0; i < 20; i++) {
        turns_yield(turns, second);
        second = turns_give(turns);
        assert_string_equal(name_of(second), "b0");
        turns_yield(turns, first);
        first = turns_give(turns);
        assert_int_equal(name_of(first)[0], 'a');
    }
    turns_end(turns, second);
    second = turns_give(turns); /* b has no more jobs: both turns are a's */
    assert_int_equal(name_of(second)[0], 'a');
    turns_end(turns, second);
    turns_end(turns, first);
    drain(turns);
}

static void a_newcomer_neither_waits_for_all_nor_goes_first(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"a0", "a1", "b0"};
    static const char *const TURNS[] = {"b0", "a1", "c0", "b0", "a0", "c0"};
    struct named jobs[4];
    struct turns *turns = turns_create(1, PERMITS, 100);
    add_all(turns, jobs, NAMES, 3);
    assert_turns(turns, (const char *const[]){"a0"}, 1);
    assert_null(add(turns, &jobs[3], "c0"));
    assert_turns(turns, TURNS, 6);
    drain(turns);
}

/* However many jobs an owner adds, others get a permit. */
static void no_owner_takes_all_permits(void **state)
{
    (void)state;
    enum { EACH = 40 };
    static struct named jobs[26][EACH];
    struct turns *turns = turns_create(1, PERMITS, 2000);
    unsigned permits_before = 0;
    for (unsigned o = 0; o < 6; o++) {
        for (unsigned i = 0; i < EACH; i++)
            assert_null(add(turns, &jobs[o][i], (const char[]){(char)('a' + o), '\0'}));
        unsigned permits = turns_counts(turns).permits - permits_before;
        permits_before += permits;
        assert_int_equal(permits, o == 0 ? PERMITS / 2 : o <= 2 ? 2 : 1);
    }
    assert_int_equal(turns_counts(turns).waiting, 6 * EACH - permits_before);
    /* a permit that becomes free is kept for an owner without one */
    struct turns_job *job = turns_give(turns);
    assert_string_equal(name_of(job), "a");
    turns_end(turns, job);
    assert_int_equal(turns_counts(turns).permits, permits_before - 1);
    assert_null(add(turns, &jobs[6][0], "g"));
    assert_int_equal(turns_counts(turns).permits, permits_before);
    drain(turns);
}

static void the_owner_with_most_is_crowded_out(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"a0", "a1", "a2", "a3", "b0"};
    struct named jobs[8];
    struct turns *turns = turns_create(1, 1, 4);
    add_all(turns, jobs, NAMES, 5); /* a0 has the permit, four wait */
    struct turns_job *gone = add(turns, &jobs[5], "b1");
    assert_string_equal(name_of(gone), "a3");
    gone =
        add(turns, &jobs[6], "a4"); /* two of each owner wait, and this one: it is removed itself */
    assert_string_equal(name_of(gone), "a4");
    gone = add(turns, &jobs[7], "c0");
    assert_true(strcmp(name_of(gone), "a2") == 0);
    drain(turns);
}

static void late_ones_are_taken(void **state)
{
    (void)state;
    struct named jobs[4] = {{.job = {.deadline_us = 5}},
                            {.job = {.deadline_us = 10}},
                            {.job = {.deadline_us = 20}},
                            {.job = {.deadline_us = 10}}};
    struct turns *turns = turns_create(1, 1, 10);
    add_all(turns, jobs, (const char *const[]){"a0", "a1", "a2", "b0"}, 4);
    assert_null(turns_take_late(turns, 9)); /* a0 has its permit, and checks itself */
    assert_string_equal(name_of(turns_take_late(turns, 10)), "a1");
    assert_string_equal(name_of(turns_take_late(turns, 10)), "b0");
    assert_null(turns_take_late(turns, 10));
    assert_int_equal(turns_counts(turns).waiting, 1);
    drain(turns);
}

static void more_permits(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"a0", "a1", "b0", "b1"};
    struct named jobs[4];
    struct turns *turns = turns_create(2, 1, 10);
    add_all(turns, jobs, NAMES, 4);
    assert_int_equal(turns_counts(turns).permits, 1);
    turns_limit_permits(turns, 2); /* the last quarter is for b, which has none */
    assert_int_equal(turns_counts(turns).permits, 2);
    turns_limit_permits(turns, PERMITS);
    assert_int_equal(turns_counts(turns).permits, 4);
    drain(turns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owners_take_turns),
        cmocka_unit_test(one_of_two_turns_is_the_others),
        cmocka_unit_test(a_newcomer_neither_waits_for_all_nor_goes_first),
        cmocka_unit_test(no_owner_takes_all_permits),
        cmocka_unit_test(the_owner_with_most_is_crowded_out),
        cmocka_unit_test(late_ones_are_taken),
        cmocka_unit_test(more_permits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
