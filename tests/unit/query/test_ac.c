/* The search for candidates compared with the brute-force oracle, on random clouds and requests. */
#include <stdio.h>
#include <stdlib.h>

#include "cloud.h"
#include "oracle.h"
#include "query/ac_search.h"
#include "query/fit.h"
#include "questions.h"
#include "rounds.h"
#include "unit.h"

enum { CLOUDS = ROUNDS_OF(240), QUESTIONS = 20 }; /* of each kind; requests for each cloud */

struct collector {
    const struct version *version;
    const struct ac_request *request;
    struct found found;
    bool *used; /* by slot: what the summaries should contain */
};

static void collect(void *cls, const struct ac_candidate *candidate)
{
    struct collector *collector = cls;
    uint32_t limit = collector->version->slot_limit;
    int64_t(*amounts)[CLOUD_CLASSES] = calloc(limit, sizeof(*amounts));
    bool(*mapped)[ORACLE_GROUPS_MAX] = calloc(limit, sizeof(*mapped));
    for (uint32_t i = 0; i < candidate->entry_count; i++) {
        const struct ac_entry *entry = &candidate->entries[i];
        assert_int_equal(amounts[entry->slot.v][entry->class_no.v], 0);
        amounts[entry->slot.v][entry->class_no.v] = entry->amount;
        collector->used[collector->request->nested_aware
                            ? version_place(collector->version, entry->slot)->root
                            : entry->slot.v] = true;
        for (uint32_t j = 0; i > 0 && j + 1 < i; j++) /* a provider's entries are adjacent */
            assert_true(candidate->entries[j].slot.v != entry->slot.v ||
                        candidate->entries[i - 1].slot.v == entry->slot.v);
    }
    for (uint32_t i = 0; i < candidate->mapping_count; i++) {
        const struct ac_mapping *mapping = &candidate->mappings[i];
        assert_false(mapped[mapping->slot.v][mapping->group]);
        mapped[mapping->slot.v][mapping->group] = true;
    }
    found_add(&collector->found,
              found_text(collector->version, amounts, mapped, collector->request->group_count));
    free(amounts);
    free(mapped);
}

/* The result; a reason is given if and only if it is empty. */
static struct found ask(struct cloud *cloud, const struct ac_request *request,
                        struct ac_summaries *summaries)
{
    struct ac_reason reason = {.none = AC_NONE_NOT_KNOWN};
    bool *used = calloc(cloud->version->slot_limit, sizeof(*used));
    struct collector collector = {cloud->version, request, found_create(), used};
    struct budget budget = {.left = INT64_MAX / 2};
    struct err err = {.arena = cloud->arena};
    assert_int_equal(ac_search(cloud->version, request, cloud->arena, &budget, collect, &collector,
                               summaries, &reason, &err),
                     AC_DONE);
    if (collector.found.count > 0)
        assert_int_equal(reason.none, AC_NONE_FOUND_SOME);
    else
        assert_true(reason.none > AC_NONE_FOUND_SOME && reason.none < AC_NONE_LIMIT);
    uint32_t at = 0;
    for (uint32_t slot = 0; slot < cloud->version->slot_limit; slot++)
        if (used[slot])
            assert_true(at < summaries->count && summaries->slots[at++] == slot);
    assert_int_equal(summaries->count, at);
    free(used);
    return collector.found;
}

static void check_same(const struct found *got, const struct found *want, unsigned seed)
{
    for (size_t i = 0; i < got->count || i < want->count; i++) {
        const char *g = i < got->count ? got->texts[i] : "(nothing)";
        const char *w = i < want->count ? want->texts[i] : "(nothing)";
        if (strcmp(g, w) != 0)
            fail_msg("seed %u: got %s, want %s (%zu and %zu)", seed, g, w, got->count, want->count);
    }
}

/* A limited answer is a subset of the whole, of the right size, without repetitions. */
static void check_limited(struct cloud *cloud, struct ac_request request, const struct found *all)
{
    request.limit = 1 + cloud_below(6);
    for (unsigned mode = 0; mode < 3; mode++) {
        struct ac_summaries summaries;
        request.order = mode == 0 ? AC_ORDER_DEPTH : AC_ORDER_SPREAD;
        request.randomize = mode == 2;
        struct found some = ask(cloud, &request, &summaries);
        size_t want = all->count < (size_t)request.limit ? all->count : (size_t)request.limit;
        assert_int_equal(some.count, want);
        found_sort(&some, true);
        assert_int_equal(some.count, want);
        for (size_t i = 0; i < some.count; i++)
            assert_true(found_has(all, some.texts[i]));
        found_free(&some);
    }
}

static void run(unsigned seed, unsigned nested, unsigned sharing, bool crowd, size_t *nonempty)
{
    srandom(seed);
    struct cloud cloud = cloud_create(3 + cloud_below(crowd ? 5 : 7), nested, sharing);
    for (unsigned i = 0; i < QUESTIONS; i++) {
        struct ac_request request =
            crowd ? questions_crowd(&cloud, ORACLE_GROUPS_MAX) : questions_any(&cloud);
        struct found want = found_create();
        oracle_ask(cloud.version, &request, &want);
        struct ac_summaries summaries;
        struct found got = ask(&cloud, &request, &summaries);
        size_t before = got.count;
        found_sort(&got, true);
        assert_int_equal(got.count, before); /* no candidate twice */
        check_same(&got, &want, seed);
        check_limited(&cloud, request, &want);
        *nonempty += want.count > 0;
        found_free(&want);
        found_free(&got);
    }
    cloud_destroy(&cloud);
}

