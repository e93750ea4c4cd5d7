/* GET /traits; GET, PUT, DELETE /traits/{name}. */
#include "api/charge.h"
#include "api/schema/body_schema.h"
#include "api/schema/patterns.h"
#include "api/schema/tables.h"
#include "api/text/latin1.h"
#include "api/text/query_string.h"
#include "api/write.h"
#include "base/buf.h"
#include "base/json_write.h"
#include "placement/api/handlers.h"
#include "placement/api/placement_request.h"
#include "placement/write/plan_traits.h"
#include "replica/catalog.h"

enum { NAME_MAX_LEN = 255, STEPS_OF_A_TRAIT = 12 };

/* The filters of the list. */
struct traits_filter {
    bool has_names;
    bool *is_named; /* by trait number */
    bool has_prefix;
    struct slice prefix;
    bool has_associated;
    bool associated;
};

static char traits_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether the name matches the prefix as in SQL's LIKE: letters in either case, '_' matches any
 * character, '%' any text. Names are almost always ASCII. */
static bool like_prefix(struct slice name, struct slice prefix)
{
    size_t at = 0;
    size_t in_prefix = 0;
    size_t star = SIZE_MAX; /* position after the last '%' */
    size_t star_at = 0;     /* where the text that it matches ends */
    for (;;) {
        if (in_prefix == prefix.len)
            return true;
        if (prefix.data[in_prefix] == '%') {
            star = ++in_prefix;
            star_at = at;
        } else if (at < name.len &&
                   (prefix.data[in_prefix] == '_' ||
                    traits_lower(prefix.data[in_prefix]) == traits_lower(name.data[at]))) {
            in_prefix++;
            at++;
        } else if (star != SIZE_MAX && star_at < name.len) {
            in_prefix = star;
            at = ++star_at;
        } else {
            return false;
        }
    }
}

/* Marks the traits in a list "A,B". */
static void mark_names(struct api_request *request, struct slice list, struct traits_filter *filter)
{
    const struct catalog *catalog = &request->version->traits;
    filter->has_names = true;
    filter->is_named = arena_zalloc(request->arena, catalog->limit * sizeof(bool));
    while (list.len > 0) {
        const struct catalog_row *row = catalog_find(catalog, slice_cut(&list, ','));
        if (row != NULL)
            filter->is_named[row->number] = true;
    }
}

static bool read_name_filter(struct api_request *request, struct slice value,
                             struct traits_filter *filter)
{
    const char *colon = value.len == 0 ? NULL : memchr(value.data, ':', value.len);
    if (colon == NULL)
        return err_set_join(
            &request->err, 400, NULL,
            SLICE_LIT("Badly formatted name parameter. Expected name query string parameter in "
                      "form: ?name=[in|startswith]:[name1,name2|prefix]. Got: \""),
            value, SLICE_LIT("\""));
    struct slice operand = value;
    struct slice operator= slice_cut(&operand, ':');
    if (slice_equal(operator, SLICE_LIT("in"))) {
        mark_names(request, operand, filter);
    } else if (slice_equal(operator, SLICE_LIT("startswith"))) {
        filter->has_prefix = true;
        filter->prefix = operand;
    }
    return true;
}

static bool read_filter(struct api_request *request, struct traits_filter *filter)
{
    struct query_string query = query_string_parse(request->arena, request->query);
    if (!body_schema_check_query(&query, &SCHEMA_TRAITS_QUERY, &request->err))
        return false;
    struct slice name = query_string_last(&query, SLICE_LIT("name"));
    if (name.data != NULL && !read_name_filter(request, name, filter))
        return false;
    struct slice associated = query_string_last(&query, SLICE_LIT("associated"));
    if (associated.data == NULL)
        return true;
    filter->has_associated = true;
    filter->associated = slice_equal_nocase(associated, SLICE_LIT("true"));
    if (!filter->associated && !slice_equal_nocase(associated, SLICE_LIT("false")))
        return err_set(&request->err, 400, NULL,
                       "The query parameter \"associated\" only accepts \"true\" or \"false\"");
    return true;
}

