/* Field by field, in the order of the table; fields without a column are computed here. Workers. */
#include "baremetal/api/nodes/node_json.h"

#include "api/text/python_repr.h"
#include "baremetal/api/links.h"
#include "baremetal/api/mask.h"
#include "baremetal/api/metal_request.h"
#include "baremetal/api/nodes/node_find.h"
#include "baremetal/write/json_text.h"
#include "base/json_write.h"

enum {
    MINOR_OF_AVAILABLE = 2, /* before it, an available node had no state */
    VALUES_COUNTED = 8192,  /* far more than a worker's budget */
};

struct record_fields node_fields_all(unsigned minor)
{
    return record_fields_all(&NODE_SHAPE, minor);
}

struct record_fields node_fields_short(unsigned minor)
{
    static const enum node_field SHOWN[] = {NODE_UUID,          NODE_NAME,
                                            NODE_INSTANCE_UUID, NODE_MAINTENANCE,
                                            NODE_POWER_STATE,   NODE_PROVISION_STATE,
                                            NODE_LINKS};
    struct record_fields fields = {{false}};
    for (size_t i = 0; i < sizeof(SHOWN) / sizeof(SHOWN[0]); i++)
        fields.has[SHOWN[i]] = minor >= NODE_SHAPE.fields[SHOWN[i]].since;
    return fields;
}

/* Some fields are shown only with all others, or always. */
static bool can_be_requested(int field)
{
    switch (field) {
    case -1:
    case NODE_CREATED_AT:
    case NODE_UPDATED_AT:
    case NODE_LINKS:
    case NODE_PORTS:
    case NODE_PORTGROUPS:
    case NODE_STATES:
    case NODE_VOLUME:
        return false;
    default:
        return true;
    }
}

bool node_fields_read(const struct argument_words *words, struct record_fields *fields,
                      struct err *err)
{
    *fields = (struct record_fields){{false}};
    fields->has[NODE_LINKS] = true;
    for (size_t i = 0; i < words->count; i++) {
        int field = record_find(&NODE_SHAPE, words->words[i]);
        if (!can_be_requested(field)) {
            struct buf text = {0};
            buf_append_lit(&text, "Field ");
            python_str_text(&text, words->words[i]);
            buf_append_lit(&text, " is not a valid field.");
            err_set_text(err, 400, NULL, arena_copy(err->arena, buf_slice(&text)));
            buf_free(&text);
            return false;
        }
        fields->has[field] = true;
    }
    return true;
}

void node_view_begin(struct node_view *view, struct api_request *request,
                     const struct record_fields *fields, const struct node *node)
{
    view->fields = *fields;
    view->access = node_find_caller(request);
    struct access_node whose = {0};
    if (node != NULL)
        whose = node_find_whose(node);
    view->masks = access_masks(&view->access, node == NULL ? NULL : &whose);
}

struct slice node_allocation_uuid(const struct version *version, const struct node *node)
{
    const struct node_allocation *allocation = version_node_allocation_of(version, node->record.id);
    if (allocation == NULL)
        return (struct slice){0};
    return node_allocation_text(allocation, NODE_ALLOCATION_UUID);
}

static void node_json_write_text(struct buf *out, struct slice text)
{
    if (text.data == NULL)
        buf_append_lit(out, "null");
    else
        json_write_string(out, text);
}

/* {"content": TEXT} */
static void write_redacted(struct buf *out, enum access_mask mask)
{
    buf_append_lit(out, "{\"content\": ");
    json_write_string(out, access_mask_text(mask));
    buf_append_char(out, '}');
}

static void write_masked(struct buf *out, struct slice text, enum mask_kind kind)
{
    json_error_t error;
    json_t *object = text.len <= 2 ? NULL : json_loadb(text.data, text.len, JSON_ALLOW_NUL, &error);
    if (object == NULL) {
        buf_append_lit(out, "{}"); /* nothing in it to hide, or unreadable */
        return;
    }
    json_t *shown = mask_copy(object, kind);
    json_text_append(out, shown);
    json_decref(shown);
    json_decref(object);
}

