/* Rows of berth's own tables: written and loaded, followed by a second store, created in databases
 * that lack them, read after other processes have written to them. */
#include "fixture.h"
#include "records.h"

#include "model/node.h"
#include "model/node_allocation.h"
#include "shim.h"
#include "store/schema.h"

static const int64_t then_us = 1790000000123456; /* 2026-09-21 14:13:20.123456 */

static struct node_draft new_node(int64_t id, const char *uuid, const char *name)
{
    struct node_draft draft = node_draft_new(id);
    node_set_text(&draft, NODE_UUID, slice_of(uuid));
    if (name != NULL)
        node_set_text(&draft, NODE_NAME, slice_of(name));
    return draft;
}

static void put(struct change_list *list, const struct node_draft *draft)
{
    change_put_node(list, node_pack(draft, list->arena));
}

static void put_named(struct change_list *list, int64_t id, const char *uuid, const char *name)
{
    struct node_draft draft = new_node(id, uuid, name);
    put(list, &draft);
}

static void put_allocation(struct change_list *list, int64_t id, const char *uuid, int64_t node_id)
{
    struct node_allocation_draft draft = node_allocation_draft_new(id);
    node_allocation_set_text(&draft, NODE_ALLOCATION_UUID, slice_of(uuid));
    node_allocation_set_node_id(&draft, node_id);
    change_put_node_allocation(list, node_allocation_pack(&draft, list->arena));
}

/* What a load sends after CHANGE_LOAD_PROVIDERS_END. */
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

static void expect_follow(struct fixture *fixture, struct store *store, const char *text)
{
    struct buf out = {0};
    struct store_stamp stamp;
    assert_int_equal(read_into(fixture, store, &out), STORE_NEWS_FOLLOW);
    assert_true(end_news(store, &stamp));
    expect_records(&out, text);
}

static struct change_list one_put(struct fixture *fixture, int64_t id, const char *uuid,
                                  const char *name)
{
    struct change_list list = changes_of(fixture);
    put_named(&list, id, uuid, name);
    return list;
}

static void commit_put(struct fixture *fixture, struct store *store, int64_t id, const char *uuid,
                       const char *name)
{
    struct change_list list = one_put(fixture, id, uuid, name);
    commit_changes(fixture, store, &list);
}

static void every_field_comes_back(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    struct node_draft draft = new_node(5, UUID_A, "n");
    struct buf wanted = {0};
    buf_printf(&wanted, "node(5");
    for (unsigned i = 0; i < NODE_SHAPE.stored; i++) {
        const struct record_field *field = &NODE_SHAPE.fields[i];
        struct record_value *value = &draft.value[i];
        buf_printf(&wanted, " %s=", field->name);
        if (field->kind == RECORD_BOOL) {
            value->number = value->number == RECORD_TRUE ? RECORD_FALSE : RECORD_TRUE;
            buf_printf(&wanted, "%ld", value->number);
        } else if (field->kind == RECORD_TIME) {
            value->number = then_us + i;
            buf_printf(&wanted, "%ld", value->number);
        } else {
            value->text = (field->flags & RECORD_IS_UUID) != 0 ? SLICE_LIT(UUID_B)
                          : field->kind == RECORD_JSON
                              ? SLICE_LIT("{\"k\": [null, 1.5e3, \"\\u0000\xc3\xa9\"]}")
                          : field->kind == RECORD_WORDS ? SLICE_LIT("CUSTOM_A HW_B")
                                                        : SLICE_LIT("a \"text\" \xf0\x9f\x92\xbb");
            buf_append_slice(&wanted, value->text);
        }
    }
    struct node_allocation_draft allocation = node_allocation_draft_new(6);
    node_allocation_set_text(&allocation, NODE_ALLOCATION_UUID, SLICE_LIT(UUID_C));
    node_allocation_set_text(&allocation, NODE_ALLOCATION_TRAITS, SLICE_LIT("B A B"));
    node_allocation_set_node_id(&allocation, 5);
    node_allocation_set_bool(&allocation, NODE_ALLOCATION_CONSUMER_ADOPTED, true);
    buf_printf(&wanted, ") 0 0\nnode_allocation(6 uuid=" UUID_C " traits=B A B node_id=5"
                        " consumer_adopted=2) 0 0\n");
    buf_append_char(&wanted, '\0');
    struct change_list list = changes_of(fixture);
    put(&list, &draft);
    change_put_node_allocation(&list, node_allocation_pack(&allocation, fixture->arena));
    commit_changes(fixture, store, &list);
    expect_load(fixture, store, wanted.data);
    struct store *other = fixture_open(fixture);
    expect_load(fixture, other, wanted.data);
    buf_free(&wanted);
    store_close(other);
    store_close(store);
}

