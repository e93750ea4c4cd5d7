/* Requests of very many groups, resources or candidates: pages that are forgotten and made again,
 * amounts that are added in tables, answers that are larger than what is kept. */
#include <stdlib.h>

#include "scene.h"

enum { PAGE_SLOTS = 4096, PAGES = 33, KEPT_GROUPS = 1000 }; /* more than 2^15 pages of kinds */
enum { FEW_OPTIONS = 15, WIDE_GROUPS = 2000 };              /* 2^15 candidates of 8 000 bytes */
enum { HOSTS = 200, CLASSES = 90 };

struct found {
    const struct scene *scene;
    unsigned count;
    bool is_in[PAGES]; /* a tree of each page */
};

/* `groups` groups called 1, 2 ..., each with room for so many resources. */
static void make_groups(struct scene *scene, uint32_t groups, uint32_t resources)
{
    scene->request.groups = arena_zalloc(scene->arena, groups * sizeof(struct ac_group));
    scene->request.group_count = groups;
    for (uint32_t i = 0; i < groups; i++) {
        struct ac_group *made = &scene->request.groups[i];
        made->suffix = arena_printf(scene->arena, "%u", i + 1);
        made->resources = arena_array(scene->arena, resources, sizeof(struct ac_resource));
    }
}

static void add_resource(struct ac_group *group, struct slice class_name, int64_t amount)
{
    group->resources[group->resource_count++] = (struct ac_resource){class_name, amount};
}

static enum ac_outcome ask(struct scene *scene, ac_emit *emit, void *cls,
                           struct ac_summaries *summaries)
{
    struct budget budget = {.left = INT64_MAX / 2};
    struct err err = {.arena = scene->arena};
    struct ac_reason reason;
    return ac_search(scene->version, &scene->request, scene->arena, &budget, emit, cls, summaries,
                     &reason, &err);
}

/* At the end of each page, a tree of two providers with plenty of A; the others have nothing. */
static void pages(struct scene *scene)
{
    static const char *const CLASS_NAMES[] = {"A", NULL};
    names(scene, CHANGE_CLASS_INSERT, CLASS_NAMES);
    for (int64_t id = 1; id <= PAGES * PAGE_SLOTS; id++)
        provider(scene, id, id % PAGE_SLOTS == 0 ? id - 1 : 0);
    change_append(&scene->changes, CHANGE_LOAD_PROVIDERS_END);
    for (int64_t id = PAGE_SLOTS; id <= PAGES * PAGE_SLOTS; id += PAGE_SLOTS) {
        inventory(scene, id - 1, CLASS_A, INT32_MAX);
        inventory(scene, id, CLASS_A, INT32_MAX);
    }
}

static void emit_of_a_page(void *cls, const struct ac_candidate *candidate)
{
    struct found *found = cls;
    uint32_t page = found->count++ % PAGES; /* one of each, then a second of each */
    int64_t sum = 0;
    assert_int_equal(candidate->mapping_count, KEPT_GROUPS);
    for (uint32_t i = 0; i < candidate->entry_count; i++) {
        uint32_t slot = candidate->entries[i].slot.v;
        assert_in_range(slot, (page + 1) * PAGE_SLOTS - 2, (page + 1) * PAGE_SLOTS - 1);
        sum += candidate->entries[i].amount;
    }
    assert_int_equal(sum, (int64_t)KEPT_GROUPS * (KEPT_GROUPS + 1) / 2);
    assert_int_equal(found->is_in[page], found->count > PAGES);
    found->is_in[page] = true;
}

static void pages_are_made_again(void **state)
{
    (void)state;
    struct scene scene;
    struct ac_summaries summaries;
    open_scene(&scene, pages);
    struct found found = {.scene = &scene};
    make_groups(&scene, KEPT_GROUPS, 1);
    for (uint32_t i = 0; i < KEPT_GROUPS; i++)
        add_resource(&scene.request.groups[i], SLICE_LIT("A"), i + 1);
    scene.request.order = AC_ORDER_SPREAD;
    scene.request.limit = 2 * PAGES;
    assert_int_equal(ask(&scene, emit_of_a_page, &found, &summaries), AC_DONE);
    assert_int_equal(found.count, 2 * PAGES);
    assert_int_equal(summaries.count, PAGES);
    close_scene(&scene);
}

/* A tree of two providers, of which the first has every class and the second those with a choice;
 * and a tree of so many providers that its bits take more memory than the candidates of the first
 * leave. */
