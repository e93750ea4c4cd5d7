/* GET /v1/nodes, /v1/nodes/detail and /v1/nodes/{ident} (bare metal spec 1.6, 1.7, 8.2, 8.3).
 * Arguments are read and checked in Ironic's order, so that of two errors the same one is reported.
 * Workers; a list that examines very many nodes goes on the slow lane. */
#include "api/charge.h"
#include "api/request.h"
#include "baremetal/api/collection.h"
#include "baremetal/api/handlers.h"
#include "baremetal/api/input/intake.h"
#include "baremetal/api/list_fields.h"
#include "baremetal/api/metal_request.h"
#include "baremetal/api/nodes/node_filters.h"
#include "baremetal/api/nodes/node_find.h"
#include "baremetal/api/nodes/node_json.h"

/* Steps of the budget: to examine a node, and to write each of its fields, in addition to its text.
 */
enum { STEPS_OF_A_NODE = 20, STEPS_OF_A_FIELD = 8 };

struct node_list {
    struct collection collection;
    struct node_filters filters;
    struct list_fields requested;
    struct record_fields fields;
    struct slice project; /* the only project whose nodes may be in it; data == NULL: any */
};

/* Reads the query. */
static bool read_list(struct api_request *request, bool is_detail_route, struct node_list *list)
{
    static const char *const NAMES[] = {"chassis_uuid",
                                        "instance_uuid",
                                        "associated",
                                        "maintenance",
                                        "retired",
                                        "sharded",
                                        "provision_state",
                                        "driver",
                                        "resource_class",
                                        "fault",
                                        "conductor_group",
                                        "conductor",
                                        "owner",
                                        "lessee",
                                        "shard",
                                        "project",
                                        "description_contains",
                                        "marker",
                                        "limit",
                                        "sort_key",
                                        "sort_dir",
                                        "fields",
                                        "detail",
                                        NULL};
    static const char *const NAMES_OF_DETAIL[] = {"chassis_uuid",
                                                  "instance_uuid",
                                                  "associated",
                                                  "maintenance",
                                                  "retired",
                                                  "sharded",
                                                  "provision_state",
                                                  "driver",
                                                  "resource_class",
                                                  "fault",
                                                  "conductor_group",
                                                  "conductor",
                                                  "owner",
                                                  "lessee",
                                                  "shard",
                                                  "project",
                                                  "description_contains",
                                                  "marker",
                                                  "limit",
                                                  "sort_key",
                                                  "sort_dir",
                                                  NULL};
    struct query_string query;
    struct err *err = &request->err;
    *list = (struct node_list){0};
    if (!intake_query(request, is_detail_route ? NAMES_OF_DETAIL : NAMES, &query))
        return false;
    return node_filters_read(&list->filters, &query, request->arena, err) &&
           collection_read_types(&list->collection, &NODE_SHAPE, &query, request->arena, err) &&
           list_fields_read(&list->requested, &query, request->arena, err);
}

static bool check_project(struct api_request *request, struct node_list *list)
{
    struct access access = node_find_caller(request);
    return access_list(&access, ACCESS_NODES, list->filters.project, &list->project, &request->err);
}

static bool check_versions(struct api_request *request, const struct node_list *list,
                           bool is_detail_route)
{
    struct err *err = &request->err;
    const struct collection *collection = &list->collection;
    if (is_detail_route)
        return node_filters_check(&list->filters, request->minor, err) &&
               collection_check_version(collection, request->minor, err);
    return list_fields_check_version(&list->requested, request->minor, err) &&
           record_fields_check_version(&NODE_SHAPE, request->minor, &list->requested.words, err) &&
           collection_check_version(collection, request->minor, err) &&
           node_filters_check(&list->filters, request->minor, err);
}

static bool choose_fields(struct api_request *request, struct node_list *list, bool is_detail_route)
{
    const struct list_fields *requested = &list->requested;
    if (requested->has_fields)
        return node_fields_read(&requested->words, &list->fields, &request->err);
    list->fields = is_detail_route || requested->is_detailed ? node_fields_all(request->minor)
                                                             : node_fields_short(request->minor);
    return true;
}

static bool find_marker(struct api_request *request, const struct node_list *list,
                        const struct node **marker)
{
    struct slice uuid = list->collection.marker;
    *marker = NULL;
    if (uuid.data == NULL)
        return true;
    struct access access;
    *marker = node_find_visible(request, request->version, uuid, &access, &request->err);
    return *marker != NULL;
}

/* No node has a chassis. */
static bool check_chassis(struct api_request *request, const struct node_list *list)
{
    struct slice chassis = list->filters.chassis_uuid;
    return chassis.data == NULL || err_set_join(&request->err, 404, NULL, SLICE_LIT("Chassis "),
                                                chassis, SLICE_LIT(" could not be found."));
}

static bool is_listed(struct api_request *request, const struct node_list *list,
                      const struct node *node)
{
    if (list->project.data != NULL) {
        const struct node_filters own = {.project = list->project};
        if (!node_filters_match(&own, metal_conf(request)->host, node))
            return false;
    }
    return node_filters_match(&list->filters, metal_conf(request)->host, node);
}

