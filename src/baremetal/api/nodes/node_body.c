/* Field by field, in the order of the table of fields. Pure; workers and the writer's thread. */
#include "baremetal/api/nodes/node_body.h"

#include "api/text/python_repr.h"
#include "baremetal/api/input/arguments.h"
#include "baremetal/write/json_text.h"
#include "base/arena.h"

static struct slice node_body_text_of(const json_t *value)
{
    return (struct slice){json_string_value(value), json_string_length(value)};
}

bool node_body_check_versions(const json_t *document, unsigned minor, struct err *err)
{
    for (unsigned i = 0; i < NODE_FIELD_COUNT; i++) {
        const struct record_field *field = &NODE_SHAPE.fields[i];
        const json_t *value = json_object_get(document, field->name);
        bool is_group = i == NODE_CONDUCTOR_GROUP && json_is_string(value) &&
                        json_string_length(value) == 0; /* counts as not set */
        if (minor < field->since && value != NULL && !json_is_null(value) && !is_group)
            return err_set(err, 406, NULL, "Request not acceptable.");
    }
    return true;
}

static json_t *json_of_text(struct slice text)
{
    json_t *value = text.data == NULL ? json_null() : json_stringn_nocheck(text.data, text.len);
    check(value != NULL);
    return value;
}

/* Unreadable text that another program wrote counts as empty. */
static json_t *json_of_object(struct slice text)
{
    json_error_t error;
    json_t *value = json_loadb(text.data, text.len, JSON_ALLOW_NUL, &error);
    return value == NULL ? json_object() : value;
}

static json_t *json_of(const struct node *node, enum node_field field)
{
    switch ((enum record_kind)NODE_SHAPE.fields[field].kind) {
    case RECORD_TEXT:
        return json_of_text(node_text(node, field));
    case RECORD_BOOL:
        return node_is_null(node, field) ? json_null() : json_boolean(node_bool(node, field));
    case RECORD_JSON:
        return json_of_object(node_text(node, field));
    default:
        return json_null();
    }
}

static bool is_object_in_patch(unsigned field)
{
    return (NODE_SHAPE.fields[field].flags & RECORD_IN_PATCH) != 0 &&
           NODE_SHAPE.fields[field].kind == RECORD_JSON;
}

json_t *node_body_of(const struct node *node, const bool *needed)
{
    json_t *document = json_object();
    for (unsigned i = 0; i < NODE_FIELD_COUNT; i++) {
        if ((NODE_SHAPE.fields[i].flags & RECORD_IN_PATCH) == 0)
            continue;
        json_t *value =
            is_object_in_patch(i) && !needed[i] ? json_object() : json_of(node, (enum node_field)i);
        check(json_object_set_new(document, NODE_SHAPE.fields[i].name, value) == 0);
    }
    return document;
}

struct json_text_cost node_body_cost(const struct node *node, const bool *needed)
{
    struct json_text_cost all = {0};
    for (unsigned i = 0; i < NODE_STORED_COUNT; i++) {
        if (!is_object_in_patch(i) || !needed[i])
            continue;
        struct json_text_cost one = json_text_cost(node_text(node, (enum node_field)i), SIZE_MAX);
        all.steps += one.steps;
        all.bytes += one.bytes;
    }
    return all;
}

/* BEFORE VALUE BEHIND */
static bool node_body_refuse(struct err *err, const char *before, struct slice value,
                             const char *behind)
{
    struct buf text = {0};
    buf_append_slice(&text, slice_of(before));
    python_str_text(&text, value);
    buf_append_slice(&text, slice_of(behind));
    err_set_text(err, 400, NULL, arena_copy(err->arena, buf_slice(&text)));
    buf_free(&text);
    return false;
}

static bool check_length(const struct record_field *field, struct slice text, struct err *err)
{
    size_t chars = 0;
    for (size_t i = 0; i < text.len; i++)
        chars += ((unsigned char)text.data[i] & 0xc0) != 0x80;
    return field->max_chars == 0 || chars <= field->max_chars ||
           err_set(err, 400, NULL, "%s can have at most %u characters", field->name,
                   field->max_chars);
}

