/* Nodes as documents. Errors of the schemas are tested in test_body_checks.c. */
#include "baremetal/api/nodes/node_body.h"

#include "base/buf.h"

#include "baremetal/api/checking.h"

#define NOT_NONE                                                                                   \
    "Invalid maintenance: Unrecognized value 'None', acceptable values are: '0', '1', 'f', "       \
    "'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'"

static struct arena *arena;
static struct err err;

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    err = (struct err){.arena = arena};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

/* The node that a POST creates; NULL: refused. */
static const struct node *create(const char *text)
{
    json_t *document = json_of(text);
    struct node_draft draft = node_draft_new(1);
    node_set_text(&draft, NODE_UUID, SLICE_LIT("5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be101"));
    const struct node *node =
        node_body_create(&draft, document, arena, &err) ? node_pack(&draft, arena) : NULL;
    json_decref(document);
    return node;
}

static void assert_field(const struct node *node, enum node_field field, const char *want)
{
    assert_non_null(node);
    struct slice text = node_text(node, field);
    if (want == NULL)
        assert_null(text.data);
    else
        assert_string_equal(arena_copy(arena, text).data, want);
}

static void values_of_a_creation(void **state)
{
    (void)state;
    const struct node *node =
        create("{\"driver\": \"fake-hardware\", \"name\": \"n\", \"extra\": {\"a\": 0.1}, "
               "\"resource_class\": \"\", \"conductor_group\": \"Rack-A\", \"retired\": true, "
               "\"automated_clean\": false, \"properties\": null, "
               "\"boot_interface\": null, \"storage_interface\": \"fake\"}");
    assert_field(node, NODE_NAME, "n");
    assert_field(node, NODE_EXTRA, "{\"a\":0.1}");
    assert_field(node, NODE_RESOURCE_CLASS, NULL);
    assert_field(node, NODE_CONDUCTOR_GROUP, "rack-a");
    assert_field(node, NODE_PROPERTIES, "{}");
    assert_field(node, NODE_BOOT_INTERFACE, "fake");
    assert_field(node, NODE_STORAGE_INTERFACE, "fake");
    assert_true(node_bool(node, NODE_RETIRED));
    assert_false(node_bool(node, NODE_MAINTENANCE));
    assert_false(node_is_null(node, NODE_AUTOMATED_CLEAN));
}

static void refuse(const char *text, const char *want)
{
    assert_message(create(text) != NULL, &err, 400, want);
}

static void what_there_is_not(void **state)
{
    (void)state;
    refuse("{\"driver\": \"ipmi\"}",
           "No valid host was found. Reason: No conductor service registered which supports "
           "driver ipmi for conductor group \"\".");
    refuse("{\"driver\": \"fake-hardware\", \"boot_interface\": \"pxe\"}",
           "Could not find the following interface in the 'ironic.hardware.interfaces.boot' "
           "entrypoint: pxe. Valid interfaces are ['fake'].");
    refuse("{\"driver\": \"fake-hardware\", \"network_interface\": \"fake\"}",
           "Could not find the following interface in the 'ironic.hardware.interfaces.network' "
           "entrypoint: fake. Valid interfaces are ['noop'].");
    refuse("{\"driver\": \"fake-hardware\", \"storage_interface\": \"\"}",
           "Could not find the following interface in the 'ironic.hardware.interfaces.storage' "
           "entrypoint: . Valid interfaces are ['fake', 'noop'].");
    refuse("{\"driver\": \"fake-hardware\", "
           "\"chassis_uuid\": \"5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be101\"}",
           "Chassis 5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be101 could not be found.");
}

static void maintenance_is_yes_or_no(void **state)
{
    (void)state;
    refuse("{\"driver\": \"fake-hardware\", \"maintenance\": null}", NOT_NONE);
}

static void limits(void **state)
{
    (void)state;
    struct buf text = {0};
    buf_append_lit(&text, "{\"driver\": \"fake-hardware\", \"conductor_group\": \"");
    for (unsigned i = 0; i < 255; i++)
        buf_append_lit(&text, "\xc3\xa9");
    buf_append_lit(&text, "\"}");
    assert_non_null(create(arena_copy(arena, buf_slice(&text)).data));
    text.len -= 2;
    buf_append_lit(&text, "x\"}");
    refuse(arena_copy(arena, buf_slice(&text)).data,
           "conductor_group can have at most 255 characters");
    text.len = 0;
    buf_append_lit(&text, "{\"driver\": \"fake-hardware\", \"extra\": {\"a\": \"");
    for (unsigned i = 0; i < NODE_BODY_OBJECT_BYTES_MAX - 8; i++)
        buf_append_char(&text, 'x');
    buf_append_lit(&text, "\"}}");
    assert_non_null(create(arena_copy(arena, buf_slice(&text)).data));
    text.len -= 3;
    buf_append_lit(&text, "x\"}}");
    refuse(arena_copy(arena, buf_slice(&text)).data,
           "extra can have at most 1048576 bytes, it would have 1048577");
    buf_free(&text);
}

