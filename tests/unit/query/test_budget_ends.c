/* Queries whose budget ends at each of their steps: the answer is whole, or there is none. */
#include <stdlib.h>

#include "base/buf.h"
#include "query/providers.h"
#include "scene.h"

enum { MANY_GROUPS = 16, PLENTY = 1000000 };

/* A query's answer: what was emitted, and for summaries. */
struct answer {
    struct buf text;
    uint32_t count;
    bool is_counted_only; /* the order is random */
};

static void emit(void *cls, const struct ac_candidate *candidate)
{
    struct answer *answer = cls;
    answer->count++;
    if (answer->is_counted_only)
        return;
    for (uint32_t i = 0; i < candidate->entry_count; i++)
        buf_printf(&answer->text, "%u:%u=%lld ", candidate->entries[i].slot.v,
                   candidate->entries[i].class_no.v, (long long)candidate->entries[i].amount);
    for (uint32_t i = 0; i < candidate->mapping_count; i++)
        buf_printf(&answer->text, "%u@%u ", candidate->mappings[i].group,
                   candidate->mappings[i].slot.v);
    buf_append_char(&answer->text, '\n');
}

/* What a query came to with that budget. */
struct end {
    enum ac_outcome outcome;
    enum ac_none none;
    struct err err;
    struct answer answer;
    int64_t left;
};

static struct end ask(const struct scene *scene, struct arena *arena, int64_t steps)
{
    struct budget budget = {.left = steps};
    struct ac_summaries summaries = {0};
    struct ac_reason reason = {.none = AC_NONE_COUNT};
    struct end end = {.err = {.arena = arena},
                      .answer = {.is_counted_only = scene->request.randomize}};
    end.outcome = ac_search(scene->version, &scene->request, arena, &budget, emit, &end.answer,
                            &summaries, &reason, &end.err);
    for (uint32_t i = 0; end.outcome == AC_DONE && i < summaries.count; i++)
        buf_printf(&end.answer.text, "%u ", summaries.slots[i]);
    end.none = reason.none;
    end.left = budget.left;
    return end;
}

static void expect_same(const struct end *end, const struct end *whole, int64_t steps)
{
    if (end->outcome == AC_EXPENSIVE) {
        assert_false(err_is_set(&end->err));
        return;
    }
    assert_int_equal(end->outcome, whole->outcome);
    if (end->none != AC_NONE_NOT_KNOWN)
        assert_string_equal(ac_none_name(end->none), ac_none_name(whole->none));
    assert_int_equal(end->err.status, whole->err.status);
    if (!slice_equal(end->err.message, whole->err.message))
        fail_msg("%lld steps: %.*s", (long long)steps, SLICE_ARG(end->err.message));
    assert_int_equal(end->answer.count, whole->answer.count);
    if (!slice_equal(buf_slice(&end->answer.text), buf_slice(&whole->answer.text)))
        fail_msg("%lld steps: %.*s", (long long)steps, SLICE_ARG(buf_slice(&end->answer.text)));
}

/* With every budget that does not suffice, and some that do. Forgets the request. */
static void try_all(struct scene *scene, bool finds)
{
    struct arena *arena = arena_create();
    struct arena *kept = arena_create();
    scene->request.counts = AC_COUNTS_ALWAYS;
    struct end whole = ask(scene, kept, PLENTY);
    assert_int_not_equal(whole.outcome, AC_EXPENSIVE);
    assert_int_equal(whole.answer.count > 0, finds);
    int64_t needed = PLENTY - whole.left;
    for (int64_t steps = 0; steps <= needed + 2; steps++) {
        struct end end = ask(scene, arena, steps);
        expect_same(&end, &whole, steps);
        if (steps > needed)
            assert_int_equal(end.outcome, whole.outcome);
        buf_free(&end.answer.text);
        arena_reset(arena);
    }
    struct end none = ask(scene, arena, 0);
    assert_int_equal(none.outcome, AC_EXPENSIVE);
    buf_free(&none.answer.text);
    buf_free(&whole.answer.text);
    arena_destroy(arena);
    arena_destroy(kept);
    scene->request =
        (struct ac_request){.groups = scene->groups, .limit = -1, .most = -1, .nested_aware = true};
}

static struct ac_group *with_members(struct scene *scene, struct ac_group *of, const char *name)
{
    of->member_of = list_of(scene, name);
    of->member_of_count = 1;
    return of;
}

