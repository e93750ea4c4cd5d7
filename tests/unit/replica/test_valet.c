/* Groups, members, claims, plans and placements in versions: random puts and deletes against a
 * plain table, audited after each version; ids that come back, older versions that stay. */
#include <stdlib.h>

#include "base/arena.h"
#include "replica/apply.h"
#include "replica/audit.h"
#include "replica/replica.h"
#include "replica/valet.h"
#include "unit.h"

enum { ROWS = 24, TEXTS = 10, STEPS = 3000 };

struct world {
    struct arena *arena; /* of one edit's changes */
    struct arena *kept;  /* of the plain table */
    struct replica *replica;
    struct edit *edit;
    struct change_list list;
    const struct record *plain[VALET_TABLE_COUNT][ROWS + 1];
};

static unsigned below(unsigned n)
{
    return (unsigned)random() % n;
}

static void check_sound(const struct version *version)
{
    struct buf why = {0};
    if (!audit_version(version, &why))
        print_error("%.*s\n", SLICE_ARG(buf_slice(&why)));
    assert_int_equal(why.len, 0);
    buf_free(&why);
}

static int open_world(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    world->arena = arena_create();
    world->kept = arena_create();
    world->replica = replica_create();
    world->list.arena = world->arena;
    world->edit = replica_edit(world->replica);
    *state = world;
    return 0;
}

static int close_world(void **state)
{
    struct world *world = *state;
    replica_abandon(world->replica, world->edit);
    replica_destroy(world->replica);
    arena_destroy(world->arena);
    arena_destroy(world->kept);
    free(world);
    return 0;
}

static void apply_and_publish(struct world *world)
{
    struct version_stamp stamp = {{0}};
    apply_changes(world->edit, &world->list);
    world->list = (struct change_list){.arena = world->arena};
    arena_reset(world->arena);
    check_sound(world->edit->version);
    replica_publish(world->replica, world->edit, &stamp);
    world->edit = replica_edit(world->replica);
}

/* One of a few texts, so that rows share keys; "p-3" and "P-3" are different texts. */
static struct slice some_text(struct world *world)
{
    return arena_printf(world->kept, "%s-%u", below(2) == 0 ? "p" : "P", below(TEXTS));
}

/* A project, often one of two forms of the same id. */
static struct slice some_project(struct world *world)
{
    static const char *const forms[] = {"b7d0e9b175294b649464caa3411adb3f",
                                        "b7d0e9b1-7529-4b64-9464-caa3411adb3f", "admin"};
    return arena_copy(world->kept, slice_of(forms[below(3)]));
}

static void put_some(struct world *world, enum valet_table table, unsigned id)
{
    const struct record_shape *shape = &VALET_SHAPES[table];
    struct record_value values[RECORD_FIELDS_MAX];
    record_init(shape, values);
    for (unsigned i = 0; i < shape->stored; i++) {
        const struct record_field *field = &shape->fields[i];
        if (field->kind == RECORD_REFERENCE)
            values[i].number = 1 + below(4);
        else if (field->kind == RECORD_BOOL)
            values[i].number = below(2) == 0 ? RECORD_TRUE : RECORD_FALSE;
        else if (field->kind == RECORD_TEXT && ((field->flags & RECORD_NULLABLE) == 0 || below(2)))
            values[i].text = some_text(world);
    }
    if (table == VALET_MEMBERS)
        values[VALET_MEMBER_PROJECT].text = some_project(world);
    if (table == VALET_PLACEMENTS && below(2) == 0)
        values[VALET_PLACEMENT_ORCHESTRATION_ID].text = some_project(world);
    if (table == VALET_PLACEMENTS && below(4) == 0)
        values[VALET_PLACEMENT_RESOURCE_ID].text = some_project(world);
    world->plain[table][id] = record_pack(shape, id, values, world->kept);
    change_put_valet(&world->list, table, world->plain[table][id]);
}

