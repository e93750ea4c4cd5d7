/* The tables of the fields of nodes and of their allocations compared with the specification, and
 * the values in a node's row. */
#include "base/arena.h"
#include "model/node.h"
#include "model/node_allocation.h"
#include "unit.h"

static void check_table(const struct record_shape *shape)
{
    assert_true(shape->stored <= RECORD_FIELDS_MAX);
    for (unsigned i = 0; i < shape->count; i++) {
        const struct record_field *field = &shape->fields[i];
        assert_non_null(field->name);
        assert_in_range(field->since, 1, 82);
        assert_int_equal(field->kind == RECORD_DERIVED, i >= shape->stored);
        bool is_shown = (field->flags & RECORD_INTERNAL) == 0;
        assert_int_equal(record_find(shape, slice_of(field->name)), is_shown ? (int)i : -1);
        if (!is_shown)
            assert_int_equal(field->flags & (RECORD_IN_POST | RECORD_IN_PATCH | RECORD_SORTABLE),
                             0);
        if (field->kind == RECORD_JSON)
            assert_string_equal(field->initial, "{}");
        if (field->kind == RECORD_WORDS)
            assert_string_equal(field->initial, "");
        if (field->kind == RECORD_JSON || field->kind == RECORD_WORDS || i >= shape->stored)
            assert_int_equal(field->flags & RECORD_SORTABLE, 0);
        else if (is_shown)
            assert_true((field->flags & RECORD_SORTABLE) != 0);
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(field->name, shape->fields[j].name);
    }
}

/* The names of the shown fields that have all of `flags` and were added in that version. */
static void expect_fields(const struct record_shape *shape, unsigned flags, unsigned since,
                          const char *names)
{
    struct slice wanted = slice_of(names);
    unsigned count = 0;
    struct slice word;
    while (record_next_word(&wanted, &word))
        count++;
    for (unsigned i = 0; i < shape->count; i++) {
        const struct record_field *field = &shape->fields[i];
        if ((field->flags & RECORD_INTERNAL) != 0 || (field->flags & flags) != flags ||
            (since != 0 && field->since != since))
            continue;
        if (!record_has_word(slice_of(names), slice_of(field->name)))
            print_error("%s is not wanted\n", field->name);
        assert_true(record_has_word(slice_of(names), slice_of(field->name)));
        count--;
    }
    assert_int_equal(count, 0);
}

static void tables_are_whole(void **state)
{
    (void)state;
    check_table(&NODE_SHAPE);
    check_table(&NODE_ALLOCATION_SHAPE);
}

#define USERS                                                                                      \
    "name driver driver_info properties extra instance_info instance_uuid resource_class"          \
    " maintenance chassis_uuid owner lessee description conductor_group automated_clean"           \
    " network_data retired retired_reason shard boot_interface console_interface"                  \
    " deploy_interface inspect_interface management_interface power_interface raid_interface"      \
    " vendor_interface network_interface storage_interface rescue_interface bios_interface"

static void what_clients_may_give(void **state)
{
    (void)state;
    expect_fields(&NODE_SHAPE, RECORD_IN_POST, 0, "uuid " USERS);
    expect_fields(&NODE_SHAPE, RECORD_IN_PATCH, 0, "protected protected_reason " USERS);
    expect_fields(&NODE_SHAPE, RECORD_REQUIRED, 0, "driver");
    expect_fields(&NODE_SHAPE, RECORD_SECRET, 0, "driver_info instance_info");
    expect_fields(&NODE_SHAPE, RECORD_UNIQUE, 0, "uuid name instance_uuid");
    expect_fields(&NODE_ALLOCATION_SHAPE, RECORD_IN_POST, 0,
                  "uuid name resource_class traits candidate_nodes extra owner");
    expect_fields(&NODE_ALLOCATION_SHAPE, RECORD_IN_PATCH, 0, "name extra");
    expect_fields(&NODE_ALLOCATION_SHAPE, RECORD_UNIQUE, 0, "uuid name");
    expect_fields(&NODE_ALLOCATION_SHAPE, 0, 60, "owner");
}

static void versions_of_node_fields(void **state)
{
    (void)state;
    static const struct {
        unsigned since;
        const char *names;
    } rows[] = {
        {3, "driver_internal_info"},
        {5, "name"},
        {6, "inspection_started_at inspection_finished_at"},
        {7, "clean_step"},
        {12, "raid_config target_raid_config"},
        {14, "states"},
        {20, "network_interface"},
        {21, "resource_class"},
        {24, "portgroups"},
        {31, "boot_interface console_interface deploy_interface inspect_interface"
             " management_interface power_interface raid_interface vendor_interface"},
        {32, "volume"},
        {33, "storage_interface"},
        {37, "traits"},
        {38, "rescue_interface"},
        {40, "bios_interface"},
        {42, "fault"},
        {44, "deploy_step"},
        {46, "conductor_group"},
        {47, "automated_clean"},
        {48, "protected protected_reason"},
        {49, "conductor"},
        {50, "owner"},
        {51, "description"},
        {52, "allocation_uuid"},
        {61, "retired retired_reason"},
        {65, "lessee"},
        {66, "network_data"},
        {75, "boot_mode secure_boot"},
        {82, "shard"},
    };
    unsigned later = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct slice names = slice_of(rows[i].names);
        struct slice word;
        expect_fields(&NODE_SHAPE, 0, rows[i].since, rows[i].names);
        while (record_next_word(&names, &word))
            later++;
    }
    for (unsigned i = 0; i < NODE_FIELD_COUNT; i++)
        later -= NODE_SHAPE.fields[i].since > 1;
    assert_int_equal(later, 0);
}