static void one_group(struct scene *scene)
{
    for (unsigned granular = 0; granular < 2; granular++) {
        const char *suffix = granular ? "1" : "";
        group(scene, suffix, "A", 1);
        try_all(scene, true);
        require(scene, group(scene, suffix, "A", 1), "X");
        try_all(scene, true);
        with_members(scene, group(scene, suffix, "A", 1), "1")->forbidden = one(scene, "Y");
        try_all(scene, true);
        group(scene, suffix, "A", 1)->forbidden_aggregates = one(scene, "2");
        try_all(scene, true);
        group(scene, suffix, "A", 1)->in_tree = SLICE_LIT("P1");
        try_all(scene, true);
        group(scene, suffix, "A", 11);
        try_all(scene, false);
        require(scene, group(scene, suffix, "A", 1), "NOBODY");
        try_all(scene, false);
        group(scene, suffix, "A", 1);
        scene->request.root_required = one(scene, "X");
        try_all(scene, true);
        group(scene, suffix, "A", 1);
        scene->request.root_forbidden = one(scene, "X");
        scene->request.nested_aware = false;
        try_all(scene, scene->version->nested_count > 0);
    }
}

static void several_groups(struct scene *scene)
{
    struct ac_names subtree = {(struct slice[]){SLICE_LIT("1"), SLICE_LIT("2")}, 2};
    for (unsigned isolate = 0; isolate < 2; isolate++) {
        group(scene, "", "A", 1);
        group(scene, "1", "A", 2);
        group(scene, "2", "B", 1);
        scene->request.isolate = isolate;
        try_all(scene, scene->version->nested_count > 0);
        group(scene, "1", "A", 1);
        group(scene, "2", "A", 2);
        group(scene, "3", "A", 2);
        group(scene, "4", "A", 1);
        scene->request.isolate = isolate;
        try_all(scene, !isolate);
        group(scene, "1", "A", 6);
        group(scene, "2", "A", 6);
        scene->request.isolate = isolate;
        try_all(scene, false);
        group(scene, "1", "A", 1);
        group(scene, "2", "B", 1);
        scene->request.isolate = isolate;
        scene->request.same_subtrees = &subtree;
        scene->request.same_subtree_count = 1;
        try_all(scene, scene->version->nested_count > 0);
    }
}

static void unknown_names(struct scene *scene)
{
    for (unsigned granular = 0; granular < 2; granular++) {
        const char *suffix = granular ? "1" : "";
        group(scene, suffix, "UNHEARD_OF", 1);
        try_all(scene, false);
        require(scene, with_members(scene, group(scene, suffix, "A", 1), "1"), "UNHEARD_OF");
        scene->request.root_required = one(scene, "X");
        try_all(scene, false);
        group(scene, suffix, "A", 1);
        group(scene, "2", "UNHEARD_OF", 1);
        scene->request.root_required = one(scene, "X");
        try_all(scene, false);
    }
}

static void sharing(struct scene *scene)
{
    for (unsigned way = 0; way < 8; way++) {
        struct ac_group *unsuffixed = group(scene, "", "A", 1);
        unsuffixed->resources[unsuffixed->resource_count++] =
            (struct ac_resource){SLICE_LIT("SHARED"), 1};
        scene->request.order = way % 2 == 0 ? AC_ORDER_DEPTH : AC_ORDER_SPREAD;
        scene->request.randomize = way / 2 % 2 == 1;
        scene->request.nested_aware = way < 4;
        scene->request.limit = 3;
        try_all(scene, true);
        group(scene, "", "SHARED", 1); /* in any tree */
        try_all(scene, true);
    }
}

static void many_groups(struct scene *scene)
{
    struct ac_group groups[MANY_GROUPS];
    scene->request.groups = groups;
    for (uint32_t i = 0; i < MANY_GROUPS; i++) {
        groups[i] = (struct ac_group){.suffix = arena_printf(scene->arena, "%u", i)};
        groups[i].resources = arena_array(scene->arena, 1, sizeof(struct ac_resource));
        groups[i].resources[groups[i].resource_count++] =
            (struct ac_resource){i % 2 == 0 ? SLICE_LIT("A") : SLICE_LIT("B"), 1};
    }
    scene->request.group_count = MANY_GROUPS;
    scene->request.limit = 2;
    try_all(scene, scene->version->nested_count > 0);
}

