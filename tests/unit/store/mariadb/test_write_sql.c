/* The texts of statements, and their limits. That the server does what they say is in
 * test_statements.c. */
#include "store/mariadb/exchange/write_sql.h"

#include "base/arena.h"
#include "model/node.h"
#include "model/record.h"
#include "store/rows.h"
#include "unit.h"

static const struct bundle_row ROWS[] = {{0, 0}, {1, 1}, {2, 2}};
static const struct mariadb_indexes ALL = {true, true, true};
static const struct mariadb_indexes NONE = {false, false, false};

static void expect(const struct change *changes, size_t count,
                   const struct mariadb_indexes *indexes, const char *text)
{
    struct buf sql = {0};
    const struct bundle chunk = {bundle_kind_of(changes), 0, ROWS, count};
    unsigned results = mariadb_write_append(&chunk, changes, indexes, &sql);
    buf_append_char(&sql, '\0');
    assert_string_equal(sql.data, text);
    for (const char *at = sql.data; (at = strchr(at, ';')) != NULL; at++)
        results--; /* none is in a text of these tests */
    assert_int_equal(results, 0);
    buf_free(&sql);
}

#define AT .updated_at_us = INT64_C(1764273599999999)
#define GENERATION(row, from, to)                                                                  \
    {                                                                                              \
        .kind = CHANGE_PROVIDER_GENERATION, AT, .generation = {(row), (from), (to) }               \
    }

static void test_generations(void **state)
{
    static const struct change changes[] = {GENERATION(5, 1, 2), GENERATION(7, 3, 5),
                                            GENERATION(8, 3, 5)};
    (void)state;
    expect(changes, 1, &ALL,
           "UPDATE resource_providers t FORCE INDEX(PRIMARY) SET t.generation=2,"
           "t.updated_at='2025-11-27 19:59:59' WHERE t.id=5 AND COALESCE(t.generation,0)=1;"
           "SET @berth=~0+(ROW_COUNT()<>1);");
    expect(changes, 2, &ALL,
           "UPDATE (SELECT 5 a,1 b,2 c UNION ALL SELECT 7,3,5)v STRAIGHT_JOIN resource_providers t"
           " FORCE INDEX(PRIMARY) SET t.generation=v.c,t.updated_at='2025-11-27 19:59:59' WHERE"
           " t.id=v.a AND COALESCE(t.generation,0)=v.b;SET @berth=~0+(ROW_COUNT()<>2);");
    expect(&changes[1], 2, &ALL,
           "UPDATE (SELECT 7 a UNION ALL SELECT 8)v STRAIGHT_JOIN resource_providers t"
           " FORCE INDEX(PRIMARY) SET t.generation=5,t.updated_at='2025-11-27 19:59:59' WHERE"
           " t.id=v.a AND COALESCE(t.generation,0)=3;SET @berth=~0+(ROW_COUNT()<>2);");
}

/* The first change's generation is expected, and the last one's is set. */
static void test_folded(void **state)
{
    static const struct change changes[] = {GENERATION(5, 1, 2), GENERATION(5, 2, 3)};
    static const struct bundle_row row = {0, 1};
    const struct bundle chunk = {BUNDLE_PROVIDER_GENERATION, 0, &row, 1};
    struct buf sql = {0};
    (void)state;
    assert_int_equal(mariadb_write_append(&chunk, changes, &ALL, &sql), 2);
    buf_append_char(&sql, '\0');
    assert_non_null(strstr(sql.data, "SET t.generation=3,"));
    assert_non_null(strstr(sql.data, "=1;SET"));
    buf_free(&sql);
}

