/* Input from clients of the Bare Metal API, except patches: the first byte selects the kind, the
 * rest is a body, a query string, or two headers separated by a line break. Errors must be short,
 * and accepted input must have the guaranteed properties. */
#include "api/text/uuid_like.h"
#include "baremetal/api/input/arguments.h"
#include "baremetal/api/input/body_checks.h"
#include "baremetal/api/mask.h"
#include "baremetal/api/negotiate.h"
#include "baremetal/api/nodes/action_bodies.h"
#include "base/arena.h"
#include "fuzz.h"

static void check_uuid(const json_t *document, const char *name)
{
    const json_t *value = json_object_get(document, name);
    struct slice text = {json_string_value(value), json_string_length(value)};
    check(!json_is_string(value) || uuid_like_is_dashed(text));
}

static bool ask_allocation(json_t *body, struct err *err)
{
    if (!body_checks_allocation(body, "allocation", err))
        return false;
    check_uuid(body, "uuid");
    return ident_check_allocation_name(json_object_get(body, "name"), false, err);
}

static void check_masked(const json_t *info)
{
    json_t *copy = mask_copy(info, MASK_INSTANCE_INFO);
    const json_t *url = json_object_get(copy, "image_url");
    check(json_object_size(copy) == json_object_size(info));
    check(!json_is_string(url) || json_string_length(url) == 0 ||
          strcmp(json_string_value(url), "******") == 0);
    json_decref(copy);
}

static bool ask_node(json_t *body, struct err *err)
{
    if (!body_checks_node(body, "node", json_object_get(body, "protected") != NULL, err))
        return false;
    check(json_is_string(json_object_get(body, "driver")));
    check_uuid(body, "uuid");
    check_uuid(body, "instance_uuid");
    check(!json_is_string(json_object_get(body, "maintenance")));
    const json_t *info = json_object_get(body, "instance_info");
    if (json_is_object(info))
        check_masked(info);
    return ident_check_node_name(json_object_get(body, "name"), SLICE_LIT("n"), err);
}

static bool ask_provision(json_t *body, struct err *err)
{
    struct provision_body provision;
    if (!action_bodies_provision(body, &provision, err))
        return false;
    (void)action_bodies_clean_error(err->arena, SLICE_LIT("n"), provision.clean_steps);
    const struct node_verb_name *verb = node_verb_find(provision.target);
    return verb == NULL || action_bodies_check_provision(&provision, verb->verb, 82, err);
}

static bool ask_power(json_t *body, struct err *err)
{
    struct power_body power;
    return action_bodies_power(body, &power, err) && action_bodies_check_power(&power, 82, err);
}

static bool ask_maintenance(json_t *body, struct err *err)
{
    struct slice reason;
    return action_bodies_maintenance(body, &reason, err);
}

static bool ask_traits(json_t *body, struct err *err)
{
    const json_t *first = json_array_get(json_object_get(body, "traits"), 0);
    return body_checks_traits(body, err) &&
           (first == NULL ||
            body_checks_trait((struct slice){json_string_value(first), json_string_length(first)},
                              err));
}

static bool is_short(const void *with, struct slice name)
{
    (void)with;
    return name.len < 4;
}

static bool ask_query(struct slice raw, struct err *err)
{
    static const char *const NAMES[] = {"fields",  "limit",    "marker", "node",
                                        "retired", "sort_dir", NULL};
    struct query_string query = query_string_parse(err->arena, raw);
    struct argument_words words = {0};
    size_t limit = 1000;
    bool truth = false;
    struct slice uuid = {0};
    struct ident ident = {0};
    struct argument arguments[6];
    for (unsigned i = 0; i < 6; i++)
        arguments[i] = argument_find(err->arena, &query, NAMES[i]);
    bool good =
        arguments_check_names(&query, NAMES, err) && argument_words(&arguments[0], &words, err) &&
        argument_check_fields(&words, is_short, NULL, err) &&
        argument_limit(&arguments[1], &limit, err) && argument_uuid(&arguments[2], &uuid, err) &&
        argument_ident(&arguments[3], &ident, err) &&
        argument_boolean(&arguments[4], &truth, err) &&
        argument_sort_dir(&arguments[5], &truth, err);
    check(limit >= 1 && limit <= 1000);
    check(!good || ident.kind != IDENT_NEITHER || !arguments[3].is_there);
    return good;
}

static bool ask_headers(struct slice text, struct err *err)
{
    struct slice own = slice_cut(&text, '\n');
    unsigned minor;
    bool good = negotiate_version(own, text, &minor, err);
    check(!good || (minor >= BAREMETAL_MINOR_MIN && minor <= BAREMETAL_MINOR_MAX));
    return good;
}

static bool ask_body(struct slice text, bool (*ask)(json_t *body, struct err *err), struct err *err)
{
    json_t *body = body_checks_load(text, NULL, err);
    bool good = body != NULL && ask(body, err);
    json_decref(body);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool (*const BODIES[])(json_t *, struct err *) = {
        ask_allocation, ask_node, ask_provision, ask_power, ask_maintenance, ask_traits};
    if (size == 0)
        return 0;
    struct slice text = {(const char *)data + 1, size - 1};
    struct err err = {.arena = arena_create()};
    unsigned kind = data[0] % 8;
    bool good = kind < 6    ? ask_body(text, BODIES[kind], &err)
                : kind == 6 ? ask_query(text, &err)
                            : ask_headers(text, &err);
    check(good != err_is_set(&err));
    check(good || (err.status >= 400 && err.status < 500));
    check(err.message.len < 1 << 16);
    arena_destroy(err.arena);
    return 0;
}
