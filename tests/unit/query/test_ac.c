/* The search for candidates against a brute-force oracle: every combination of every provider, each
 * judged by the rules of the candidates spec as they are written there. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "cloud.h"
#include "query/ac_search.h"
#include "unit.h"

enum { GROUPS_MAX = 4, LEVELS_MAX = 6, FOUND_MAX = 20000 };

/* Candidates as canonical texts, sorted. */
struct found {
    char **texts;
    size_t count;
};

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void found_add(struct found *found, char *text)
{
    assert_true(found->count < FOUND_MAX);
    found->texts[found->count++] = text;
}

static void found_sort(struct found *found, bool unique)
{
    qsort(found->texts, found->count, sizeof(char *), compare_texts);
    size_t kept = 0;
    for (size_t i = 0; i < found->count && unique; i++) {
        if (kept > 0 && strcmp(found->texts[kept - 1], found->texts[i]) == 0)
            free(found->texts[i]);
        else
            found->texts[kept++] = found->texts[i];
    }
    if (unique)
        found->count = kept;
}

static void found_free(struct found *found)
{
    for (size_t i = 0; i < found->count; i++)
        free(found->texts[i]);
    free(found->texts);
}

static struct found found_create(void)
{
    return (struct found){calloc(FOUND_MAX, sizeof(char *)), 0};
}

/* Amounts by slot and class, and groups by slot, as one text. */
static char *canonical(const struct version *version, int64_t (*amounts)[CLOUD_CLASSES],
                       bool (*mapped)[GROUPS_MAX], uint32_t groups)
{
    struct buf text = {0};
    for (uint32_t slot = 0; slot < version->slot_limit; slot++)
        for (unsigned c = 0; c < CLOUD_CLASSES; c++)
            if (amounts[slot][c] > 0)
                buf_printf(&text, "%u.%u=%lld ", slot, c, (long long)amounts[slot][c]);
    for (uint32_t g = 0; g < groups; g++)
        for (uint32_t slot = 0; slot < version->slot_limit; slot++)
            if (mapped[slot][g])
                buf_printf(&text, "g%u:%u ", g, slot);
    buf_append_char(&text, '\0');
    return text.data;
}

/* --- the oracle --- */

struct oracle {
    const struct version *version;
    const struct ac_request *request;
    struct found *found;
    uint32_t levels;
    uint32_t level_group[LEVELS_MAX];
    const struct ac_resource *level_resource[LEVELS_MAX]; /* NULL: the whole granular group */
    uint32_t chosen[LEVELS_MAX];
    uint32_t anchor;
};

static const struct provider *at(const struct oracle *o, uint32_t slot)
{
    return version_place(o->version, (struct slot_no){slot})->provider;
}

static uint32_t root_slot(const struct oracle *o, uint32_t slot)
{
    return version_slot(o->version, at(o, slot)->root).v;
}

static bool has(const struct catalog *catalog, const struct name_set *set, struct slice name)
{
    const struct catalog_row *row = catalog_find(catalog, name);
    return row != NULL && name_set_has(set, row->number);
}

static bool has_trait(const struct oracle *o, uint32_t slot, struct slice name)
{
    return has(&o->version->traits, at(o, slot)->traits, name);
}

static bool in_aggregate(const struct oracle *o, uint32_t slot, struct slice name)
{
    return has(&o->version->aggregates, at(o, slot)->aggregates, name);
}

static bool fits(const struct oracle *o, uint32_t slot, const struct ac_resource *resource)
{
    const struct catalog_row *row = catalog_find(&o->version->classes, resource->class_name);
    const struct provider_inventory *inventory =
        provider_inventory_of(at(o, slot), (struct class_no){row->number});
    return inventory != NULL && capacity_unit_fits(&inventory->figures, resource->amount) &&
           inventory->used + resource->amount <= capacity_of(&inventory->figures);
}

