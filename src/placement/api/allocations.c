/* GET, PUT, DELETE /allocations/{consumer_uuid} and POST /allocations. Reads run on a worker with a
 * pinned version; writes are parsed and validated on a worker and planned by placement/write/ on
 * the writer's thread. */
#include <stdlib.h>

#include "api/charge.h"
#include "api/schema/body_schema.h"
#include "api/schema/tables.h"
#include "api/text/latin1.h"
#include "api/text/uuid_like.h"
#include "api/write.h"
#include "base/json_write.h"
#include "placement/api/allocation_handlers.h"
#include "placement/api/claim_read.h"
#include "placement/write/plan_allocations.h"

enum { STEPS_OF_AN_ALLOCATION = 40 }; /* to sort and write it */

/* Consecutive allocations of one provider. */
struct provider_run {
    uint32_t provider;
    uint32_t first;
    uint32_t rank; /* the position of the provider's first run */
};

static int compare_numbers(uint32_t left, uint32_t right)
{
    return left < right ? -1 : left > right;
}

static int compare_providers(const void *a, const void *b)
{
    const struct provider_run *left = a;
    const struct provider_run *right = b;
    int order = compare_numbers(left->provider, right->provider);
    return order != 0 ? order : compare_numbers(left->first, right->first);
}

static int compare_ranks(const void *a, const void *b)
{
    const struct provider_run *left = a;
    const struct provider_run *right = b;
    int order = compare_numbers(left->rank, right->rank);
    return order != 0 ? order : compare_numbers(left->first, right->first);
}

/* The consumer's allocations grouped by provider, providers in the order of their first row. Rows
 * written by berth's planner are already in that order. */
static const struct consumer_allocation *group_by_provider(struct arena *arena,
                                                           const struct consumer *consumer)
{
    const struct consumer_allocation *rows = consumer->allocation;
    uint32_t count = consumer->allocation_count;
    struct provider_run *runs = arena_array(arena, count, sizeof(*runs));
    uint32_t run_count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || rows[i].provider.v != rows[i - 1].provider.v)
            runs[run_count++] = (struct provider_run){rows[i].provider.v, i, i};
    if (run_count < 3) /* a provider could only occur again in a third run */
        return rows;
    qsort(runs, run_count, sizeof(*runs), compare_providers);
    bool comes_back = false;
    for (uint32_t i = 1; i < run_count; i++) {
        if (runs[i].provider != runs[i - 1].provider)
            continue;
        runs[i].rank = runs[i - 1].rank;
        comes_back = true;
    }
    if (!comes_back)
        return rows;
    qsort(runs, run_count, sizeof(*runs), compare_ranks);
    struct consumer_allocation *grouped = arena_array(arena, count, sizeof(*grouped));
    uint32_t put = 0;
    for (uint32_t r = 0; r < run_count; r++)
        for (uint32_t i = runs[r].first; i < count && rows[i].provider.v == runs[r].provider; i++)
            grouped[put++] = rows[i];
    return grouped;
}

static void write_amount(struct buf *out, const struct version *version,
                         const struct consumer_allocation *allocation)
{
    json_write_string(out, catalog_name(catalog_row_at(&version->classes, allocation->class_no.v)));
    buf_append_lit(out, ": ");
    buf_append_int(out, allocation->used);
}

static void write_providers(struct buf *out, const struct version *version,
                            const struct consumer_allocation *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count;) {
        const struct provider *provider = version_provider(version, rows[i].provider);
        if (i > 0)
            buf_append_lit(out, ", ");
        json_write_string(out, provider_uuid(provider));
        buf_append_lit(out, ": {\"resources\": {");
        write_amount(out, version, &rows[i]);
        for (i++; i < count && rows[i].provider.v == provider->no.v; i++) {
            buf_append_lit(out, ", ");
            write_amount(out, version, &rows[i]);
        }
        buf_append_lit(out, "}, \"generation\": ");
        buf_append_int(out, provider->generation);
        buf_append_char(out, '}');
    }
}

static void write_owner(struct api_request *request, const struct consumer *consumer)
{
    const struct version *version = request->version;
    struct buf *out = api_out(request);
    if (request->minor < 12)
        return;
    buf_append_lit(out, ", \"project_id\": ");
    json_write_string(out, catalog_name(catalog_row_at(&version->projects, consumer->project)));
    buf_append_lit(out, ", \"user_id\": ");
    json_write_string(out, catalog_name(catalog_row_at(&version->users, consumer->user)));
    if (request->minor < 28)
        return;
    buf_append_lit(out, ", \"consumer_generation\": ");
    buf_append_int(out, consumer->generation);
    if (request->minor < 38)
        return;
    buf_append_lit(out, ", \"consumer_type\": ");
    if (consumer->type == NUMBER_NONE)
        buf_append_lit(out, "\"unknown\"");
    else
        json_write_string(out, catalog_name(catalog_row_at(&version->types, consumer->type)));
}

