/* The search for candidates against the brute-force oracle, on random clouds and questions. */
#include <stdio.h>
#include <stdlib.h>

#include "cloud.h"
#include "oracle.h"
#include "query/ac_search.h"
#include "unit.h"

enum { CLOUDS = 240, QUESTIONS = 25 }; /* of each kind; questions a cloud */

static struct ac_names names_of(struct arena *arena, const char *prefix, unsigned of, unsigned n)
{
    struct ac_names names = {arena_array(arena, n, sizeof(struct slice)), n};
    for (unsigned i = 0; i < n; i++)
        names.names[i] = cloud_text(arena, prefix, 1 + cloud_below(of));
    return names;
}

static struct ac_names *sets_of(struct arena *arena, const char *prefix, unsigned of, uint32_t n)
{
    struct ac_names *sets = arena_array(arena, n, sizeof(*sets));
    for (uint32_t i = 0; i < n; i++)
        sets[i] = names_of(arena, prefix, of, 1 + cloud_below(2));
    return sets;
}

static struct ac_group random_group(struct cloud *cloud, unsigned number, bool resourceless)
{
    struct arena *arena = cloud->arena;
    struct ac_group group = {.suffix = SLICE_LIT("")};
    if (number > 0)
        group.suffix = cloud_text(arena, "_", number);
    group.resources = arena_array(arena, CLOUD_CLASSES, sizeof(struct ac_resource));
    unsigned classes = number == 0 ? 2 : 1 + (cloud_below(4) == 0);
    for (unsigned c = 1; c <= CLOUD_CLASSES && group.resource_count < classes && !resourceless; c++)
        if (cloud_below(2) == 0 || c == CLOUD_CLASSES)
            group.resources[group.resource_count++] =
                (struct ac_resource){cloud_text(arena, "C", c), 1 + cloud_below(3)};
    if (cloud_below(3) == 0 || (resourceless && cloud_below(5) > 0)) {
        group.required_count = 1 + (cloud_below(3) == 0);
        group.required = sets_of(arena, "T", CLOUD_TRAITS, group.required_count);
    }
    if (cloud_below(5) == 0)
        group.forbidden = names_of(arena, "T", CLOUD_TRAITS, 1);
    if (cloud_below(4) == 0) {
        group.member_of_count = 1;
        group.member_of = sets_of(arena, "A", CLOUD_AGGREGATES, 1);
    }
    if (cloud_below(6) == 0)
        group.forbidden_aggregates = names_of(arena, "A", CLOUD_AGGREGATES, 1);
    if (cloud_below(6) == 0)
        group.in_tree = cloud_text(arena, "P", 1 + cloud_below(cloud->providers));
    return group;
}

static struct ac_request random_request(struct cloud *cloud)
{
    struct arena *arena = cloud->arena;
    struct ac_request request = {.limit = -1, .most = -1, .nested_aware = cloud_below(5) > 0};
    request.groups = arena_array(arena, ORACLE_GROUPS_MAX, sizeof(struct ac_group));
    unsigned granular = cloud_below(4);
    if (granular == 0 || cloud_below(2) == 0)
        request.groups[request.group_count++] = random_group(cloud, 0, false);
    struct ac_names suffixes = {arena_array(arena, ORACLE_GROUPS_MAX, sizeof(struct slice)), 0};
    for (unsigned i = 1; i <= granular; i++) {
        bool resourceless = i == granular && request.group_count > 0 && cloud_below(3) == 0;
        request.groups[request.group_count++] = random_group(cloud, i, resourceless);
        if (resourceless || cloud_below(2) == 0)
            suffixes.names[suffixes.count++] = cloud_text(arena, "_", i);
    }
    request.isolate = cloud_below(2) == 0;
    if (suffixes.count > 0 && cloud_below(3) > 0) {
        request.same_subtrees = arena_array(arena, 1, sizeof(struct ac_names));
        request.same_subtrees[0] = suffixes;
        request.same_subtree_count = 1;
    }
    if (cloud_below(6) == 0)
        request.root_required = names_of(arena, "T", CLOUD_TRAITS, 1);
    if (cloud_below(8) == 0)
        request.root_forbidden = names_of(arena, "T", CLOUD_TRAITS, 1);
    return request;
}

struct collector {
    const struct version *version;
    const struct ac_request *request;
    struct found found;
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
        for (uint32_t j = 0; i > 0 && j + 1 < i; j++) /* a provider's entries stand together */
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

/* What is found, and that a reason is told exactly if nothing is. */
static struct found ask(struct cloud *cloud, const struct ac_request *request,
                        struct ac_summaries *summaries)
{
    enum ac_none none = AC_NONE_NOT_KNOWN;
    struct collector collector = {cloud->version, request, found_create()};
    struct budget budget = {.left = INT64_MAX / 2};
    struct err err = {.arena = cloud->arena};
    assert_int_equal(ac_search(cloud->version, request, cloud->arena, &budget, collect, &collector,
                               summaries, &none, &err),
                     AC_DONE);
    if (collector.found.count > 0)
        assert_int_equal(none, AC_NONE_FOUND_SOME);
    else
        assert_true(none > AC_NONE_FOUND_SOME && none < AC_NONE_LIMIT);
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

/* A limited answer is a part of the whole, of the right size, without repetition. */
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

static void run(unsigned seed, unsigned nested, unsigned sharing, size_t *nonempty)
{
    srandom(seed);
    struct cloud cloud = cloud_create(3 + cloud_below(7), nested, sharing);
    for (unsigned i = 0; i < QUESTIONS; i++) {
        struct ac_request request = random_request(&cloud);
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

static void against_oracle(void **state)
{
    (void)state;
    static const struct {
        unsigned nested, sharing;
    } KINDS[] = {{0, 0}, {7, 0}, {0, 3}, {6, 3}};
    for (unsigned kind = 0; kind < 4; kind++) {
        size_t nonempty = 0;
        for (unsigned seed = 1; seed <= CLOUDS; seed++)
            run(seed * 4 + kind, KINDS[kind].nested, KINDS[kind].sharing, &nonempty);
        print_message("nested %u, sharing %u: %zu of %d questions had candidates\n",
                      KINDS[kind].nested, KINDS[kind].sharing, nonempty, CLOUDS * QUESTIONS);
        assert_true(nonempty > CLOUDS * QUESTIONS / 12);
    }
}

/* A question stops when its budget is gone. */
static void budget_ends(void **state)
{
    (void)state;
    srandom(1);
    struct cloud cloud = cloud_create(3, 0, 0);
    struct budget budget = {.left = 0};
    struct ac_request request = random_request(&cloud);
    struct err err = {.arena = cloud.arena};
    struct ac_summaries summaries;
    enum ac_none none;
    struct collector collector = {cloud.version, &request, found_create()};
    assert_int_equal(ac_search(cloud.version, &request, cloud.arena, &budget, collect, &collector,
                               &summaries, &none, &err),
                     AC_EXPENSIVE);
    found_free(&collector.found);
    cloud_destroy(&cloud);
}

/* A name that nobody has is told whole, NUL bytes included. */
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
    enum ac_none none;
    assert_int_equal(ac_search(cloud.version, &request, cloud.arena, &budget, NULL, NULL,
                               &summaries, &none, &err),
                     AC_REFUSED);
    assert_int_equal(none, AC_NONE_UNKNOWN_CLASS);
    assert_true(slice_equal(err.message, SLICE_LIT("Invalid resource class in resources parameter: "
                                                   "No such resource class C\0D.")));
    cloud_destroy(&cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_oracle),
        cmocka_unit_test(budget_ends),
        cmocka_unit_test(unknown_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