static void two_trees(struct scene *scene)
{
    enum { OTHERS = 30000 };
    for (int64_t id = 1; id <= WIDE_GROUPS + 1; id++)
        change_append(&scene->changes, CHANGE_CLASS_INSERT)->catalog =
            (struct change_catalog){id, arena_printf(scene->arena, "C%d", (int)id)};
    for (int64_t id = 1; id <= 3 + OTHERS; id++)
        provider(scene, id, id == 1 || id == 3 ? 0 : id == 2 ? 1 : 3);
    change_append(&scene->changes, CHANGE_LOAD_PROVIDERS_END);
    for (int64_t id = 1; id <= 3; id++)
        for (int64_t class_id = 1; class_id <= (id == 2 ? FEW_OPTIONS + 1 : WIDE_GROUPS + 1);
             class_id++)
            inventory(scene, id, class_id, 1);
}

/* That many groups have a choice of two providers; the others have none. */
static void ask_too_much(int with_choice)
{
    struct scene scene;
    struct ac_summaries summaries;
    unsigned emitted = 0;
    open_scene(&scene, two_trees);
    make_groups(&scene, WIDE_GROUPS, 1);
    for (int i = 0; i < WIDE_GROUPS; i++)
        add_resource(&scene.request.groups[i],
                     arena_printf(scene.arena, "C%d", FEW_OPTIONS + 2 - with_choice + i), 1);
    scene.request.randomize = true;
    scene.request.limit = INT32_MAX;
    assert_int_equal(ask(&scene, emit_nothing, &emitted, &summaries), AC_TOO_LARGE);
    assert_int_equal(emitted, 0);
    close_scene(&scene);
}

static void too_large_to_be_kept(void **state)
{
    (void)state;
    ask_too_much(FEW_OPTIONS);
    ask_too_much(FEW_OPTIONS + 1);
}

static void make_hosts(struct scene *scene, bool is_one_tree)
{
    static const char *const TRAITS[] = {"MISC_SHARES_VIA_AGGREGATE", NULL};
    static const char *const AGGREGATES[] = {"1", NULL};
    names(scene, CHANGE_TRAIT_INSERT, TRAITS);
    names(scene, CHANGE_AGGREGATE_INSERT, AGGREGATES);
    for (int64_t id = 1; id <= CLASSES + 1; id++)
        change_append(&scene->changes, CHANGE_CLASS_INSERT)->catalog =
            (struct change_catalog){id, arena_printf(scene->arena, "C%d", (int)id)};
    for (int64_t id = 1; id <= HOSTS + 1; id++)
        provider(scene, id, is_one_tree && id > 1 ? 1 : 0);
    change_append(&scene->changes, CHANGE_LOAD_PROVIDERS_END);
    for (int64_t id = 1; id <= HOSTS + 1; id++) {
        for (int64_t class_id = 1; id <= HOSTS && class_id <= CLASSES; class_id++)
            inventory(scene, id, class_id, 100);
        link_to(scene, CHANGE_PROVIDER_AGGREGATE_INSERT, id, 1);
    }
    inventory(scene, HOSTS + 1, CLASSES + 1, 100000);
    link_to(scene, CHANGE_PROVIDER_TRAIT_INSERT, HOSTS + 1, 1);
}

/* Hosts with every class, and the last one shares one more with all of them. */
static void hosts(struct scene *scene)
{
    make_hosts(scene, false);
}

static void one_tree_of_hosts(struct scene *scene)
{
    make_hosts(scene, true);
}

/* Both groups on the same host: class n is requested n and 1 times. */
static void emit_sums(void *cls, const struct ac_candidate *candidate)
{
    struct found *found = cls;
    bool is_there[CLASSES + 1] = {false};
    if (candidate->mappings[0].slot.v != candidate->mappings[1].slot.v) {
        assert_int_equal(candidate->entry_count, 2 * CLASSES);
        return;
    }
    found->count++;
    assert_int_equal(candidate->entry_count, CLASSES);
    for (uint32_t i = 0; i < candidate->entry_count; i++) {
        const struct ac_entry *entry = &candidate->entries[i];
        const struct catalog_row *row =
            catalog_row_at(&found->scene->version->classes, entry->class_no.v);
        assert_int_equal(entry->slot.v, candidate->mappings[0].slot.v);
        assert_int_equal(entry->amount, row->id + 1);
        assert_false(is_there[row->id]);
        is_there[row->id] = true;
    }
}

static void many_classes_are_added(void **state)
{
    (void)state;
    struct scene scene;
    struct ac_summaries summaries;
    open_scene(&scene, hosts);
    struct found found = {.scene = &scene};
    make_groups(&scene, 2, CLASSES);
    for (int64_t class_id = 1; class_id <= CLASSES; class_id++) {
        struct slice name = arena_printf(scene.arena, "C%d", (int)class_id);
        add_resource(&scene.request.groups[0], name, class_id);
        add_resource(&scene.request.groups[1], name, 1);
    }
    assert_int_equal(ask(&scene, emit_sums, &found, &summaries), AC_DONE);
    assert_int_equal(found.count, HOSTS);
    close_scene(&scene);
}

