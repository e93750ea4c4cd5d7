/* GET /v1/placements, GET and DELETE /v1/placements/{placement_id} (Valet spec, 7.1 and 7.4).
 * Handlers run on a worker or the slow lane, planners on the writer's thread. */
#include "api/charge.h"
#include "api/text/query_string.h"
#include "api/write.h"
#include "base/arena.h"
#include "replica/version.h"
#include "valet/api/handlers.h"
#include "valet/api/ids.h"
#include "valet/api/plans/plan_find.h"
#include "valet/api/plans/plan_json.h"
#include "valet/state/placement_location.h"
#include "valet/write/plan_stacks.h"

enum { STEPS_OF_A_PLACEMENT = 100 }; /* of the query's budget */

enum filter {
    BY_ID,
    BY_PLAN,
    BY_NAME,
    BY_ORCHESTRATION,
    BY_RESOURCE,
    BY_LOCATION,
    BY_RESERVED,
    FILTER_COUNT
};
static const char *const FILTERS[FILTER_COUNT] = {
    "id", "plan_id", "name", "orchestration_id", "resource_id", "location", "reserved"};

struct listing {
    struct api_request *request;
    struct valet_caller caller;
    struct slice wanted[FILTER_COUNT]; /* data == NULL: any */
    bool is_first;
};

static bool read_filter(struct listing *listing, const struct query_pair *pair)
{
    struct err *err = &listing->request->err;
    for (unsigned filter = 0; filter < FILTER_COUNT; filter++) {
        if (!slice_equal(pair->name, slice_of(FILTERS[filter])))
            continue;
        if (listing->wanted[filter].data != NULL)
            return err_set(err, 400, NULL, "The query parameter %s is there twice",
                           FILTERS[filter]);
        listing->wanted[filter] = pair->value.data == NULL ? SLICE_LIT("") : pair->value;
        return true;
    }
    return err_set_join(err, 400, NULL, SLICE_LIT("There is no query parameter "), pair->name);
}

static bool read_filters(struct listing *listing)
{
    struct api_request *request = listing->request;
    struct query_string query = query_string_parse(request->arena, request->query);
    if (!query.is_utf8)
        return err_set(&request->err, 400, NULL, "The query is not valid UTF-8");
    for (size_t i = 0; i < query.count; i++)
        if (!read_filter(listing, &query.pairs[i]))
            return false;
    struct slice reserved = listing->wanted[BY_RESERVED];
    return reserved.data == NULL || slice_equal(reserved, SLICE_LIT("true")) ||
           slice_equal(reserved, SLICE_LIT("false")) ||
           err_set(&request->err, 400, NULL, "reserved is to be true or false");
}

static bool text_fits(const struct listing *listing, enum filter filter, struct slice text)
{
    return listing->wanted[filter].data == NULL ||
           (text.data != NULL && slice_equal(listing->wanted[filter], text));
}

static bool row_fits(const struct listing *listing, const struct record *row)
{
    struct slice reserved =
        record_bool(row, VALET_PLACEMENT_RESERVED) ? SLICE_LIT("true") : SLICE_LIT("false");
    return text_fits(listing, BY_ID, record_text(row, VALET_PLACEMENT_UUID)) &&
           text_fits(listing, BY_NAME, record_text(row, VALET_PLACEMENT_NAME)) &&
           text_fits(listing, BY_ORCHESTRATION,
                     record_text(row, VALET_PLACEMENT_ORCHESTRATION_ID)) &&
           text_fits(listing, BY_RESOURCE, record_text(row, VALET_PLACEMENT_RESOURCE_ID)) &&
           text_fits(listing, BY_RESERVED, reserved);
}

static struct placement_view view_of(const struct version *version,
                                     const struct valet_placement *row)
{
    const struct valet_plan *plan = placement_plan(version, row);
    return (struct placement_view){
        .row = row,
        .location = placement_location(version, row),
        .plan_uuid = plan == NULL ? (struct slice){0} : record_text(&plan->record, VALET_PLAN_UUID),
    };
}

