/* GET /v1/drivers and /v1/drivers/{name} (bare metal spec 8.1): the one built-in driver. Workers.
 */
#include "api/request.h"
#include "baremetal/api/handlers.h"
#include "baremetal/api/input/intake.h"
#include "baremetal/api/links.h"
#include "baremetal/api/list_fields.h"
#include "baremetal/api/metal_request.h"
#include "baremetal/api/nodes/node_find.h"
#include "base/json_write.h"

enum {
    MINOR_OF_PROPERTIES = 14,
    MINOR_OF_TYPES = 30,
    MINOR_OF_FIELDS = 77,
};

static const struct interface {
    const char *name;
    unsigned since;
    const char *initial;
    const char *enabled; /* as JSON */
} INTERFACES[] = {
    {"bios", 40, "fake", "[\"fake\"]"},
    {"boot", 30, "fake", "[\"fake\"]"},
    {"console", 30, "fake", "[\"fake\"]"},
    {"deploy", 30, "fake", "[\"fake\"]"},
    {"inspect", 30, "fake", "[\"fake\"]"},
    {"management", 30, "fake", "[\"fake\"]"},
    {"network", 30, "noop", "[\"noop\"]"},
    {"power", 30, "fake", "[\"fake\"]"},
    {"raid", 30, "fake", "[\"fake\"]"},
    {"rescue", 38, "fake", "[\"fake\"]"},
    {"storage", 33, "noop", "[\"noop\", \"fake\"]"},
    {"vendor", 30, "fake", "[\"fake\"]"},
};

enum { INTERFACES_COUNT = sizeof(INTERFACES) / sizeof(INTERFACES[0]) };

static struct slice driver_name(void)
{
    return SLICE_LIT("fake-hardware");
}

/* Writes the members of the answer one by one, if they were requested. */
struct writing {
    const struct list_fields *requested;
    struct buf *out;
    bool *is_known; /* for each requested field */
    bool is_first;
};

static bool begin_member(struct writing *writing, struct slice name)
{
    bool is_requested = !writing->requested->has_fields || slice_equal(name, SLICE_LIT("links"));
    for (size_t i = 0; i < writing->requested->words.count; i++) {
        if (!slice_equal(writing->requested->words.words[i], name))
            continue;
        writing->is_known[i] = true;
        is_requested = true;
    }
    if (is_requested && !writing->is_first)
        buf_append_lit(writing->out, ", ");
    if (is_requested)
        writing->is_first = false;
    return is_requested;
}

static void drivers_write_text(struct writing *writing, const char *name, struct slice text)
{
    if (!begin_member(writing, slice_of(name)))
        return;
    buf_printf(writing->out, "\"%s\": ", name);
    json_write_string(writing->out, text);
}

static void write_interfaces(struct writing *writing, unsigned minor)
{
    for (size_t i = 0; i < INTERFACES_COUNT; i++) {
        const struct interface *interface = &INTERFACES[i];
        char name[64];
        if (minor < interface->since)
            continue;
        snprintf(name, sizeof(name), "default_%s_interface", interface->name);
        drivers_write_text(writing, name, slice_of(interface->initial));
        snprintf(name, sizeof(name), "enabled_%s_interfaces", interface->name);
        if (begin_member(writing, slice_of(name)))
            buf_printf(writing->out, "\"%s\": %s", name, interface->enabled);
    }
}

static bool is_known_word(const void *with, struct slice name)
{
    const struct writing *writing = with;
    for (size_t i = 0; i < writing->requested->words.count; i++)
        if (slice_equal(writing->requested->words.words[i], name))
            return writing->is_known[i];
    return false;
}