static void test_deletes(void **state)
{
    static const struct change providers[] = {
        {.kind = CHANGE_PROVIDER_DELETE,
         .provider = {.id = 3, .generation = 4, .uuid = SLICE_LIT("u")}}};
    static const struct change traits[] = {
        {.kind = CHANGE_TRAIT_DELETE, .catalog = {5, SLICE_LIT("T")}}};
    static const struct change inventories[] = {
        {.kind = CHANGE_INVENTORY_DELETE, .inventory = {.provider_id = 1, .class_id = 2}},
        {.kind = CHANGE_INVENTORY_DELETE, .inventory = {.provider_id = 2, .class_id = 2}}};
    static const struct change allocations[] = {
        {.kind = CHANGE_ALLOCATIONS_OF_DELETE, .allocation = {.consumer_uuid = SLICE_LIT("u'")}},
        {.kind = CHANGE_ALLOCATIONS_OF_DELETE, .allocation = {.consumer_uuid = SLICE_LIT("u'")}}};
    (void)state;
    expect(providers, 1, &NONE,
           "UPDATE resource_providers t FORCE INDEX(PRIMARY) SET t.root_provider_id=NULL,"
           "t.parent_provider_id=NULL WHERE t.id=3 AND COALESCE(t.generation,0)=4 AND"
           " t.uuid=_ascii 'u';"
           "SET @berth=~0+(ROW_COUNT()<>1);DELETE t FROM resource_providers t"
           " FORCE INDEX(PRIMARY) WHERE t.id=3;SET @berth=~0+(ROW_COUNT()<>1);");
    expect(traits, 1, &ALL,
           "DELETE t FROM traits t FORCE INDEX(PRIMARY) WHERE t.id=5 AND t.name='T';"
           "SET @berth=~0+(ROW_COUNT()<>1);");
    expect(inventories, 2, &ALL,
           "DELETE t FROM (SELECT 1 a UNION ALL SELECT 2)v STRAIGHT_JOIN inventories t"
           " FORCE INDEX(uniq_inventories0resource_provider_resource_class) WHERE"
           " t.resource_provider_id=v.a AND t.resource_class_id=2;"
           "SET @berth=~0+(ROW_COUNT()<>2);");
    expect(inventories, 1, &NONE,
           "DELETE t FROM inventories t WHERE t.resource_provider_id=1 AND t.resource_class_id=2;"
           "SET @berth=~0+(ROW_COUNT()<>1);");
    expect(allocations, 1, &NONE, "DELETE t FROM allocations t WHERE t.consumer_id=_ascii 'u''';");
    expect(allocations, 2, &ALL,
           "DELETE t FROM (SELECT _ascii 'u''' a UNION ALL SELECT _ascii 'u''')v STRAIGHT_JOIN"
           " allocations t FORCE INDEX(allocations_consumer_id_idx) WHERE t.consumer_id=v.a;");
}

/* The uuid, too: the id may be that of another consumer by now. */
static void test_consumers(void **state)
{
    static const struct change changes[] = {{.kind = CHANGE_CONSUMER_UPDATE,
                                             AT,
                                             .is_generation_only = true,
                                             .consumer = {1, 2, 3, 4, 6, 5, SLICE_LIT("u1")}},
                                            {.kind = CHANGE_CONSUMER_UPDATE,
                                             AT,
                                             .is_generation_only = true,
                                             .consumer = {2, 2, 3, 4, 6, 5, SLICE_LIT("u2")}}};
    static const struct change update[] = {
        {.kind = CHANGE_CONSUMER_UPDATE, AT, .consumer = {1, 2, 3, 0, 6, 5, SLICE_LIT("u1")}}};
    static const struct change gone[] = {
        {.kind = CHANGE_CONSUMER_DELETE, .consumer = {1, 0, 0, 0, 0, 5, SLICE_LIT("u1")}}};
    (void)state;
    expect(changes, 2, &ALL,
           "UPDATE (SELECT 1 a,_ascii 'u1' e UNION ALL SELECT 2,_ascii 'u2')v STRAIGHT_JOIN"
           " consumers t FORCE INDEX(PRIMARY) SET t.generation=6,t.updated_at='2025-11-27 19:59:59'"
           " WHERE t.id=v.a AND t.generation=5 AND t.uuid=v.e;SET @berth=~0+(ROW_COUNT()<>2);");
    expect(update, 1, &ALL,
           "UPDATE consumers t FORCE INDEX(PRIMARY) SET t.generation=6,t.project_id=2,t.user_id=3,"
           "t.consumer_type_id=NULL,t.updated_at='2025-11-27 19:59:59' WHERE t.id=1 AND"
           " t.generation=5 AND t.uuid=_ascii 'u1';SET @berth=~0+(ROW_COUNT()<>1);");
    expect(gone, 1, &ALL,
           "DELETE t FROM consumers t FORCE INDEX(PRIMARY) WHERE t.id=1 AND t.generation=5 AND"
           " t.uuid=_ascii 'u1';SET @berth=~0+(ROW_COUNT()<>1);");
}

static void test_inserts(void **state)
{
    static const struct change consumers[] = {
        {.kind = CHANGE_CONSUMER_INSERT, AT, .consumer = {1, 2, 3, 0, 0, 0, SLICE_LIT("u'1")}},
        {.kind = CHANGE_CONSUMER_INSERT, .consumer = {4, 5, 6, 7, 8, 0, SLICE_LIT("\\")}}};
    (void)state;
    expect(consumers, 2, &ALL,
           "INSERT INTO consumers(id,created_at,updated_at,uuid,project_id,user_id,generation,"
           "consumer_type_id)VALUES(1,NULL,'2025-11-27 19:59:59','u''1',2,3,0,NULL),"
           "(4,NULL,NULL,_utf8mb4 x'5c',5,6,8,7);");
}

static void test_checks(void **state)
{
    (void)state;
    assert_false(mariadb_write_is_check(0));
    assert_true(mariadb_write_is_check(1));
    assert_false(mariadb_write_is_check(2));
    assert_true(mariadb_write_is_check(3));
}