static void rows_as_they_lie(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    struct node_draft draft = new_node(1, UUID_A, NULL);
    node_set_bool(&draft, NODE_PROTECTED, true);
    node_set_time(&draft, NODE_CREATED_AT, then_us);
    struct change_list list = changes_of(fixture);
    put(&list, &draft);
    put_allocation(&list, 1, UUID_B, 1);
    put_allocation(&list, 2, UUID_C, 0);
    commit_changes(fixture, store, &list);
    struct buf out = {0};
    foreign_rows(fixture->path,
                 "SELECT id, uuid, name, protected, maintenance, automated_clean, created_at,"
                 " updated_at, traits, extra, conductor_group, typeof(protected) FROM berth_nodes;"
                 "SELECT id, uuid, state, node_id FROM berth_node_allocations;",
                 &out);
    expect_records(&out, "1|" UUID_A "|NULL|1|0|NULL|2026-09-21 14:13:20.123456|NULL||{}||integer\n"
                         "1|" UUID_B "|allocating|1\n2|" UUID_C "|allocating|NULL\n");
    store_close(store);
}

static void rows_are_replaced_and_deleted(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    commit_put(fixture, store, 1, UUID_A, "a");
    commit_put(fixture, store, 2, UUID_B, "b");
    struct change_list list = changes_of(fixture);
    put_named(&list, 1, UUID_A, NULL);
    put_named(&list, 2, UUID_B, "a"); /* free since the step before */
    put_allocation(&list, 9, UUID_C, 1);
    commit_changes(fixture, store, &list);
    expect_load(fixture, store,
                "node(1 uuid=" UUID_A ") 0 0\nnode(2 uuid=" UUID_B " name=a) 0 0\n"
                "node_allocation(9 uuid=" UUID_C " node_id=1) 0 0\n");
    list = changes_of(fixture);
    change_delete_node(&list, 1);
    change_delete_node_allocation(&list, 9);
    commit_changes(fixture, store, &list);
    expect_load(fixture, store, "node(2 uuid=" UUID_B " name=a) 0 0\n");
    store_close(store);
}

static void expect_refused(struct fixture *fixture, struct store *store,
                           const struct change_list *list, enum store_news next)
{
    refuse_changes(fixture, store, list);
    expect_news(fixture, store, next);
}

/* A duplicate is no sign of a wrong memory. */
static void expect_not_applied(struct fixture *fixture, struct store *store,
                               const struct change_list *list)
{
    expect_refused(fixture, store, list, STORE_NEWS_NONE);
    assert_true(store_why_refused(store)->is_duplicate);
}

static void what_memory_should_have_known(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    struct node_draft draft = new_node(1, UUID_A, "a");
    node_set_text(&draft, NODE_INSTANCE_UUID, SLICE_LIT(UUID_C));
    struct change_list list = changes_of(fixture);
    put(&list, &draft);
    put_allocation(&list, 1, UUID_C, 1);
    commit_changes(fixture, store, &list);
    list = one_put(fixture, 2, UUID_B, "a");
    expect_not_applied(fixture, store, &list);
    list = one_put(fixture, 2, UUID_A, "b");
    expect_not_applied(fixture, store, &list);
    draft = new_node(2, UUID_B, NULL);
    node_set_text(&draft, NODE_INSTANCE_UUID, SLICE_LIT(UUID_C));
    list = changes_of(fixture);
    put(&list, &draft);
    expect_not_applied(fixture, store, &list);
    list = changes_of(fixture);
    put_allocation(&list, 2, UUID_C, 1);
    expect_not_applied(fixture, store, &list);
    list = changes_of(fixture);
    change_delete_node(&list, 2);
    /* Memory and database were found to differ. */
    expect_refused(fixture, store, &list, STORE_NEWS_RELOAD);
    expect_load(fixture, store,
                "node(1 uuid=" UUID_A " name=a instance_uuid=" UUID_C ") 0 0\n"
                "node_allocation(1 uuid=" UUID_C " node_id=1) 0 0\n");
    store_close(store);
}

