/* Bodies of POST; tests/baremetal compares many more with Ironic, where the texts come from. */
#include "baremetal/api/input/body_checks.h"

#include "baremetal/api/checking.h"
#include "baremetal/api/input/body_schemas.h"
#include "model/node.h"

#define UUID "5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be101"

static void loaded(void **state)
{
    (void)state;
    struct err err = {.arena = arena_create()};
    json_t *document = body_checks_load((struct slice){0}, NULL, &err);
    assert_json(document, "{}");
    json_decref(document);
    document = body_checks_load(SLICE_LIT("{\"a\": 1, \"a\": 2}"), NULL, &err);
    assert_json(document, "{\"a\":2}");
    json_decref(document);
    assert_null(body_checks_load(SLICE_LIT("{"), NULL, &err));
    assert_int_equal(err.status, 400);
    assert_true(slice_starts_with(err.message, SLICE_LIT("Malformed JSON: ")));

    err = (struct err){.arena = err.arena};
    char nested[2 * BODY_CHECKS_NESTING_MAX + 3];
    memset(nested, '[', BODY_CHECKS_NESTING_MAX);
    memset(nested + BODY_CHECKS_NESTING_MAX, ']', BODY_CHECKS_NESTING_MAX);
    document = body_checks_load((struct slice){nested, 2 * BODY_CHECKS_NESTING_MAX}, NULL, &err);
    assert_non_null(document);
    json_decref(document);
    memset(nested, '[', BODY_CHECKS_NESTING_MAX + 1);
    memset(nested + BODY_CHECKS_NESTING_MAX + 1, ']', BODY_CHECKS_NESTING_MAX + 1);
    document =
        body_checks_load((struct slice){nested, 2 * BODY_CHECKS_NESTING_MAX + 2}, NULL, &err);
    assert_message(document != NULL, &err, 400, "The body is nested deeper than 25");

    char *large = calloc(1, BODY_CHECKS_BYTES_MAX + 1);
    assert_non_null(large);
    memset(large, ' ', BODY_CHECKS_BYTES_MAX + 1);
    memcpy(large, "{}", 2);
    document = body_checks_load((struct slice){large, BODY_CHECKS_BYTES_MAX}, NULL, &err);
    assert_non_null(document);
    json_decref(document);
    document = body_checks_load((struct slice){large, BODY_CHECKS_BYTES_MAX + 1}, NULL, &err);
    assert_message(document != NULL, &err, 413, "The body has more than 1048576 bytes");
    free(large);
    arena_destroy(err.arena);
}

static void allocation(const char *json, const char *want, const char *refusal)
{
    struct err err = {.arena = arena_create()};
    json_t *body = json_of(json);
    assert_message(body_checks_allocation(body, "allocation", &err), &err, 400, refusal);
    if (want != NULL)
        assert_json(body, want);
    json_decref(body);
    arena_destroy(err.arena);
}

static void allocations(void **state)
{
    (void)state;
    allocation("{}", "{}", NULL);
    allocation(
        "{\"resource_class\": \"x\", \"traits\": [\"CUSTOM_A\", \"HW_CPU_X86_VMX\", \"CUSTOM_A\"], "
        "\"extra\": null, \"node\": null, \"owner\": \"o\"}",
        NULL, NULL);
    allocation("{\"uuid\": \"5C0F4A1E-7D51-4A8E-9A51-6D1F0A4BE101\"}", "{\"uuid\":\"" UUID "\"}",
               NULL);
    allocation("[]", NULL, "Schema error for allocation: [] is not of type 'object'");
    allocation("{\"state\": null}", NULL,
               "Schema error for allocation: Additional properties are not allowed ('state' was "
               "unexpected)");
    allocation("{\"extra\": []}", NULL,
               "Schema error for allocation: [] is not of type 'object', 'null'");
    allocation("{\"traits\": \"x\"}", NULL,
               "Schema error for allocation: 'x' is not of type 'array', 'null'");
    allocation(
        "{\"traits\": [\"CUSTOM_A\", \"HW_NONE\"]}", NULL,
        "Schema error for allocation: 'HW_NONE' is not valid under any of the given schemas. "
        "Possible root cause: 'HW_NONE' does not match '^CUSTOM_[A-Z0-9_]+$'");
    allocation("{\"candidate_nodes\": [\"a\", 5]}", NULL,
               "Schema error for allocation: 5 is not of type 'string'");
    allocation("{\"uuid\": \"\"}", NULL, "Expected UUID for uuid: ");
    allocation("{\"uuid\": \"5c0f4a1e7d514a8e9a516d1f0a4be101\"}", NULL,
               "Expected UUID for uuid: 5c0f4a1e7d514a8e9a516d1f0a4be101");
}

/* 255 characters of an owner fit, more do not; a long value is quoted in part. */
static void owners(void **state)
{
    (void)state;
    struct err err = {.arena = arena_create()};
    char text[10000];
    memset(text, 'o', sizeof(text));
    json_t *body = json_pack("{s:s%}", "owner", text, (size_t)255);
    assert_message(body_checks_allocation(body, "patch", &err), &err, 400, NULL);
    json_object_set_new(body, "owner", json_stringn(text, sizeof(text)));
    assert_false(body_checks_allocation(body, "patch", &err));
    assert_true(slice_starts_with(err.message, SLICE_LIT("Schema error for patch: 'ooo")));
    assert_in_range(err.message.len, 4096, 4200);
    json_decref(body);
    arena_destroy(err.arena);
}

