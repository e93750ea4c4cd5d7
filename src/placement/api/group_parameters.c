/* Parameters of request groups. Pure; any thread. */
#include "placement/api/group_parameters.h"

#include "api/text/name_table.h"
#include "api/text/python_int.h"
#include "api/text/uuid_like.h"
#include "base/arena.h"

static bool group_parameters_refuse(struct api_request *request, const char *prefix,
                                    struct slice value, const char *suffix)
{
    return err_set_join(&request->err, 400, NULL, slice_of(prefix), value, slice_of(suffix));
}

/* Splits the text at a separator, in the arena; there is always at least one part. */
static struct ac_names split(struct arena *arena, struct slice text, char separator)
{
    uint32_t count = 1;
    for (size_t i = 0; i < text.len; i++)
        count += text.data[i] == separator;
    struct ac_names parts = {arena_array(arena, count, sizeof(struct slice)), 0};
    for (uint32_t i = 0; i < count; i++)
        parts.names[parts.count++] = slice_cut(&text, separator);
    return parts;
}

#define BAD_RESOURCES                                                                              \
    "Badly formed resources parameter. Expected resources query string parameter in form: "        \
    "?resources=VCPU:2,MEMORY_MB:1024. Got: "

/* If a class occurs twice, the last amount counts, at the position of the first. */
static void put_resource(struct ac_group *group, struct name_table *classes,
                         struct slice class_name, int64_t amount)
{
    uint32_t *number = name_table_at(classes, class_name);
    if (*number == 0)
        *number = ++group->resource_count;
    group->resources[*number - 1] = (struct ac_resource){class_name, amount};
}

static bool read_amount(struct api_request *request, struct slice class_name, struct slice text,
                        int64_t *amount)
{
    struct buf words = {0};
    buf_append_lit(&words, "Requested resource ");
    buf_append_slice(&words, class_name);
    bool is_int = python_int_parse(text, amount);
    if (!is_int) {
        buf_append_lit(&words, " expected positive integer amount. Got: ");
        buf_append_slice(&words, text);
    } else if (*amount < 1) {
        buf_append_lit(&words, " requires amount >= 1. Got: ");
        if (*amount == -INT64_MAX) /* that value, or a smaller one than 64 bits can hold */
            buf_append_slice(&words, python_strip(text));
        else
            buf_append_int(&words, *amount);
    }
    buf_append_char(&words, '.');
    bool good = is_int && *amount >= 1;
    if (!good)
        err_set_text(&request->err, 400, NULL, arena_copy(request->arena, buf_slice(&words)));
    buf_free(&words);
    return good;
}

bool parameter_resources(struct api_request *request, struct slice value, struct ac_group *group)
{
    if (python_strip(value).len == 0)
        return group_parameters_refuse(request, BAD_RESOURCES, SLICE_LIT("empty string"), ".");
    struct ac_names pairs = split(request->arena, value, ',');
    group->resources = arena_array(request->arena, pairs.count, sizeof(*group->resources));
    group->resource_count = 0;
    struct name_table classes = name_table_create(request->arena, pairs.count);
    for (uint32_t i = 0; i < pairs.count; i++) {
        struct ac_names parts = split(request->arena, pairs.names[i], ':');
        if (parts.count != 2)
            return group_parameters_refuse(request, BAD_RESOURCES, pairs.names[i], ".");
        int64_t amount;
        if (!read_amount(request, parts.names[0], parts.names[1], &amount))
            return false;
        put_resource(group, &classes, parts.names[0], amount);
    }
    return true;
}

#define BAD_TRAITS                                                                                 \
    "Invalid query string parameters: Expected 'required' parameter value of the form: "

