/* Patches; the texts are Ironic's (tests/baremetal compares many more). */
#include "baremetal/api/input/json_patch.h"

#include <stdio.h>

#include "baremetal/api/checking.h"

static const char DOCUMENT[] =
    "{\"name\": \"old\", \"extra\": {\"a\": {\"b\": [1, 2]}, \"t\": \"xy\"}}";
static const char *const FIELDS[] = {"name", "extra", NULL};

/* Applies the patch as a handler does; `want` is the resulting document, or the error. */
static void apply(const char *text, const char *want, const char *refusal)
{
    struct err err = {.arena = arena_create()};
    json_t *document = json_of(DOCUMENT);
    json_t *patch = json_of(text);
    json_t *result = NULL;
    bool done = json_patch_check(patch, &err) && json_patch_check_fields(patch, FIELDS, &err);
    if (done)
        result = json_patch_apply(document, patch, &err);
    assert_message(result != NULL, &err, 400, refusal);
    if (result != NULL)
        assert_json(result, want);
    json_t *before = json_of(DOCUMENT);
    assert_true(json_equal(document, before));
    json_decref(before);
    json_decref(result);
    json_decref(patch);
    json_decref(document);
    arena_destroy(err.arena);
}

static void applied(void **state)
{
    (void)state;
    apply("[]", "{\"name\":\"old\",\"extra\":{\"a\":{\"b\":[1,2]},\"t\":\"xy\"}}", NULL);
    apply("[{\"op\": \"replace\", \"path\": \"/name\", \"value\": null}, {\"op\": \"remove\", "
          "\"path\": "
          "\"/extra\"}]",
          "{\"name\":null}", NULL);
    apply("[{\"op\": \"remove\", \"path\": \"/name\"}, {\"op\": \"add\", \"path\": \"/name\", "
          "\"value\": "
          "\"n\"}]",
          "{\"extra\":{\"a\":{\"b\":[1,2]},\"t\":\"xy\"},\"name\":\"n\"}", NULL);
    apply(
        "[{\"op\": \"add\", \"path\": \"/extra/a/b/1\", \"value\": 9}, {\"op\": \"add\", \"path\": "
        "\"/extra/a/b/-\", \"value\": []}, {\"op\": \"remove\", \"path\": \"/extra/a/b/0\"}]",
        "{\"name\":\"old\",\"extra\":{\"a\":{\"b\":[9,2,[]]},\"t\":\"xy\"}}", NULL);
    apply("[{\"op\": \"add\", \"path\": \"/extra\", \"value\": {\"k\": {}}}, {\"op\": \"add\", "
          "\"path\": "
          "\"/extra/k/0\", \"value\": 1}]",
          "{\"name\":\"old\",\"extra\":{\"k\":{\"0\":1}}}", NULL);
    apply("[{\"op\": \"add\", \"op\": \"remove\", \"path\": \"/x\", \"path\": \"/extra/t\"}]",
          "{\"name\":\"old\",\"extra\":{\"a\":{\"b\":[1,2]}}}",
          NULL); /* the last of a name counts */
}

/* A value that is added twice becomes two values. */
static void values_are_not_shared(void **state)
{
    (void)state;
    struct err err = {.arena = arena_create()};
    json_t *document = json_of("{\"extra\": {}}");
    json_t *patch = json_of("[{\"op\": \"add\", \"path\": \"/extra/a\", \"value\": {}},"
                            " {\"op\": \"add\", \"path\": \"/extra/a/b\", \"value\": 1}]");
    json_t *first = json_patch_apply(document, patch, &err);
    json_t *second = json_patch_apply(document, patch, &err);
    assert_json(second, "{\"extra\":{\"a\":{\"b\":1}}}");
    assert_json(json_array_get(patch, 0), "{\"op\":\"add\",\"path\":\"/extra/a\",\"value\":{}}");
    json_decref(first);
    json_decref(second);
    json_decref(patch);
    json_decref(document);
    arena_destroy(err.arena);
}

