/* Checks that involve several parameters of a request for candidates: traits that are both required
 * and forbidden, groups without resources, suffixes that no group has. Pure; any thread. */
#include "placement/api/candidates_checks.h"

#include <stdlib.h>

#include "api/text/name_table.h"
#include "api/text/python_repr.h"
#include "base/arena.h"

static bool candidates_checks_refuse(struct api_request *request, const char *code,
                                     struct buf *text)
{
    err_set_text(&request->err, 400, code, arena_copy(request->arena, buf_slice(text)));
    buf_free(text);
    return false;
}

/* Names in the order of the text, separated by ", ". */
static void append_joined(struct buf *text, const struct ac_names *names)
{
    for (uint32_t i = 0; i < names->count; i++) {
        if (i > 0)
            buf_append_lit(text, ", ");
        buf_append_slice(text, names->names[i]);
    }
}

/* As Python prints a list of such texts: ['_A', '_B']. */
static void append_list(struct buf *text, const struct ac_names *names)
{
    buf_append_char(text, '[');
    for (uint32_t i = 0; i < names->count; i++) {
        if (i > 0)
            buf_append_lit(text, ", ");
        python_repr_string(text, names->names[i]);
    }
    buf_append_char(text, ']');
}

static struct ac_names names_create(struct api_request *request, size_t capacity)
{
    return (struct ac_names){arena_array(request->arena, capacity, sizeof(struct slice)), 0};
}

static struct name_table table_of(struct api_request *request, const struct ac_names *names)
{
    struct name_table table = name_table_create(request->arena, names->count);
    for (uint32_t i = 0; i < names->count; i++)
        name_table_add(&table, names->names[i]);
    return table;
}

bool candidates_check_root_traits(struct api_request *request, const struct ac_request *requested)
{
    struct ac_names conflicts = names_create(request, requested->root_required.count);
    struct name_table forbidden = table_of(request, &requested->root_forbidden);
    struct name_table reported = name_table_create(request->arena, requested->root_required.count);
    for (uint32_t i = 0; i < requested->root_required.count; i++)
        if (name_table_has(&forbidden, requested->root_required.names[i]) &&
            name_table_add(&reported, requested->root_required.names[i]))
            conflicts.names[conflicts.count++] = requested->root_required.names[i];
    if (conflicts.count == 0)
        return true;
    struct buf text = {0};
    buf_append_lit(&text, "Conflicting required and forbidden traits found in root_required: ");
    append_joined(&text, &conflicts);
    return candidates_checks_refuse(request, "placement.query.bad_value", &text);
}

/* From 1.36: groups without resources must be named in same_subtree. */
static bool check_suffixes(struct api_request *request, const struct ac_request *requested)
{
    struct ac_names all = names_create(request, requested->group_count);
    struct ac_names orphans = names_create(request, requested->group_count);
    size_t most = 0;
    for (uint32_t i = 0; i < requested->same_subtree_count; i++)
        most += requested->same_subtrees[i].count;
    struct name_table in_subtrees = name_table_create(request->arena, most);
    for (uint32_t i = 0; i < requested->same_subtree_count; i++)
        for (uint32_t j = 0; j < requested->same_subtrees[i].count; j++)
            name_table_add(&in_subtrees, requested->same_subtrees[i].names[j]);
    uint32_t resourceless = 0;
    for (uint32_t i = 0; i < requested->group_count; i++) {
        const struct ac_group *group = &requested->groups[i];
        all.names[all.count++] = group->suffix;
        resourceless += group->resource_count == 0;
        if (group->resource_count == 0 && !name_table_has(&in_subtrees, group->suffix))
            orphans.names[orphans.count++] = group->suffix;
    }
    if (resourceless == requested->group_count)
        return err_set(&request->err, 400, "placement.query.missing_value",
                       "There must be at least one resources or resources[$S] parameter.");
    struct buf text = {0};
    if (orphans.count > 0) {
        buf_append_lit(&text, "Resourceless suffixed group request should be specified in "
                              "`same_subtree` query param: bad group(s) - ");
        append_list(&text, &orphans);
        buf_append_char(&text, '.');
        return candidates_checks_refuse(request, "placement.query.bad_value", &text);
    }
    struct ac_names unknown = names_create(request, most);
    struct name_table reported = name_table_create(request->arena, most);
    struct name_table groups = table_of(request, &all);
    for (uint32_t i = 0; i < requested->same_subtree_count; i++)
        for (uint32_t j = 0; j < requested->same_subtrees[i].count; j++)
            if (!name_table_has(&groups, requested->same_subtrees[i].names[j]) &&
                name_table_add(&reported, requested->same_subtrees[i].names[j]))
                unknown.names[unknown.count++] = requested->same_subtrees[i].names[j];
    if (unknown.count == 0)
        return true;
    buf_append_lit(&text, "Real suffixes should be specified in `same_subtree`: ");
    append_list(&text, &unknown);
    buf_append_lit(&text, " not found in ");
    append_list(&text, &all);
    buf_append_char(&text, '.');
    return candidates_checks_refuse(request, "placement.query.bad_value", &text);
}

