/* GET /v1/allocations, GET and DELETE /v1/allocations/{ident} and /v1/nodes/{ident}/allocation
 * (baremetal-allocations spec, 3 and 6.1). Handlers run on a worker, planners on the writer's
 * thread. */
#include "api/charge.h"
#include "api/write.h"
#include "baremetal/api/access.h"
#include "baremetal/api/allocations/allocation_find.h"
#include "baremetal/api/allocations/allocation_json.h"
#include "baremetal/api/collection.h"
#include "baremetal/api/handlers.h"
#include "baremetal/api/list_fields.h"
#include "baremetal/api/metal_request.h"
#include "baremetal/api/nodes/node_find.h"
#include "baremetal/write/plan_node_allocations.h"
#include "replica/nodes.h"

/* Steps of the budget: to examine an allocation, and to write it, in addition to its text. */
enum { STEPS_OF_AN_ALLOCATION = 20, STEPS_OF_A_FORM = 100 };

/* Reads `fields` and checks that the version has it. */
static bool read_words(struct api_request *request, const struct query_string *query,
                       struct list_fields *requested)
{
    struct argument argument = argument_find(request->arena, query, "fields");
    *requested = (struct list_fields){.has_fields = argument.is_there};
    return argument_words(&argument, &requested->words, &request->err) &&
           record_fields_check_version(&NODE_ALLOCATION_SHAPE, request->minor, &requested->words,
                                       &request->err);
}

/* Resolves the names in `fields`. */
static bool choose_fields(struct api_request *request, const struct list_fields *requested,
                          struct record_fields *fields)
{
    *fields = record_fields_all(&NODE_ALLOCATION_SHAPE, request->minor);
    return !requested->has_fields ||
           record_fields_read(&NODE_ALLOCATION_SHAPE, &requested->words, fields, &request->err);
}

/* The filters of a list. */
struct wanted {
    const struct node *node;                   /* or NULL */
    struct slice resource_class, state, owner; /* data == NULL: any */
};

static bool text_fits(const struct node_allocation *row, enum node_allocation_field field,
                      struct slice wanted)
{
    struct slice has = node_allocation_text(row, field);
    return wanted.data == NULL || (has.data != NULL && slice_equal(has, wanted));
}

static bool row_fits(const struct wanted *wanted, const struct node_allocation *row)
{
    return (wanted->node == NULL || node_allocation_node_id(row) == wanted->node->record.id) &&
           text_fits(row, NODE_ALLOCATION_RESOURCE_CLASS, wanted->resource_class) &&
           text_fits(row, NODE_ALLOCATION_STATE, wanted->state) &&
           text_fits(row, NODE_ALLOCATION_OWNER, wanted->owner);
}

struct listing {
    struct collection collection;
    struct list_fields requested;
    struct record_fields fields;
    struct wanted wanted;
    struct buf filters;
    struct access access;
};

static bool allocations_read_text(struct api_request *request, const struct query_string *query,
                                  const char *name, struct slice *text, struct buf *filters)
{
    struct argument argument = argument_find(request->arena, query, name);
    if (!argument_text(&argument, text, &request->err))
        return false;
    if (text->data != NULL)
        collection_add_filter(filters, name, *text);
    return true;
}

/* Here a missing node is 400, and one that the caller may not see 404. */
static bool read_node(struct api_request *request, const struct query_string *query,
                      struct listing *listing)
{
    struct slice text = {0};
    struct argument argument = argument_find(request->arena, query, "node");
    struct ident ident;
    if (!argument.is_there)
        return true;
    if (!argument_ident(&argument, &ident, &request->err) ||
        !allocations_read_text(request, query, "node", &text, &listing->filters))
        return false;
    const struct node *node = node_find_named(request->version, &ident);
    if (node == NULL)
        return err_set_join(&request->err, 400, NULL, SLICE_LIT("Node "), text,
                            SLICE_LIT(" could not be found."));
    struct access_node about = node_find_whose(node);
    if (!access_node_passes(&listing->access, POLICY_NODE_GET, &about))
        return err_set_join(&request->err, 404, NULL, SLICE_LIT("Node "), text,
                            SLICE_LIT(" could not be found."));
    listing->wanted.node = node;
    return true;
}

