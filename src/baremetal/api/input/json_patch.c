/* Operations are applied one by one to a copy, which is discarded if one fails: all or nothing. A
 * path is followed part by part. Where Ironic's library would index the characters of a string, or
 * mentions the end of a list, the error text is the same here. Pure; any thread. */
#include "baremetal/api/input/json_patch.h"

#include "api/text/python_repr.h"
#include "baremetal/api/input/body_schemas.h"
#include "baremetal/api/input/schema_refusal.h"
#include "baremetal/api/mask.h"
#include "base/arena.h"

static struct slice json_patch_text_of(const json_t *value)
{
    return (struct slice){json_string_value(value), json_string_length(value)};
}

static struct slice path_of(const json_t *operation)
{
    return json_patch_text_of(json_object_get(operation, "path"));
}

static struct slice json_patch_take(struct err *err, struct buf *text)
{
    struct slice taken = arena_copy(err->arena, buf_slice(text));
    buf_free(text);
    return taken;
}

static unsigned count_parts(struct slice path)
{
    unsigned count = 0;
    for (size_t i = 0; i < path.len; i++)
        count += path.data[i] == '/';
    return count;
}

bool json_patch_check(const json_t *patch, struct err *err)
{
    if (!schema_refusal_check(&BAREMETAL_PATCH, patch, "patch", err))
        return false;
    if (json_array_size(patch) > JSON_PATCH_OPERATIONS_MAX)
        return err_set(err, 400, NULL, "A patch can have at most %d operations, this one has %zu",
                       JSON_PATCH_OPERATIONS_MAX, json_array_size(patch));
    for (size_t i = 0; i < json_array_size(patch); i++)
        if (count_parts(path_of(json_array_get(patch, i))) > JSON_PATCH_PARTS_MAX)
            return err_set(err, 400, NULL,
                           "The path of operation %zu of the patch has more than %d parts", i,
                           JSON_PATCH_PARTS_MAX);
    return true;
}

struct slice json_patch_field(const json_t *operation)
{
    struct slice rest = slice_skip(path_of(operation), 1);
    return slice_cut(&rest, '/');
}

static bool is_among(struct slice name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (slice_equal(slice_of(*names), name))
            return true;
    return false;
}

bool json_patch_check_fields(const json_t *patch, const char *const *fields, struct err *err)
{
    for (size_t i = 0; i < json_array_size(patch); i++) {
        const json_t *operation = json_array_get(patch, i);
        if (is_among(json_patch_field(operation), fields))
            continue;
        struct buf text = {0};
        buf_append_lit(&text, "Cannot patch ");
        python_str_text(&text, path_of(operation));
        buf_append_lit(&text, ". Only the following can be updated: ");
        for (size_t f = 0; fields[f] != NULL; f++) {
            if (f > 0)
                buf_append_lit(&text, ", ");
            buf_append_slice(&text, slice_of(fields[f]));
        }
        return err_set_text(err, 400, NULL, json_patch_take(err, &text));
    }
    return true;
}

static bool is_removal(const json_t *operation)
{
    return slice_equal(json_patch_text_of(json_object_get(operation, "op")), SLICE_LIT("remove"));
}

const json_t *json_patch_value(const json_t *operation, const char *path)
{
    if (is_removal(operation) || !slice_equal(path_of(operation), slice_of(path)))
        return NULL;
    return json_object_get(operation, "value");
}

bool json_patch_only_removes(const json_t *patch, const char *path)
{
    const json_t *operation = json_array_get(patch, 0);
    return json_array_size(patch) == 1 && is_removal(operation) &&
           json_object_get(operation, "value") == NULL &&
           slice_equal(path_of(operation), slice_of(path));
}

/* The object or list in which a part of a path is looked up. */
struct place {
    enum { IN_VALUE, IN_CHARACTER, BEHIND_LIST } kind;
    json_t *value;
};

struct applying {
    const json_t *operation;
    struct err *err;
};

/* Couldn't apply patch 'OP'. Reason: BEFORE 'PART' BEHIND */
static bool json_patch_fail(const struct applying *a, const char *before, struct slice part,
                            const char *behind)
{
    struct buf text = {0};
    buf_append_lit(&text, "Couldn't apply patch '");
    python_repr_json(&text, a->operation);
    buf_append_lit(&text, "'. Reason: ");
    buf_append_slice(&text, slice_of(before));
    python_str_text(&text, part);
    buf_append_slice(&text, slice_of(behind));
    return err_set_text(a->err, 400, NULL, json_patch_take(a->err, &text));
}

