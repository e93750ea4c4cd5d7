/* Members are checked in the order of the parameters of Ironic's functions. Pure; any thread. */
#include "baremetal/api/nodes/action_bodies.h"

#include "api/schema/schema.h"
#include "api/text/python_int.h"
#include "api/text/python_repr.h"
#include "baremetal/api/input/arguments.h"
#include "baremetal/api/input/body_schemas.h"
#include "base/arena.h"

static struct slice action_bodies_take(struct arena *arena, struct buf *text)
{
    struct slice taken = arena_copy(arena, buf_slice(text));
    buf_free(text);
    return taken;
}

static struct slice str_of(struct arena *arena, const json_t *value)
{
    struct buf text = {0};
    python_str_json(&text, value);
    return action_bodies_take(arena, &text);
}

static bool action_bodies_refuse(struct err *err, const char *text)
{
    return err_set_text(err, 400, NULL, slice_of(text));
}

/* "BEFORE NAME: VALUE" */
static bool refuse_value(const char *before, const char *name, const json_t *value, struct err *err)
{
    return err_set_join(err, 400, NULL, slice_of(before), slice_of(name), SLICE_LIT(": "),
                        str_of(err->arena, value));
}

/* Whether every member of the body, an object, is among the names. */
static bool check_members(const json_t *body, const char *const *names, struct err *err)
{
    if (!json_is_object(body))
        return action_bodies_refuse(err, "The body is not an object");
    json_t *object = (json_t *)(uintptr_t)body; /* jansson's iterators are not const */
    struct buf text = {0};
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        struct slice member = {json_object_iter_key(at), json_object_iter_key_len(at)};
        const char *const *name = names;
        while (*name != NULL && !slice_equal(slice_of(*name), member))
            name++;
        if (*name != NULL || text.len > PYTHON_REPR_BYTES_MAX)
            continue;
        buf_append_slice(&text,
                         text.len == 0 ? SLICE_LIT("Unexpected arguments: ") : SLICE_LIT(", "));
        python_str_text(&text, member);
    }
    bool good = text.len == 0;
    struct slice message = action_bodies_take(err->arena, &text);
    return good || err_set_text(err, 400, NULL, message);
}

/* The member, or NULL if it is null or missing. */
static const json_t *member_of(const json_t *body, const char *name)
{
    const json_t *value = json_object_get(body, name);
    return json_is_null(value) ? NULL : value;
}

static bool action_bodies_read_text(const json_t *body, const char *name, struct slice *text,
                                    struct err *err)
{
    const json_t *value = member_of(body, name);
    if (value == NULL)
        return true;
    if (!json_is_string(value))
        return refuse_value("Expected string for ", name, value, err);
    *text = (struct slice){json_string_value(value), json_string_length(value)};
    return true;
}

static bool read_target(const json_t *body, struct slice *target, struct err *err)
{
    if (json_object_get(body, "target") == NULL)
        return action_bodies_refuse(err, "Missing mandatory parameter: target");
    *target = SLICE_LIT("None"); /* the text for null; no verb has that name */
    return action_bodies_read_text(body, "target", target, err);
}

static bool read_list(const json_t *body, const char *name, const json_t **list, struct err *err)
{
    const json_t *value = member_of(body, name);
    if (value != NULL && !json_is_array(value))
        return refuse_value("Expected types <class 'NoneType'>, <class 'list'> for ", name, value,
                            err);
    *list = value;
    return true;
}

static bool read_boolean(const json_t *body, const char *name, bool *is_there, struct err *err)
{
    const json_t *value = member_of(body, name);
    *is_there = value != NULL;
    if (value == NULL || json_is_boolean(value))
        return true;
    struct slice text = str_of(err->arena, value);
    bool is_true;
    return argument_read_boolean(text, &is_true) || argument_refuse_boolean(name, text, err);
}