/* Collects "required<suffix>" for the groups without resources for which `belongs` is true. */
static bool refuse_orphans(struct api_request *request, const struct ac_request *requested,
                           const char *parameter, const char *words,
                           bool (*belongs)(const struct ac_group *group))
{
    struct buf text = {0};
    buf_append_slice(&text, slice_of(words));
    uint32_t count = 0;
    for (uint32_t i = 0; i < requested->group_count; i++) {
        const struct ac_group *group = &requested->groups[i];
        if (group->resource_count > 0 || !belongs(group))
            continue;
        if (count++ > 0)
            buf_append_lit(&text, ", ");
        buf_append_slice(&text, slice_of(parameter));
        buf_append_slice(&text, group->suffix);
    }
    if (count > 0)
        return candidates_checks_refuse(request, NULL, &text);
    buf_free(&text);
    return true;
}

static bool has_traits(const struct ac_group *group)
{
    return group->required_count > 0;
}

static bool has_aggregates(const struct ac_group *group)
{
    return group->member_of_count > 0 || group->forbidden_aggregates.count > 0;
}

/* Before 1.36: every group must have resources. */
static bool check_orphans(struct api_request *request, const struct ac_request *requested)
{
    if (!refuse_orphans(request, requested, "required",
                        "All traits parameters must be associated with resources.  Found the "
                        "following orphaned traits keys: ",
                        has_traits) ||
        !refuse_orphans(request, requested, "member_of",
                        "All member_of parameters must be associated with resources. Found the "
                        "following orphaned member_of keys: ",
                        has_aggregates))
        return false;
    for (uint32_t i = 0; i < requested->group_count; i++)
        if (requested->groups[i].resource_count == 0)
            return err_set(&request->err, 400, NULL, "All request groups must specify resources.");
    if (requested->group_count == 0)
        return err_set(&request->err, 400, NULL,
                       "At least one request group (`resources` or `resources{$S}`) is required.");
    return true;
}

/* From 1.22: a group must not require what it forbids. */
static bool check_forbidden(struct api_request *request, const struct ac_request *requested)
{
    size_t most = 0;
    for (uint32_t i = 0; i < requested->group_count; i++)
        most += requested->groups[i].required_count;
    struct ac_names conflicts = names_create(request, most);
    for (uint32_t i = 0; i < requested->group_count; i++) {
        const struct ac_group *group = &requested->groups[i];
        if (group->forbidden.count == 0)
            continue;
        struct name_table forbidden = table_of(request, &group->forbidden);
        for (uint32_t j = 0; j < group->required_count; j++) {
            struct ac_names *any = &group->required[j];
            uint32_t met = 0;
            for (uint32_t k = 0; k < any->count; k++)
                met += !name_table_has(&forbidden, any->names[k]);
            if (met > 0)
                continue;
            qsort(any->names, any->count, sizeof(struct slice), slice_compare);
            struct buf text = {0};
            buf_append_lit(&text, "required");
            buf_append_slice(&text, group->suffix);
            buf_append_lit(&text, ": (");
            append_joined(&text, any);
            buf_append_char(&text, ')');
            conflicts.names[conflicts.count++] = arena_copy(request->arena, buf_slice(&text));
            buf_free(&text);
        }
    }
    if (conflicts.count == 0)
        return true;
    qsort(conflicts.names, conflicts.count, sizeof(struct slice), slice_compare);
    struct buf text = {0};
    buf_append_lit(&text, "Conflicting required and forbidden traits found in the following traits "
                          "keys: ");
    append_joined(&text, &conflicts);
    return candidates_checks_refuse(request, NULL, &text);
}

static bool check_group_policy(struct api_request *request, const struct ac_request *requested,
                               bool has_group_policy)
{
    uint32_t granular = 0;
    for (uint32_t i = 0; i < requested->group_count; i++)
        granular += requested->groups[i].suffix.len > 0;
    if (granular < 2 || has_group_policy)
        return true;
    return err_set(&request->err, 400, NULL,
                   "The \"group_policy\" parameter is required when specifying more than one "
                   "\"resources{N}\" parameter.");
}

bool candidates_check_groups(struct api_request *request, const struct ac_request *requested,
                             bool has_group_policy)
{
    bool suffixes = request->minor >= 36 ? check_suffixes(request, requested)
                                         : check_orphans(request, requested);
    if (!suffixes)
        return false;
    if (request->minor >= 22 && !check_forbidden(request, requested))
        return false;
    return check_group_policy(request, requested, has_group_policy);
}