static bool member_of_all(const struct oracle *o, uint32_t slot, const struct ac_group *group)
{
    for (uint32_t i = 0; i < group->member_of_count; i++) {
        bool any = false;
        for (uint32_t j = 0; j < group->member_of[i].count; j++)
            any = any || in_aggregate(o, slot, group->member_of[i].names[j]);
        if (!any)
            return false;
    }
    return true;
}

static bool in_forbidden(const struct oracle *o, uint32_t slot, const struct ac_group *group)
{
    for (uint32_t i = 0; i < group->forbidden_aggregates.count; i++)
        if (in_aggregate(o, slot, group->forbidden_aggregates.names[i]))
            return true;
    return false;
}

static bool has_forbidden_trait(const struct oracle *o, uint32_t slot, const struct ac_group *group)
{
    for (uint32_t i = 0; i < group->forbidden.count; i++)
        if (has_trait(o, slot, group->forbidden.names[i]))
            return true;
    return false;
}

static bool shares_with_anchor(const struct oracle *o, uint32_t slot)
{
    if (!has_trait(o, slot, SLICE_LIT("MISC_SHARES_VIA_AGGREGATE")))
        return false;
    const struct name_set *mine = at(o, slot)->aggregates;
    for (uint32_t other = 0; other < o->version->slot_limit; other++) {
        if (at(o, other) == NULL || root_slot(o, other) != o->anchor)
            continue;
        for (uint32_t i = 0; i < mine->count; i++)
            if (name_set_has(at(o, other)->aggregates, mine->numbers[i]))
                return true;
    }
    return false;
}

static bool tree_allows(const struct oracle *o, uint32_t slot, const struct ac_group *group)
{
    if (group->in_tree.data == NULL || group->resource_count == 0)
        return true;
    const struct provider *named = version_provider_by_uuid(o->version, group->in_tree);
    return root_slot(o, slot) == version_slot(o->version, named->root).v;
}

static bool is_option(const struct oracle *o, uint32_t level, uint32_t slot)
{
    const struct ac_group *group = &o->request->groups[o->level_group[level]];
    bool own = root_slot(o, slot) == o->anchor;
    if (has_forbidden_trait(o, slot, group) || !tree_allows(o, slot, group))
        return false;
    if (!own && !shares_with_anchor(o, slot))
        return false;
    if (o->level_resource[level] != NULL) { /* the unsuffixed group */
        if (!fits(o, slot, o->level_resource[level]))
            return false;
        if (in_forbidden(o, slot, group) || in_forbidden(o, o->anchor, group))
            return false;
        if (!own)
            return group->in_tree.data == NULL && member_of_all(o, slot, group);
        return member_of_all(o, slot, group) || member_of_all(o, o->anchor, group);
    }
    for (uint32_t i = 0; i < group->resource_count; i++)
        if (!fits(o, slot, &group->resources[i]))
            return false;
    for (uint32_t i = 0; i < group->required_count; i++) {
        bool any = false;
        for (uint32_t j = 0; j < group->required[i].count; j++)
            any = any || has_trait(o, slot, group->required[i].names[j]);
        if (!any)
            return false;
    }
    return member_of_all(o, slot, group) && !in_forbidden(o, slot, group);
}

static bool is_granular(const struct oracle *o, uint32_t level)
{
    return o->level_resource[level] == NULL;
}

static bool traits_together(const struct oracle *o)
{
    for (uint32_t g = 0; g < o->request->group_count; g++) {
        const struct ac_group *group = &o->request->groups[g];
        for (uint32_t i = 0; group->suffix.len == 0 && i < group->required_count; i++) {
            bool met = false;
            for (uint32_t l = 0; l < o->levels; l++)
                for (uint32_t j = 0; o->level_group[l] == g && j < group->required[i].count; j++)
                    met = met || has_trait(o, o->chosen[l], group->required[i].names[j]);
            if (!met)
                return false;
        }
    }
    return true;
}