bool action_bodies_provision(const json_t *body, struct provision_body *provision, struct err *err)
{
    static const char *const NAMES[] = {
        "target",          "configdrive",     "clean_steps", "deploy_steps",
        "rescue_password", "disable_ramdisk", NULL};
    *provision = (struct provision_body){0};
    if (!check_members(body, NAMES, err) || !read_target(body, &provision->target, err))
        return false;
    const json_t *configdrive = member_of(body, "configdrive");
    if (configdrive != NULL && !json_is_object(configdrive) && !json_is_string(configdrive))
        return refuse_value("Expected types <class 'NoneType'>, <class 'dict'>, <class 'str'> for ",
                            "configdrive", configdrive, err);
    provision->configdrive = configdrive;
    if (!read_list(body, "clean_steps", &provision->clean_steps, err) ||
        !read_list(body, "deploy_steps", &provision->deploy_steps, err) ||
        !action_bodies_read_text(body, "rescue_password", &provision->rescue_password, err))
        return false;
    provision->has_clean_steps = json_array_size(provision->clean_steps) > 0;
    return read_boolean(body, "disable_ramdisk", &provision->has_disable_ramdisk, err);
}

static bool is_base64(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool is_other = (c >= '0' && c <= '9') || (c != '\0' && strchr("+/=\n\r\t ", c) != NULL);
        if (!is_letter && !is_other)
            return false;
    }
    return true;
}

static bool refuse_later(struct err *err, const char *what, unsigned since)
{
    return err_set(err, 400, NULL, "%s only supported starting with API version 1.%u", what, since);
}

/* Only under these names, not as "deploy". */
static bool is_named_deploy(struct slice target, bool rebuild_too)
{
    return slice_equal(target, SLICE_LIT("active")) ||
           (rebuild_too && slice_equal(target, SLICE_LIT("rebuild")));
}

static bool check_configdrive(const struct provision_body *provision, unsigned minor,
                              struct err *err)
{
    const json_t *drive = provision->configdrive;
    bool is_built = json_is_object(drive);
    struct slice text = {json_string_value(drive), json_string_length(drive)};
    if (drive == NULL || (is_built ? json_object_size(drive) == 0 : text.len == 0))
        return true;
    bool rebuild_too = minor >= 35;
    if (!is_named_deploy(provision->target, rebuild_too))
        return err_set(err, 400, NULL,
                       "Adding a config drive is only supported when setting provision state to "
                       "active%s",
                       rebuild_too ? ", rebuild" : "");
    struct schema_failure failure;
    if (!schema_check(&BAREMETAL_CONFIGDRIVE, drive, false, &failure))
        return err_set_join(err, 400, NULL, SLICE_LIT("Invalid configdrive format: "),
                            schema_failure_text(err->arena, &failure));
    if (is_built && minor < 56)
        return refuse_later(err, "Providing a JSON object for configdrive is", 56);
    if (is_built && minor < 59 && json_object_get(drive, "vendor_data") != NULL)
        return refuse_later(err, "Providing vendor_data in configdrive is", 59);
    if (is_built || memmem(text.data, text.len, "://", 3) != NULL || is_base64(text))
        return true;
    return action_bodies_refuse(
        err, "Invalid configdrive format: it is neither a JSON, nor a URL, nor a base64 "
             "string");
}

static bool check_steps(const json_t *steps, const struct schema *schema, const char *before,
                        struct err *err)
{
    struct schema_failure failure;
    return schema_check(schema, steps, false, &failure) ||
           err_set_join(err, 400, NULL, slice_of(before),
                        schema_failure_text(err->arena, &failure));
}

static bool check_ramdisk(bool is_there, enum node_verb verb, unsigned minor, struct err *err)
{
    if (!is_there)
        return true;
    if (minor < 70)
        return err_set_text(err, 406, NULL,
                            SLICE_LIT("disable_ramdisk is not acceptable in this API version"));
    return verb == NODE_CLEAN ||
           action_bodies_refuse(err, "disable_ramdisk is supported only with manual cleaning");
}

static bool check_deploy_steps(const struct provision_body *provision, unsigned minor,
                               struct err *err)
{
    if (json_array_size(provision->deploy_steps) == 0)
        return true;
    if (minor < 69)
        return err_set_text(err, 406, NULL,
                            SLICE_LIT("Request not acceptable. The minimal required API version "
                                      "should be 1.69"));
    return is_named_deploy(provision->target, true) ||
           action_bodies_refuse(
               err, "\"deploy_steps\" is only valid when setting target provision state to "
                    "active or rebuild");
}

