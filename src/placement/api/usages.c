/* GET /usages: what a project, or one of its users, uses of each class; from 1.38 by consumer type.
 *
 * The replica maintains the sums (replica/usage.h), so the cost of the answer does not depend on
 * the number of allocations. On a worker, with a pinned version. */
#include <stdlib.h>

#include "api/charge.h"
#include "api/request.h"
#include "api/schema/body_schema.h"
#include "api/schema/tables.h"
#include "api/text/query_string.h"
#include "base/arena.h"
#include "base/json_write.h"
#include "placement/api/allocation_handlers.h"
#include "placement/api/policy_check.h"
#include "replica/usage.h"

struct line {
    uint32_t group; /* consumer type number + 1, 0: unknown; 0 for all if types are not
                     * distinguished */
    uint32_t rank;  /* of the group */
    int64_t type_id;
    int64_t class_id;
    struct class_no class_no;
    int64_t amount;
};

struct report {
    const struct version *version;
    struct arena *arena;
    bool by_type;  /* the groups are consumer types */
    bool has_type; /* only this type */
    uint32_t type;
    int64_t *consumers; /* by group */
    struct line *lines;
    size_t count;
    size_t capacity;
    struct budget budget;
};

enum { STEPS_OF_A_SUM = 60 }; /* read, sorted twice, written */

static void append_line(struct report *report, const struct line *line)
{
    if (report->count == report->capacity) {
        size_t capacity = report->capacity == 0 ? 16 : 2 * report->capacity;
        struct line *lines = arena_array(report->arena, capacity, sizeof(struct line));
        for (size_t i = 0; i < report->count; i++)
            lines[i] = report->lines[i];
        report->lines = lines;
        report->capacity = capacity;
    }
    report->lines[report->count++] = *line;
}

/* False: the budget is exhausted. */
static bool usages_take(void *cls, const struct usage_row *row)
{
    struct report *report = cls;
    if (!budget_take(&report->budget, STEPS_OF_A_SUM))
        return false;
    if (report->has_type && row->type != report->type)
        return true;
    uint32_t group = report->by_type ? row->type + 1 : 0;
    if (row->class_no.v == NUMBER_NONE) {
        report->consumers[group] += row->amount;
        return true;
    }
    const struct version *version = report->version;
    struct line line = {
        .group = group,
        .type_id = group == 0 ? 0 : catalog_row_at(&version->types, row->type)->id,
        .class_id = catalog_row_at(&version->classes, row->class_no.v)->id,
        .class_no = row->class_no,
        .amount = row->amount,
    };
    append_line(report, &line);
    return true;
}

static int usages_compare_ids(int64_t left, int64_t right)
{
    return left < right ? -1 : left > right;
}

static int usages_compare_rows(const void *a, const void *b)
{
    const struct line *left = a;
    const struct line *right = b;
    int order = usages_compare_ids(left->class_id, right->class_id);
    return order != 0 ? order : usages_compare_ids(left->type_id, right->type_id);
}

static int compare_groups(const void *a, const void *b)
{
    const struct line *left = a;
    const struct line *right = b;
    int order = usages_compare_ids(left->rank, right->rank);
    return order != 0 ? order : usages_compare_ids(left->class_id, right->class_id);
}

/* Adds up the rows of the users. Groups are in the order of their first class, then of their
 * type. */
static void sum_up(struct report *report)
{
    if (report->count == 0)
        return;
    qsort(report->lines, report->count, sizeof(struct line), usages_compare_rows);
    size_t last = 0;
    for (size_t i = 1; i < report->count; i++) {
        if (usages_compare_rows(&report->lines[last], &report->lines[i]) == 0)
            report->lines[last].amount += report->lines[i].amount;
        else
            report->lines[++last] = report->lines[i];
    }
    report->count = last + 1;
    uint32_t *rank_of =
        arena_zalloc(report->arena, (report->version->types.limit + 1) * sizeof(uint32_t));
    uint32_t ranks = 0;
    for (size_t i = 0; i < report->count; i++) {
        uint32_t *rank = &rank_of[report->lines[i].group];
        if (*rank == 0)
            *rank = ++ranks;
        report->lines[i].rank = *rank;
    }
    qsort(report->lines, report->count, sizeof(struct line), compare_groups);
}