static bool is_ancestor_or_self(const struct oracle *o, uint32_t above, uint32_t slot)
{
    const struct provider *p = at(o, slot);
    while (p->no.v != at(o, above)->no.v) {
        if (p->parent.v == NUMBER_NONE)
            return false;
        p = version_provider(o->version, p->parent);
    }
    return true;
}

static bool subtrees_together(const struct oracle *o)
{
    for (uint32_t s = 0; s < o->request->same_subtree_count; s++) {
        const struct ac_names *suffixes = &o->request->same_subtrees[s];
        uint32_t slots[LEVELS_MAX];
        uint32_t count = 0;
        for (uint32_t l = 0; l < o->levels; l++)
            for (uint32_t i = 0; i < suffixes->count; i++)
                if (slice_equal(o->request->groups[o->level_group[l]].suffix, suffixes->names[i]))
                    slots[count++] = o->chosen[l];
        bool together = false;
        for (uint32_t i = 0; i < count; i++) {
            bool above_all = true;
            for (uint32_t j = 0; j < count; j++)
                above_all = above_all && is_ancestor_or_self(o, slots[i], slots[j]);
            together = together || above_all;
        }
        if (!together)
            return false;
    }
    return true;
}

static void judge(struct oracle *o)
{
    uint32_t limit = o->version->slot_limit;
    int64_t(*amounts)[CLOUD_CLASSES] = calloc(limit, sizeof(*amounts));
    bool(*mapped)[GROUPS_MAX] = calloc(limit, sizeof(*mapped));
    bool *uses = calloc(limit, sizeof(*uses));
    bool good = traits_together(o) && subtrees_together(o);
    for (uint32_t l = 0; l < o->levels; l++) {
        const struct ac_group *group = &o->request->groups[o->level_group[l]];
        mapped[o->chosen[l]][o->level_group[l]] = true;
        for (uint32_t i = 0; i < group->resource_count; i++) {
            const struct ac_resource *resource = &group->resources[i];
            if (o->level_resource[l] != NULL && o->level_resource[l] != resource)
                continue;
            uint32_t c = catalog_find(&o->version->classes, resource->class_name)->number;
            amounts[o->chosen[l]][c] += resource->amount;
            uses[o->chosen[l]] = true;
        }
        for (uint32_t m = 0; m < l; m++)
            if (o->request->isolate && is_granular(o, l) && is_granular(o, m) &&
                o->chosen[l] == o->chosen[m])
                good = false;
    }
    for (uint32_t slot = 0; slot < limit; slot++) {
        for (unsigned c = 0; c < CLOUD_CLASSES; c++) {
            if (amounts[slot][c] == 0)
                continue;
            const struct provider_inventory *inventory =
                provider_inventory_of(at(o, slot), (struct class_no){c});
            if (inventory->used + amounts[slot][c] > capacity_of(&inventory->figures) ||
                amounts[slot][c] > inventory->figures.max_unit)
                good = false;
        }
        for (uint32_t other = 0; other < slot; other++)
            if (!o->request->nested_aware && uses[slot] && uses[other] &&
                root_slot(o, slot) == root_slot(o, other))
                good = false;
    }
    if (good)
        found_add(o->found, canonical(o->version, amounts, mapped, o->request->group_count));
    free(amounts);
    free(mapped);
    free(uses);
}

static void try_levels(struct oracle *o, uint32_t level)
{
    if (level == o->levels) {
        judge(o);
        return;
    }
    for (uint32_t slot = 0; slot < o->version->slot_limit; slot++) {
        if (at(o, slot) == NULL || !is_option(o, level, slot))
            continue;
        o->chosen[level] = slot;
        try_levels(o, level + 1);
    }
}

static bool anchor_allowed(const struct oracle *o)
{
    for (uint32_t i = 0; i < o->request->root_required.count; i++)
        if (!has_trait(o, o->anchor, o->request->root_required.names[i]))
            return false;
    for (uint32_t i = 0; i < o->request->root_forbidden.count; i++)
        if (has_trait(o, o->anchor, o->request->root_forbidden.names[i]))
            return false;
    return true;
}