/* False: there are so many that the slow lane must do the work, or too many even for that. */
static bool take_steps(struct api_request *request, const struct consumer *consumer)
{
    struct budget budget = api_budget(request);
    return consumer == NULL ||
           budget_take(&budget, STEPS_OF_AN_ALLOCATION * (int64_t)consumer->allocation_count);
}

enum api_step handle_placement_allocations_show(struct api_request *request)
{
    struct buf *out = api_out(request);
    const struct consumer *consumer = version_consumer(request->version, request->args[0]);
    if (!take_steps(request, consumer))
        return api_over_budget(request);
    buf_append_lit(out, "{\"allocations\": {");
    bool holds = consumer != NULL && consumer->allocation_count > 0;
    if (holds)
        write_providers(out, request->version, group_by_provider(request->arena, consumer),
                        consumer->allocation_count);
    buf_append_char(out, '}');
    if (holds)
        write_owner(request, consumer);
    buf_append_char(out, '}');
    api_answer_json(request, holds ? consumer->allocated_at_us : 0);
    return API_DONE;
}

/* The data of a write, between handle and plan. */
struct allocations_write {
    struct claim *claims;
    size_t count;
    enum claim_source source;
};

static bool plan_claims(struct pipeline_request *write, const struct plan *plan)
{
    const struct allocations_write *state = api_request_of(write)->state;
    return plan_allocations(state->claims, state->count, state->source, plan, &write->err);
}

static enum api_step submit_claims(struct api_request *request, struct claim *claims, size_t count,
                                   enum claim_source source)
{
    struct allocations_write *state = arena_alloc(request->arena, sizeof(*state));
    *state = (struct allocations_write){claims, count, source};
    request->state = state;
    request->write->plan = plan_claims;
    request->write->least_rows = claim_least_rows(claims, count);
    return API_WRITE;
}

void finish_placement_empty(struct api_request *request)
{
    if (!err_is_set(&request->err))
        api_answer_empty(request, 204);
}

static const struct schema *put_schema(unsigned minor)
{
    if (minor >= 38)
        return &SCHEMA_ALLOCATION_1_38;
    if (minor >= 34)
        return &SCHEMA_ALLOCATION_1_34;
    if (minor >= 28)
        return &SCHEMA_ALLOCATION_1_28;
    if (minor >= 12)
        return &SCHEMA_ALLOCATION_1_12;
    return minor >= 8 ? &SCHEMA_ALLOCATION_1_8 : &SCHEMA_ALLOCATION_1_0;
}

enum api_step handle_placement_allocations_update(struct api_request *request)
{
    char *dashed = arena_alloc(request->arena, UUID_LIKE_LEN);
    if (!uuid_like_read(request->args[0], dashed)) {
        err_set_join(&request->err, 400, NULL, SLICE_LIT("Malformed consumer_uuid: "),
                     latin1_text(request->arena, request->args[0]));
        return API_DONE;
    }
    json_t *body = body_schema_read(request, put_schema(request->minor));
    if (body == NULL)
        return API_DONE;
    struct claim *claim = arena_alloc(request->arena, sizeof(*claim));
    *claim = claim_read(request, (struct slice){dashed, UUID_LIKE_LEN}, body);
    return submit_claims(request, claim, 1, CLAIM_BY_PUT);
}

static const struct schema *post_schema(unsigned minor)
{
    if (minor >= 38)
        return &SCHEMA_ALLOCATIONS_1_38;
    if (minor >= 34)
        return &SCHEMA_ALLOCATIONS_1_34;
    return minor >= 28 ? &SCHEMA_ALLOCATIONS_1_28 : &SCHEMA_ALLOCATIONS_1_13;
}

enum api_step handle_placement_allocations_manage(struct api_request *request)
{
    json_t *body = body_schema_read(request, post_schema(request->minor));
    if (body == NULL)
        return API_DONE;
    return submit_claims(request, claim_read_all(request, body), json_object_size(body),
                         CLAIM_BY_POST);
}

static bool allocations_plan_delete(struct pipeline_request *write, const struct plan *plan)
{
    const struct api_request *request = api_request_of(write);
    struct slice consumer = request->args[0];
    return plan_allocations_delete(consumer, latin1_text(request->arena, consumer), plan,
                                   &write->err);
}

enum api_step handle_placement_allocations_delete(struct api_request *request)
{
    request->write->plan = allocations_plan_delete;
    return API_WRITE;
}