static bool fail_missing_member(const struct applying *a, struct slice part, const json_t *object)
{
    json_t *shown = mask_copy(object, MASK_INSTANCE_INFO);
    struct buf behind = {0};
    buf_append_lit(&behind, "' not found in ");
    python_repr_json(&behind, shown);
    json_decref(shown);
    return json_patch_fail(a, "member '", part, json_patch_take(a->err, &behind).data);
}

static bool fail_no_container(const struct applying *a, const struct place *place)
{
    static const char *const TYPES[] = {[JSON_INTEGER] = "int",
                                        [JSON_REAL] = "float",
                                        [JSON_TRUE] = "bool",
                                        [JSON_FALSE] = "bool",
                                        [JSON_NULL] = "NoneType"};
    const char *type =
        place->kind == BEHIND_LIST ? "jsonpointer.EndOfList" : TYPES[json_typeof(place->value)];
    return json_patch_fail(
        a, "Document '<class '", slice_of(type),
        "'>' does not support indexing, must be mapping/sequence or support __getitem__");
}

static bool fail_unresolved(const struct applying *a, struct slice part)
{
    struct buf before = {0};
    buf_append_lit(&before, "unable to fully resolve json pointer ");
    python_str_text(&before, path_of(a->operation));
    buf_append_lit(&before, ", part ");
    return json_patch_fail(a, json_patch_take(a->err, &before).data, part, "");
}

/* An index as in RFC 6901: no sign, no leading zero. One that is too large becomes SIZE_MAX. */
static bool read_index(struct slice part, size_t *index)
{
    if (part.len == 0 || (part.len > 1 && part.data[0] == '0'))
        return false;
    *index = 0;
    for (size_t i = 0; i < part.len; i++) {
        if (part.data[i] < '0' || part.data[i] > '9')
            return false;
        if (__builtin_mul_overflow(*index, 10, index) ||
            __builtin_add_overflow(*index, (size_t)(part.data[i] - '0'), index))
            *index = SIZE_MAX / 16; /* greater than any list, whatever digits follow */
    }
    return true;
}

static size_t length_of(const struct place *place)
{
    if (place->kind == IN_CHARACTER)
        return 1;
    if (json_is_array(place->value))
        return json_array_size(place->value);
    struct slice text = json_patch_text_of(place->value);
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.data[i] & 0xc0) != 0x80;
    return count;
}

static bool is_sequence(const struct place *place)
{
    return place->kind == IN_CHARACTER ||
           (place->kind == IN_VALUE &&
            (json_is_array(place->value) || json_is_string(place->value)));
}

static bool is_object(const struct place *place)
{
    return place->kind == IN_VALUE && json_is_object(place->value);
}

static bool is_list(const struct place *place)
{
    return place->kind == IN_VALUE && json_is_array(place->value);
}

static bool is_end(struct slice part)
{
    return slice_equal(part, SLICE_LIT("-"));
}

/* Whether the part is valid there: any name in an object, "-" or an index in a list. */
static bool read_part(const struct applying *a, const struct place *place, struct slice part,
                      size_t *index)
{
    *index = 0;
    if (is_object(place))
        return true;
    if (!is_sequence(place))
        return fail_no_container(a, place);
    return is_end(part) || read_index(part, index) ||
           json_patch_fail(a, "'", part, "' is not a valid sequence index");
}

static bool walk(const struct applying *a, struct place *place, struct slice part)
{
    size_t index;
    if (!read_part(a, place, part, &index))
        return false;
    if (is_object(place)) {
        json_t *member = json_object_getn(place->value, part.data, part.len);
        if (member == NULL)
            return fail_missing_member(a, part, place->value);
        place->value = member;
    } else if (is_end(part)) {
        place->kind = BEHIND_LIST;
    } else if (index >= length_of(place)) {
        return json_patch_fail(a, "index '", part, "' is out of bounds");
    } else if (is_list(place)) {
        place->value = json_array_get(place->value, index);
    } else {
        place->kind = IN_CHARACTER;
    }
    return true;
}

