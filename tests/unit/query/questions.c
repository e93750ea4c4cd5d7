/* Random questions. */
#include "questions.h"

enum { GROUPS_MAX = 4 };

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

struct ac_request questions_any(struct cloud *cloud)
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

/* One of several similar groups: of the same class, and mostly with the same amount as the others.
 */
static struct ac_group crowd_group(struct cloud *cloud, unsigned number, unsigned class_no,
                                   int64_t amount)
{
    struct arena *arena = cloud->arena;
    struct ac_group group = {.suffix = cloud_text(arena, "_", number)};
    group.resources = arena_array(arena, 2, sizeof(struct ac_resource));
    group.resources[group.resource_count++] =
        (struct ac_resource){cloud_text(arena, "C", class_no), amount};
    return group;
}

static void vary(struct cloud *cloud, struct ac_group *group, unsigned class_no)
{
    struct arena *arena = cloud->arena;
    if (cloud_below(3) == 0) {
        group->required_count = 1;
        group->required = sets_of(arena, "T", CLOUD_TRAITS, 1);
    }
    if (cloud_below(6) == 0)
        group->forbidden = names_of(arena, "T", CLOUD_TRAITS, 1);
    if (cloud_below(8) == 0) {
        group->member_of_count = 1;
        group->member_of = sets_of(arena, "A", CLOUD_AGGREGATES, 1);
    }
    if (cloud_below(10) == 0)
        group->in_tree = cloud_text(arena, "P", 1 + cloud_below(cloud->providers));
    if (cloud_below(5) == 0)
        group->resources[0].amount = 1 + cloud_below(3);
    if (cloud_below(5) == 0)
        group->resources[group->resource_count++] = (struct ac_resource){
            cloud_text(arena, "C", class_no % CLOUD_CLASSES + 1), 1 + cloud_below(2)};
    if (cloud_below(12) == 0 && group->required_count + group->member_of_count > 0)
        group->resource_count = 0;
}

static struct ac_names some_suffixes(struct arena *arena, unsigned groups)
{
    struct ac_names names = {arena_array(arena, groups, sizeof(struct slice)), 0};
    for (unsigned i = 1; i <= groups; i++)
        if (cloud_below(2) == 0)
            names.names[names.count++] = cloud_text(arena, "_", i);
    if (names.count == 0)
        names.names[names.count++] = cloud_text(arena, "_", 1 + cloud_below(groups));
    return names;
}

struct ac_request questions_crowd(struct cloud *cloud, unsigned most)
{
    struct arena *arena = cloud->arena;
    struct ac_request request = {.limit = -1, .most = -1, .nested_aware = cloud_below(6) > 0};
    unsigned granular = 2 + cloud_below(most - 1);
    unsigned class_no = 1 + cloud_below(CLOUD_CLASSES);
    int64_t amount = 1 + cloud_below(3);
    bool varies = cloud_below(3) > 0;
    request.groups = arena_array(arena, most + 1, sizeof(struct ac_group));
    request.isolate = cloud_below(2) == 0;
    for (unsigned i = 1; i <= granular; i++) {
        struct ac_group *group = &request.groups[request.group_count++];
        *group = crowd_group(cloud, i, class_no, amount);
        if (varies)
            vary(cloud, group, class_no);
    }
    if (granular < most && cloud_below(3) == 0) {
        request.groups[request.group_count] = crowd_group(cloud, 0, class_no, amount);
        request.groups[request.group_count++].suffix = SLICE_LIT("");
    }
    request.same_subtree_count = cloud_below(4) == 0 ? 1 + cloud_below(2) : 0;
    request.same_subtrees = arena_array(arena, request.same_subtree_count, sizeof(struct ac_names));
    for (uint32_t i = 0; i < request.same_subtree_count; i++)
        request.same_subtrees[i] = some_suffixes(arena, granular);
    if (cloud_below(10) == 0)
        request.root_required = names_of(arena, "T", CLOUD_TRAITS, 1);
    return request;
}
