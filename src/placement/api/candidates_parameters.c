/* Turns the query string into a struct ac_request, with every check in the order of the Python
 * service: schema, parameters of the whole request, groups, then checks that concern several groups
 * (candidates_checks.c). Pure; any thread. */
#include "placement/api/candidates_parameters.h"

#include "api/schema/body_schema.h"
#include "api/schema/tables.h"
#include "api/text/name_table.h"
#include "api/text/python_int.h"
#include "api/text/query_string.h"
#include "base/arena.h"
#include "placement/api/candidates_checks.h"
#include "placement/api/candidates_reason.h"
#include "placement/api/group_parameters.h"
#include "placement/api/placement_request.h"

static const struct schema *schema_for(unsigned minor)
{
    static const struct {
        unsigned minor;
        const struct schema *schema;
    } SCHEMAS[] = {
        {36, &SCHEMA_CANDIDATES_QUERY_1_36}, {35, &SCHEMA_CANDIDATES_QUERY_1_35},
        {33, &SCHEMA_CANDIDATES_QUERY_1_33}, {31, &SCHEMA_CANDIDATES_QUERY_1_31},
        {25, &SCHEMA_CANDIDATES_QUERY_1_25}, {21, &SCHEMA_CANDIDATES_QUERY_1_21},
        {17, &SCHEMA_CANDIDATES_QUERY_1_17}, {16, &SCHEMA_CANDIDATES_QUERY_1_16},
        {10, &SCHEMA_CANDIDATES_QUERY_1_10},
    };
    unsigned i = 0;
    while (minor < SCHEMAS[i].minor)
        i++;
    return SCHEMAS[i].schema;
}

static bool read_root_required(struct api_request *request, const struct query_string *query,
                               struct ac_request *out)
{
    struct slice value = query_string_first(query, SLICE_LIT("root_required"));
    unsigned count = 0;
    for (size_t i = 0; i < query->count; i++)
        count += slice_equal(query->pairs[i].name, SLICE_LIT("root_required"));
    if (count == 0)
        return true;
    if (count > 1)
        return err_set(&request->err, 400, "placement.query.duplicate_key",
                       "Query parameter 'root_required' may be specified only once.");
    return parameter_traits(request, value, &out->root_required, &out->root_forbidden) &&
           candidates_check_root_traits(request, out);
}

/* Parses "A, B" into distinct suffixes. */
static bool read_subtree(struct api_request *request, struct slice value, struct ac_names *names)
{
    size_t most = 1;
    for (size_t i = 0; i < value.len; i++)
        most += value.data[i] == ',';
    *names = (struct ac_names){arena_array(request->arena, most, sizeof(struct slice)), 0};
    struct name_table seen = name_table_create(request->arena, most);
    for (size_t i = 0; i < most; i++) {
        struct slice suffix = python_strip(slice_cut(&value, ','));
        if (suffix.len == 0)
            return err_set(&request->err, 400, "placement.query.bad_value",
                           "Empty string (unsuffixed group) can not be specified in "
                           "`same_subtree` ");
        if (name_table_add(&seen, suffix))
            names->names[names->count++] = suffix;
    }
    return true;
}

static bool read_wide(struct api_request *request, const struct query_string *query,
                      struct ac_request *out)
{
    struct slice limit = query_string_first(query, SLICE_LIT("limit"));
    out->limit = -1;
    if (limit.data != NULL)
        python_int_parse(limit, &out->limit);
    out->isolate =
        slice_equal(query_string_first(query, SLICE_LIT("group_policy")), SLICE_LIT("isolate"));
    if (!read_root_required(request, query, out))
        return false;
    out->same_subtrees = arena_array(request->arena, query->count, sizeof(*out->same_subtrees));
    for (size_t i = 0; i < query->count; i++)
        if (slice_equal(query->pairs[i].name, SLICE_LIT("same_subtree")) &&
            !read_subtree(request, query->pairs[i].value,
                          &out->same_subtrees[out->same_subtree_count++]))
            return false;
    return true;
}

enum parameter { PARAMETER_RESOURCES, PARAMETER_REQUIRED, PARAMETER_MEMBER_OF, PARAMETER_IN_TREE };