static bool apply_remove(const struct applying *a, const struct place *place, struct slice part,
                         size_t index)
{
    bool done = false;
    if (is_object(place))
        done = json_object_deln(place->value, part.data, part.len) == 0;
    else if (is_list(place))
        done = !is_end(part) && json_array_remove(place->value, index) == 0;
    return done || json_patch_fail(a, "can't remove a non-existent object '", part, "'");
}

static void set_member(const struct place *place, struct slice part, const json_t *value)
{
    check(json_object_setn_new_nocheck(place->value, part.data, part.len, json_deep_copy(value)) ==
          0);
}

static bool apply_add(const struct applying *a, const struct place *place, struct slice part,
                      size_t index, const json_t *value)
{
    if (is_object(place)) {
        set_member(place, part, value);
        return true;
    }
    if (!is_list(place))
        return fail_unresolved(a, part);
    size_t length = json_array_size(place->value);
    if (is_end(part))
        index = length;
    if (index > length)
        return json_patch_fail(a, "can't insert outside of list", (struct slice){0}, "");
    check(json_array_insert_new(place->value, index, json_deep_copy(value)) == 0);
    return true;
}

static bool apply_replace(const struct applying *a, const struct place *place, struct slice part,
                          size_t index, const json_t *value)
{
    if (is_end(part))
        return json_patch_fail(a, "'path' with '-' can't be applied to 'replace' operation",
                               (struct slice){0}, "");
    if (is_object(place)) {
        if (json_object_getn(place->value, part.data, part.len) == NULL)
            return json_patch_fail(a, "can't replace a non-existent object '", part, "'");
        set_member(place, part, value);
        return true;
    }
    if (!is_list(place))
        return fail_unresolved(a, part);
    if (index >= json_array_size(place->value))
        return json_patch_fail(a, "can't replace outside of list", (struct slice){0}, "");
    check(json_array_set_new(place->value, index, json_deep_copy(value)) == 0);
    return true;
}

static bool apply_operation(const struct applying *a, json_t *document)
{
    struct slice op = json_patch_text_of(json_object_get(a->operation, "op"));
    const json_t *value = json_object_get(a->operation, "value");
    bool removes = is_removal(a->operation);
    if (!removes && value == NULL)
        return json_patch_fail(a, "The operation does not contain a 'value' member",
                               (struct slice){0}, "");
    struct place place = {IN_VALUE, document};
    struct slice rest = slice_skip(path_of(a->operation), 1);
    struct slice part = slice_cut(&rest, '/');
    while (rest.len > 0) {
        if (!walk(a, &place, part))
            return false;
        part = slice_cut(&rest, '/');
    }
    size_t index;
    if (!read_part(a, &place, part, &index))
        return false;
    if (removes)
        return apply_remove(a, &place, part, index);
    if (slice_equal(op, SLICE_LIT("add")))
        return apply_add(a, &place, part, index, value);
    return apply_replace(a, &place, part, index, value);
}

/* No operation may add a field to the root: an object has a fixed set of them. */
static bool check_root(const json_t *document, const json_t *patch, struct err *err)
{
    for (size_t i = 0; i < json_array_size(patch); i++) {
        const json_t *operation = json_array_get(patch, i);
        struct slice path = path_of(operation);
        if (!slice_equal(json_patch_text_of(json_object_get(operation, "op")), SLICE_LIT("add")) ||
            count_parts(path) > 1 ||
            json_object_getn(document, path.data + 1, path.len - 1) != NULL)
            continue;
        struct buf text = {0};
        buf_append_lit(&text, "Adding a new attribute (");
        python_str_text(&text, path);
        buf_append_lit(&text, ") to the root of the resource is not allowed");
        return err_set_text(err, 400, NULL, json_patch_take(err, &text));
    }
    return true;
}

json_t *json_patch_apply(const json_t *document, const json_t *patch, struct err *err)
{
    if (!check_root(document, patch, err))
        return NULL;
    json_t *result = json_deep_copy(document);
    check(result != NULL);
    for (size_t i = 0; i < json_array_size(patch); i++) {
        struct applying a = {json_array_get(patch, i), err};
        if (!apply_operation(&a, result)) {
            json_decref(result);
            return NULL;
        }
    }
    return result;
}
