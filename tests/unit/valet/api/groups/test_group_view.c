/* A group as it is shown: five members, those of the newest request first. */
#include "valet/api/groups/group_view.h"

#include "base/arena.h"
#include "replica/apply.h"
#include "replica/replica.h"
#include "unit.h"

static struct arena *arena;
static struct replica *replica;
static struct edit *edit;

static int setup(void **state)
{
    (void)state;
    arena = arena_create();
    replica = replica_create();
    edit = replica_edit(replica);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    replica_abandon(replica, edit);
    replica_destroy(replica);
    arena_destroy(arena);
    return 0;
}

static void put(enum valet_table table, int64_t id, const struct record_value *values)
{
    struct change_list list = {.arena = arena};
    change_put_valet(&list, table, record_pack(&VALET_SHAPES[table], id, values, arena));
    apply_changes(edit, &list);
}

static void put_group(int64_t id, const char *uuid, const char *name, struct slice description)
{
    struct record_value values[VALET_GROUP_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_GROUPS], values);
    values[VALET_GROUP_UUID].text = slice_of(uuid);
    values[VALET_GROUP_NAME].text = slice_of(name);
    values[VALET_GROUP_DESCRIPTION].text = description;
    put(VALET_GROUPS, id, values);
}

static void put_member(int64_t id, int64_t group, const char *project, int64_t added_with)
{
    struct record_value values[VALET_MEMBER_FIELD_COUNT];
    record_init(&VALET_SHAPES[VALET_MEMBERS], values);
    values[VALET_MEMBER_GROUP_ID].number = group;
    values[VALET_MEMBER_PROJECT].text = slice_of(project);
    values[VALET_MEMBER_ADDED_WITH].number = added_with;
    put(VALET_MEMBERS, id, values);
}

static void assert_shown(const struct group_view *view, const char *want)
{
    struct buf out = {0};
    group_view_write(&out, view);
    assert_string_equal(arena_copy(arena, buf_slice(&out)).data, want);
    buf_free(&out);
}

static void shown(void **state)
{
    (void)state;
    put_group(1, "u1", "gold", SLICE_LIT("a \"b\"\0"));
    put_group(2, "u2", "iron", SLICE_LIT(""));
    put_member(1, 1, "a", 1);
    put_member(2, 1, "b", 1);
    put_member(3, 2, "x", 3);
    put_member(4, 1, "c", 4);
    put_member(6, 1, "e", 5); /* the first of that request has gone */
    put_member(7, 1, "f", 5);
    const struct valet_group *gold = version_valet_group(edit->version, 1);
    const struct slice more[] = {SLICE_LIT("new"), SLICE_LIT("newer")};
    struct group_view view = group_view_of(edit->version, gold, more, 2, arena);
    static const char WANT[] =
        "{\"id\": \"u1\", \"name\": \"gold\", \"description\": \"a \\\"b\\\"\\u0000\", \"type\": "
        "\"exclusivity\", \"members\": [\"new\", \"newer\", \"e\", \"f\", \"c\", \"a\", \"b\"]}";
    assert_shown(&view, WANT);
    struct group_view *copy = group_view_copy(&view, arena);
    assert_true(copy->name.data != view.name.data && copy->members[3].data != view.members[3].data);
    assert_shown(copy, WANT);
    view = group_view_of(edit->version, version_valet_group(edit->version, 2), NULL, 0, arena);
    assert_shown(&view, "{\"id\": \"u2\", \"name\": \"iron\", \"description\": \"\", \"type\": "
                        "\"exclusivity\", \"members\": [\"x\"]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shown, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
