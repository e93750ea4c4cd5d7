/* Many groups: trees that cannot serve them all are recognised without a search, and a tree that
 * can is found. */
#include <stdlib.h>

#include "devices.h"
#include "unit.h"

enum { HOSTS = 200 };

/* As many steps as the bench gives for a thousand hosts, and ten times as many. */
enum { STEPS_A_HOST = 2000, STEPS = 20000 };

struct answer {
    unsigned long found;
    enum ac_outcome outcome;
    struct ac_reason reason;
};

static void count(void *cls, const struct ac_candidate *candidate)
{
    (void)candidate;
    ++*(unsigned long *)cls;
}

static struct answer ask(const struct version *version, const struct ac_request *request,
                         struct arena *arena, int64_t steps)
{
    struct answer answer = {0};
    struct budget budget = {.left = steps};
    struct err err = {.arena = arena};
    struct ac_summaries summaries;
    answer.outcome = ac_search(version, request, arena, &budget, count, &answer.found, &summaries,
                               &answer.reason, &err);
    return answer;
}

static struct answer ask_devices(const struct devices_fleet *fleet, unsigned groups, int64_t amount,
                                 bool isolate, enum devices_traits traits, int64_t limit)
{
    struct arena *arena = arena_create();
    struct ac_request request = devices_ask(arena, groups, amount, isolate, traits);
    request.limit = limit;
    struct answer answer =
        ask(fleet->version, &request, arena, STEPS + STEPS_A_HOST * (int64_t)HOSTS);
    arena_destroy(arena);
    return answer;
}

/* One device fewer than groups, on every host except perhaps one. */
static void one_too_many(void **state)
{
    (void)state;
    static const unsigned DEVICES[] = {8, 16, 64};
    for (unsigned i = 0; i < 3 * 2 * 2; i++) {
        unsigned devices = DEVICES[i / 4];
        unsigned better = i % 2 == 0 ? 0 : HOSTS - 3;
        struct devices_shape shape = {HOSTS, devices, 1, i / 2 % 2 == 1, devices + 1, better};
        struct devices_fleet fleet = devices_create(&shape);
        for (unsigned q = 0; q < 3 * 2; q++) {
            struct answer answer = ask_devices(&fleet, devices + 1, 1, q % 2 == 0,
                                               (enum devices_traits)(q / 2), better == 0 ? -1 : 1);
            assert_int_equal(answer.outcome, AC_DONE);
            assert_int_equal(answer.found, better == 0 ? 0 : 1);
        }
        devices_destroy(&fleet);
    }
}

/* Amounts: what is left of each device serves no further group, or the groups need different
 * amounts. */
static void amounts_that_do_not_fit(void **state)
{
    (void)state;
    struct devices_shape shape = {HOSTS, 12, 8, false, 0, 0};
    struct devices_fleet fleet = devices_create(&shape);
    assert_int_equal(ask_devices(&fleet, 13, 5, false, DEVICES_ALIKE, -1).outcome, AC_DONE);
    assert_int_equal(ask_devices(&fleet, 13, 5, false, DEVICES_ALIKE, -1).found, 0);
    assert_int_equal(ask_devices(&fleet, 25, 3, false, DEVICES_ALIKE, -1).found, 0);
    assert_int_equal(ask_devices(&fleet, 12, 5, false, DEVICES_ALIKE, 1).found, 1);
    assert_int_equal(ask_devices(&fleet, 24, 3, false, DEVICES_ALIKE, 1).found, 1);
    struct arena *arena = arena_create();
    struct ac_request request = devices_ask(arena, 25, 4, false, DEVICES_ALIKE);
    for (unsigned g = 1; g < 25; g++)
        request.groups[g].resources[0].amount = g == 1 ? 1 : 4;
    struct answer answer = ask(fleet.version, &request, arena, STEPS + STEPS_A_HOST * HOSTS);
    assert_int_equal(answer.outcome, AC_DONE);
    assert_int_equal(answer.found, 0);
    arena_destroy(arena);
    devices_destroy(&fleet);
}

/* What a matching cannot detect: no subtree has all members of two groups of three. Identical
 * groups are tried in one order only, so that the search ends. */
static void twins_are_not_tried_again(void **state)
{
    (void)state;
    struct devices_shape shape = {1, 9, 8, false, 0, 0};
    struct devices_fleet fleet = devices_create(&shape);
    struct arena *arena = arena_create();
    struct ac_request request = devices_ask(arena, 9, 1, true, DEVICES_ALIKE);
    struct ac_names both = {(struct slice[]){SLICE_LIT("8"), SLICE_LIT("9")}, 2};
    request.same_subtrees = &both;
    request.same_subtree_count = 1;
    struct answer answer = ask(fleet.version, &request, arena, 200000);
    assert_int_equal(answer.outcome, AC_DONE);
    assert_int_equal(answer.found, 0);
    arena_destroy(arena);
    devices_destroy(&fleet);
}

/* The same for groups each of which must be in a subtree with one same other group: if two of them
 * change places, the subtrees stay the same. */