static bool traits_is_wanted(const struct traits_filter *filter, const struct catalog_entry *entry)
{
    const struct catalog_row *row = entry->row;
    return (!filter->has_names || filter->is_named[row->number]) &&
           (!filter->has_prefix || like_prefix(catalog_name(row), filter->prefix)) &&
           (!filter->has_associated || filter->associated == (entry->slots.count > 0));
}

enum api_step handle_placement_traits_list(struct api_request *request)
{
    struct traits_filter filter = {0};
    if (!read_filter(request, &filter))
        return API_DONE;
    const struct catalog *catalog = &request->version->traits;
    struct buf *out = api_out(request);
    struct budget budget = api_budget(request);
    size_t counted = 0;
    int64_t modified_at_us = 0;
    bool is_first = true;
    buf_append_lit(out, "{\"traits\": [");
    struct ptree_iter iter;
    for (ptree_seek(&catalog->by_id, 0, 0, &iter); ptree_iter_get(&iter) != NULL;
         ptree_iter_next(&iter)) {
        const struct catalog_entry *entry =
            catalog_at(catalog, (uint32_t)ptree_iter_get(&iter)->value);
        if (!budget_take(&budget, STEPS_OF_A_TRAIT) || !api_charge_text(request, &budget, &counted))
            return api_start_over(request);
        if (!traits_is_wanted(&filter, entry))
            continue;
        if (!is_first)
            buf_append_lit(out, ", ");
        is_first = false;
        json_write_string(out, catalog_name(entry->row));
        int64_t at_us = catalog_modified_at_us(entry->row);
        if (at_us > modified_at_us)
            modified_at_us = at_us;
    }
    buf_append_lit(out, "]}");
    api_answer_json(request, modified_at_us);
    return API_DONE;
}

/* Writes an answer without a body that has cache headers. */
static void answer_trait(struct api_request *request, int status, int64_t created_at_us)
{
    api_answer_empty(request, status);
    placement_own(request)->is_cacheable = true;
    request->modified_at_us = created_at_us;
}

enum api_step handle_placement_trait_show(struct api_request *request)
{
    const struct catalog_row *row = catalog_find(&request->version->traits, request->args[0]);
    if (row == NULL)
        err_set_join(&request->err, 404, NULL, SLICE_LIT("No such trait(s): "),
                     latin1_text(request->arena, request->args[0]), SLICE_LIT("."));
    else
        answer_trait(request, 204, row->created_at_us);
    return API_DONE;
}

static bool plan_put(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    return plan_trait_put(request->args[0], plan, request->state, &write->err);
}

enum api_step handle_placement_trait_ensure(struct api_request *request)
{
    struct slice name = request->args[0];
    if (name.len > NAME_MAX_LEN || !PATTERN_CUSTOM.matches(name)) {
        err_set(&request->err, 400, NULL,
                "The trait is invalid. A valid trait must be no longer than 255 characters, start "
                "with the prefix \"CUSTOM_\" and use following characters: \"A\"-\"Z\", "
                "\"0\"-\"9\" and \"_\"");
        return API_DONE;
    }
    request->state = arena_zalloc(request->arena, sizeof(struct planned_trait));
    request->write->plan = plan_put;
    return API_WRITE;
}

void finish_placement_trait_ensure(struct api_request *request)
{
    const struct planned_trait *result = request->state;
    if (err_is_set(&request->err))
        return;
    answer_trait(request, result->is_new ? 201 : 204, result->created_at_us);
    request->location = arena_printf(request->arena, "%.*s/traits/%.*s", SLICE_ARG(request->mount),
                                     SLICE_ARG(request->args[0]));
}

static bool traits_plan_delete(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    return plan_trait_delete(latin1_text(request->arena, request->args[0]), plan, &write->err);
}

enum api_step handle_placement_trait_delete(struct api_request *request)
{
    request->write->plan = traits_plan_delete;
    return API_WRITE;
}
