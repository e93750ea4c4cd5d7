/* Lists of objects that berth does not keep: chassis, ports, port groups, volumes, and those of
 * nodes (bare metal spec 8.1). Clients may send all of their arguments; these are read and checked,
 * and the answer is an empty list. Workers. */
#include "api/request.h"
#include "api/text/python_repr.h"
#include "baremetal/api/collection.h"
#include "baremetal/api/handlers.h"
#include "baremetal/api/input/intake.h"
#include "baremetal/api/list_fields.h"
#include "baremetal/api/metal_request.h"
#include "baremetal/api/nodes/node_find.h"

#define PAGE   "marker", "limit", "sort_key", "sort_dir"
#define CHOICE "fields", "detail"

struct empty_list {
    const char *member;
    const char *thing;        /* the object's name in the error for a marker that does not exist */
    const char *const *names; /* of arguments */
    enum access_list access;  /* ACCESS_LISTS: `rule` decides */
    enum policy_baremetal_rule rule;
};

static const char *const PAGED[] = {PAGE, NULL};
static const char *const CHOSEN[] = {PAGE, CHOICE, NULL};
static const char *const OF_PORTS[] = {"node",  "node_uuid", "address", "portgroup",
                                       "shard", PAGE,        CHOICE,    NULL};
static const char *const OF_PORTS_DETAIL[] = {"node",  "node_uuid", "address", "portgroup",
                                              "shard", PAGE,        NULL};
static const char *const OF_PORTGROUPS[] = {"node", "address", PAGE, CHOICE, NULL};
static const char *const OF_PORTGROUPS_DETAIL[] = {"node", "address", PAGE, NULL};
static const char *const OF_VOLUMES[] = {"node", "project", PAGE, CHOICE, NULL};

/* Six bytes as hexadecimal digits, separated by colons. */
static bool is_address(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        bool is_digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        if (i % 3 == 2 ? c != ':' : !is_digit)
            return false;
    }
    return text.len == 17;
}

static bool check_address(struct api_request *request, const struct query_string *query)
{
    struct slice address = {0};
    struct argument argument = argument_find(request->arena, query, "address");
    if (!argument_text(&argument, &address, &request->err))
        return false;
    if (address.data == NULL || is_address(address))
        return true;
    struct buf text = {0};
    buf_append_lit(&text, "Expected valid MAC address for address: ");
    python_str_text(&text, address);
    err_set_text(&request->err, 400, NULL, arena_copy(request->arena, buf_slice(&text)));
    buf_free(&text);
    return false;
}

/* Whether the caller may see such a list and, if the arguments name a node, that node. */
static bool check_access(struct api_request *request, const struct empty_list *list,
                         struct slice node)
{
    struct access access = node_find_caller(request);
    struct slice project;
    bool passes =
        list->access == ACCESS_LISTS
            ? access_check(&access, list->rule, &request->err)
            : access_list(&access, list->access, (struct slice){0}, &project, &request->err);
    return passes && (node.data == NULL || node_find_visible(request, request->version, node,
                                                             &access, &request->err) != NULL);
}

static bool check_page(struct api_request *request, const struct query_string *query,
                       const struct empty_list *list)
{
    struct slice marker = {0};
    size_t limit = metal_conf(request)->max_limit;
    bool is_descending;
    struct err *err = &request->err;
    struct argument by_marker = argument_find(request->arena, query, "marker");
    struct argument by_limit = argument_find(request->arena, query, "limit");
    struct argument by_sort_dir = argument_find(request->arena, query, "sort_dir");
    if (!argument_uuid(&by_marker, &marker, err) || !argument_limit(&by_limit, &limit, err) ||
        !argument_sort_dir(&by_sort_dir, &is_descending, err))
        return false;
    return marker.data == NULL ||
           err_set_join(err, 404, NULL, slice_of(list->thing), SLICE_LIT(" "), marker,
                        SLICE_LIT(" could not be found."));
}

static enum api_step empty_collections_answer(struct api_request *request, const char *member)
{
    buf_printf(api_out(request), "{\"%s\": []}", member);
    api_answer_json(request, 0);
    return API_DONE;
}

static enum api_step list_nothing(struct api_request *request, const struct empty_list *list)
{
    struct query_string query;
    struct list_fields requested;
    struct ident node = {0};
    struct slice uuid = {0};
    struct err *err = &request->err;
    if (!intake_query(request, list->names, &query))
        return API_DONE;
    struct argument by_node = argument_find(request->arena, &query, "node");
    struct argument by_uuid = argument_find(request->arena, &query, "node_uuid");
    if (!argument_ident(&by_node, &node, err) || !argument_uuid(&by_uuid, &uuid, err) ||
        !check_address(request, &query) ||
        !list_fields_read(&requested, &query, request->arena, err) ||
        !check_access(request, list, uuid.data != NULL ? uuid : node.text) ||
        !list_fields_check_version(&requested, request->minor, err) ||
        !list_fields_check_detail(&requested, request->minor, err) ||
        !check_page(request, &query, list))
        return API_DONE;
    return empty_collections_answer(request, list->member);
}