/* False: the budget is exhausted. */
static bool nodes_collect(struct api_request *request, const struct node_list *list,
                          struct page *page, struct budget *budget)
{
    const struct version *version = request->version;
    struct slice instance = list->filters.instance_uuid;
    if (instance.data != NULL) {
        const struct node *node = version_node_by_instance(version, instance);
        if (node != NULL && is_listed(request, list, node))
            (void)page_offer(page, &node->record);
        return true;
    }
    const struct node *node = version_next_node(version, page_first_id(page));
    for (; node != NULL; node = version_next_node(version, node->record.id)) {
        if (!budget_take(budget, STEPS_OF_A_NODE))
            return false;
        if (is_listed(request, list, node) && !page_offer(page, &node->record))
            return true;
    }
    return true;
}

static void write_next(struct api_request *request, const struct node_list *list,
                       const struct page *page, bool is_detail_route)
{
    struct buf filters = {0};
    if (page->count == 0 || list->filters.instance_uuid.data != NULL)
        return;
    node_filters_write(&list->filters, &filters);
    if (list->requested.has_detail)
        collection_add_filter(&filters, "detail",
                              list->requested.is_detailed ? SLICE_LIT("True") : SLICE_LIT("False"));
    page_write_next(page, request, is_detail_route ? SLICE_LIT("nodes/detail") : SLICE_LIT("nodes"),
                    buf_slice(&filters), node_text(node_of(page->rows[page->count - 1]), NODE_UUID),
                    api_out(request));
    buf_free(&filters);
}

static int64_t steps_of_fields(const struct record_fields *fields)
{
    int64_t steps = 0;
    for (unsigned i = 0; i < NODE_SHAPE.count; i++)
        steps += fields->has[i] ? STEPS_OF_A_FIELD : 0;
    return steps;
}

/* False: the budget is exhausted. */
static bool write_list(struct api_request *request, const struct node_list *list, struct page *page,
                       bool is_detail_route, struct budget *budget)
{
    struct buf *out = api_out(request);
    size_t counted = 0;
    int64_t steps_of_one = steps_of_fields(&list->fields);
    struct node_view view;
    node_view_begin(&view, request, &list->fields, NULL);
    buf_append_lit(out, "{\"nodes\": [");
    for (size_t i = 0; i < page->count; i++) {
        const struct node *node = node_of(page->rows[i]);
        if (!budget_take(budget, steps_of_one + node_json_steps(&view, node)))
            return false;
        if (i > 0)
            buf_append_lit(out, ", ");
        node_write_json(request, &view, node, node_allocation_uuid(request->version, node), out);
        page_limit_answer(page, i + 1, out->len);
        if (!api_charge_text(request, budget, &counted))
            return false;
    }
    buf_append_char(out, ']');
    write_next(request, list, page, is_detail_route);
    buf_append_char(out, '}');
    api_answer_json(request, 0);
    return true;
}

static enum api_step list_nodes(struct api_request *request, bool is_detail_route)
{
    struct node_list list;
    const struct node *marker;
    struct page page;
    if (!read_list(request, is_detail_route, &list) || !check_project(request, &list) ||
        !check_versions(request, &list, is_detail_route) ||
        !list_fields_check_detail(&list.requested, request->minor, &request->err) ||
        !collection_check_page(&list.collection, metal_conf(request)->max_limit, &request->err) ||
        !find_marker(request, &list, &marker) ||
        !collection_check_sort_key(&list.collection, &request->err) ||
        !check_chassis(request, &list) || !choose_fields(request, &list, is_detail_route))
        return API_DONE;
    page_begin(&page, &list.collection, marker == NULL ? NULL : &marker->record, request->arena);
    struct budget budget = api_budget(request);
    if (!nodes_collect(request, &list, &page, &budget) || !page_end(&page, &budget) ||
        !write_list(request, &list, &page, is_detail_route, &budget))
        return api_start_over(request);
    return API_DONE;
}

enum api_step handle_baremetal_nodes_list(struct api_request *request)
{
    return list_nodes(request, false);
}

enum api_step handle_baremetal_nodes_detail(struct api_request *request)
{
    return list_nodes(request, true);
}

enum api_step handle_baremetal_node_show(struct api_request *request)
{
    static const char *const NAMES[] = {"fields", NULL};
    struct query_string query;
    struct list_fields requested;
    struct record_fields fields = node_fields_all(request->minor);
    struct err *err = &request->err;
    if (!intake_query(request, NAMES, &query) ||
        !list_fields_read(&requested, &query, request->arena, err))
        return API_DONE;
    const struct node *node =
        node_find(request, request->version, request->args[0], POLICY_NODE_GET, err);
    if (node == NULL || !list_fields_check_version(&requested, request->minor, err) ||
        !record_fields_check_version(&NODE_SHAPE, request->minor, &requested.words, err) ||
        (requested.has_fields && !node_fields_read(&requested.words, &fields, err)))
        return API_DONE;
    struct budget budget = api_budget(request);
    struct node_view view;
    node_view_begin(&view, request, &fields, node);
    if (!budget_take(&budget, node->record.bytes / API_BYTES_A_STEP + node_json_steps(&view, node)))
        return api_over_budget(request);
    node_write_json(request, &view, node, node_allocation_uuid(request->version, node),
                    api_out(request));
    api_answer_json(request, 0);
    return API_DONE;
}