static void node(const char *json, bool is_patched, const char *want, const char *refusal)
{
    struct err err = {.arena = arena_create()};
    json_t *body = json_of(json);
    assert_message(body_checks_node(body, is_patched ? "patch" : "node", is_patched, &err), &err,
                   400, refusal);
    if (want != NULL)
        assert_json(body, want);
    json_decref(body);
    arena_destroy(err.arena);
}

static void nodes(void **state)
{
    (void)state;
    node("{}", false, NULL, "Schema error for node: 'driver' is a required property");
    node("{\"driver\": null}", true, NULL, "Schema error for patch: None is not of type 'string'");
    node("{\"driver\": \"d\", \"maintenance\": \"Yes\", \"retired\": false, \"automated_clean\": "
         "null}",
         false,
         "{\"driver\":\"d\",\"maintenance\":true,\"retired\":false,\"automated_clean\":null}",
         NULL);
    node("{\"driver\": \"d\", \"protected\": true}", false, NULL,
         "Schema error for node: Additional properties are not allowed ('protected' was "
         "unexpected)");
    node("{\"driver\": \"d\", \"protected\": \"f\"}", true,
         "{\"driver\":\"d\",\"protected\":false}", NULL);
    node("{\"driver\": \"d\", \"maintenance\": 1}", false, NULL,
         "Schema error for node: 1 is not of type 'string', 'boolean', 'null'");
    node("{\"driver\": \"d\", \"retired\": \"maybe\"}", false, NULL,
         "Invalid retired: Unrecognized value 'maybe', acceptable values are: '0', '1', 'f', "
         "'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'");
    node("{\"driver\": \"d\", \"instance_uuid\": \"x\"}", false, NULL,
         "Expected UUID for instance_uuid: x");
    node("{\"driver\": \"d\", \"network_data\": {}}", false, NULL, NULL);
    node("{\"driver\": \"d\", \"network_data\": {\"links\": [{}], \"networks\": [], \"services\": "
         "[]}}",
         false, NULL, NULL);
    node("{\"driver\": \"d\", \"network_data\": {\"links\": []}}", false, NULL,
         "Schema error for node: {'links': []} is not valid under any of the given schemas. "
         "Possible "
         "root cause: {'links': []} is not of type 'null'");
}

static void traits(void **state)
{
    (void)state;
    struct err err = {.arena = arena_create()};
    json_t *body = json_of("{\"traits\": [\"CUSTOM_A\"]}");
    assert_message(body_checks_traits(body, &err), &err, 400, NULL);
    json_object_set_new(body, "traits", json_null());
    assert_message(body_checks_traits(body, &err), &err, 400,
                   "Schema error for body: None is not of type 'array'");
    json_decref(body);
    assert_message(body_checks_trait(SLICE_LIT("CUSTOM_A"), &err), &err, 400, NULL);
    assert_message(
        body_checks_trait(SLICE_LIT("a"), &err), &err, 400,
        "Schema error for trait: 'a' is not valid under any of the given schemas. Possible "
        "root cause: 'a' does not match '^CUSTOM_[A-Z0-9_]+$'");
    assert_message(body_checks_trait((struct slice){0}, &err), &err, 400,
                   "Schema error for trait: '' should be non-empty");
    assert_message(body_checks_trait(SLICE_LIT("\xff"), &err), &err, 400,
                   "The trait is not valid UTF-8");
    arena_destroy(err.arena);
}

/* The schemas know exactly the fields that can be set according to the table of a node's fields. */
static void schemas_follow_the_fields(void **state)
{
    (void)state;
    size_t in_post = 0;
    size_t in_either = 0;
    for (unsigned i = 0; i < NODE_SHAPE.count; i++) {
        const struct record_field *field = &NODE_SHAPE.fields[i];
        bool posted = (field->flags & RECORD_IN_POST) != 0;
        bool patched = (field->flags & RECORD_IN_PATCH) != 0;
        assert_int_equal(schema_allows_property(&BAREMETAL_NODE, slice_of(field->name)), posted);
        assert_int_equal(schema_allows_property(&BAREMETAL_NODE_PATCHED, slice_of(field->name)),
                         posted || patched);
        in_post += posted;
        in_either += posted || patched;
    }
    const struct schema_property *p =
        schema_keyword_of(&BAREMETAL_NODE, SCHEMA_PROPERTIES)->properties;
    for (; p->name != NULL; p++)
        in_post--;
    p = schema_keyword_of(&BAREMETAL_NODE_PATCHED, SCHEMA_PROPERTIES)->properties;
    for (; p->name != NULL; p++)
        in_either--;
    assert_int_equal(in_post, 0);
    assert_int_equal(in_either, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loaded), cmocka_unit_test(allocations),
        cmocka_unit_test(owners), cmocka_unit_test(nodes),
        cmocka_unit_test(traits), cmocka_unit_test(schemas_follow_the_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