static bool read_any(struct api_request *request, struct slice value, struct ac_names *any)
{
    if (request->minor < 39)
        return group_parameters_refuse(
            request,
            "Invalid query string parameters: The format 'in:HW_CPU_X86_VMX,CUSTOM_MAGIC' "
            "only supported since microversion 1.39. Got: ",
            value, "");
    *any = split(request->arena, slice_skip(value, 3), ',');
    bool forbidden = false;
    for (uint32_t i = 0; i < any->count; i++) {
        any->names[i] = python_strip(any->names[i]);
        if (any->names[i].len == 0)
            return group_parameters_refuse(
                request,
                BAD_TRAITS "in:HW_CPU_X86_VMX,CUSTOM_MAGIC. Got an empty trait in: ", value, "");
        forbidden = forbidden || any->names[i].data[0] == '!';
    }
    if (forbidden)
        return group_parameters_refuse(
            request,
            "Invalid query string parameters: The format 'in:HW_CPU_X86_VMX,CUSTOM_MAGIC' "
            "does not support forbidden traits. Got: ",
            value, "");
    return true;
}

/* "A,!B": required gets A, forbidden gets B. */
static bool read_traits(struct api_request *request, struct slice value, bool allow_forbidden,
                        struct ac_names *required, struct ac_names *forbidden)
{
    struct ac_names all = split(request->arena, value, ',');
    required->names = arena_array(request->arena, all.count, sizeof(struct slice));
    forbidden->names = arena_array(request->arena, all.count, sizeof(struct slice));
    required->count = forbidden->count = 0;
    for (uint32_t i = 0; i < all.count; i++) {
        struct slice name = python_strip(all.names[i]);
        bool is_forbidden = name.len > 0 && name.data[0] == '!';
        while (name.len > 0 && name.data[0] == '!')
            name = slice_skip(name, 1);
        if (name.len == 0)
            return group_parameters_refuse(
                request,
                allow_forbidden ? BAD_TRAITS "HW_CPU_X86_VMX,!CUSTOM_MAGIC. Got an empty trait in: "
                                : BAD_TRAITS "HW_CPU_X86_VMX,CUSTOM_MAGIC. Got an empty trait in: ",
                value, "");
        struct ac_names *into = is_forbidden ? forbidden : required;
        into->names[into->count++] = name;
    }
    if (forbidden->count > 0 && !allow_forbidden)
        return group_parameters_refuse(request,
                                       BAD_TRAITS "HW_CPU_X86_VMX,CUSTOM_MAGIC. Got: ", value, "");
    return true;
}

bool parameter_traits(struct api_request *request, struct slice value, struct ac_names *required,
                      struct ac_names *forbidden)
{
    if (slice_starts_with(value, SLICE_LIT("in:")))
        return group_parameters_refuse(
            request,
            "Invalid query string parameters: The format 'in:HW_CPU_X86_VMX,CUSTOM_MAGIC' "
            "only supported since microversion 1.39. Got: ",
            value, "");
    return read_traits(request, value, true, required, forbidden);
}

static bool is_named(const struct query_pair *pair, const char *name, struct slice suffix)
{
    size_t len = strlen(name);
    return pair->name.len == len + suffix.len && memcmp(pair->name.data, name, len) == 0 &&
           (suffix.len == 0 || memcmp(pair->name.data + len, suffix.data, suffix.len) == 0);
}

static uint32_t count_named(const struct query_string *query, const char *name, struct slice suffix)
{
    uint32_t count = 0;
    for (size_t i = 0; i < query->count; i++)
        count += is_named(&query->pairs[i], name, suffix);
    return count;
}

/* The number of parts in all values of that name: an upper bound for what they contain. */
static size_t count_parts(const struct query_string *query, const char *name, struct slice suffix)
{
    size_t parts = 0;
    for (size_t i = 0; i < query->count; i++) {
        if (!is_named(&query->pairs[i], name, suffix))
            continue;
        parts++;
        for (size_t c = 0; c < query->pairs[i].value.len; c++)
            parts += query->pairs[i].value.data[c] == ',';
    }
    return parts;
}

static void append_names(struct ac_names *to, const struct ac_names *more)
{
    for (uint32_t i = 0; i < more->count; i++)
        to->names[to->count++] = more->names[i];
}

