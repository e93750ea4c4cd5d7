/* JSON patches: up to the first line break a document, after it a patch. For any input the document
 * is unchanged, errors are short, and no document gets deeper than permitted. */
#include "baremetal/api/input/json_patch.h"

#include "api/schema/body_schema.h"
#include "baremetal/api/input/body_checks.h"
#include "base/arena.h"
#include "fuzz.h"

static const char *const FIELDS[] = {"name", "extra", "driver_info", NULL};

static void check_refusal(const struct err *err)
{
    check(err->status == 400 || err->status == 413);
    check(err->message.len > 0 && err->message.len < 1 << 16);
}

static void ask(const json_t *patch)
{
    for (size_t i = 0; i < json_array_size(patch); i++) {
        const json_t *operation = json_array_get(patch, i);
        check(json_patch_field(operation).len > 0);
        (void)json_patch_value(operation, "/name");
    }
    (void)json_patch_only_removes(patch, "/name");
}

static void apply(const json_t *document, const json_t *patch, struct err *err)
{
    json_t *before = json_deep_copy(document);
    json_t *result = json_patch_apply(document, patch, err);
    check((result == NULL) == err_is_set(err));
    check(json_equal(before, document));
    if (result == NULL)
        check_refusal(err);
    else
        check(body_schema_nesting(result) <= JSON_PATCH_PARTS_MAX + BODY_CHECKS_NESTING_MAX);
    json_decref(before);
    json_decref(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice rest = {(const char *)data, size};
    struct err err = {.arena = arena_create()};
    json_t *document = body_checks_load(slice_cut(&rest, '\n'), NULL, &err);
    json_t *patch = body_checks_load(rest, NULL, &err);
    if (json_is_object(document) && patch != NULL) {
        if (json_patch_check(patch, &err) && json_patch_check_fields(patch, FIELDS, &err)) {
            ask(patch);
            apply(document, patch, &err);
        } else {
            check_refusal(&err);
        }
    }
    json_decref(document);
    json_decref(patch);
    arena_destroy(err.arena);
    return 0;
}