/* The suffix in a group parameter's name; the schema has accepted only well-formed names. */
static bool read_name(struct slice name, enum parameter *parameter, struct slice *suffix)
{
    static const char *const PREFIXES[] = {"resources", "required", "member_of", "in_tree"};
    for (unsigned i = 0; i < 4; i++) {
        struct slice prefix = slice_of(PREFIXES[i]);
        if (!slice_starts_with(name, prefix))
            continue;
        *parameter = (enum parameter)i;
        *suffix = slice_skip(name, prefix.len);
        return true;
    }
    return false;
}

static struct ac_group *candidates_parameters_group_of(struct ac_request *out,
                                                       struct name_table *suffixes,
                                                       struct slice suffix)
{
    uint32_t *number = name_table_at(suffixes, suffix);
    if (*number > 0)
        return &out->groups[*number - 1];
    out->groups[out->group_count] = (struct ac_group){.suffix = suffix};
    *number = ++out->group_count;
    return &out->groups[*number - 1];
}

/* For each pair of the query, in order, all pairs with the same name. */
static const struct query_string *values_by_pair(struct api_request *request,
                                                 const struct query_string *query)
{
    struct name_table table = name_table_create(request->arena, query->count);
    struct query_string *by_name = arena_array(request->arena, query->count, sizeof(*by_name));
    struct query_string *by_pair = arena_array(request->arena, query->count, sizeof(*by_pair));
    struct query_pair *pairs = arena_array(request->arena, query->count, sizeof(*pairs));
    uint32_t names = 0;
    for (size_t i = 0; i < query->count; i++) {
        uint32_t *number = name_table_at(&table, query->pairs[i].name);
        if (*number == 0) {
            by_name[names] = (struct query_string){.is_utf8 = true};
            *number = ++names;
        }
        by_name[*number - 1].count++;
    }
    for (uint32_t n = 0; n < names; pairs += by_name[n].count, by_name[n++].count = 0)
        by_name[n].pairs = pairs;
    for (size_t i = 0; i < query->count; i++) {
        struct query_string *values = &by_name[*name_table_at(&table, query->pairs[i].name) - 1];
        values->pairs[values->count++] = query->pairs[i];
    }
    for (size_t i = 0; i < query->count; i++)
        by_pair[i] = by_name[*name_table_at(&table, query->pairs[i].name) - 1];
    return by_pair;
}

static bool read_groups(struct api_request *request, const struct query_string *query,
                        struct ac_request *out)
{
    out->groups = arena_array(request->arena, query->count, sizeof(*out->groups));
    struct name_table suffixes = name_table_create(request->arena, query->count);
    const struct query_string *values = values_by_pair(request, query);
    for (size_t i = 0; i < query->count; i++) {
        enum parameter parameter;
        struct slice suffix;
        struct slice value = query->pairs[i].value;
        if (!read_name(query->pairs[i].name, &parameter, &suffix))
            continue;
        struct ac_group *group = candidates_parameters_group_of(out, &suffixes, suffix);
        bool good = true;
        switch (parameter) {
        case PARAMETER_RESOURCES:
            good = parameter_resources(request, value, group);
            break;
        case PARAMETER_REQUIRED: /* all values of the name at once, at its first occurrence */
            good =
                group->required != NULL || parameter_required(request, &values[i], suffix, group);
            break;
        case PARAMETER_MEMBER_OF:
            good =
                group->member_of != NULL || parameter_member_of(request, &values[i], suffix, group);
            break;
        case PARAMETER_IN_TREE:
            good = parameter_in_tree(request, value, group);
            break;
        }
        if (!good)
            return false;
    }
    return true;
}

bool candidates_parameters_read(struct api_request *request, struct ac_request *out)
{
    struct query_string query = query_string_parse(request->arena, request->query);
    *out = (struct ac_request){
        .nested_aware = request->minor >= 29,
        .most = placement_settings(request)->max_candidates,
        .order = placement_settings(request)->spread_candidates ? AC_ORDER_SPREAD : AC_ORDER_DEPTH,
        .randomize = placement_settings(request)->randomize_candidates,
        .counts = candidates_counts_wanted(request),
    };
    return body_schema_check_query(&query, schema_for(request->minor), &request->err) &&
           read_wide(request, &query, out) && read_groups(request, &query, out) &&
           candidates_check_groups(
               request, out, query_string_first(&query, SLICE_LIT("group_policy")).data != NULL);
}