static void shapes(void **state)
{
    (void)state;
    apply("{}", NULL, "Schema error for patch: {} is not of type 'array'");
    apply("[5]", NULL, "Schema error for patch: 5 is not of type 'object'");
    apply("[{\"op\": \"add\"}]", NULL, "Schema error for patch: 'path' is a required property");
    apply("[{\"op\": \"test\", \"path\": \"/name\"}]", NULL,
          "Schema error for patch: 'test' is not one of ['add', 'replace', 'remove']");
    apply("[{\"op\": \"add\", \"path\": \"/name\", \"from\": \"/x\"}]", NULL,
          "Schema error for patch: Additional properties are not allowed ('from' was unexpected)");
    static const char *const PATHS[] = {"",          "/",    "name",  "/name/", "//name",
                                        "/extra//a", "/a.b", "/a~1b", "/a b",   "/name\\n"};
    for (size_t i = 0; i < sizeof(PATHS) / sizeof(PATHS[0]); i++) {
        char patch[128];
        char shown[128];
        snprintf(patch, sizeof(patch), "[{\"op\": \"remove\", \"path\": \"%s\"}]", PATHS[i]);
        snprintf(shown, sizeof(shown),
                 "Schema error for patch: '%s' does not match '^(/[\\\\w-]+)+$'", PATHS[i]);
        apply(patch, NULL, shown);
    }
    apply("[{\"op\": \"remove\", \"path\": \"/uuid\"}]", NULL,
          "Cannot patch /uuid. Only the following can be updated: name, extra");
    apply("[{\"op\": \"remove\", \"path\": \"/extras/x\"}]", NULL,
          "Cannot patch /extras/x. Only the following can be updated: name, extra");
}

#define FAILS(op, path, reason)                                                                    \
    apply("[{\"op\": \"" op "\", \"path\": \"" path "\", \"value\": 1}]", NULL,                    \
          "Couldn't apply patch '{'op': '" op "', 'path': '" path                                  \
          "', 'value': 1}'. Reason: " reason)

static void failures(void **state)
{
    (void)state;
    FAILS("remove", "/extra/x", "can't remove a non-existent object 'x'");
    FAILS("remove", "/extra/a/b/2", "can't remove a non-existent object '2'");
    FAILS("remove", "/extra/a/b/-", "can't remove a non-existent object '-'");
    FAILS("remove", "/extra/t/0", "can't remove a non-existent object '0'");
    FAILS("replace", "/extra/x", "can't replace a non-existent object 'x'");
    FAILS("replace", "/extra/a/b/2", "can't replace outside of list");
    FAILS("replace", "/extra/-", "'path' with '-' can't be applied to 'replace' operation");
    FAILS("add", "/extra/a/b/3", "can't insert outside of list");
    FAILS("add", "/extra/a/b/99999999999999999999999999", "can't insert outside of list");
    FAILS("add", "/extra/a/b/01", "'01' is not a valid sequence index");
    FAILS("add", "/extra/a/b/x", "'x' is not a valid sequence index");
    FAILS("add", "/extra/a/b/2/x", "index '2' is out of bounds");
    FAILS("add", "/extra/t/0", "unable to fully resolve json pointer /extra/t/0, part 0");
    FAILS("add", "/extra/t/1/1", "unable to fully resolve json pointer /extra/t/1/1, part 1");
    FAILS("add", "/extra/t/2/0", "index '2' is out of bounds");
    FAILS("add", "/extra/t/1/0/0", "unable to fully resolve json pointer /extra/t/1/0/0, part 0");
    FAILS("add", "/extra/t/1/1/0", "index '1' is out of bounds");
    FAILS("add", "/extra/a/b/x/y", "'x' is not a valid sequence index");
    FAILS("add", "/extra/x/y", "member 'x' not found in {'a': {'b': [1, 2]}, 't': 'xy'}");
    FAILS("add", "/extra/a/b/0/x",
          "Document '<class 'int'>' does not support indexing, must be mapping/sequence or support "
          "__getitem__");
    FAILS("add", "/extra/a/b/-/x",
          "Document '<class 'jsonpointer.EndOfList'>' does not support indexing, must be "
          "mapping/sequence or support __getitem__");
    apply("[{\"op\": \"add\", \"path\": \"/name\"}]", NULL,
          "Couldn't apply patch '{'op': 'add', 'path': '/name'}'. Reason: The operation does not "
          "contain a 'value' member");
    apply("[{\"op\": \"remove\", \"path\": \"/name\"}, {\"path\": \"/name\", \"op\": \"remove\"}]",
          NULL,
          "Couldn't apply patch '{'path': '/name', 'op': 'remove'}'. Reason: can't remove a "
          "non-existent object 'name'");
}