bool action_bodies_check_provision(const struct provision_body *provision, enum node_verb verb,
                                   unsigned minor, struct err *err)
{
    if (!check_configdrive(provision, minor, err) ||
        !check_ramdisk(provision->has_disable_ramdisk, verb, minor, err))
        return false;
    if (provision->has_clean_steps && verb != NODE_CLEAN)
        return action_bodies_refuse(
            err, "\"clean_steps\" is only valid when setting target provision state to clean");
    if (!check_deploy_steps(provision, minor, err))
        return false;
    if (provision->rescue_password.data != NULL && verb != NODE_DO_RESCUE)
        return action_bodies_refuse(
            err, "\"rescue_password\" is only valid when setting target provision state to rescue");
    if (verb == NODE_DO_RESCUE && python_strip(provision->rescue_password).len == 0)
        return action_bodies_refuse(
            err, "A non-empty \"rescue_password\" is required when setting target "
                 "provision state to rescue");
    if (verb == NODE_CLEAN && provision->clean_steps == NULL)
        return action_bodies_refuse(
            err, "\"clean_steps\" is required when setting target provision state to clean");
    if (verb == NODE_CLEAN)
        return check_steps(provision->clean_steps, &BAREMETAL_CLEAN_STEPS,
                           "Invalid clean_steps: ", err);
    return json_array_size(provision->deploy_steps) == 0 ||
           check_steps(provision->deploy_steps, &BAREMETAL_DEPLOY_STEPS,
                       "Invalid deploy_steps: ", err);
}

struct slice action_bodies_clean_error(struct arena *arena, struct slice node_uuid,
                                       const json_t *clean_steps)
{
    struct buf text = {0};
    buf_append_lit(&text, "Cannot clean node ");
    buf_append_slice(&text, node_uuid);
    for (size_t i = 0; i < json_array_size(clean_steps) && text.len < PYTHON_REPR_BYTES_MAX; i++) {
        buf_append_slice(&text, i == 0 ? SLICE_LIT(": ") : SLICE_LIT("; "));
        buf_append_lit(&text, "node does not support this clean step: ");
        python_repr_json(&text, json_array_get(clean_steps, i));
    }
    return action_bodies_take(arena, &text);
}

/* Integers in any form that Python's int() accepts. */
static bool read_timeout(const json_t *body, struct power_body *power, struct err *err)
{
    const json_t *value = member_of(body, "timeout");
    if (value == NULL)
        return true;
    power->has_timeout = true;
    struct slice text = {json_string_value(value), json_string_length(value)};
    if (json_is_integer(value))
        power->timeout_s = json_integer_value(value);
    else if (json_is_real(value) && json_real_value(value) > -0x1p62 &&
             json_real_value(value) < 0x1p62)
        power->timeout_s = (int64_t)json_real_value(value);
    else if (json_is_boolean(value))
        power->timeout_s = json_is_true(value);
    else if (!json_is_string(value) || !python_int_parse(text, &power->timeout_s))
        return refuse_value("Expected an integer for ", "timeout", value, err);
    return true;
}

bool action_bodies_power(const json_t *body, struct power_body *power, struct err *err)
{
    static const char *const NAMES[] = {"target", "timeout", NULL};
    *power = (struct power_body){0};
    return check_members(body, NAMES, err) && read_target(body, &power->target, err) &&
           read_timeout(body, power, err);
}

bool action_bodies_check_power(const struct power_body *power, unsigned minor, struct err *err)
{
    const struct node_power_verb *verb = node_power_verb_find(power->target);
    bool is_later = (verb != NULL && minor < verb->since) || (power->timeout_s != 0 && minor < 27);
    if (is_later)
        return err_set_text(err, 406, NULL, SLICE_LIT("Request not acceptable."));
    if (power->has_timeout && power->timeout_s < 1)
        return action_bodies_refuse(err, "timeout has to be positive integer");
    return true;
}

bool action_bodies_maintenance(const json_t *body, struct slice *reason, struct err *err)
{
    static const char *const NAMES[] = {"reason", NULL};
    *reason = (struct slice){0};
    return check_members(body, NAMES, err) && action_bodies_read_text(body, "reason", reason, err);
}