static void write_line(struct buf *out, const struct report *report, const struct line *line)
{
    json_write_string(out,
                      catalog_name(catalog_row_at(&report->version->classes, line->class_no.v)));
    buf_append_lit(out, ": ");
    buf_append_int(out, line->amount);
}

static void write_flat(struct buf *out, const struct report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        if (i > 0)
            buf_append_lit(out, ", ");
        write_line(out, report, &report->lines[i]);
    }
}

/* The number of consumers follows the first class, as in the Python service. */
static void write_grouped(struct buf *out, const struct report *report, struct slice only_name)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct line *line = &report->lines[i];
        bool opens = i == 0 || line->rank != report->lines[i - 1].rank;
        if (opens && i > 0)
            buf_append_char(out, '}');
        if (i > 0)
            buf_append_lit(out, ", ");
        if (opens) {
            struct slice name = SLICE_LIT("unknown");
            if (only_name.data != NULL)
                name = only_name;
            else if (line->group != 0)
                name = catalog_name(catalog_row_at(&report->version->types, line->group - 1));
            json_write_string(out, name);
            buf_append_lit(out, ": {");
        }
        write_line(out, report, line);
        if (opens) {
            buf_append_lit(out, ", \"consumer_count\": ");
            buf_append_int(out, report->consumers[line->group]);
        }
    }
    if (report->count > 0)
        buf_append_char(out, '}');
}

/* Selects what ?consumer_type= counts. False: nothing can match. */
static bool choose_type(struct report *report, struct slice type)
{
    report->by_type = type.data == NULL;
    if (type.data == NULL || slice_equal(type, SLICE_LIT("all")))
        return true;
    report->has_type = true;
    report->type = NUMBER_NONE;
    if (slice_equal(type, SLICE_LIT("unknown")))
        return true;
    const struct catalog_row *row = catalog_find(&report->version->types, type);
    if (row != NULL)
        report->type = row->number;
    return row != NULL;
}

static void usages_collect(struct report *report, struct slice project, struct slice user)
{
    const struct catalog_row *owner = catalog_find(&report->version->projects, project);
    if (owner == NULL)
        return;
    uint32_t user_number = NUMBER_NONE;
    if (user.data != NULL) {
        const struct catalog_row *row = catalog_find(&report->version->users, user);
        if (row == NULL)
            return;
        user_number = row->number;
    }
    report->consumers = arena_zalloc(report->arena, (report->version->types.limit + 1) *
                                                        sizeof(*report->consumers));
    usage_of_project(report->version, owner->number, user_number, usages_take, report);
    if (!report->budget.exhausted)
        sum_up(report);
}

enum api_step handle_placement_usages_show(struct api_request *request)
{
    struct query_string query = query_string_parse(request->arena, request->query);
    struct slice project = query_string_last(&query, SLICE_LIT("project_id"));
    const struct policy_attribute about = {SLICE_LIT("project_id"), project};
    if (!placement_check_policy(request, POLICY_USAGES, &(struct policy_target){&about, 1}))
        return API_DONE;
    bool has_types = request->minor >= 38;
    if (!body_schema_check_query(&query,
                                 has_types ? &SCHEMA_USAGES_QUERY_1_38 : &SCHEMA_USAGES_QUERY_1_9,
                                 &request->err))
        return API_DONE;
    struct report report = {
        .version = request->version, .arena = request->arena, .budget = api_budget(request)};
    struct slice type = {0};
    if (has_types)
        type = query_string_last(&query, SLICE_LIT("consumer_type"));
    if (!has_types || choose_type(&report, type))
        usages_collect(&report, project, query_string_last(&query, SLICE_LIT("user_id")));
    if (report.budget.exhausted)
        return api_over_budget(request);
    struct buf *out = api_out(request);
    buf_append_lit(out, "{\"usages\": {");
    if (has_types)
        write_grouped(out, &report, type);
    else
        write_flat(out, &report);
    buf_append_lit(out, "}}");
    api_answer_json(request, 0);
    return API_DONE;
}
