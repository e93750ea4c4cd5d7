/* Rows of groups, members, claims, plans and placements: written and loaded, followed by a second
 * store, created in databases that lack them, read after other processes have written to them. */
#include "fixture.h"
#include "records.h"

#include "model/valet.h"

static const char *const table_names[VALET_TABLE_COUNT] = {
    "berth_valet_groups", "berth_valet_members",    "berth_valet_claims",
    "berth_valet_plans",  "berth_valet_placements",
};

/* A row that differs from a new one in each field. */
static const struct record *full_row(struct fixture *fixture, enum valet_table table, int64_t id)
{
    const struct record_shape *shape = &VALET_SHAPES[table];
    struct record_value values[RECORD_FIELDS_MAX];
    record_init(shape, values);
    for (unsigned i = 0; i < shape->stored; i++) {
        const struct record_field *field = &shape->fields[i];
        if (field->kind == RECORD_BOOL)
            values[i].number = RECORD_TRUE;
        else if (field->kind == RECORD_TIME)
            values[i].number = 1790000000123456 + i;
        else if (field->kind == RECORD_REFERENCE)
            values[i].number = 40 + (int64_t)i;
        else if (field->kind == RECORD_JSON)
            values[i].text = SLICE_LIT("{\"k\": [1]}");
        else if ((field->flags & RECORD_IS_UUID) != 0)
            values[i].text = arena_printf(fixture->arena, UUID_A);
        else
            values[i].text = arena_printf(fixture->arena, "text %u of %lld", i, (long long)id);
    }
    return record_pack(shape, id, values, fixture->arena);
}

/* What a load sends of these tables. */
static void expect_load(struct fixture *fixture, struct store *store, const char *text)
{
    struct buf out = {0};
    dump_store(fixture, store, &out);
    const char *end = memmem(out.data, out.len, "end() 0 0\n", 10);
    assert_non_null(end);
    struct buf rows = {0};
    buf_append(&rows, end + 10, (size_t)(out.data + out.len - end - 10));
    buf_free(&out);
    expect_records(&rows, text);
}

static const char ALL_ROWS[] =
    "valet_group(1 uuid=" UUID_A
    " name=text 1 of 1 description=text 2 of 1 created_at=1790000000123459) 0 0\n"
    "valet_member(2 group_id=40 project_id=text 1 of 2 added_with=42) 0 0\n"
    "valet_claim(3 group_id=40 provider_uuid=text 1 of 3 is_rack=2 rack_uuid=text 3 of 3) 0 0\n"
    "valet_plan(4 uuid=" UUID_A
    " name=text 1 of 4 stack_id=text 2 of 4 project_id=text 3 of 4 user_id=text 4 of 4"
    " fingerprint=text 5 of 4 content={\"k\": [1]} created_at=1790000000123463 any_project=2) 0 0\n"
    "valet_placement(5 uuid=" UUID_A " plan_id=41 name=text 2 of 5 orchestration_id=text 3 of 5"
    " resource_id=text 4 of 5 location=text 5 of 5 reserved=2 created_at=1790000000123463) 0 0\n";

static void commit_all(struct fixture *fixture, struct store *store)
{
    struct change_list list = changes_of(fixture);
    for (int table = 0; table < VALET_TABLE_COUNT; table++)
        change_put_valet(&list, (enum valet_table)table,
                         full_row(fixture, (enum valet_table)table, table + 1));
    commit_changes(fixture, store, &list);
}

static void every_field_comes_back(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    commit_all(fixture, store);
    expect_load(fixture, store, ALL_ROWS);
    struct store *other = fixture_open(fixture);
    expect_load(fixture, other, ALL_ROWS);
    store_close(other);
    store_close(store);
}