static void a_second_store_follows(void **state)
{
    struct fixture *fixture = *state;
    struct store *first = fixture_open(fixture);
    struct store *second = fixture_open(fixture);
    commit_put(fixture, first, 1, UUID_A, "a");
    commit_put(fixture, first, 2, UUID_B, "b");
    expect_news(fixture, second, STORE_NEWS_RELOAD);

    /* Their names are swapped, with no name in between. */
    commit_put(fixture, first, 1, UUID_A, NULL);
    commit_put(fixture, first, 2, UUID_B, "a");
    commit_put(fixture, first, 1, UUID_A, "b");
    expect_follow(fixture, second,
                  "node(1 uuid=" UUID_A " name=b) 0 0\nnode(2 uuid=" UUID_B " name=a) 0 0\n");

    /* One is deleted and its id is used again; another is created and deleted. */
    struct change_list list = changes_of(fixture);
    change_delete_node(&list, 2);
    put_named(&list, 3, UUID_C, "c");
    put_allocation(&list, 1, UUID_B, 3);
    commit_changes(fixture, first, &list);
    list = changes_of(fixture);
    put_named(&list, 2, UUID_D, "d");
    change_delete_node(&list, 3);
    commit_changes(fixture, first, &list);
    expect_follow(fixture, second,
                  "node(2 uuid=" UUID_D " name=d) 0 0\nnode_delete(3) 0 0\n"
                  "node_allocation(1 uuid=" UUID_B " node_id=3) 0 0\n");
    list = changes_of(fixture);
    change_delete_node_allocation(&list, 1);
    commit_changes(fixture, first, &list);
    expect_follow(fixture, second, "node_allocation_delete(1) 0 0\n");

    /* And in the other direction. */
    commit_put(fixture, second, 1, UUID_A, "e");
    expect_follow(fixture, first, "node(1 uuid=" UUID_A " name=e) 0 0\n");
    store_close(second);
    store_close(first);
}

/* What a load leaves out, a follow reports as deleted. */
static void a_follow_reads_as_a_load(void **state)
{
    struct fixture *fixture = *state;
    struct store *first = fixture_open(fixture);
    struct store *second = fixture_open(fixture);
    commit_put(fixture, first, 1, UUID_A, "a");
    foreign(fixture->path, "CREATE TRIGGER odd AFTER UPDATE ON berth_nodes BEGIN UPDATE berth_nodes"
                           " SET uuid = x'61' WHERE id = new.id; END");
    expect_news(fixture, second, STORE_NEWS_RELOAD);
    commit_put(fixture, first, 1, UUID_A, "b");
    expect_follow(fixture, second, "node_delete(1) 0 0\n");
    expect_load(fixture, second, "");
    store_close(second);
    store_close(first);
}