/* Writes an object. False: a requested field does not exist. */
static bool write_driver(struct api_request *request, const struct list_fields *requested,
                         bool is_detailed)
{
    struct buf *out = api_out(request);
    struct writing writing = {
        .requested = requested,
        .out = out,
        .is_known = arena_zalloc(request->arena, requested->words.count + 1),
        .is_first = true,
    };
    buf_append_char(out, '{');
    drivers_write_text(&writing, "name", driver_name());
    if (begin_member(&writing, SLICE_LIT("hosts"))) {
        buf_append_lit(out, "\"hosts\": [");
        json_write_string(out, metal_conf(request)->host);
        buf_append_char(out, ']');
    }
    if (begin_member(&writing, SLICE_LIT("links")))
        baremetal_write_links(request, SLICE_LIT("drivers"), driver_name(), (struct slice){0}, out);
    if (request->minor >= MINOR_OF_PROPERTIES && begin_member(&writing, SLICE_LIT("properties")))
        baremetal_write_links_as(request, "properties", SLICE_LIT("drivers"), driver_name(),
                                 SLICE_LIT("properties"), out);
    if (request->minor >= MINOR_OF_TYPES)
        drivers_write_text(&writing, "type", SLICE_LIT("dynamic"));
    if (is_detailed)
        write_interfaces(&writing, request->minor);
    buf_append_char(out, '}');
    return argument_check_fields(&requested->words, is_known_word, &writing, &request->err);
}

static bool check_access(struct api_request *request)
{
    struct access access = node_find_caller(request);
    return access_check(&access, POLICY_DRIVER_GET, &request->err);
}

static bool check_fields_version(struct api_request *request, const struct list_fields *requested)
{
    return !requested->has_fields || request->minor >= MINOR_OF_FIELDS ||
           err_set(&request->err, 406, NULL, "Request not acceptable.");
}

static bool check_type(struct api_request *request, const struct list_fields *requested,
                       bool has_type, struct slice type)
{
    if ((has_type || requested->has_detail) && request->minor < MINOR_OF_TYPES)
        return err_set(&request->err, 406, NULL,
                       "Request not acceptable. The minimal required API version should be 1.%d",
                       MINOR_OF_TYPES);
    if (!check_fields_version(request, requested))
        return false;
    return !has_type || slice_equal(type, SLICE_LIT("classic")) ||
           slice_equal(type, SLICE_LIT("dynamic")) ||
           err_set(&request->err, 400, NULL,
                   "\"type\" filter must be one of \"classic\" or \"dynamic\", if specified.");
}

enum api_step handle_baremetal_drivers_list(struct api_request *request)
{
    static const char *const NAMES[] = {"type", "detail", "fields", NULL};
    struct query_string query;
    struct list_fields requested;
    struct slice type = {0};
    struct err *err = &request->err;
    if (!intake_query(request, NAMES, &query))
        return API_DONE;
    struct argument argument = argument_find(request->arena, &query, "type");
    if (!argument_text(&argument, &type, err) ||
        !list_fields_read(&requested, &query, request->arena, err))
        return API_DONE;
    if (requested.words.count > 0 && requested.is_detailed)
        err_set(err, 400, NULL, "Can not specify ?detail=True and fields in the same request.");
    if (err_is_set(err) || !check_access(request) ||
        !check_type(request, &requested, argument.is_there, type))
        return API_DONE;
    struct buf *out = api_out(request);
    buf_append_lit(out, "{\"drivers\": [");
    if (!slice_equal(type, SLICE_LIT("classic")) &&
        !write_driver(request, &requested, requested.is_detailed))
        return API_DONE;
    buf_append_lit(out, "]}");
    api_answer_json(request, 0);
    return API_DONE;
}

enum api_step handle_baremetal_driver_show(struct api_request *request)
{
    static const char *const NAMES[] = {"fields", NULL};
    struct query_string query;
    struct list_fields requested;
    struct err *err = &request->err;
    if (!intake_query(request, NAMES, &query) ||
        !list_fields_read(&requested, &query, request->arena, err) || !check_access(request) ||
        !check_fields_version(request, &requested))
        return API_DONE;
    if (!slice_equal(request->args[0], driver_name())) {
        err_set_join(err, 404, NULL,
                     SLICE_LIT("Could not find the following driver(s) or hardware type(s): "),
                     request->args[0], SLICE_LIT("."));
        return API_DONE;
    }
    if (write_driver(request, &requested, true))
        api_answer_json(request, 0);
    return API_DONE;
}