static void a_second_store_follows(void **state)
{
    struct fixture *fixture = *state;
    struct store *first = fixture_open(fixture);
    struct store *second = fixture_open(fixture);
    struct store_stamp stamp;
    struct buf out = {0};
    expect_news(fixture, second, STORE_NEWS_RELOAD);
    commit_all(fixture, first);
    assert_int_equal(read_into(fixture, second, &out), STORE_NEWS_FOLLOW);
    assert_true(end_news(second, &stamp));
    assert_true(slice_equal(buf_slice(&out), slice_of(ALL_ROWS)));
    struct change_list list = changes_of(fixture);
    for (int table = 0; table < VALET_TABLE_COUNT; table++)
        change_delete_valet(&list, (enum valet_table)table, table + 1);
    commit_changes(fixture, first, &list);
    out.len = 0;
    assert_int_equal(read_into(fixture, second, &out), STORE_NEWS_FOLLOW);
    assert_true(end_news(second, &stamp));
    assert_true(slice_equal(buf_slice(&out),
                            SLICE_LIT("valet_group_delete(1) 0 0\nvalet_member_delete(2) 0 0\n"
                                      "valet_claim_delete(3) 0 0\nvalet_plan_delete(4) 0 0\n"
                                      "valet_placement_delete(5) 0 0\n")));
    buf_free(&out);
    store_close(second);
    store_close(first);
}

static void an_older_file_gets_them(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    store_close(store);
    for (int table = 0; table < VALET_TABLE_COUNT; table++) {
        struct slice drop = arena_printf(fixture->arena, "DROP TABLE %s", table_names[table]);
        foreign(fixture->path, drop.data);
    }
    store = fixture_open(fixture);
    commit_all(fixture, store);
    expect_load(fixture, store, ALL_ROWS);
    store_close(store);
}

/* Without the fields that say where it belongs, a row is invisible. */
static void rows_that_lack_something(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    foreign(fixture->path, "INSERT INTO berth_valet_groups (id, uuid) VALUES (1, '" UUID_A "')");
    foreign(fixture->path, "INSERT INTO berth_valet_members (id, group_id) VALUES (1, 1)");
    foreign(fixture->path, "INSERT INTO berth_valet_members (id, project_id) VALUES (2, 'p')");
    foreign(fixture->path, "INSERT INTO berth_valet_members (id, group_id, project_id)"
                           " VALUES (3, 1, x'70'), (4, 'one', 'p'), (5, 7, 'p')");
    foreign(fixture->path, "INSERT INTO berth_valet_plans (id, uuid, name, stack_id, project_id,"
                           " user_id, content) VALUES (1, '" UUID_A "', 'n', 's', 'p', 'u', '[')");
    expect_load(fixture, store,
                "valet_member(5 group_id=7 project_id=p) 0 0\n"
                "valet_plan(1 uuid=" UUID_A " name=n stack_id=s project_id=p user_id=u) 0 0\n");
    store_close(store);
}

/* An id that some row still names is not given to another row. */
static void ids_that_are_named(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    struct store_stamp stamp;
    commit_all(fixture, store);
    store_close(store);
    foreign(fixture->path, "DELETE FROM berth_valet_groups; DELETE FROM berth_valet_plans");
    store = fixture_open(fixture);
    assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_RELOAD);
    assert_int_equal(store_next_id(store, (enum store_table)(STORE_VALET + VALET_GROUPS)), 41);
    assert_int_equal(store_next_id(store, (enum store_table)(STORE_VALET + VALET_MEMBERS)), 3);
    assert_int_equal(store_next_id(store, (enum store_table)(STORE_VALET + VALET_PLANS)), 42);
    assert_int_equal(store_next_id(store, (enum store_table)(STORE_VALET + VALET_PLACEMENTS)), 6);
    end_news(store, &stamp);
    store_close(store);
}

#define IN_A_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_DIRECTORY(every_field_comes_back),  IN_A_DIRECTORY(a_second_store_follows),
        IN_A_DIRECTORY(an_older_file_gets_them), IN_A_DIRECTORY(rows_that_lack_something),
        IN_A_DIRECTORY(ids_that_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
