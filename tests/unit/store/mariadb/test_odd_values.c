/* Values that a statement could distort, in upstream's tables and in our own. */
#include "changes.h"

#include <stdio.h>

#include "model/node.h"
#include "model/record.h"
#include "store/server/dialects.h"

static const char *const CHARSETS[] = {"utf8mb3", "utf8mb4"};
enum { CHARSETS_COUNT = 2 };

/* ---- odd values ---- */

static const char *const MODES[] = {
    "",
    "TRADITIONAL",
    "ANSI",
    "ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,HIGH_NOT_PRECEDENCE,IGNORE_SPACE",
};

struct odd {
    const char *text;
    size_t len;
    bool is_wide; /* has characters of four bytes */
};
#define ODD(text)                                                                                  \
    {                                                                                              \
        (text), sizeof(text) - 1, false                                                            \
    }
#define WIDE(text)                                                                                 \
    {                                                                                              \
        (text), sizeof(text) - 1, true                                                             \
    }
static const struct odd ODDS[] = {
    ODD(""),
    ODD("'"),
    ODD("''"),
    ODD("\\"),
    ODD("\\'"),
    ODD("\\\\"),
    ODD("\\0\\n%\\_"),
    ODD("\"q\""),
    ODD("`t`"),
    ODD("a\0b"),
    ODD("\0"),
    ODD("\x1a\r\n\t\x7f"),
    ODD("trailing  "),
    ODD("  "),
    ODD("a;COMMIT;--"),
    ODD("/*!1*/"),
    ODD("#x"),
    ODD("?$a:b%s"),
    ODD("\xc3\xb6\xe2\x82\xac\xef\xbf\xbf"),
    WIDE("\xf0\x9f\x98\x80"),
    WIDE("'\xf4\x8f\xbf\xbf\\\0"),
};
enum { ODD_COUNT = sizeof(ODDS) / sizeof(ODDS[0]) };

static struct slice odd_of(size_t i)
{
    return (struct slice){ODDS[i].text, ODDS[i].len};
}

static void check_odd(struct server *server, int64_t id, struct slice text)
{
    struct change row = read_row(server, ROWS_PROVIDERS, id);
    assert_true(slice_equal(row.provider.name, text));
    row = read_row(server, ROWS_USERS, id);
    assert_true(slice_equal(row.catalog.name, text));
}

/* Alone, since texts that differ may collate equal. */
static void write_odd(struct server *server, int64_t id, struct slice text)
{
    add_provider(server, id, 0, id);
    server->list.items[server->list.count - 1].provider.name = text;
    add_name(server, CHANGE_USER_INSERT, id, text);
    expect_written(server);
    check_odd(server, id, text);
    struct change *change = add(server, CHANGE_PROVIDER_UPDATE);
    const struct slice uuid = text_of(server, "uuid-", id);
    change->provider =
        (struct change_provider){.id = id, .root_id = id, .uuid = uuid, .name = SLICE_LIT("x")};
    expect_written(server);
    change = add(server, CHANGE_PROVIDER_UPDATE);
    change->provider =
        (struct change_provider){.id = id, .root_id = id, .uuid = uuid, .name = text};
    expect_written(server);
    check_odd(server, id, text);
    run(server->mysql, "DELETE FROM users WHERE id>1");
    add_provider_delete(server, id, 3);
    expect_written(server);
}

static void test_odd_values(void **state)
{
    (void)state;
    for (int i = 0; i < CHARSETS_COUNT; i++) {
        struct server server;
        char sql[120];
        server_begin(&server, CHARSETS[i]);
        for (size_t mode = 0; mode < sizeof(MODES) / sizeof(MODES[0]); mode++) {
            snprintf(sql, sizeof(sql), "SET sql_mode='%s'", MODES[mode]);
            run(server.mysql, sql);
            for (size_t odd = 0; odd < ODD_COUNT; odd++)
                if (i == 1 || !ODDS[odd].is_wide)
                    write_odd(&server, 100 + (int64_t)odd, odd_of(odd));
            write_odd(&server, 90, arena_printf(server.arena, "%0200d", 1));
        }
        server_end(&server);
    }
}

/* The column has single precision: what is read is the float. */
static void test_ratios(void **state)
{
    static const double ratios[] = {1, 1.5, 16.1, 0.1, 1.0 / 3, 3.40282e+38, 1e-30, 0, 123456789};
    struct server server;
    (void)state;
    begin(&server, "utf8mb3");
    for (size_t i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++) {
        const int64_t id = 100 + (int64_t)i;
        add_provider(&server, id, 0, id);
        add_inventory(&server, CHANGE_INVENTORY_INSERT, id, 1, 1, ratios[i]);
        expect_written(&server);
        struct change kept = {.kind = CHANGE_INVENTORY_INSERT,
                              .inventory.allocation_ratio = ratios[i]};
        value_forms_apply(mariadb_dialect.forms, &kept);
        double expected = kept.inventory.allocation_ratio;
        assert_true(read_row(&server, ROWS_INVENTORIES, id).inventory.allocation_ratio == expected);
        add_inventory(&server, CHANGE_INVENTORY_UPDATE, id, 1, 1, expected);
        expect_written(&server);
        assert_true(read_row(&server, ROWS_INVENTORIES, id).inventory.allocation_ratio == expected);
    }
    server_end(&server);
}