/* Writes values that are hidden or computed; false: the value is shown as it is stored. */
static bool write_special(struct api_request *request, unsigned masks, const struct node *node,
                          enum node_field field, struct buf *out)
{
    static const struct {
        enum node_field field;
        enum access_mask mask;
        bool is_object;
    } HIDDEN[] = {
        {NODE_LAST_ERROR, ACCESS_LAST_ERROR, false},
        {NODE_RESERVATION, ACCESS_RESERVATION, false},
        {NODE_DRIVER_INTERNAL_INFO, ACCESS_DRIVER_INTERNAL_INFO, true},
        {NODE_DRIVER_INFO, ACCESS_DRIVER_INFO, true},
    };
    for (size_t i = 0; i < sizeof(HIDDEN) / sizeof(HIDDEN[0]); i++) {
        if (HIDDEN[i].field != field || (masks & HIDDEN[i].mask) == 0)
            continue;
        if (HIDDEN[i].is_object)
            write_redacted(out, HIDDEN[i].mask);
        else
            json_write_string(out, access_mask_text(HIDDEN[i].mask));
        return true;
    }
    bool has_secrets = (field == NODE_DRIVER_INFO && (masks & ACCESS_DRIVER_SECRETS) != 0) ||
                       (field == NODE_INSTANCE_INFO && (masks & ACCESS_INSTANCE_SECRETS) != 0);
    if (has_secrets)
        write_masked(out, node_text(node, field),
                     field == NODE_DRIVER_INFO ? MASK_DRIVER_INFO : MASK_INSTANCE_INFO);
    bool is_stateless = field == NODE_PROVISION_STATE && request->minor < MINOR_OF_AVAILABLE &&
                        node_text_is(node, NODE_PROVISION_STATE, "available");
    if (is_stateless)
        buf_append_lit(out, "null");
    return has_secrets || is_stateless;
}

static void write_name(struct buf *out, enum node_field field)
{
    buf_append_char(out, '"');
    buf_append_slice(out, slice_of(NODE_SHAPE.fields[field].name));
    buf_append_lit(out, "\": ");
}

static void write_stored(struct api_request *request, unsigned masks, const struct node *node,
                         enum node_field field, struct buf *out)
{
    write_name(out, field);
    if (!write_special(request, masks, node, field, out))
        record_write_value(out, &NODE_SHAPE, &node->record, field);
}

static void write_derived(struct api_request *request, const struct node *node,
                          enum node_field field, struct slice allocation_uuid, struct buf *out)
{
    struct slice uuid = node_text(node, NODE_UUID);
    struct slice resource = SLICE_LIT("nodes");
    const char *name = NODE_SHAPE.fields[field].name;
    switch ((unsigned)field) {
    case NODE_ALLOCATION:
        write_name(out, field);
        node_json_write_text(out, allocation_uuid);
        return;
    case NODE_CHASSIS_UUID:
        write_name(out, field);
        buf_append_lit(out, "null");
        return;
    case NODE_CONDUCTOR:
        write_name(out, field);
        json_write_string(out, metal_conf(request)->host);
        return;
    case NODE_LINKS:
        baremetal_write_links(request, resource, uuid, (struct slice){0}, out);
        return;
    default:
        baremetal_write_links_as(request, name, resource, uuid, slice_of(name), out);
        return;
    }
}

int64_t node_json_steps(const struct node_view *view, const struct node *node)
{
    static const enum node_field MASKED[] = {NODE_DRIVER_INFO, NODE_INSTANCE_INFO};
    int64_t steps = 0;
    for (size_t i = 0; i < sizeof(MASKED) / sizeof(MASKED[0]); i++)
        if (view->fields.has[MASKED[i]])
            steps += json_text_cost(node_text(node, MASKED[i]), VALUES_COUNTED).steps;
    return steps;
}

void node_write_json(struct api_request *request, const struct node_view *view,
                     const struct node *node, struct slice allocation_uuid, struct buf *out)
{
    struct access_node whose = node_find_whose(node);
    unsigned masks = access_node_masks(&view->access, view->masks, &whose);
    bool is_first = true;
    buf_append_char(out, '{');
    for (unsigned i = 0; i < NODE_FIELD_COUNT; i++) {
        if (!view->fields.has[i])
            continue;
        if (!is_first)
            buf_append_lit(out, ", ");
        is_first = false;
        if (i < NODE_STORED_COUNT)
            write_stored(request, masks, node, (enum node_field)i, out);
        else
            write_derived(request, node, (enum node_field)i, allocation_uuid, out);
    }
    buf_append_char(out, '}');
}

void node_write_states(struct api_request *request, const struct node *node, struct buf *out)
{
    static const enum node_field SHOWN[] = {NODE_CONSOLE_ENABLED,
                                            NODE_LAST_ERROR,
                                            NODE_POWER_STATE,
                                            NODE_PROVISION_STATE,
                                            NODE_PROVISION_UPDATED_AT,
                                            NODE_TARGET_POWER_STATE,
                                            NODE_TARGET_PROVISION_STATE,
                                            NODE_RAID_CONFIG,
                                            NODE_TARGET_RAID_CONFIG,
                                            NODE_BOOT_MODE,
                                            NODE_SECURE_BOOT};
    bool is_first = true;
    for (size_t i = 0; i < sizeof(SHOWN) / sizeof(SHOWN[0]); i++) {
        if (request->minor < NODE_SHAPE.fields[SHOWN[i]].since)
            continue;
        if (!is_first)
            buf_append_lit(out, ", ");
        is_first = false;
        write_stored(request, 0, node, SHOWN[i], out);
    }
}