static bool add_required(struct api_request *request, struct slice value, struct ac_group *group)
{
    if (slice_starts_with(value, SLICE_LIT("in:")))
        return read_any(request, value, &group->required[group->required_count++]);
    struct ac_names required;
    struct ac_names forbidden;
    if (!read_traits(request, value, request->minor >= 22, &required, &forbidden))
        return false;
    for (uint32_t i = 0; i < required.count; i++)
        group->required[group->required_count++] = (struct ac_names){&required.names[i], 1};
    append_names(&group->forbidden, &forbidden);
    return true;
}

bool parameter_required(struct api_request *request, const struct query_string *query,
                        struct slice suffix, struct ac_group *group)
{
    uint32_t count = count_named(query, "required", suffix);
    uint32_t seen = 0;
    size_t parts = count_parts(query, "required", suffix);
    group->required = arena_array(request->arena, parts, sizeof(*group->required));
    group->required_count = 0;
    group->forbidden.names = arena_array(request->arena, parts, sizeof(struct slice));
    group->forbidden.count = 0;
    for (size_t i = 0; i < query->count; i++) {
        if (!is_named(&query->pairs[i], "required", suffix) ||
            (++seen < count && request->minor < 39))
            continue;
        if (!add_required(request, query->pairs[i].value, group))
            return false;
    }
    return true;
}

/* One value of member_of: "A", "in:A,B", "!A", "!in:A,B". */
static bool read_aggregates(struct api_request *request, struct slice value, struct ac_names *names,
                            bool *is_forbidden)
{
    bool forbidden_in = slice_starts_with(value, SLICE_LIT("!in:"));
    bool in = slice_starts_with(value, SLICE_LIT("in:"));
    if (!in && !forbidden_in && value.len > 0 && memchr(value.data, ',', value.len) != NULL)
        return group_parameters_refuse(
            request,
            "Multiple values for 'member_of' must be prefixed with the 'in:' or '!in:' "
            "keyword using the valid microversion. Got: ",
            value, "");
    *is_forbidden = forbidden_in || (value.len > 0 && value.data[0] == '!');
    if (forbidden_in)
        *names = split(request->arena, slice_skip(value, 4), ',');
    else if (in)
        *names = split(request->arena, slice_skip(value, 3), ',');
    else
        *names = split(request->arena, slice_skip(value, *is_forbidden ? 1 : 0), ',');
    for (uint32_t i = 0; i < names->count; i++)
        if (!uuid_like_read(names->names[i], NULL))
            return group_parameters_refuse(
                request,
                "Invalid query string parameters: Expected 'member_of' parameter to "
                "contain valid UUID(s). Got: ",
                names->names[i], "");
    return true;
}

bool parameter_member_of(struct api_request *request, const struct query_string *query,
                         struct slice suffix, struct ac_group *group)
{
    uint32_t count = count_named(query, "member_of", suffix);
    if (count > 1 && request->minor < 24)
        return group_parameters_refuse(request, "Multiple member_of", suffix,
                                       " parameters are not supported");
    group->member_of = arena_array(request->arena, count, sizeof(*group->member_of));
    group->member_of_count = 0;
    group->forbidden_aggregates.count = 0;
    group->forbidden_aggregates.names =
        arena_array(request->arena, count_parts(query, "member_of", suffix), sizeof(struct slice));
    for (size_t i = 0; i < query->count; i++) {
        if (!is_named(&query->pairs[i], "member_of", suffix))
            continue;
        struct ac_names names;
        bool is_forbidden = false;
        if (!read_aggregates(request, query->pairs[i].value, &names, &is_forbidden))
            return false;
        if (!is_forbidden) {
            group->member_of[group->member_of_count++] = names;
            continue;
        }
        if (request->minor < 32)
            return group_parameters_refuse(
                request, "Forbidden member_of", suffix,
                " parameters are not supported in the specified microversion");
        append_names(&group->forbidden_aggregates, &names);
    }
    return true;
}

bool parameter_in_tree(struct api_request *request, struct slice value, struct ac_group *group)
{
    group->in_tree = python_strip(value);
    if (uuid_like_read(group->in_tree, NULL))
        return true;
    return group_parameters_refuse(
        request,
        "Invalid query string parameters: Expected 'in_tree' parameter to be a format of "
        "uuid. Got: ",
        value, "");
}