static void run_in(void (*build)(struct scene *))
{
    struct scene scene;
    open_scene(&scene, build);
    one_group(&scene);
    several_groups(&scene);
    unknown_names(&scene);
    many_groups(&scene);
    if (build != flat_cloud)
        sharing(&scene);
    close_scene(&scene);
}

/* The same as cloud() with slots of providers that have been deleted. */
static void cloud_with_holes(struct scene *scene)
{
    cloud(scene);
    for (int64_t id = 5; id <= 8; id++)
        provider(scene, id, 0);
    for (int64_t id = 5; id <= 8; id++)
        change_append(&scene->changes, CHANGE_PROVIDER_DELETE)->provider.id = id;
}

static void candidates(void **state)
{
    (void)state;
    run_in(cloud);
    run_in(cloud_with_holes);
    run_in(flat_cloud);
}

/* P3 is below P1: in the order of slots, P2 comes last. */
static void crossed(struct scene *scene)
{
    static const char *const CLASSES[] = {"A", NULL};
    static const char *const TRAITS[] = {"X", NULL};
    static const char *const AGGREGATES[] = {"1", "2", NULL};
    names(scene, CHANGE_CLASS_INSERT, CLASSES);
    names(scene, CHANGE_TRAIT_INSERT, TRAITS);
    names(scene, CHANGE_AGGREGATE_INSERT, AGGREGATES);
    provider(scene, 1, 0);
    provider(scene, 2, 0);
    provider(scene, 3, 1);
    change_append(&scene->changes, CHANGE_LOAD_PROVIDERS_END);
    for (int64_t id = 1; id <= 3; id++) {
        inventory(scene, id, CLASS_A, 10);
        link_to(scene, CHANGE_PROVIDER_AGGREGATE_INSERT, id, AGGREGATE_1);
    }
    link_to(scene, CHANGE_PROVIDER_TRAIT_INSERT, 2, TRAIT_X);
}

/* `ids`: those of the answer, ending with 0; NULL: it is refused. Every budget that does not
 * suffice ends so. */
static void expect_list(const struct scene *scene, const struct providers_query *wanted,
                        const int64_t *ids)
{
    struct arena *arena = arena_create();
    enum providers_outcome outcome = PROVIDERS_EXPENSIVE;
    for (int64_t steps = 0; outcome == PROVIDERS_EXPENSIVE; steps++) {
        struct budget budget = {.left = steps};
        struct providers_found found;
        struct err err = {.arena = arena};
        outcome = providers_find(scene->version, wanted, arena, &budget, &found, &err);
        assert_true(steps < PLENTY);
        assert_int_equal(err_is_set(&err), outcome == PROVIDERS_REFUSED);
        if (outcome != PROVIDERS_EXPENSIVE)
            assert_int_equal(outcome, ids == NULL ? PROVIDERS_REFUSED : PROVIDERS_DONE);
        if (outcome == PROVIDERS_DONE) {
            for (uint32_t i = 0; i < found.count; i++)
                assert_int_equal(found.providers[i]->id, ids[i]);
            assert_int_equal(ids[found.count], 0);
        }
        arena_reset(arena);
    }
    arena_destroy(arena);
}

static void providers(void **state)
{
    (void)state;
    struct scene scene;
    struct providers_query wanted = {.name = {0}};
    open_scene(&scene, crossed);
    expect_list(&scene, &wanted, (const int64_t[]){1, 2, 3, 0});
    struct ac_group *asked = group(&scene, "", "A", 1);
    wanted.group = *asked;
    expect_list(&scene, &wanted, (const int64_t[]){1, 2, 3, 0});
    wanted.group.in_tree = SLICE_LIT("P3");
    expect_list(&scene, &wanted, (const int64_t[]){1, 3, 0});
    wanted.name = SLICE_LIT("P3");
    expect_list(&scene, &wanted, (const int64_t[]){3, 0});
    wanted.uuid = SLICE_LIT("P1");
    expect_list(&scene, &wanted, (const int64_t[]){0});
    wanted.name = wanted.uuid = SLICE_LIT("P2");
    expect_list(&scene, &wanted, (const int64_t[]){0}); /* in another tree */
    wanted = (struct providers_query){.group = *with_members(&scene, asked, "1")};
    wanted.group.resources[0].class_name = SLICE_LIT("UNHEARD_OF");
    expect_list(&scene, &wanted, NULL);
    wanted.group.member_of = list_of(&scene, "2");
    expect_list(&scene, &wanted, (const int64_t[]){0});
    close_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(candidates),
        cmocka_unit_test(providers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