enum api_step handle_baremetal_chassis_list(struct api_request *request)
{
    static const struct empty_list LIST = {"chassis", "Chassis", CHOSEN, ACCESS_LISTS,
                                           POLICY_CHASSIS_GET};
    return list_nothing(request, &LIST);
}

enum api_step handle_baremetal_chassis_detail(struct api_request *request)
{
    static const struct empty_list LIST = {"chassis", "Chassis", PAGED, ACCESS_LISTS,
                                           POLICY_CHASSIS_GET};
    return list_nothing(request, &LIST);
}

enum api_step handle_baremetal_ports_list(struct api_request *request)
{
    static const struct empty_list LIST = {"ports", "Port", OF_PORTS, ACCESS_PORTS,
                                           POLICY_BAREMETAL_NONE};
    return list_nothing(request, &LIST);
}

enum api_step handle_baremetal_ports_detail(struct api_request *request)
{
    static const struct empty_list LIST = {"ports", "Port", OF_PORTS_DETAIL, ACCESS_PORTS,
                                           POLICY_BAREMETAL_NONE};
    return list_nothing(request, &LIST);
}

enum api_step handle_baremetal_portgroups_list(struct api_request *request)
{
    static const struct empty_list LIST = {"portgroups", "Portgroup", OF_PORTGROUPS,
                                           ACCESS_PORTGROUPS, POLICY_BAREMETAL_NONE};
    return list_nothing(request, &LIST);
}

enum api_step handle_baremetal_portgroups_detail(struct api_request *request)
{
    static const struct empty_list LIST = {"portgroups", "Portgroup", OF_PORTGROUPS_DETAIL,
                                           ACCESS_PORTGROUPS, POLICY_BAREMETAL_NONE};
    return list_nothing(request, &LIST);
}

enum api_step handle_baremetal_volume_connectors_list(struct api_request *request)
{
    static const struct empty_list LIST = {"connectors", "Volume connector", OF_VOLUMES,
                                           ACCESS_VOLUMES, POLICY_BAREMETAL_NONE};
    return list_nothing(request, &LIST);
}

enum api_step handle_baremetal_volume_targets_list(struct api_request *request)
{
    static const struct empty_list LIST = {"targets", "Volume target", OF_VOLUMES, ACCESS_VOLUMES,
                                           POLICY_BAREMETAL_NONE};
    return list_nothing(request, &LIST);
}

/* Lists below a node: its ident is in the path, and its own rule decides. */
static enum api_step list_below(struct api_request *request, const struct empty_list *list)
{
    struct query_string query;
    struct list_fields requested;
    struct err *err = &request->err;
    if (!intake_query(request, list->names, &query) || !check_address(request, &query) ||
        !list_fields_read(&requested, &query, request->arena, err) ||
        node_find(request, request->version, request->args[0], list->rule, err) == NULL ||
        !list_fields_check_version(&requested, request->minor, err) ||
        !check_page(request, &query, list))
        return API_DONE;
    return empty_collections_answer(request, list->member);
}

static const char *const BELOW[] = {"address", PAGE, CHOICE, NULL};

enum api_step handle_baremetal_node_ports_list(struct api_request *request)
{
    static const struct empty_list LIST = {"ports", "Port", BELOW, ACCESS_LISTS, POLICY_NODE_GET};
    return list_below(request, &LIST);
}

enum api_step handle_baremetal_node_portgroups_list(struct api_request *request)
{
    static const struct empty_list LIST = {"portgroups", "Portgroup", BELOW, ACCESS_LISTS,
                                           POLICY_NODE_GET};
    return list_below(request, &LIST);
}

enum api_step handle_baremetal_node_vifs_list(struct api_request *request)
{
    static const char *const NAMES[] = {NULL};
    static const struct empty_list LIST = {"vifs", "", NAMES, ACCESS_LISTS, POLICY_NODE_VIF_LIST};
    return list_below(request, &LIST);
}

enum api_step handle_baremetal_node_bios_show(struct api_request *request)
{
    static const char *const NAMES[] = {CHOICE, NULL};
    static const struct empty_list LIST = {"bios", "", NAMES, ACCESS_LISTS, POLICY_NODE_BIOS_GET};
    return list_below(request, &LIST);
}

enum api_step handle_baremetal_node_history_list(struct api_request *request)
{
    static const char *const NAMES[] = {"detail", "marker", "limit", NULL};
    static const struct empty_list LIST = {"history", "Node history record", NAMES, ACCESS_LISTS,
                                           POLICY_NODE_HISTORY_GET};
    return list_below(request, &LIST);
}