static void new_rows(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct node_draft draft = node_draft_new(3);
    node_set_text(&draft, NODE_UUID, SLICE_LIT("u"));
    const struct node *node = node_pack(&draft, arena);
    assert_int_equal(node->record.id, 3);
    assert_true(node_text_is(node, NODE_PROVISION_STATE, "enroll"));
    assert_true(node_text_is(node, NODE_BOOT_INTERFACE, "fake"));
    assert_true(node_text_is(node, NODE_NETWORK_INTERFACE, "noop"));
    assert_true(node_text_is(node, NODE_STORAGE_INTERFACE, "noop"));
    assert_true(node_text_is(node, NODE_CONDUCTOR_GROUP, ""));
    assert_true(node_text_is(node, NODE_TRAITS, ""));
    assert_true(node_text_is(node, NODE_EXTRA, "{}"));
    assert_true(node_is_null(node, NODE_POWER_STATE));
    assert_true(node_is_null(node, NODE_AUTOMATED_CLEAN));
    assert_false(node_is_null(node, NODE_MAINTENANCE));
    assert_false(node_bool(node, NODE_MAINTENANCE));
    assert_int_equal(node_time(node, NODE_UPDATED_AT), 0);
    assert_false(node_text_is(node, NODE_NAME, ""));

    struct node_allocation_draft new = node_allocation_draft_new(4);
    node_allocation_set_text(&new, NODE_ALLOCATION_UUID, SLICE_LIT("v"));
    node_allocation_set_node_id(&new, 3);
    const struct node_allocation *allocation = node_allocation_pack(&new, arena);
    assert_true(node_allocation_text_is(allocation, NODE_ALLOCATION_STATE, "allocating"));
    assert_true(node_allocation_text_is(allocation, NODE_ALLOCATION_TRAITS, ""));
    assert_true(node_allocation_text_is(allocation, NODE_ALLOCATION_EXTRA, "{}"));
    assert_true(node_allocation_is_null(allocation, NODE_ALLOCATION_RESOURCE_CLASS));
    assert_int_equal(node_allocation_node_id(allocation), 3);
    arena_destroy(arena);
}

static void a_draft_alters_what_it_sets(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct node_draft draft = node_draft_new(3);
    node_set_text(&draft, NODE_UUID, SLICE_LIT("u"));
    node_set_text(&draft, NODE_NAME, SLICE_LIT("n"));
    const struct node *before = node_pack(&draft, arena);
    draft = node_draft_of(before);
    assert_true(record_equal(&before->record, &node_pack(&draft, arena)->record));
    node_set_null(&draft, NODE_NAME);
    node_set_null(&draft, NODE_CONDUCTOR_GROUP);
    node_set_bool(&draft, NODE_AUTOMATED_CLEAN, false);
    node_set_bool(&draft, NODE_MAINTENANCE, true);
    node_set_time(&draft, NODE_CREATED_AT, 5);
    const struct node *after = node_pack(&draft, arena);
    assert_true(node_is_null(after, NODE_NAME));
    assert_true(node_text_is(after, NODE_CONDUCTOR_GROUP, ""));
    assert_false(node_is_null(after, NODE_AUTOMATED_CLEAN));
    assert_false(node_bool(after, NODE_AUTOMATED_CLEAN));
    assert_true(node_bool(after, NODE_MAINTENANCE));
    assert_int_equal(node_time(after, NODE_CREATED_AT), 5);
    assert_true(node_text_is(after, NODE_UUID, "u"));
    assert_true(node_text_is(before, NODE_NAME, "n"));
    arena_destroy(arena);
}

static void when_a_node_is_free(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct node_draft free = node_draft_new(1);
    node_set_text(&free, NODE_UUID, SLICE_LIT("u"));
    node_set_text(&free, NODE_PROVISION_STATE, SLICE_LIT("available"));
    assert_false(node_is_free(node_pack(&free, arena)));
    node_set_text(&free, NODE_POWER_STATE, SLICE_LIT("power off"));
    node_set_text(&free, NODE_RESERVATION, SLICE_LIT("host"));
    assert_true(node_is_free(node_pack(&free, arena)));
    struct node_draft draft = free;
    node_set_text(&draft, NODE_POWER_STATE, SLICE_LIT("error"));
    assert_false(node_is_free(node_pack(&draft, arena)));
    draft = free;
    node_set_text(&draft, NODE_PROVISION_STATE, SLICE_LIT("active"));
    assert_false(node_is_free(node_pack(&draft, arena)));
    draft = free;
    node_set_text(&draft, NODE_INSTANCE_UUID, SLICE_LIT("i"));
    assert_false(node_is_free(node_pack(&draft, arena)));
    draft = free;
    node_set_bool(&draft, NODE_MAINTENANCE, true);
    assert_false(node_is_free(node_pack(&draft, arena)));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_whole),
        cmocka_unit_test(what_clients_may_give),
        cmocka_unit_test(versions_of_node_fields),
        cmocka_unit_test(new_rows),
        cmocka_unit_test(a_draft_alters_what_it_sets),
        cmocka_unit_test(when_a_node_is_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