static void ids_are_handed_out(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    struct store_stamp stamp;
    struct change_list list = changes_of(fixture);
    assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_RELOAD);
    assert_int_equal(store_next_id(store, STORE_NODES), 1);
    assert_int_equal(store_next_id(store, STORE_NODES), 2);
    assert_int_equal(store_next_id(store, STORE_NODE_ALLOCATIONS), 1);
    end_news(store, &stamp);
    put_named(&list, 7, UUID_A, "a");
    put_allocation(&list, 3, UUID_B, 7);
    commit_changes(fixture, store, &list);
    store_close(store);
    store = fixture_open(fixture);
    assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_RELOAD);
    assert_int_equal(store_next_id(store, STORE_NODES), 8);
    assert_int_equal(store_next_id(store, STORE_NODE_ALLOCATIONS), 4);
    end_news(store, &stamp);
    /* an id that has been given is not given again, nor one that an allocation still names */
    foreign(fixture->path, "DELETE FROM berth_nodes; UPDATE berth_node_allocations SET id = 2");
    assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_RELOAD);
    assert_int_equal(store_next_id(store, STORE_NODES), 8);
    assert_int_equal(store_next_id(store, STORE_NODE_ALLOCATIONS), 4);
    end_news(store, &stamp);
    store_close(store);
    store = fixture_open(fixture);
    assert_int_equal(lock_into(fixture, store, NULL), STORE_NEWS_RELOAD);
    assert_int_equal(store_next_id(store, STORE_NODES), 8);
    assert_int_equal(store_next_id(store, STORE_NODE_ALLOCATIONS), 3);
    end_news(store, &stamp);
    foreign(fixture->path, "INSERT INTO berth_nodes (id, uuid) VALUES (9223372036854775807, 'x')");
    assert_int_equal(store_begin_read(store, &fixture->err), STORE_NEWS_RELOAD);
    struct buf out = {0};
    assert_int_equal(store_load(store, dump_change, &out, &fixture->err), STORE_FAILED);
    assert_non_null(
        memmem(fixture->err.message.data, fixture->err.message.len, "run out of ids", 14));
    end_news(store, &stamp);
    buf_free(&out);
    store_close(store);
}

static void a_database_in_memory(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_try(fixture, "sqlite://", false, false);
    assert_non_null(store);
    commit_put(fixture, store, 1, UUID_A, "a");
    commit_put(fixture, store, 1, UUID_A, "b");
    expect_load(fixture, store, "node(1 uuid=" UUID_A " name=b) 0 0\n");
    store_close(store);
}

static void older_databases(void **state)
{
    struct fixture *fixture = *state;
    store_close(fixture_open(fixture));
    foreign(fixture->path, "DROP TABLE berth_nodes; DROP TABLE berth_node_allocations");
    store_close(fixture_open(fixture));
    /* A column that only a newer berth knows, and one that this database lacks. */
    foreign(fixture->path,
            "ALTER TABLE berth_nodes ADD COLUMN later TEXT;"
            "ALTER TABLE berth_nodes DROP COLUMN retired;"
            "ALTER TABLE berth_nodes DROP COLUMN description;"
            "DROP INDEX berth_nodes_name;"
            "INSERT INTO berth_nodes (id, uuid, name, later) VALUES (1, '" UUID_A "', 'a', 'x')");
    struct store *store = fixture_try(fixture, fixture->url, false, false);
    assert_non_null(store);
    expect_load(fixture, store, "node(1 uuid=" UUID_A " name=a) 0 0\n");
    struct node_draft draft = new_node(1, UUID_A, "b");
    node_set_bool(&draft, NODE_RETIRED, true);
    struct change_list list = changes_of(fixture);
    put(&list, &draft);
    commit_changes(fixture, store, &list);
    expect_load(fixture, store, "node(1 uuid=" UUID_A " name=b retired=2) 0 0\n");
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM berth_nodes WHERE later = 'x'"),
                     1);
    list = one_put(fixture, 2, UUID_B, "b");
    expect_news(fixture, store, STORE_NEWS_NONE);
    expect_not_applied(fixture, store, &list);
    store_close(store);
}

static void the_schemas_commands_keep_the_rows(void **state)
{
    struct fixture *fixture = *state;
    struct slice url = slice_of(fixture->url);
    struct store *store = fixture_open(fixture);
    commit_put(fixture, store, 1, UUID_A, "a");
    store_close(store);
    assert_true(schema_stamp(url, SLICE_LIT("422ece571366"), &fixture->err));
    assert_true(schema_sync(url, &fixture->err));
    assert_true(schema_stamp(url, SLICE_LIT("422ece571366"), &fixture->err));
    store = fixture_try(fixture, fixture->url, false, false);
    assert_non_null(store);
    expect_load(fixture, store, "node(1 uuid=" UUID_A " name=a) 0 0\n");
    store_close(store);
}