static void step(struct world *world)
{
    enum valet_table table = (enum valet_table)below(VALET_TABLE_COUNT);
    unsigned id = 1 + below(ROWS);
    if (world->plain[table][id] != NULL && below(3) == 0) {
        world->plain[table][id] = NULL;
        change_delete_valet(&world->list, table, id);
    } else {
        put_some(world, table, id);
    }
}

static void expect_row(const struct record *found, const struct record *wanted)
{
    assert_int_equal(found != NULL, wanted != NULL);
    if (wanted != NULL)
        assert_true(record_equal(found, wanted));
}

/* The first plain row, from that id on, whose field has that text. */
static const struct record *plain_with(const struct world *world, enum valet_table table,
                                       unsigned field, struct slice text, int64_t after)
{
    for (int64_t id = after + 1; id <= ROWS; id++) {
        const struct record *row = world->plain[table][id];
        if (row != NULL && !record_is_null(row, field) &&
            slice_equal(record_text(row, field), text))
            return row;
    }
    return NULL;
}

/* The first that has the id byte for byte; otherwise the first that has it in another form. */
static const struct record *plain_of_id(const struct world *world, unsigned field, struct slice id,
                                        int64_t but_for)
{
    const struct record *found = NULL;
    for (int64_t at = 1; at <= ROWS; at++) {
        const struct record *row = world->plain[VALET_PLACEMENTS][at];
        if (row == NULL || at == but_for || record_is_null(row, field))
            continue;
        if (slice_equal(record_text(row, field), id))
            return row;
        if (found == NULL && valet_id_equal(record_text(row, field), id))
            found = row;
    }
    return found;
}

static const struct record *plain_of_any_id(const struct world *world, struct slice id,
                                            int64_t but_for)
{
    const struct record *found = plain_with(world, VALET_PLACEMENTS, VALET_PLACEMENT_UUID, id, 0);
    if (found == NULL)
        found = plain_of_id(world, VALET_PLACEMENT_ORCHESTRATION_ID, id, but_for);
    return found != NULL ? found : plain_of_id(world, VALET_PLACEMENT_RESOURCE_ID, id, but_for);
}

static const struct record *plain_under(const struct world *world, enum valet_table table,
                                        unsigned field, int64_t of, int64_t after)
{
    for (int64_t id = after + 1; id <= ROWS; id++) {
        const struct record *row = world->plain[table][id];
        if (row != NULL && record_number(row, field) == of)
            return row;
    }
    return NULL;
}

#define RECORD_OF(row) ((const struct record *)(row))

static void expect_walks(const struct world *world, const struct version *version, int64_t after)
{
    for (int64_t of = 1; of <= 4; of++) {
        expect_row(RECORD_OF(version_next_valet_member(version, of, after)),
                   plain_under(world, VALET_MEMBERS, VALET_MEMBER_GROUP_ID, of, after));
        expect_row(RECORD_OF(version_next_valet_claim_of_group(version, of, after)),
                   plain_under(world, VALET_CLAIMS, VALET_CLAIM_GROUP_ID, of, after));
        expect_row(RECORD_OF(version_next_valet_placement_of(version, of, after)),
                   plain_under(world, VALET_PLACEMENTS, VALET_PLACEMENT_PLAN_ID, of, after));
    }
}

