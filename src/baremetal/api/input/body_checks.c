/* Schemas are checked first, then UUIDs and booleans, whose forms the schemas do not restrict.
 * Pure; any thread. */
#include "baremetal/api/input/body_checks.h"

#include "api/schema/body_schema.h"
#include "api/text/python_repr.h"
#include "baremetal/api/input/arguments.h"
#include "baremetal/api/input/body_schemas.h"
#include "baremetal/api/input/schema_refusal.h"
#include "base/arena.h"

json_t *body_checks_load(struct slice body, struct json_heap *heap, struct err *err)
{
    if (body.len > BODY_CHECKS_BYTES_MAX) {
        err_set(err, 413, NULL, "The body has more than %d bytes", BODY_CHECKS_BYTES_MAX);
        return NULL;
    }
    json_t *document = body.len == 0 ? json_object() : body_schema_load(body, heap, err);
    if (document != NULL && body_schema_nesting(document) > BODY_CHECKS_NESTING_MAX) {
        json_decref(document);
        err_set(err, 400, NULL, "The body is nested deeper than %d", BODY_CHECKS_NESTING_MAX);
        return NULL;
    }
    return document;
}

static bool check_uuid(json_t *document, const char *name, struct err *err)
{
    json_t *value = json_object_get(document, name);
    struct slice text = {json_string_value(value), json_string_length(value)};
    if (value == NULL || json_is_null(value))
        return true;
    struct slice lower;
    if (!ident_read_uuid(err->arena, text, &lower)) {
        struct buf shown = {0};
        python_str_text(&shown, text);
        struct slice copy = arena_copy(err->arena, buf_slice(&shown));
        buf_free(&shown);
        return err_set_join(err, 400, NULL, SLICE_LIT("Expected UUID for "), slice_of(name),
                            SLICE_LIT(": "), copy);
    }
    check(json_string_setn(value, lower.data, lower.len) == 0);
    return true;
}

static bool check_boolean(json_t *document, const char *name, struct err *err)
{
    json_t *value = json_object_get(document, name);
    if (!json_is_string(value))
        return true;
    struct slice text = {json_string_value(value), json_string_length(value)};
    bool is_true;
    if (!argument_read_boolean(text, &is_true))
        return argument_refuse_boolean(name, text, err);
    check(json_object_set_new(document, name, json_boolean(is_true)) == 0);
    return true;
}

bool body_checks_allocation(json_t *document, const char *argument, struct err *err)
{
    return schema_refusal_check(&BAREMETAL_ALLOCATION, document, argument, err) &&
           check_uuid(document, "uuid", err);
}

bool body_checks_node(json_t *document, const char *argument, bool is_patched, struct err *err)
{
    const struct schema *schema = is_patched ? &BAREMETAL_NODE_PATCHED : &BAREMETAL_NODE;
    return schema_refusal_check(schema, document, argument, err) &&
           check_boolean(document, "automated_clean", err) &&
           check_uuid(document, "chassis_uuid", err) &&
           check_uuid(document, "instance_uuid", err) &&
           check_boolean(document, "protected", err) &&
           check_boolean(document, "maintenance", err) && check_boolean(document, "retired", err) &&
           check_uuid(document, "uuid", err);
}

bool body_checks_traits(const json_t *body, struct err *err)
{
    return schema_refusal_check(&BAREMETAL_TRAITS, body, "body", err);
}

bool body_checks_trait(struct slice trait, struct err *err)
{
    json_t *text = json_stringn(trait.data == NULL ? "" : trait.data, trait.len);
    if (text == NULL)
        return err_set_text(err, 400, NULL, SLICE_LIT("The trait is not valid UTF-8"));
    bool good = schema_refusal_check(&BAREMETAL_TRAIT, text, "trait", err);
    json_decref(text);
    return good;
}