/* Logged once, and created again. */
static void tables_that_go_while_serving(void **state)
{
    struct fixture *fixture = *state;
    static const char *const goes[] = {
        "DROP TABLE berth_nodes",
        "DROP TABLE berth_node_allocations",
        "ALTER TABLE berth_nodes DROP COLUMN description",
        "DROP TABLE berth_nodes; DROP TABLE berth_node_allocations",
    };
    struct store *store = fixture_open(fixture);
    for (size_t i = 0; i < sizeof(goes) / sizeof(goes[0]); i++) {
        struct store_stamp stamp;
        commit_put(fixture, store, 1, UUID_A, "a");
        foreign(fixture->path, goes[i]);
        fixture->err = (struct err){.arena = fixture->arena};
        assert_int_equal(store_begin_read(store, &fixture->err), STORE_NEWS_RELOAD);
        struct buf out = {0};
        assert_int_equal(store_load(store, dump_change, &out, &fixture->err), STORE_FAILED);
        assert_int_equal(fixture->err.status, 503);
        assert_false(end_news(store, &stamp));
        buf_free(&out);
        expect_news(fixture, store, STORE_NEWS_RELOAD);
        commit_put(fixture, store, 1, UUID_A, "b");
        expect_load(fixture, store, "node(1 uuid=" UUID_A " name=b) 0 0\n");
    }
    store_close(store);
}