static bool check_owner(struct api_request *request, struct listing *listing)
{
    struct slice project;
    if (!access_list(&listing->access, ACCESS_ALLOCATIONS, listing->wanted.owner, &project,
                     &request->err))
        return false;
    if (listing->wanted.owner.data != NULL && request->minor < 60)
        return err_set(&request->err, 406, NULL, "Request not acceptable.");
    listing->wanted.owner = project;
    return true;
}

static bool read_listing(struct api_request *request, struct listing *listing)
{
    static const char *const NAMES[] = {"node",  "resource_class", "state",    "owner",    "fields",
                                        "limit", "marker",         "sort_key", "sort_dir", NULL};
    struct query_string query = query_string_parse(request->arena, request->query);
    *listing = (struct listing){.access = node_find_caller(request)};
    struct wanted *wanted = &listing->wanted;
    return arguments_check_names(&query, NAMES, &request->err) &&
           allocations_read_text(request, &query, "owner", &wanted->owner, &listing->filters) &&
           collection_read_types(&listing->collection, &NODE_ALLOCATION_SHAPE, &query,
                                 request->arena, &request->err) &&
           check_owner(request, listing) && read_words(request, &query, &listing->requested) &&
           collection_check_page(&listing->collection, metal_conf(request)->max_limit,
                                 &request->err) &&
           read_node(request, &query, listing) &&
           allocations_read_text(request, &query, "resource_class", &wanted->resource_class,
                                 &listing->filters) &&
           allocations_read_text(request, &query, "state", &wanted->state, &listing->filters);
}

static bool find_marker(struct api_request *request, const struct listing *listing,
                        const struct record **marker)
{
    struct slice uuid = listing->collection.marker;
    const struct node_allocation *row =
        uuid.data == NULL ? NULL : version_node_allocation_by_uuid(request->version, uuid);
    *marker = row == NULL ? NULL : &row->record;
    return uuid.data == NULL || row != NULL ||
           err_set_join(&request->err, 404, NULL, SLICE_LIT("Allocation "), uuid,
                        SLICE_LIT(" could not be found."));
}

static bool may_see(const struct listing *listing, const struct node_allocation *row)
{
    return listing->access.open ||
           access_allocation_passes(&listing->access, POLICY_NODE_ALLOCATION_GET,
                                    node_allocation_text(row, NODE_ALLOCATION_OWNER));
}

/* False: the budget is exhausted. */
static bool offer_all(struct api_request *request, const struct listing *listing, struct page *page,
                      struct budget *budget)
{
    const struct version *version = request->version;
    const struct node_allocation *row = version_next_node_allocation(version, page_first_id(page));
    for (; row != NULL; row = version_next_node_allocation(version, row->record.id)) {
        if (!budget_take(budget, STEPS_OF_AN_ALLOCATION))
            return false;
        if (row_fits(&listing->wanted, row) && may_see(listing, row) &&
            !page_offer(page, &row->record))
            return true;
    }
    return true;
}

/* False: the budget is exhausted. */
static bool write_page(struct api_request *request, const struct listing *listing,
                       struct page *page, struct budget *budget)
{
    struct buf *out = api_out(request);
    size_t counted = 0;
    struct slice last = {0};
    buf_append_lit(out, "{\"allocations\": [");
    for (size_t i = 0; i < page->count; i++) {
        struct allocation_shown shown =
            allocation_shown_of(request->version, node_allocation_of(page->rows[i]));
        if (i > 0)
            buf_append_lit(out, ", ");
        allocation_write_json(request, &shown, &listing->fields, out);
        last = node_allocation_text(shown.row, NODE_ALLOCATION_UUID);
        page_limit_answer(page, i + 1, out->len);
        if (!budget_take(budget, STEPS_OF_A_FORM) || !api_charge_text(request, budget, &counted))
            return false;
    }
    buf_append_lit(out, "]");
    page_write_next(page, request, SLICE_LIT("allocations"), buf_slice(&listing->filters), last,
                    out);
    buf_append_lit(out, "}");
    api_answer_json(request, 0);
    return true;
}