/* ---- records ---- */

static const struct record *pack_node(struct server *server, int64_t id, const char *name,
                                      struct slice text)
{
    struct node_draft draft = node_draft_new(id);
    node_set_text(&draft, NODE_UUID, text_of(server, "uuid-", id));
    node_set_text(&draft, NODE_NAME, slice_of(name));
    node_set_text(&draft, NODE_DESCRIPTION, text);
    node_set_text(&draft, NODE_EXTRA, SLICE_LIT("{\"a\\\\\\u0000'\": [1, \"\xf0\x9f\x98\x80\"]}"));
    node_set_bool(&draft, NODE_MAINTENANCE, true);
    node_set_bool(&draft, NODE_AUTOMATED_CLEAN, false);
    node_set_time(&draft, NODE_CREATED_AT, CREATED_S * second_us + 123456);
    return (const struct record *)node_pack(&draft, server->arena);
}

static void add_node(struct server *server, const struct record *record, bool is_new)
{
    struct change *change = change_append(&server->list, CHANGE_NODE_PUT);
    change->is_new = is_new;
    change->row = (struct change_row){record->id, record};
}

static void test_records(void **state)
{
    struct server server;
    (void)state;
    server_begin(&server, "utf8mb3"); /* our own tables have utf8mb4 */
    const struct record *nodes[ODD_COUNT];
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < ODD_COUNT; i++) {
            const char *name = text_of(&server, round == 0 ? "n" : "m", (int64_t)i).data;
            nodes[i] = pack_node(&server, 1 + (int64_t)i, name, odd_of(i));
            add_node(&server, nodes[i], round == 0);
        }
        expect_written(&server);
        for (size_t i = 0; i < ODD_COUNT; i++) {
            struct change row = read_row(&server, ROWS_RECORDS, 1 + (int64_t)i);
            assert_true(record_equal(row.row.record, nodes[i]));
        }
    }
    add_node(&server, pack_node(&server, 90, "new", SLICE_LIT("")), true);
    add_node(&server, pack_node(&server, 91, "m3", SLICE_LIT("")), true);
    expect_culprit(&server, MARIADB_ROW_DUPLICATE, 1, 1);
    add_node(&server, pack_node(&server, 90, "new", SLICE_LIT("")), true);
    add_node(&server, pack_node(&server, 91, "M3", SLICE_LIT("")), true);
    add_node(&server, pack_node(&server, 92, "m3 ", SLICE_LIT("")), true);
    expect_written(&server); /* names are compared byte by byte */
    add_node(&server, pack_node(&server, 90, "m3", SLICE_LIT("")), false);
    expect_culprit(&server, MARIADB_ROW_DUPLICATE, 0, 0);
    add_node(&server, pack_node(&server, 90, "ok", SLICE_LIT("")), false);
    add_node(&server, pack_node(&server, 99, "missing", SLICE_LIT("")), false);
    struct outcome outcome = commit(&server);
    assert_int_equal(outcome.error, 1690);
    assert_int_equal(outcome.chunk.rows[0].first, 1);
    change_append(&server.list, CHANGE_NODE_DELETE)->row.id = 90;
    change_append(&server.list, CHANGE_NODE_DELETE)->row.id = 99;
    expect_missing(&server, BUNDLE_RECORD_DELETE);
    change_append(&server.list, CHANGE_NODE_DELETE)->row.id = 90;
    change_append(&server.list, CHANGE_NODE_DELETE)->row.id = 91;
    expect_written(&server);
    assert_int_equal(count_rows(&server, ROWS_RECORDS, 90), 0);
    assert_int_equal(count_rows(&server, ROWS_RECORDS, 92), 1);
    server_end(&server);
}

/* What is not an object is not read. */
static void test_invalid_json(void **state)
{
    static const char *const texts[] = {"", "x", "[]", "1", "{\"a\":1} x", "{\"a\":}", "null", "{"};
    struct server server;
    (void)state;
    server_begin(&server, "utf8mb4");
    add_node(&server, pack_node(&server, 1, "n", SLICE_LIT("")), true);
    expect_written(&server);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char sql[100];
        snprintf(sql, sizeof(sql), "UPDATE berth_nodes SET extra='%s' WHERE id=1", texts[i]);
        run(server.mysql, sql);
        struct change row = read_row(&server, ROWS_RECORDS, 1);
        assert_true(slice_equal(record_text(row.row.record, NODE_EXTRA), SLICE_LIT("{}")));
    }
    server_end(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_odd_values),
        cmocka_unit_test(test_ratios),
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_invalid_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