static struct slice node_body_lower(struct arena *arena, struct slice text)
{
    char *copy = arena_alloc(arena, text.len);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        copy[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return (struct slice){copy, text.len};
}

static bool set_text(struct node_draft *draft, enum node_field field, const json_t *value,
                     struct arena *arena, struct err *err)
{
    struct slice text = arena_copy(arena, node_body_text_of(value));
    if (!check_length(&NODE_SHAPE.fields[field], text, err))
        return false;
    if (field == NODE_CONDUCTOR_GROUP)
        text = node_body_lower(arena, text);
    if (field == NODE_RESOURCE_CLASS && text.len == 0)
        node_set_null(draft, field);
    else
        node_set_text(draft, field, text);
    return true;
}

static bool set_object(struct node_draft *draft, enum node_field field, const json_t *value,
                       struct arena *arena, struct err *err)
{
    struct slice text = json_text(value, arena);
    if (text.len > NODE_BODY_OBJECT_BYTES_MAX)
        return err_set(err, 400, NULL, "%s can have at most %d bytes, it would have %zu",
                       NODE_SHAPE.fields[field].name, NODE_BODY_OBJECT_BYTES_MAX, text.len);
    node_set_text(draft, field, text);
    return true;
}

static bool set_field(struct node_draft *draft, enum node_field field, const json_t *value,
                      struct arena *arena, struct err *err)
{
    if (json_is_null(value) && field == NODE_MAINTENANCE)
        return argument_refuse_boolean("maintenance", SLICE_LIT("None"), err);
    if (value == NULL || json_is_null(value)) {
        node_set_null(draft, field);
        return true;
    }
    switch ((enum record_kind)NODE_SHAPE.fields[field].kind) {
    case RECORD_TEXT:
        return set_text(draft, field, value, arena, err);
    case RECORD_BOOL:
        node_set_bool(draft, field, json_is_true(value));
        return true;
    case RECORD_JSON:
        return set_object(draft, field, value, arena, err);
    default:
        return node_body_refuse(err, "Chassis ", node_body_text_of(value), " could not be found.");
    }
}

/* There is one driver, with one interface of each kind except storage. */
static bool check_driver(const struct node_draft *draft, struct err *err)
{
    struct slice driver = draft->value[NODE_DRIVER].text;
    struct slice group = draft->value[NODE_CONDUCTOR_GROUP].text;
    if (slice_equal(driver, SLICE_LIT("fake-hardware")))
        return true;
    struct slice reason = arena_join(
        err->arena,
        (const struct slice[]){SLICE_LIT(" for conductor group \""), group, SLICE_LIT("\".")}, 3);
    return node_body_refuse(
        err,
        "No valid host was found. Reason: No conductor service registered which "
        "supports driver ",
        driver, reason.data);
}

static bool check_interface(const struct node_draft *draft, enum node_field field, struct err *err)
{
    const char *name = NODE_SHAPE.fields[field].name;
    bool has_noop = field == NODE_STORAGE_INTERFACE || field == NODE_NETWORK_INTERFACE;
    bool has_fake = field != NODE_NETWORK_INTERFACE;
    struct slice is = draft->value[field].text;
    if (is.data == NULL || (has_noop && slice_equal(is, SLICE_LIT("noop"))) ||
        (has_fake && slice_equal(is, SLICE_LIT("fake"))))
        return true;
    struct slice before = arena_printf(err->arena,
                                       "Could not find the following interface in the "
                                       "'ironic.hardware.interfaces.%.*s' entrypoint: ",
                                       (int)(strlen(name) - strlen("_interface")), name);
    return node_body_refuse(err, before.data, is,
                            has_fake && has_noop ? ". Valid interfaces are ['fake', 'noop']."
                            : has_fake           ? ". Valid interfaces are ['fake']."
                                                 : ". Valid interfaces are ['noop'].");
}

static bool check_hardware(const struct node_draft *draft, struct err *err)
{
    if (!check_driver(draft, err))
        return false;
    for (unsigned i = NODE_BIOS_INTERFACE; i <= NODE_VENDOR_INTERFACE; i++)
        if (!check_interface(draft, (enum node_field)i, err))
            return false;
    return true;
}

bool node_body_create(struct node_draft *draft, const json_t *document, struct arena *arena,
                      struct err *err)
{
    for (unsigned i = 0; i < NODE_FIELD_COUNT; i++) {
        const json_t *value = json_object_get(document, NODE_SHAPE.fields[i].name);
        bool is_given = value != NULL && (!json_is_null(value) || i == NODE_MAINTENANCE);
        if (is_given && (NODE_SHAPE.fields[i].flags & RECORD_IN_POST) != 0 &&
            !set_field(draft, (enum node_field)i, value, arena, err))
            return false;
    }
    return check_hardware(draft, err);
}

bool node_body_patch(struct node_draft *draft, const json_t *before, const json_t *after,
                     struct arena *arena, struct err *err)
{
    for (unsigned i = 0; i < NODE_FIELD_COUNT; i++) {
        const char *name = NODE_SHAPE.fields[i].name;
        const json_t *was = json_object_get(before, name);
        const json_t *value = json_object_get(after, name);
        bool is_same = was != NULL && value != NULL && json_equal(was, value);
        if ((NODE_SHAPE.fields[i].flags & RECORD_IN_PATCH) == 0 || is_same ||
            (i >= NODE_STORED_COUNT && (value == NULL || json_is_null(value))))
            continue;
        if (!set_field(draft, (enum node_field)i, value, arena, err))
            return false;
    }
    return check_hardware(draft, err);
}
