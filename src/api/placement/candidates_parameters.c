/* From the query string to a struct ac_request, with every check in the order of the Python
 * service: schema, request wide parameters, groups, then what concerns several groups. Pure; any
 * thread. */
#include "api/placement/candidates_parameters.h"

#include "api/body_schema.h"
#include "api/name_table.h"
#include "api/placement/group_parameters.h"
#include "api/python_int.h"
#include "api/query_string.h"
#include "api/schema_tables.h"

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

static bool refuse(struct api_request *request, const char *code, struct buf *text)
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

/* As Python prints a list of such texts: ['_A', '_B']. Suffixes hold no character that is escaped.
 */
static void append_list(struct buf *text, const struct ac_names *names)
{
    buf_append_char(text, '[');
    for (uint32_t i = 0; i < names->count; i++) {
        if (i > 0)
            buf_append_lit(text, ", ");
        buf_append_char(text, '\'');
        buf_append_slice(text, names->names[i]);
        buf_append_char(text, '\'');
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
        *name_table_at(&table, names->names[i]) = 1;
    return table;
}

/* Appends a name unless the table, which holds those that were appended, has it. */
static void names_add_new(struct ac_names *names, struct name_table *table, struct slice name)
{
    uint32_t *count = name_table_at(table, name);
    if ((*count)++ == 0)
        names->names[names->count++] = name;
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
    if (!parameter_traits(request, value, &out->root_required, &out->root_forbidden))
        return false;
    struct ac_names conflicts = names_create(request, out->root_required.count);
    struct name_table forbidden = table_of(request, &out->root_forbidden);
    struct name_table told = name_table_create(request->arena, out->root_required.count);
    for (uint32_t i = 0; i < out->root_required.count; i++)
        if (name_table_has(&forbidden, out->root_required.names[i]))
            names_add_new(&conflicts, &told, out->root_required.names[i]);
    if (conflicts.count == 0)
        return true;
    struct buf text = {0};
    buf_append_lit(&text, "Conflicting required and forbidden traits found in root_required: ");
    append_joined(&text, &conflicts);
    return refuse(request, "placement.query.bad_value", &text);
}

/* "A, B" into distinct suffixes. */
static bool read_subtree(struct api_request *request, struct slice value, struct ac_names *names)
{
    size_t most = 1;
    for (size_t i = 0; i < value.len; i++)
        most += value.data[i] == ',';
    *names = names_create(request, most);
    struct name_table seen = name_table_create(request->arena, most);
    size_t start = 0;
    for (size_t i = 0; i <= value.len; i++) {
        if (i < value.len && value.data[i] != ',')
            continue;
        struct slice suffix = python_strip((struct slice){value.data + start, i - start});
        start = i + 1;
        if (suffix.len == 0)
            return err_set(&request->err, 400, "placement.query.bad_value",
                           "Empty string (unsuffixed group) can not be specified in "
                           "`same_subtree` ");
        names_add_new(names, &seen, suffix);
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

/* The suffix of a group's parameter; the schema has let only well-formed names through. */
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

static struct ac_group *group_of(struct ac_request *out, struct name_table *suffixes,
                                 struct slice suffix)
{
    uint32_t *number = name_table_at(suffixes, suffix);
    if (*number > 0)
        return &out->groups[*number - 1];
    out->groups[out->group_count] = (struct ac_group){.suffix = suffix};
    *number = ++out->group_count;
    return &out->groups[*number - 1];
}

/* For each pair, all pairs of its name, in the order of the query. */
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
        struct ac_group *group = group_of(out, &suffixes, suffix);
        bool good = true;
        switch (parameter) {
        case PARAMETER_RESOURCES:
            good = parameter_resources(request, value, group);
            break;
        case PARAMETER_REQUIRED: /* all values of the name at once, at the first */
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

/* From 1.36: groups without resources are there for same_subtree. */
static bool check_suffixes(struct api_request *request, struct ac_request *out)
{
    struct ac_names all = names_create(request, out->group_count);
    struct ac_names orphans = names_create(request, out->group_count);
    size_t most = 0;
    for (uint32_t i = 0; i < out->same_subtree_count; i++)
        most += out->same_subtrees[i].count;
    struct name_table in_subtrees = name_table_create(request->arena, most);
    for (uint32_t i = 0; i < out->same_subtree_count; i++)
        for (uint32_t j = 0; j < out->same_subtrees[i].count; j++)
            *name_table_at(&in_subtrees, out->same_subtrees[i].names[j]) = 1;
    uint32_t resourceless = 0;
    for (uint32_t i = 0; i < out->group_count; i++) {
        const struct ac_group *group = &out->groups[i];
        all.names[all.count++] = group->suffix;
        resourceless += group->resource_count == 0;
        if (group->resource_count == 0 && !name_table_has(&in_subtrees, group->suffix))
            orphans.names[orphans.count++] = group->suffix;
    }
    if (resourceless == out->group_count)
        return err_set(&request->err, 400, "placement.query.missing_value",
                       "There must be at least one resources or resources[$S] parameter.");
    struct buf text = {0};
    if (orphans.count > 0) {
        buf_append_lit(&text, "Resourceless suffixed group request should be specified in "
                              "`same_subtree` query param: bad group(s) - ");
        append_list(&text, &orphans);
        buf_append_char(&text, '.');
        return refuse(request, "placement.query.bad_value", &text);
    }
    struct ac_names strangers = names_create(request, most);
    struct name_table told = name_table_create(request->arena, most);
    struct name_table groups = table_of(request, &all);
    for (uint32_t i = 0; i < out->same_subtree_count; i++)
        for (uint32_t j = 0; j < out->same_subtrees[i].count; j++)
            if (!name_table_has(&groups, out->same_subtrees[i].names[j]))
                names_add_new(&strangers, &told, out->same_subtrees[i].names[j]);
    if (strangers.count == 0)
        return true;
    buf_append_lit(&text, "Real suffixes should be specified in `same_subtree`: ");
    append_list(&text, &strangers);
    buf_append_lit(&text, " not found in ");
    append_list(&text, &all);
    buf_append_char(&text, '.');
    return refuse(request, "placement.query.bad_value", &text);
}

/* Collects "required<suffix>" for groups without resources for which `belongs` holds. */
static bool refuse_orphans(struct api_request *request, const struct ac_request *out,
                           const char *parameter, const char *words,
                           bool (*belongs)(const struct ac_group *group))
{
    struct buf text = {0};
    buf_append_slice(&text, slice_of(words));
    uint32_t count = 0;
    for (uint32_t i = 0; i < out->group_count; i++) {
        const struct ac_group *group = &out->groups[i];
        if (group->resource_count > 0 || !belongs(group))
            continue;
        if (count++ > 0)
            buf_append_lit(&text, ", ");
        buf_append_slice(&text, slice_of(parameter));
        buf_append_slice(&text, group->suffix);
    }
    if (count > 0)
        return refuse(request, NULL, &text);
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

/* Before 1.36 every group has resources. */
static bool check_orphans(struct api_request *request, const struct ac_request *out)
{
    if (!refuse_orphans(request, out, "required",
                        "All traits parameters must be associated with resources.  Found the "
                        "following orphaned traits keys: ",
                        has_traits) ||
        !refuse_orphans(request, out, "member_of",
                        "All member_of parameters must be associated with resources. Found the "
                        "following orphaned member_of keys: ",
                        has_aggregates))
        return false;
    for (uint32_t i = 0; i < out->group_count; i++)
        if (out->groups[i].resource_count == 0)
            return err_set(&request->err, 400, NULL, "All request groups must specify resources.");
    if (out->group_count == 0)
        return err_set(&request->err, 400, NULL,
                       "At least one request group (`resources` or `resources{$S}`) is required.");
    return true;
}

/* From 1.22: a group that wants what it forbids. */
static bool check_forbidden(struct api_request *request, const struct ac_request *out)
{
    size_t most = 0;
    for (uint32_t i = 0; i < out->group_count; i++)
        most += out->groups[i].required_count;
    struct ac_names conflicts = names_create(request, most);
    for (uint32_t i = 0; i < out->group_count; i++) {
        const struct ac_group *group = &out->groups[i];
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
    return refuse(request, NULL, &text);
}

static bool check_group_policy(struct api_request *request, const struct query_string *query,
                               const struct ac_request *out)
{
    uint32_t granular = 0;
    for (uint32_t i = 0; i < out->group_count; i++)
        granular += out->groups[i].suffix.len > 0;
    if (granular < 2 || query_string_first(query, SLICE_LIT("group_policy")).data != NULL)
        return true;
    return err_set(&request->err, 400, NULL,
                   "The \"group_policy\" parameter is required when specifying more than one "
                   "\"resources{N}\" parameter.");
}

bool candidates_parameters_read(struct api_request *request, struct ac_request *out)
{
    struct query_string query = query_string_parse(request->arena, request->query);
    *out = (struct ac_request){
        .nested_aware = request->minor >= 29,
        .most = request->api->max_candidates,
        .order = request->api->spread_candidates ? AC_ORDER_SPREAD : AC_ORDER_DEPTH,
        .randomize = request->api->randomize_candidates,
    };
    if (!body_schema_check_query(&query, schema_for(request->minor), &request->err) ||
        !read_wide(request, &query, out) || !read_groups(request, &query, out))
        return false;
    bool suffixes =
        request->minor >= 36 ? check_suffixes(request, out) : check_orphans(request, out);
    if (!suffixes)
        return false;
    if (request->minor >= 22 && !check_forbidden(request, out))
        return false;
    return check_group_policy(request, &query, out);
}