static void quotes_no_secrets(void **state)
{
    (void)state;
    struct err err = {.arena = arena_create()};
    json_t *document =
        json_of("{\"driver_info\": {\"ipmi_password\": \"real\", \"address\": \"x\"}}");
    json_t *patch = json_of("[{\"op\": \"remove\", \"path\": \"/driver_info/a/b\"}]");
    assert_message(
        json_patch_apply(document, patch, &err) != NULL, &err, 400,
        "Couldn't apply patch '{'op': 'remove', 'path': '/driver_info/a/b'}'. Reason: member "
        "'a' not found in {'ipmi_password': '******', 'address': 'x'}");
    json_decref(patch);
    patch = json_of("[{\"op\": \"add\", \"path\": \"/extra\", \"value\": {}}]");
    assert_message(json_patch_apply(document, patch, &err) != NULL, &err, 400,
                   "Adding a new attribute (/extra) to the root of the resource is not allowed");
    json_decref(patch);
    json_decref(document);
    arena_destroy(err.arena);
}

static void limits(void **state)
{
    (void)state;
    struct err err = {.arena = arena_create()};
    json_t *patch = json_array();
    json_t *operation = json_of("{\"op\": \"add\", \"path\": \"/extra/a\", \"value\": 1}");
    for (unsigned i = 0; i < JSON_PATCH_OPERATIONS_MAX; i++)
        json_array_append(patch, operation);
    assert_message(json_patch_check(patch, &err), &err, 0, NULL);
    json_array_append(patch, operation);
    assert_message(json_patch_check(patch, &err), &err, 400,
                   "A patch can have at most 1000 operations, this one has 1001");
    json_decref(patch);
    char path[2 * JSON_PATCH_PARTS_MAX + 3] = "";
    for (unsigned i = 0; i < 2 * JSON_PATCH_PARTS_MAX; i += 2)
        memcpy(path + i, "/a", 3);
    json_object_set_new(operation, "path", json_string(path));
    patch = json_pack("[O]", operation);
    assert_message(json_patch_check(patch, &err), &err, 0, NULL);
    memcpy(path + strlen(path), "/a", 3);
    json_object_set_new(operation, "path", json_string(path));
    assert_message(json_patch_check(patch, &err), &err, 400,
                   "The path of operation 0 of the patch has more than 25 parts");
    json_decref(patch);
    json_decref(operation);
    arena_destroy(err.arena);
}

static void questions(void **state)
{
    (void)state;
    json_t *patch = json_of("[{\"op\": \"add\", \"path\": \"/extra/a\", \"value\": 1},"
                            " {\"op\": \"remove\", \"path\": \"/name\", \"value\": 2}]");
    const json_t *add = json_array_get(patch, 0);
    const json_t *removal = json_array_get(patch, 1);
    assert_true(slice_equal(json_patch_field(add), SLICE_LIT("extra")));
    assert_true(slice_equal(json_patch_field(removal), SLICE_LIT("name")));
    assert_int_equal(json_integer_value(json_patch_value(add, "/extra/a")), 1);
    assert_null(json_patch_value(add, "/extra"));
    assert_null(json_patch_value(removal, "/name"));
    assert_false(json_patch_only_removes(patch, "/name"));
    json_array_remove(patch, 0);
    assert_false(json_patch_only_removes(patch, "/name")); /* it has a value */
    json_object_del(json_array_get(patch, 0), "value");
    assert_true(json_patch_only_removes(patch, "/name"));
    assert_false(json_patch_only_removes(patch, "/extra"));
    json_decref(patch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(applied),
        cmocka_unit_test(values_are_not_shared),
        cmocka_unit_test(shapes),
        cmocka_unit_test(failures),
        cmocka_unit_test(quotes_no_secrets),
        cmocka_unit_test(limits),
        cmocka_unit_test(questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