static void offer(struct listing *listing, const struct valet_placement *row)
{
    const struct version *version = listing->request->version;
    if (!row_fits(listing, &row->record) || !placement_is_seen(version, &listing->caller, row))
        return;
    struct placement_view view = view_of(version, row);
    if (!text_fits(listing, BY_PLAN, view.plan_uuid) ||
        !text_fits(listing, BY_LOCATION, view.location))
        return;
    if (!listing->is_first)
        buf_append_lit(api_out(listing->request), ", ");
    listing->is_first = false;
    placement_json(api_out(listing->request), &view);
}

/* A filter that finds at most one row. */
static bool offer_one(struct listing *listing)
{
    const struct version *version = listing->request->version;
    const struct slice *wanted = listing->wanted;
    const struct valet_placement *row = NULL;
    if (wanted[BY_ID].data != NULL)
        row = version_valet_placement_by_uuid(version, wanted[BY_ID]);
    else if (wanted[BY_ORCHESTRATION].data != NULL)
        row = version_valet_placement_by_orchestration(version, wanted[BY_ORCHESTRATION]);
    else if (wanted[BY_RESOURCE].data != NULL)
        row = version_valet_placement_by_resource(version, wanted[BY_RESOURCE]);
    else
        return false;
    if (row != NULL)
        offer(listing, row);
    return true;
}

/* False: the budget is exhausted. */
static bool offer_all(struct listing *listing)
{
    const struct version *version = listing->request->version;
    struct budget budget = api_budget(listing->request);
    const struct valet_plan *plan = NULL;
    const struct valet_placement *row = NULL;
    if (listing->wanted[BY_PLAN].data != NULL) {
        plan = version_valet_plan_by_uuid(version, listing->wanted[BY_PLAN]);
        if (plan == NULL)
            return true;
    }
    for (int64_t id = 0;
         (row = plan == NULL
                    ? version_next_valet_placement(version, id)
                    : version_next_valet_placement_of(version, plan->record.id, id)) != NULL;
         id = row->record.id) {
        if (!budget_take(&budget, STEPS_OF_A_PLACEMENT))
            return false;
        offer(listing, row);
    }
    return true;
}

enum api_step handle_valet_placements_list(struct api_request *request)
{
    struct listing listing = {
        .request = request, .caller = valet_caller_of(request), .is_first = true};
    if (!read_filters(&listing))
        return API_DONE;
    buf_append_lit(api_out(request), "{\"placements\": [");
    if (!offer_one(&listing) && !offer_all(&listing)) {
        api_out(request)->len = 0;
        return api_over_budget(request);
    }
    buf_append_lit(api_out(request), "]}");
    api_answer_json(request, 0);
    return API_DONE;
}

enum api_step handle_valet_placement_show(struct api_request *request)
{
    const struct valet_placement *row = ids_placement(request);
    if (row == NULL)
        return API_DONE;
    struct placement_view view = view_of(request->version, row);
    buf_append_lit(api_out(request), "{\"placement\": ");
    placement_json(api_out(request), &view);
    buf_append_lit(api_out(request), "}");
    api_answer_json(request, 0);
    return API_DONE;
}

static bool placements_plan_delete(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    const struct valet_placement *row =
        placement_find(plan->version, request->state, request->args[0], &write->err);
    if (row == NULL)
        return false;
    plan_placement_delete(row, plan);
    return true;
}

enum api_step handle_valet_placement_delete(struct api_request *request)
{
    if (ids_placement(request) == NULL)
        return API_DONE;
    struct valet_caller *caller = arena_alloc(request->arena, sizeof(*caller));
    *caller = valet_caller_of(request);
    request->state = caller;
    request->write->plan = placements_plan_delete;
    return API_WRITE;
}