static void a_file_that_cannot_be_written(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture_open(fixture);
    commit_put(fixture, store, 1, UUID_A, "a");
    store_close(store);
    static const struct {
        const char *sql;
        const char *load;
    } cases[] = {
        {"SELECT 1", "node(1 uuid=" UUID_A " name=a) 0 0\n"},
        {"ALTER TABLE berth_nodes DROP COLUMN description", "node(1 uuid=" UUID_A " name=a) 0 0\n"},
        {"DROP TABLE berth_nodes; DROP TABLE berth_node_allocations", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        shim.read_only = false;
        foreign(fixture->path, cases[i].sql);
        shim.read_only = true;
        store = fixture_try(fixture, fixture->url, true, false);
        assert_non_null(store);
        struct buf out = {0};
        struct store_stamp stamp;
        assert_int_equal(read_into(fixture, store, &out), STORE_NEWS_RELOAD);
        end_news(store, &stamp);
        buf_append_char(&out, '\0');
        assert_string_equal(strstr(out.data, "end() 0 0\n") + 10, cases[i].load);
        buf_free(&out);
        store_close(store);
    }
    shim.read_only = false;
}

#define NODE_IS(set, line)                                                                         \
    {                                                                                              \
        "UPDATE berth_nodes SET " set, line                                                        \
    }
#define IN_FULL   "node(1 uuid=" UUID_A " name=a) 0 0\n"
#define AND(more) "node(1 uuid=" UUID_A " name=a " more ") 0 0\n"

static void odd_values(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *sql;
        const char *line;
    } cases[] = {
        NODE_IS("uuid = NULL", ""),
        NODE_IS("uuid = x'61'", ""),
        NODE_IS("uuid = 'a\"b'", ""),
        NODE_IS("uuid = ''", ""),
        NODE_IS("id = 0", ""),
        NODE_IS("id = -7", ""),
        NODE_IS("name = x'61'", "node(1 uuid=" UUID_A ") 0 0\n"),
        NODE_IS("name = ''", "node(1 uuid=" UUID_A " name=) 0 0\n"),
        NODE_IS("name = NULL, instance_uuid = 'a\\b'", "node(1 uuid=" UUID_A ") 0 0\n"),
        NODE_IS("instance_uuid = 'x'", AND("instance_uuid=x")),
        NODE_IS("provision_state = NULL, driver = x'', boot_interface = NULL", IN_FULL),
        NODE_IS("provision_state = 'strange'", AND("provision_state=strange")),
        NODE_IS("resource_class = 7", AND("resource_class=7")), /* the column's affinity */
        NODE_IS("maintenance = 'abc', protected = x'31', retired = 0.5", IN_FULL),
        NODE_IS("maintenance = 7, protected = -1", AND("maintenance=2 protected=2")),
        NODE_IS("maintenance = NULL, automated_clean = 'true'", IN_FULL),
        NODE_IS("automated_clean = 0", AND("automated_clean=1")),
        NODE_IS("created_at = 'abc', updated_at = x'61', due_at = 5", IN_FULL),
        NODE_IS("created_at = '2026-09-21 14:13:20'", AND("created_at=1790000000000000")),
        NODE_IS("extra = 'abc', properties = '', driver_info = NULL, instance_info = x'7b7d',"
                " network_data = '[]', clean_step = '{\"a\": 1', deploy_step = 'null'",
                IN_FULL),
        NODE_IS("extra = '{\"a\": ' || char(9) || ' [1, {}]}'", AND("extra={\"a\": \t [1, {}]}")),
        NODE_IS("extra = '{\"a\": \"' || char(9) || '\"}'", IN_FULL),
        NODE_IS("extra = '{}' || char(0) || 'x'", IN_FULL),
        NODE_IS("extra = CAST(x'7b2261223a2022ff227d' AS TEXT)", IN_FULL),
        NODE_IS("extra = '{\"a\": 1}{}'", IN_FULL),
        NODE_IS("extra = '{''a'': 1}'", IN_FULL),
        NODE_IS("extra = 5", IN_FULL),
        NODE_IS("traits = ' B  A B '", AND("traits=A B")),
        NODE_IS("traits = NULL", IN_FULL),
        NODE_IS("traits = x'41'", IN_FULL),
        NODE_IS("description = CAST(zeroblob(16777216) AS TEXT) || 'x'", IN_FULL),
        {"INSERT INTO berth_node_allocations (id, uuid) VALUES (2, '" UUID_B "')",
         IN_FULL "node_allocation(2 uuid=" UUID_B ") 0 0\n"},
        {"INSERT INTO berth_node_allocations (id, uuid, traits, node_id, state) VALUES"
         " (2, '" UUID_B "', ' B  A B ', 0.5, 'odd'), (3, NULL, 'A', 1, 'active')",
         IN_FULL "node_allocation(2 uuid=" UUID_B " traits=B A B state=odd) 0 0\n"},
        {"INSERT INTO berth_node_allocations (id, uuid, node_id) VALUES (2, '" UUID_B "', 77)",
         IN_FULL "node_allocation(2 uuid=" UUID_B " node_id=77) 0 0\n"},
    };
    struct store *store = fixture_open(fixture);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        commit_put(fixture, store, 1, UUID_A, "a");
        foreign(fixture->path, cases[i].sql);
        struct buf out = {0};
        dump_store(fixture, store, &out);
        buf_append_char(&out, '\0');
        const char *rows = strstr(out.data, "end() 0 0\n") + 10;
        if (strcmp(rows, cases[i].line) != 0)
            print_error("%s\n", cases[i].sql);
        assert_string_equal(rows, cases[i].line);
        buf_free(&out);
        foreign(fixture->path, "DELETE FROM berth_nodes; DELETE FROM berth_node_allocations");
    }
    store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    shim_install();
    const struct CMUnitTest tests[] = {
        TEST(every_field_comes_back),
        TEST(rows_as_they_lie),
        TEST(rows_are_replaced_and_deleted),
        TEST(what_memory_should_have_known),
        TEST(a_second_store_follows),
        TEST(a_follow_reads_as_a_load),
        TEST(ids_are_handed_out),
        TEST(a_database_in_memory),
        TEST(older_databases),
        TEST(the_schemas_commands_keep_the_rows),
        TEST(tables_that_go_while_serving),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_written, shim_setup, shim_teardown),
        TEST(odd_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