static void versions(void **state)
{
    (void)state;
    json_t *document = json_of("{\"driver\": \"x\", \"name\": \"n\", \"owner\": null, "
                               "\"conductor_group\": \"\", \"lessee\": \"p\"}");
    assert_message(node_body_check_versions(document, 65, &err), &err, 0, NULL);
    assert_message(node_body_check_versions(document, 64, &err), &err, 406,
                   "Request not acceptable.");
    json_object_del(document, "lessee");
    assert_message(node_body_check_versions(document, 5, &err), &err, 0, NULL);
    assert_message(node_body_check_versions(document, 4, &err), &err, 406,
                   "Request not acceptable.");
    json_decref(document);
}

/* The node with a patched document. */
static const struct node *patch(const struct node *node, const char *field, const char *value)
{
    bool needed[NODE_FIELD_COUNT];
    memset(needed, true, sizeof(needed));
    json_t *before = node_body_of(node, needed);
    json_t *after = json_deep_copy(before);
    struct node_draft draft = node_draft_of(node);
    if (value == NULL)
        json_object_del(after, field);
    else
        json_object_set_new(after, field, json_of(value));
    const struct node *result =
        node_body_patch(&draft, before, after, arena, &err) ? node_pack(&draft, arena) : NULL;
    json_decref(after);
    json_decref(before);
    return result;
}

static void patches(void **state)
{
    (void)state;
    const struct node *node =
        create("{\"driver\": \"fake-hardware\", \"name\": \"n\", \"extra\": {\"a\": 1, \"b\": 2}, "
               "\"boot_interface\": \"fake\", \"retired\": true, \"conductor_group\": \"x\"}");
    assert_non_null(node);
    assert_true(record_equal(&patch(node, "name", "\"n\"")->record, &node->record));
    assert_true(record_equal(&patch(node, "extra", "{\"b\": 2, \"a\": 1}")->record, &node->record));
    assert_field(patch(node, "extra", "{\"b\": 2}"), NODE_EXTRA, "{\"b\":2}");
    assert_field(patch(node, "extra", NULL), NODE_EXTRA, "{}");
    assert_field(patch(node, "name", NULL), NODE_NAME, NULL);
    assert_field(patch(node, "conductor_group", NULL), NODE_CONDUCTOR_GROUP, "");
    assert_field(patch(node, "boot_interface", "null"), NODE_BOOT_INTERFACE, "fake");
    assert_false(node_bool(patch(node, "retired", NULL), NODE_RETIRED));
    assert_non_null(patch(node, "chassis_uuid", "null"));
    assert_false(node_bool(patch(node, "maintenance", NULL), NODE_MAINTENANCE));
    assert_message(patch(node, "maintenance", "null") != NULL, &err, 400, NOT_NONE);
    assert_message(
        patch(node, "driver", "\"ipmi\"") != NULL, &err, 400,
        "No valid host was found. Reason: No conductor service registered which supports "
        "driver ipmi for conductor group \"x\".");
    assert_message(patch(node, "chassis_uuid", "\"5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be101\"") != NULL,
                   &err, 400, "Chassis 5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be101 could not be found.");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* 340 000 values take some ten milliseconds, and the workers' budget is one. Objects that a patch
 * does not need cost nothing. */
static void costs(void **state)
{
    (void)state;
    enum { VALUES = 340000, COUNTED = 8192 };
    struct buf text = {0};
    buf_append_lit(&text, "{\"driver\": \"fake-hardware\", \"extra\": {\"l\": [1");
    for (unsigned i = 1; i < VALUES; i++)
        buf_append_lit(&text, ",1");
    buf_append_lit(&text, "]}}");
    const struct node *node = create(arena_copy(arena, buf_slice(&text)).data);
    buf_free(&text);
    assert_non_null(node);
    bool needed[NODE_FIELD_COUNT] = {false};
    assert_int_equal(node_body_cost(node, needed).steps, 0);
    json_t *document = node_body_of(node, needed);
    assert_int_equal(json_object_size(json_object_get(document, "extra")), 0);
    json_decref(document);
    needed[NODE_EXTRA] = true;
    struct json_text_cost cost = node_body_cost(node, needed);
    assert_true(cost.steps > 2 * 1000 * 1000 && cost.steps < 40 * 1000 * 1000);
    assert_true(cost.bytes > VALUES * 48ULL && cost.bytes < VALUES * 200ULL);
    assert_true(json_text_cost(node_text(node, NODE_EXTRA), COUNTED).steps < cost.steps);
    assert_true(json_text_cost(SLICE_LIT("{\"a\":\"b\"}"), COUNTED).steps < 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_of_a_creation),
        TEST(what_there_is_not),
        TEST(maintenance_is_yes_or_no),
        TEST(limits),
        TEST(versions),
        TEST(patches),
        TEST(costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