/* ---- limits ---- */

static void append_node(struct change_list *list, struct slice text, bool is_new)
{
    struct node_draft draft = node_draft_new(1);
    for (unsigned i = 0; i < NODE_SHAPE.stored; i++)
        if (NODE_SHAPE.fields[i].kind == RECORD_TEXT)
            node_set_text(&draft, (enum node_field)i, text);
    change_put_node(list, node_pack(&draft, list->arena));
    list->items[list->count - 1].is_new = is_new;
}

static void expect_room(const struct change *change)
{
    struct buf one = {0}, three = {0};
    const struct bundle chunk = {bundle_kind_of(change), 0, ROWS, 1};
    (void)mariadb_write_append(&chunk, change, &ALL, &one);
    assert_true(one.len <= MARIADB_WRITE_FRAME + mariadb_write_bytes(change));
    if (mariadb_write_limit(chunk.kind).rows > 1) {
        const struct change changes[] = {*change, *change, *change};
        const struct bundle rows = {chunk.kind, 0, ROWS, 3};
        (void)mariadb_write_append(&rows, changes, &ALL, &three);
        assert_true(three.len <= MARIADB_WRITE_FRAME + 3 * mariadb_write_bytes(change));
        assert_true(three.len - one.len <= 3 * mariadb_write_bytes(change));
    }
    buf_free(&one);
    buf_free(&three);
}

/* Of each kind with the longest values, a row takes no more than what is said. */
static void test_bytes(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct change_list list = {.arena = arena};
    char marks[2000];
    memset(marks, '\\', sizeof(marks));
    const struct slice text = {marks, sizeof(marks)};
    append_node(&list, text, true);
    append_node(&list, text, false);
    memset(marks, '\'', sizeof(marks));
    append_node(&list, (struct slice){marks, 1}, true);
    for (int kind = 0; kind < CHANGE_NODE_PUT; kind++) {
        struct change *change = change_append(&list, (enum change_kind)kind);
        enum rows_table table = rows_written_by(change->kind);
        memset(&change->provider, 0, sizeof(*change) - offsetof(struct change, provider));
        change->created_at_us = change->updated_at_us = INT64_C(253402300799999999);
        const struct rows_info *info = table == ROWS_TABLE_COUNT ? NULL : rows_info(table);
        for (unsigned i = 0; info != NULL && i < info->count; i++) {
            char *field = (char *)change + info->columns[i].at;
            double ratio = -3.4028199999999999e-38;
            if (info->columns[i].cell == CELL_TEXT)
                memcpy(field, &text, sizeof(text));
            else if (info->columns[i].cell == CELL_RATIO)
                memcpy(field, &ratio, sizeof(ratio));
            else if (info->columns[i].cell != CELL_TIME)
                memset(field, 0x81, info->columns[i].bytes); /* long and negative */
        }
        if (kind == CHANGE_ALLOCATIONS_OF_DELETE)
            change->allocation.consumer_uuid = text;
        else if (kind == CHANGE_CONSUMER_DELETE)
            change->consumer.uuid = text;
        else if (kind == CHANGE_PROVIDER_DELETE)
            change->provider.uuid = text;
        else if (kind == CHANGE_CLASS_RENAME)
            change->renamed.before = text;
        else if (kind == CHANGE_TRAIT_DELETE || kind == CHANGE_CLASS_DELETE)
            change->catalog.name = text;
    }
    for (size_t i = 0; i < list.count; i++)
        expect_room(&list.items[i]);
    arena_destroy(arena);
}

static void test_limits(void **state)
{
    (void)state;
    for (int kind = 0; kind < BUNDLE_KIND_COUNT; kind++) {
        const struct bundle_limit limit = mariadb_write_limit((enum bundle_kind)kind);
        assert_in_range(limit.rows, 1, 1000);
        assert_true(limit.row_bytes == mariadb_write_bytes);
        assert_true(limit.bytes <= 1 << 20);
    }
    assert_int_equal(mariadb_write_limit(BUNDLE_CLASS_RENAME).rows, 1);
    assert_int_equal(mariadb_write_limit(BUNDLE_TRAIT_DELETE).rows, 1);
    assert_int_equal(mariadb_write_limit(BUNDLE_PROVIDER_UPDATE).rows, 1);
    assert_int_equal(mariadb_write_limit(BUNDLE_RECORD_UPDATE).rows, 1);
    assert_true(mariadb_write_limit(BUNDLE_RECORD_INSERT).rows > 1);
    assert_true(mariadb_write_limit(BUNDLE_PROVIDER_GENERATION).rows > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generations), cmocka_unit_test(test_folded),
        cmocka_unit_test(test_deletes),     cmocka_unit_test(test_consumers),
        cmocka_unit_test(test_inserts),     cmocka_unit_test(test_checks),
        cmocka_unit_test(test_bytes),       cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