static void expect_texts(struct world *world, const struct version *version)
{
    struct slice text = some_text(world);
    int64_t after = below(ROWS);
    expect_row(RECORD_OF(version_next_valet_plan_of_stack(version, text, after)),
               plain_with(world, VALET_PLANS, VALET_PLAN_STACK_ID, text, after));
    expect_row(RECORD_OF(version_next_valet_claim_of(version, text, after)),
               plain_with(world, VALET_CLAIMS, VALET_CLAIM_PROVIDER, text, after));
    expect_row(RECORD_OF(version_valet_group_by_uuid(version, text)),
               plain_with(world, VALET_GROUPS, VALET_GROUP_UUID, text, 0));
    expect_row(RECORD_OF(version_valet_group_by_name(version, text)),
               plain_with(world, VALET_GROUPS, VALET_GROUP_NAME, text, 0));
    expect_row(RECORD_OF(version_valet_plan_by_uuid(version, text)),
               plain_with(world, VALET_PLANS, VALET_PLAN_UUID, text, 0));
    expect_row(RECORD_OF(version_valet_placement_by_uuid(version, text)),
               plain_with(world, VALET_PLACEMENTS, VALET_PLACEMENT_UUID, text, 0));
    struct slice id = below(2) == 0 ? text : some_project(world);
    int64_t but_for = below(ROWS);
    expect_row(RECORD_OF(version_valet_placement_by_orchestration(version, id)),
               plain_of_id(world, VALET_PLACEMENT_ORCHESTRATION_ID, id, 0));
    expect_row(RECORD_OF(version_valet_placement_by_resource(version, id)),
               plain_of_id(world, VALET_PLACEMENT_RESOURCE_ID, id, 0));
    expect_row(RECORD_OF(version_valet_placement_with(version, id, but_for)),
               plain_of_any_id(world, id, but_for));
}

static void expect_members(struct world *world, const struct version *version)
{
    struct slice project = some_project(world);
    for (int64_t group = 1; group <= 4; group++) {
        const struct record *wanted = NULL;
        for (int64_t id = 1; id <= ROWS && wanted == NULL; id++) {
            const struct record *row = world->plain[VALET_MEMBERS][id];
            if (row != NULL && record_number(row, VALET_MEMBER_GROUP_ID) == group &&
                project_equal(record_text(row, VALET_MEMBER_PROJECT), project))
                wanted = row;
        }
        expect_row(RECORD_OF(version_valet_member(version, group, project)), wanted);
    }
}

static void expect_all(struct world *world, const struct version *version)
{
    uint64_t groups = 0;
    for (int64_t id = 1; id <= ROWS; id++) {
        groups += world->plain[VALET_GROUPS][id] != NULL;
        expect_row(RECORD_OF(version_valet_group(version, id)), world->plain[VALET_GROUPS][id]);
        expect_row(RECORD_OF(version_valet_plan(version, id)), world->plain[VALET_PLANS][id]);
        expect_row(RECORD_OF(version_valet_placement(version, id)),
                   world->plain[VALET_PLACEMENTS][id]);
    }
    assert_int_equal(version_has_valet_groups(version), groups > 0);
    expect_walks(world, version, below(ROWS));
    expect_texts(world, version);
    expect_members(world, version);
}

static void random_rows(void **state)
{
    struct world *world = *state;
    srandom(11);
    for (unsigned i = 0; i < STEPS; i++) {
        for (unsigned n = 1 + below(5); n > 0; n--)
            step(world);
        apply_and_publish(world);
        expect_all(world, replica_newest(world->replica));
    }
}

static void pinned_rows_stay(void **state)
{
    struct world *world = *state;
    put_some(world, VALET_PLANS, 1);
    apply_and_publish(world);
    struct replica_reader *reader = replica_reader_open(world->replica);
    const struct version *version = replica_pin(reader);
    const struct valet_plan *plan = version_valet_plan(version, 1);
    const struct record *copy = world->plain[VALET_PLANS][1];
    for (unsigned i = 0; i < 50; i++) {
        put_some(world, VALET_PLANS, 1);
        apply_and_publish(world);
    }
    change_delete_valet(&world->list, VALET_PLANS, 1);
    apply_and_publish(world);
    assert_ptr_equal(version_valet_plan(version, 1), plan);
    assert_true(record_equal(&plan->record, copy));
    assert_null(version_valet_plan(replica_newest(world->replica), 1));
    replica_unpin(reader);
    replica_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_rows, open_world, close_world),
        cmocka_unit_test_setup_teardown(pinned_rows_stay, open_world, close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