static void ask_oracle(const struct version *version, const struct ac_request *request,
                       struct found *found)
{
    struct oracle o = {.version = version, .request = request, .found = found};
    for (uint32_t g = 0; g < request->group_count; g++) {
        const struct ac_group *group = &request->groups[g];
        if (group->resource_count == 0 && group->required_count + group->member_of_count == 0)
            return; /* item 5 */
        for (uint32_t i = 0; group->suffix.len == 0 && i < group->resource_count; i++) {
            o.level_group[o.levels] = g;
            o.level_resource[o.levels++] = &group->resources[i];
        }
        if (group->suffix.len > 0) {
            o.level_group[o.levels] = g;
            o.level_resource[o.levels++] = NULL;
        }
    }
    for (o.anchor = 0; o.anchor < version->slot_limit; o.anchor++) {
        const struct place *place = version_place(version, (struct slot_no){o.anchor});
        if (place->provider != NULL && place->root == o.anchor && anchor_allowed(&o))
            try_levels(&o, 0);
    }
    found_sort(found, true);
}

/* --- random questions --- */

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
    request.groups = arena_array(arena, GROUPS_MAX, sizeof(struct ac_group));
    unsigned granular = cloud_below(4);
    if (granular == 0 || cloud_below(2) == 0)
        request.groups[request.group_count++] = random_group(cloud, 0, false);
    struct ac_names suffixes = {arena_array(arena, GROUPS_MAX, sizeof(struct slice)), 0};
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

/* --- asking the real thing --- */

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
    bool(*mapped)[GROUPS_MAX] = calloc(limit, sizeof(*mapped));
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
              canonical(collector->version, amounts, mapped, collector->request->group_count));
    free(amounts);
    free(mapped);
}

static struct found ask(struct cloud *cloud, const struct ac_request *request,
                        struct ac_summaries *summaries)
{
    struct collector collector = {cloud->version, request, found_create()};
    struct budget budget = {.left = INT64_MAX / 2};
    struct err err = {.arena = cloud->arena};
    assert_int_equal(ac_search(cloud->version, request, cloud->arena, &budget, collect, &collector,
                               summaries, &err),
                     AC_DONE);
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

static bool is_among(const struct found *all, const char *text)
{
    return bsearch(&text, all->texts, all->count, sizeof(char *), compare_texts) != NULL;
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
            assert_true(is_among(all, some.texts[i]));
        found_free(&some);
    }
}

static void run(unsigned seed, unsigned nested, unsigned sharing, size_t *nonempty)
{
    srandom(seed);
    struct cloud cloud = cloud_create(3 + cloud_below(7), nested, sharing);
    for (unsigned i = 0; i < 25; i++) {
        struct ac_request request = random_request(&cloud);
        struct found want = found_create();
        ask_oracle(cloud.version, &request, &want);
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
        for (unsigned seed = 1; seed <= 60; seed++)
            run(seed * 4 + kind, KINDS[kind].nested, KINDS[kind].sharing, &nonempty);
        print_message("nested %u, sharing %u: %zu of 1500 questions had candidates\n",
                      KINDS[kind].nested, KINDS[kind].sharing, nonempty);
        assert_true(nonempty > 150);
    }
}

/* A question stops when its budget is gone. */
static void budget_ends(void **state)
{
    (void)state;
    srandom(1);
    struct cloud cloud = cloud_create(3, 0, 0);
    struct budget budget = {.left = 100};
    struct ac_request request = random_request(&cloud);
    struct err err = {.arena = cloud.arena};
    struct ac_summaries summaries;
    struct collector collector = {cloud.version, &request, found_create()};
    budget.left = 0;
    assert_int_equal(ac_search(cloud.version, &request, cloud.arena, &budget, collect, &collector,
                               &summaries, &err),
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
    assert_int_equal(
        ac_search(cloud.version, &request, cloud.arena, &budget, NULL, NULL, &summaries, &err),
        AC_REFUSED);
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