/* Group n requests n of class n, each of a host of its own. */
static void emit_apart(void *cls, const struct ac_candidate *candidate)
{
    struct found *found = cls;
    bool is_used[HOSTS + 1] = {false};
    bool is_there[CLASSES + 1] = {false};
    found->count++;
    assert_int_equal(candidate->entry_count, CLASSES);
    for (uint32_t i = 0; i < candidate->entry_count; i++) {
        const struct ac_entry *entry = &candidate->entries[i];
        int64_t id = catalog_row_at(&found->scene->version->classes, entry->class_no.v)->id;
        assert_int_equal(entry->amount, id);
        assert_false(is_there[id] || is_used[entry->slot.v]);
        is_there[id] = is_used[entry->slot.v] = true;
        assert_int_equal(candidate->mappings[id - 1].slot.v, entry->slot.v);
    }
}

static void many_hosts_are_kept_apart(void **state)
{
    (void)state;
    struct scene scene;
    struct ac_summaries summaries;
    open_scene(&scene, one_tree_of_hosts);
    struct found found = {.scene = &scene};
    make_groups(&scene, CLASSES, 1);
    for (int64_t class_id = 1; class_id <= CLASSES; class_id++)
        add_resource(&scene.request.groups[class_id - 1],
                     arena_printf(scene.arena, "C%d", (int)class_id), class_id);
    scene.request.isolate = true;
    scene.request.limit = 50;
    assert_int_equal(ask(&scene, emit_apart, &found, &summaries), AC_DONE);
    assert_int_equal(found.count, 50);
    close_scene(&scene);
}

/* The sharing provider is used again and again, with many others in between. */
static void summaries_have_each_once(void **state)
{
    (void)state;
    struct scene scene;
    for (unsigned random = 0; random < 2; random++) {
        struct ac_summaries summaries;
        unsigned emitted = 0;
        open_scene(&scene, hosts);
        struct ac_group *asked = group(&scene, "", "C1", 1);
        add_resource(asked, arena_printf(scene.arena, "C%d", CLASSES + 1), 1);
        scene.request.nested_aware = false;
        scene.request.randomize = random;
        scene.request.limit = random ? HOSTS : -1;
        assert_int_equal(ask(&scene, emit_nothing, &emitted, &summaries), AC_DONE);
        assert_int_equal(emitted, HOSTS);
        assert_false(summaries.are_roots);
        assert_int_equal(summaries.count, HOSTS + 1);
        for (uint32_t i = 0; i < summaries.count; i++)
            assert_int_equal(summaries.slots[i], i);
        close_scene(&scene);
    }
}

/* A few groups more than are compared in pairs; in the table of their classes, the last belongs
 * where the first is. Each host serves all of them. */
static void classes_with_the_same_place(void **state)
{
    enum { GROUPS = 13, PLACES = 32 };
    (void)state;
    struct scene scene;
    struct ac_summaries summaries;
    for (unsigned same = 0; same < 2; same++) {
        unsigned emitted = 0;
        open_scene(&scene, hosts);
        make_groups(&scene, GROUPS, 1);
        for (int i = 0; i < GROUPS; i++) {
            int class_id = i + 1 < GROUPS ? i + 1 : same ? 1 : 1 + PLACES;
            add_resource(&scene.request.groups[i], arena_printf(scene.arena, "C%d", class_id), 51);
        }
        assert_int_equal(ask(&scene, emit_nothing, &emitted, &summaries), AC_DONE);
        assert_int_equal(emitted, same ? 0 : HOSTS); /* a host has 100 of each class */
        close_scene(&scene);
    }
}

/* Nothing is allocated of any provider, so there is no candidate. */
static void no_resources(void **state)
{
    (void)state;
    struct scene scene;
    struct ac_summaries summaries;
    unsigned emitted = 0;
    open_scene(&scene, cloud);
    require(&scene, group(&scene, "", NULL, 0), "X");
    assert_int_equal(ask(&scene, emit_nothing, &emitted, &summaries), AC_DONE);
    assert_int_equal(emitted, 0);
    assert_int_equal(summaries.count, 0);
    close_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_made_again),        cmocka_unit_test(too_large_to_be_kept),
        cmocka_unit_test(many_classes_are_added),      cmocka_unit_test(summaries_have_each_once),
        cmocka_unit_test(many_hosts_are_kept_apart),   cmocka_unit_test(no_resources),
        cmocka_unit_test(classes_with_the_same_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