static void twins_may_have_subtrees_each(void **state)
{
    (void)state;
    enum { GROUPS = 9 };
    struct devices_shape shape = {1, GROUPS, 8, false, 0, 0};
    struct devices_fleet fleet = devices_create(&shape);
    struct arena *arena = arena_create();
    struct ac_request request = devices_ask(arena, GROUPS, 1, true, DEVICES_ALIKE);
    struct ac_names pairs[GROUPS - 1];
    for (unsigned g = 0; g < GROUPS - 1; g++) {
        struct slice *names = arena_array(arena, 2, sizeof(*names));
        names[g % 2] = request.groups[g].suffix;
        names[1 - g % 2] = request.groups[GROUPS - 1].suffix;
        pairs[g] = (struct ac_names){names, 2};
    }
    request.same_subtrees = pairs;
    request.same_subtree_count = GROUPS - 1;
    struct answer answer = ask(fleet.version, &request, arena, 200000);
    assert_int_equal(answer.outcome, AC_DONE);
    assert_int_equal(answer.found, 0);
    arena_destroy(arena);
    devices_destroy(&fleet);
}

/* Whether a provider that is chosen later can be above the chosen ones is checked once for all
 * groups with the same conditions. */
static void later_members_are_looked_at_once(void **state)
{
    (void)state;
    enum { GROUPS = 60 };
    struct devices_shape shape = {1, 64, 8, false, 0, 0};
    struct devices_fleet fleet = devices_create(&shape);
    struct arena *arena = arena_create();
    struct ac_request request = devices_ask(arena, GROUPS, 1, true, DEVICES_ALIKE);
    struct ac_names all = {arena_array(arena, GROUPS, sizeof(struct slice)), GROUPS};
    for (unsigned g = 0; g < GROUPS; g++)
        all.names[g] = request.groups[g].suffix;
    request.same_subtrees = &all;
    request.same_subtree_count = 1;
    struct answer answer = ask(fleet.version, &request, arena, 1000000);
    assert_int_equal(answer.outcome, AC_DONE);
    assert_int_equal(answer.found, 0);
    arena_destroy(arena);
    devices_destroy(&fleet);
}

/* There is enough for all, but not if groups that could use any device take the devices that others
 * need: the matching is updated with each choice. */
static void room_is_kept_for_the_last(void **state)
{
    (void)state;
    struct devices_shape shape = {1, 64, 1, false, 30, 0};
    struct devices_fleet fleet = devices_create(&shape);
    for (unsigned isolate = 0; isolate < 2; isolate++) {
        struct arena *arena = arena_create();
        struct ac_request request = devices_ask(arena, 28, 1, isolate == 1, DEVICES_TRAIT_EACH);
        for (unsigned g = 12; g < 28; g++)
            request.groups[g].required[0].names[0] = SLICE_LIT("M0");
        request.limit = 3;
        struct answer answer = ask(fleet.version, &request, arena, 100000);
        assert_int_equal(answer.outcome, AC_DONE);
        assert_int_equal(answer.found, 3);
        arena_destroy(arena);
    }
    devices_destroy(&fleet);
}

struct totals {
    unsigned groups;
    unsigned long candidates;
};

/* Each provider and class once, a provider's entries adjacent, nothing lost. */
static void check_entries(void *cls, const struct ac_candidate *candidate)
{
    struct totals *totals = cls;
    int64_t sum = 0;
    assert_int_equal(candidate->entry_count % 2, 0);
    for (uint32_t i = 0; i < candidate->entry_count; i += 2) {
        const struct ac_entry *entry = &candidate->entries[i];
        for (uint32_t j = 0; j < i; j++)
            assert_int_not_equal(entry[0].slot.v, candidate->entries[j].slot.v);
        assert_int_equal(entry[0].slot.v, entry[1].slot.v);
        assert_true(entry[0].class_no.v < entry[1].class_no.v);
        assert_int_equal(entry[0].amount, entry[1].amount);
        sum += entry[0].amount;
    }
    int64_t want = 0;
    for (unsigned g = 0; g < totals->groups; g++)
        want += 1 + g % 40;
    assert_int_equal(sum, want);
    assert_int_equal(candidate->mapping_count, totals->groups);
    totals->candidates++;
}

/* Candidates of hundreds of groups. */
static void long_candidates(void **state)
{
    (void)state;
    struct devices_shape shape = {2, 16, 700, false, 0, 0};
    struct devices_fleet fleet = devices_create(&shape);
    struct arena *arena = arena_create();
    struct totals totals = {.groups = 300};
    struct ac_request request = devices_ask(arena, totals.groups, 1, false, DEVICES_TRAIT_MOD);
    for (unsigned g = 0; g < totals.groups; g++) {
        struct ac_group *group = &request.groups[g];
        group->resources = arena_array(arena, 2, sizeof(struct ac_resource));
        group->resources[0] = (struct ac_resource){SLICE_LIT("DEVICE"), 1 + g % 40};
        group->resources[1] = (struct ac_resource){SLICE_LIT("PORT"), 1 + g % 40};
        group->resource_count = 2;
    }
    request.limit = 50;
    struct budget budget = {.left = 10000000};
    struct err err = {.arena = arena};
    struct ac_summaries summaries;
    struct ac_reason reason;
    assert_int_equal(ac_search(fleet.version, &request, arena, &budget, check_entries, &totals,
                               &summaries, &reason, &err),
                     AC_DONE);
    assert_int_equal(totals.candidates, 50);
    arena_destroy(arena);
    devices_destroy(&fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_too_many),
        cmocka_unit_test(amounts_that_do_not_fit),
        cmocka_unit_test(twins_are_not_tried_again),
        cmocka_unit_test(twins_may_have_subtrees_each),
        cmocka_unit_test(later_members_are_looked_at_once),
        cmocka_unit_test(room_is_kept_for_the_last),
        cmocka_unit_test(long_candidates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