static void compare(bool crowd)
{
    static const struct {
        unsigned nested, sharing;
    } KINDS[] = {{0, 0}, {7, 0}, {0, 3}, {6, 3}, {10, 1}};
    for (unsigned kind = 0; kind < 5; kind++) {
        size_t nonempty = 0;
        for (unsigned seed = 1; seed <= CLOUDS; seed++)
            run(seed * 5 + kind, KINDS[kind].nested, KINDS[kind].sharing, crowd, &nonempty);
        print_message("nested %u, sharing %u: %zu of %d questions had candidates\n",
                      KINDS[kind].nested, KINDS[kind].sharing, nonempty, CLOUDS * QUESTIONS);
        assert_true(nonempty > CLOUDS * QUESTIONS / (crowd ? 40 : 12));
    }
}

static void against_oracle(void **state)
{
    (void)state;
    compare(false);
}

static void crowds_against_oracle(void **state)
{
    (void)state;
    compare(true);
}

/* A search stops when its budget is exhausted. */
static void budget_ends(void **state)
{
    (void)state;
    srandom(1);
    struct cloud cloud = cloud_create(3, 0, 0);
    struct budget budget = {.left = 0};
    struct ac_request request = questions_any(&cloud);
    struct err err = {.arena = cloud.arena};
    struct ac_summaries summaries;
    struct ac_reason reason;
    struct collector collector = {cloud.version, &request, found_create(), NULL};
    assert_int_equal(ac_search(cloud.version, &request, cloud.arena, &budget, collect, &collector,
                               &summaries, &reason, &err),
                     AC_EXPENSIVE);
    found_free(&collector.found);
    cloud_destroy(&cloud);
}

/* The cost of a search for one unit in any of these aggregates: one aggregate, named that often. */
static int64_t steps_of_members(struct cloud *cloud, uint32_t names)
{
    struct ac_resource resource = {SLICE_LIT("C1"), 1};
    struct ac_names any = {arena_array(cloud->arena, names, sizeof(struct slice)), names};
    for (uint32_t i = 0; i < names; i++)
        any.names[i] = SLICE_LIT("A1");
    struct ac_group group = {.suffix = SLICE_LIT(""),
                             .resources = &resource,
                             .resource_count = 1,
                             .member_of = &any,
                             .member_of_count = 1};
    struct ac_request request = {
        .groups = &group, .group_count = 1, .limit = -1, .most = -1, .nested_aware = true};
    struct budget budget = {.left = INT64_MAX / 2};
    struct err err = {.arena = cloud->arena};
    struct ac_summaries summaries;
    struct ac_reason reason;
    struct collector collector = {cloud->version, &request, found_create(),
                                  calloc(cloud->version->slot_limit, sizeof(*collector.used))};
    assert_int_equal(ac_search(cloud->version, &request, cloud->arena, &budget, collect, &collector,
                               &summaries, &reason, &err),
                     AC_DONE);
    found_free(&collector.found);
    free(collector.used);
    return INT64_MAX / 2 - budget.left;
}

/* A tree whose root is in none of many aggregates is compared with each of them. */
static void many_aggregates_are_charged(void **state)
{
    (void)state;
    enum { PROVIDERS = 1000, NAMES = 400, PAGES = 4, TREES_LEAST = 100 };
    srandom(1);
    struct cloud cloud = cloud_create(PROVIDERS, 5, 0);
    int64_t few = steps_of_members(&cloud, 1);
    int64_t many = steps_of_members(&cloud, NAMES);
    assert_true(many - few > NAMES * (PAGES * FIT_STEPS_A_SET + TREES_LEAST / 2));
    cloud_destroy(&cloud);
}

/* An unknown name is reported in full, NUL bytes included. */
static void unknown_class(void **state)
{
    (void)state;
    srandom(1);
    struct cloud cloud = cloud_create(3, 0, 0);
    struct ac_resource resource = {SLICE_LIT("C\0D"), 1};
    struct ac_group group = {.suffix = SLICE_LIT(""), .resources = &resource, .resource_count = 1};
    struct ac_request request = {
        .groups = &group, .group_count = 1, .limit = -1, .most = -1, .nested_aware = true};
    struct budget budget = {.left = 100000};
    struct err err = {.arena = cloud.arena};
    struct ac_summaries summaries;
    struct ac_reason reason;
    assert_int_equal(ac_search(cloud.version, &request, cloud.arena, &budget, NULL, NULL,
                               &summaries, &reason, &err),
                     AC_REFUSED);
    assert_int_equal(reason.none, AC_NONE_UNKNOWN_CLASS);
    assert_true(slice_equal(err.message, SLICE_LIT("Invalid resource class in resources parameter: "
                                                   "No such resource class C\0D.")));
    cloud_destroy(&cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_oracle), cmocka_unit_test(crowds_against_oracle),
        cmocka_unit_test(budget_ends),    cmocka_unit_test(many_aggregates_are_charged),
        cmocka_unit_test(unknown_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