enum api_step handle_baremetal_allocations_list(struct api_request *request)
{
    struct listing listing;
    const struct record *marker;
    enum api_step step = API_DONE;
    if (read_listing(request, &listing) && find_marker(request, &listing, &marker) &&
        collection_check_sort_key(&listing.collection, &request->err) &&
        choose_fields(request, &listing.requested, &listing.fields)) {
        struct page page;
        struct budget budget = api_budget(request);
        page_begin(&page, &listing.collection, marker, request->arena);
        if (!offer_all(request, &listing, &page, &budget) || !page_end(&page, &budget) ||
            !write_page(request, &listing, &page, &budget))
            step = api_start_over(request);
    }
    buf_free(&listing.filters);
    return step;
}

static void show(struct api_request *request, const struct node_allocation *row,
                 const struct record_fields *fields)
{
    struct allocation_shown shown = allocation_shown_of(request->version, row);
    allocation_write_json(request, &shown, fields, api_out(request));
    api_answer_json(request, 0);
}

/* The only permitted argument is `fields`. */
static bool read_show(struct api_request *request, struct record_fields *fields)
{
    static const char *const NAMES[] = {"fields", NULL};
    struct query_string query = query_string_parse(request->arena, request->query);
    struct list_fields requested;
    return arguments_check_names(&query, NAMES, &request->err) &&
           read_words(request, &query, &requested) && choose_fields(request, &requested, fields);
}

enum api_step handle_baremetal_allocation_show(struct api_request *request)
{
    struct record_fields fields;
    if (!read_show(request, &fields))
        return API_DONE;
    const struct node_allocation *row = allocation_find(
        request, request->args[0], POLICY_NODE_ALLOCATION_GET, request->version, &request->err);
    if (row != NULL)
        show(request, row, &fields);
    return API_DONE;
}

enum api_step handle_baremetal_node_allocation_show(struct api_request *request)
{
    struct record_fields fields;
    if (!read_show(request, &fields))
        return API_DONE;
    const struct node_allocation *row =
        allocation_find_of_node(request, request->args[0], 400, POLICY_NODE_ALLOCATION_GET,
                                request->version, &request->err);
    if (row != NULL)
        show(request, row, &fields);
    return API_DONE;
}

static bool allocations_plan_delete(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    const struct node_allocation *row = allocation_find(
        request, request->args[0], POLICY_NODE_ALLOCATION_DELETE, plan->version, &write->err);
    return row != NULL && plan_node_allocation_delete(row, plan, &write->err);
}

static bool plan_delete_of_node(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    const struct node_allocation *row = allocation_find_of_node(
        request, request->args[0], 404, POLICY_NODE_ALLOCATION_DELETE, plan->version, &write->err);
    return row != NULL && plan_node_allocation_delete(row, plan, &write->err);
}

static enum api_step begin_delete(struct api_request *request, pipeline_plan *plan)
{
    static const char *const NAMES[] = {NULL};
    struct query_string query = query_string_parse(request->arena, request->query);
    if (!arguments_check_names(&query, NAMES, &request->err))
        return API_DONE;
    request->write->plan = plan;
    return API_WRITE;
}

enum api_step handle_baremetal_allocation_delete(struct api_request *request)
{
    return begin_delete(request, allocations_plan_delete);
}

enum api_step handle_baremetal_node_allocation_delete(struct api_request *request)
{
    return begin_delete(request, plan_delete_of_node);
}
