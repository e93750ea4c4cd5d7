/* What follows and merges ask of a database: few requests, each of limited size, and each
 * row once. The database is made of functions: provider 10 has the parent 9, 9 has 8, and so on up
 * to 1; 100 + n has the parent n; 201 and 202 have each other; consumer n has the allocations 3 n +
 * 2, 3 n + 1 and 3 n. */
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "store/follow.h"
#include "store/merge.h"

enum { IDS_MOST = 1000 };

struct fake {
    struct buf requests; /* a line for each call of find(): tables and numbers of ids */
    unsigned calls;
    unsigned fails_at; /* the call that fails; 0: none */
    size_t ids_most;   /* in one call */
    int64_t last_id[ROWS_TABLE_COUNT];
};

static int64_t parent_of(int64_t id)
{
    return id > 200 ? 403 - id : id > 100 ? id - 100 : id - 1;
}

static bool is_provider(int64_t id)
{
    return (id >= 1 && id <= 10) || (id > 100 && id <= 110) || id == 201 || id == 202;
}

static struct cell integer(int64_t value)
{
    return (struct cell){.integer = value};
}

static struct cell text(const char *value)
{
    return (struct cell){.text = slice_of(value)};
}

static struct cell null(void)
{
    return (struct cell){.is_null = true};
}

static struct cell parent_cell(int64_t id)
{
    return parent_of(id) == 0 ? null() : integer(parent_of(id));
}

static void take_provider(const struct row_set *set, int64_t id)
{
    char uuid[40];
    char name[40];
    snprintf(uuid, sizeof(uuid), "%08d-0000-4000-8000-000000000000", (int)id);
    snprintf(name, sizeof(name), "host-%d", (int)id);
    const struct cell parents[] = {integer(id), text(uuid), parent_cell(id)};
    const struct cell whole[] = {integer(id), integer(7), null(), text(uuid),
                                 text(name),  integer(4), null(), parent_cell(id)};
    if (is_provider(id))
        row_set_take(set, set->table == ROWS_PARENTS ? parents : whole);
}

static void take_consumer(const struct row_set *set, int64_t id)
{
    char uuid[40];
    snprintf(uuid, sizeof(uuid), "%08d-1111-4000-8000-000000000000", (int)id);
    const struct cell cells[] = {integer(id), integer(7), null(),     text(uuid),
                                 integer(1),  integer(1), integer(2), null()};
    row_set_take(set, cells);
}

static void take_allocations(const struct row_set *set, int64_t id)
{
    for (int64_t at = 3 * id + 2; at >= 3 * id; at--) {
        const struct cell cells[] = {integer(at), integer(7), null(),     text("c"),
                                     integer(1),  integer(0), integer(5), integer(id)};
        row_set_take(set, cells);
    }
}

static void take_row(const struct row_set *set, int64_t id)
{
    const struct cell inventory[] = {integer(id), integer(7), null(),     integer(0), integer(8),
                                     integer(0),  integer(1), integer(8), integer(1), {.ratio = 1}};
    const struct cell catalog[] = {integer(id), integer(7), null(), text("CUSTOM_NAME")};
    switch (set->table) {
    case ROWS_PROVIDERS:
    case ROWS_PARENTS:
        take_provider(set, id);
        return;
    case ROWS_INVENTORIES:
        row_set_take(set, inventory);
        return;
    case ROWS_CONSUMERS:
        take_consumer(set, id);
        return;
    case ROWS_ALLOCATIONS:
        take_allocations(set, id);
        return;
    case ROWS_CLASSES:
    case ROWS_USERS:
        row_set_take(set, catalog);
        return;
    default: /* no such row */
        return;
    }
}

static bool fake_find(void *cls, const struct row_set *sets, size_t count, struct err *err)
{
    struct fake *fake = cls;
    size_t ids = 0;
    if (++fake->calls == fake->fails_at)
        return err_set(err, 503, NULL, "the connection is lost");
    for (size_t i = 0; i < count; i++) {
        buf_printf(&fake->requests, "%s%s %zu", i == 0 ? "" : ", ", rows_name(sets[i].table),
                   sets[i].count);
        assert_true(sets[i].count > 0);
        ids += sets[i].count;
        for (size_t at = 0; at < sets[i].count; at++) {
            int64_t id = sets[i].ids[at];
            if (sets[i].table != ROWS_PARENTS)
                assert_true(id > fake->last_id[sets[i].table]);
            fake->last_id[sets[i].table] = id;
            take_row(&sets[i], id);
        }
    }
    buf_append_char(&fake->requests, '\n');
    if (ids > fake->ids_most)
        fake->ids_most = ids;
    return true;
}

/* Everything that is sent. */
static struct buf follow(struct fake *fake, struct log_entry *entries, size_t count, bool works)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct buf sent = {0};
    const struct row_reader reader = {.name = "fake", .cls = fake, .find = fake_find};
    const struct log_entries log = {entries, count, count};
    assert_int_equal(follow_read(&reader, &log, dump_change, &sent, &err), works);
    assert_int_equal(err_is_set(&err), !works);
    arena_destroy(arena);
    return sent;
}

static void expect_text(struct buf *is, const char *wanted)
{
    buf_append_char(is, '\0');
    assert_string_equal(is->data, wanted);
    buf_free(is);
}

static void one_request_for_all(void **state)
{
    (void)state;
    struct fake fake = {0};
    struct log_entry entries[] = {
        {.kind = LOG_CONSUMER, .id = 5, .uuid = "u", .uuid_len = 1},
        {.kind = LOG_PROVIDER_GENERATION, .id = 105},
        {.kind = LOG_PROVIDER_CONTENTS, .id = 103},
        {.kind = LOG_PROVIDER_GENERATION, .id = 103},
        {.kind = LOG_USER_INSERTED, .id = 3},
        {.kind = LOG_CLASS_RENAMED, .id = 10001},
        {.kind = LOG_NODE, .id = 9},
        {.kind = LOG_USER_INSERTED, .id = 3},
    };
    struct buf sent = follow(&fake, entries, sizeof(entries) / sizeof(entries[0]), true);
    expect_text(&fake.requests,
                "resource_classes 1, users 1, resource_providers 2, inventories 1,"
                " resource_provider_traits 1, resource_provider_aggregates 1, consumers 1,"
                " allocations 1, berth_nodes 1\n");
    expect_text(&sent, "consumer_reset(5 u) 0 0\n"
                       "provider_reset(103) 0 0\n"
                       "class_rename(10001 CUSTOM_NAME) 7 0\n"
                       "user(3 CUSTOM_NAME) 7 0\n"
                       "generation(103 4 4) 7 0\n"
                       "generation(105 4 4) 7 0\n"
                       "inventory(103 0 8 0 1 8 1 1) 7 0\n"
                       "consumer(5 00000005-1111-4000-8000-000000000000 1 1 type=0 gen=2) 7 0\n"
                       "allocation(15 5 c 1 0 5) 7 0\n"
                       "allocation(16 5 c 1 0 5) 7 0\n"
                       "allocation(17 5 c 1 0 5) 7 0\n"
                       "node_delete(9) 0 0\n");
}

/* The ancestors of new and moved providers, a generation at a time, each once. */
static void a_request_for_each_level(void **state)
{
    (void)state;
    struct fake fake = {0};
    struct log_entry entries[] = {
        {.kind = LOG_PROVIDER_INSERTED, .id = 103},
        {.kind = LOG_PROVIDER_UPDATED, .id = 3},
        {.kind = LOG_PROVIDER_INSERTED, .id = 104},
        {.kind = LOG_PROVIDER_GENERATION, .id = 110},
    };
    struct buf sent = follow(&fake, entries, sizeof(entries) / sizeof(entries[0]), true);
    expect_text(&fake.requests, "resource_providers 4, inventories 2, resource_provider_traits 2,"
                                " resource_provider_aggregates 2\n"
                                "resource_providers 2\n" /* 2 and 4; 3 is known */
                                "resource_providers 1\n");
    expect_text(
        &sent,
        "generation(110 4 4) 7 0\n"
        "provider_update(3 00000003-0000-4000-8000-000000000000 host-3 parent=2 root=1 gen=4) 7 0\n"
        "generation(3 4 4) 7 0\n"
        "provider(103 00000103-0000-4000-8000-000000000000 host-103 parent=3 root=1 gen=4) 7 0\n"
        "provider(104 00000104-0000-4000-8000-000000000000 host-104 parent=4 root=1 gen=4) 7 0\n"
        "inventory(103 0 8 0 1 8 1 1) 7 0\n"
        "inventory(104 0 8 0 1 8 1 1) 7 0\n");
}

static void a_cycle_of_parents_ends(void **state)
{
    (void)state;
    struct fake fake = {0};
    struct fake other = {0};
    struct log_entry entry = {.kind = LOG_PROVIDER_UPDATED, .id = 202};
    struct buf sent = follow(&fake, &entry, 1, true);
    expect_text(&fake.requests, "resource_providers 1\nresource_providers 1\n");
    expect_text(&sent,
                "provider_update(202 00000202-0000-4000-8000-000000000000 host-202 parent=201 "
                "root=201 gen=4) 7 0\n"
                "generation(202 4 4) 7 0\n");
    entry.id = 201;
    sent = follow(&other, &entry, 1, true);
    buf_free(&other.requests);
    expect_text(&sent, "provider_update(201 00000201-0000-4000-8000-000000000000 host-201 parent=0 "
                       "root=201 gen=4) 7 0\n"
                       "generation(201 4 4) 7 0\n");
}

/* Whichever provider comes first, in the cycle or below it. */
static void a_cycle_begins_at_its_smallest_id(void **state)
{
    enum { PROVIDERS = 4, ROOT = 5 };
    static const int64_t cycles[][PROVIDERS][2] = {
        /* ids and parents */
        {{5, 5}},
        {{5, 6}, {6, 5}},
        {{1, 5}, {5, 6}, {6, 5}},
        {{1, 6}, {5, 6}, {6, 5}},
        {{1, 7}, {5, 6}, {6, 7}, {7, 5}},
        {{1, 7}, {5, 7}, {6, 5}, {7, 6}},
        {{5, 7}, {6, 5}, {7, 6}, {9, 7}},
        {{1, 2}, {2, 6}, {5, 6}, {6, 5}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cycles) / sizeof(cycles[0]); i++) {
        struct tree_order forest = {0};
        for (int at = 0; at < PROVIDERS && cycles[i][at][0] != 0; at++)
            tree_order_add(&forest, cycles[i][at][0], cycles[i][at][1]);
        tree_order_end(&forest);
        for (int at = 0; at < PROVIDERS && cycles[i][at][0] != 0; at++) {
            const int64_t *row = cycles[i][at];
            struct change_provider placed = {.id = row[0]};
            tree_order_place(&forest, &placed);
            assert_int_equal(placed.root_id, ROOT);
            assert_int_equal(placed.parent_id, row[0] == ROOT ? 0 : row[1]);
            assert_int_equal(tree_order_depth(&forest, row[0]),
                             row[0] == ROOT ? 0 : tree_order_depth(&forest, row[1]) + 1);
        }
        tree_order_free(&forest);
    }
}

/* The one that is inserted does not exist any more, and neither do its contents. */
static void what_is_gone_is_not_sent(void **state)
{
    (void)state;
    struct fake fake = {0};
    struct log_entry entries[] = {
        {.kind = LOG_PROVIDER_INSERTED, .id = 50},
        {.kind = LOG_PROVIDER_DELETED, .id = 50},
        {.kind = LOG_TRAIT_INSERTED, .id = 4},
    };
    struct buf sent = follow(&fake, entries, 3, true);
    buf_free(&fake.requests);
    expect_text(&sent, "");
}

static void large_sets_come_in_parts(void **state)
{
    (void)state;
    enum { CONSUMERS = 1700 };
    struct fake fake = {0};
    static struct log_entry entries[CONSUMERS];
    for (int i = 0; i < CONSUMERS; i++)
        entries[i] = (struct log_entry){.kind = LOG_CONSUMER, .id = CONSUMERS - i};
    struct buf sent = follow(&fake, entries, CONSUMERS, true);
    assert_int_equal(fake.ids_most, IDS_MOST);
    expect_text(&fake.requests, "consumers 1000\n"
                                "consumers 700, allocations 300\n"
                                "allocations 1000\n"
                                "allocations 400\n");
    size_t lines = 0;
    for (size_t i = 0; i < sent.len; i++)
        lines += sent.data[i] == '\n';
    assert_int_equal(lines, CONSUMERS * 5);
    buf_free(&sent);
}

static void nothing_is_sent_if_a_request_fails(void **state)
{
    (void)state;
    struct log_entry entry = {.kind = LOG_PROVIDER_INSERTED, .id = 104};
    for (unsigned fails_at = 1; fails_at <= 5; fails_at++) {
        struct fake fake = {.fails_at = fails_at};
        struct buf sent = follow(&fake, &entry, 1, false);
        assert_int_equal(fake.calls, fails_at);
        buf_free(&fake.requests);
        expect_text(&sent, "");
    }
}

/* Entities of all kinds; those that are gone are not asked for. */
static void a_merge_asks_once(void **state)
{
    (void)state;
    struct fake fake = {0};
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct tree_order forest = {0};
    struct buf sent = {0};
    struct difference items[] = {
        {.entity = ENTITY_CLASS, .id = 10001, .is_known = true},
        {.entity = ENTITY_USER, .id = 3, .is_known = true, .is_gone = true},
        {.entity = ENTITY_USER, .id = 4},
        {.entity = ENTITY_PROVIDER, .id = 2, .is_known = true, .has_moved = true},
        {.entity = ENTITY_PROVIDER, .id = 1, .is_known = true},
        {.entity = ENTITY_PROVIDER, .id = 50, .is_known = true, .is_gone = true},
        {.entity = ENTITY_CONSUMER,
         .id = 6,
         .is_known = true,
         .is_gone = true,
         .uuid = SLICE_LIT("u")},
        {.entity = ENTITY_NODE, .id = 9},
    };
    const struct row_reader reader = {.name = "fake", .cls = &fake, .find = fake_find};
    const struct differences differences = {items, sizeof(items) / sizeof(items[0])};
    tree_order_add(&forest, 1, 0);
    tree_order_add(&forest, 2, 1);
    tree_order_end(&forest);
    assert_true(merge_read(&reader, &forest, &differences, dump_change, &sent, &err));
    expect_text(&fake.requests,
                "resource_classes 1, users 1, resource_providers 2, berth_nodes 1\n");
    expect_text(
        &sent,
        "consumer_reset(6 u) 0 0\n"
        "provider_reset(50) 0 0\n"
        "catalog_delete(3 ) 0 0\n"
        "catalog_put(10001 CUSTOM_NAME) 7 0\n"
        "user(4 CUSTOM_NAME) 7 0\n"
        "generation(1 4 4) 7 0\n"
        "provider_update(2 00000002-0000-4000-8000-000000000000 host-2 parent=1 root=1 gen=4) 7 0\n"
        "generation(2 4 4) 7 0\n"
        "provider_delete(50) 0 0\n"
        "node_delete(9) 0 0\n");
    tree_order_free(&forest);
    arena_destroy(arena);
}

/* Every column of every table reaches its field; a row without a column that it needs is
 * invisible, and then the rest of it can be read nevertheless. */
static void every_column_has_its_field(void **state)
{
    (void)state;
    struct buf rows = {0};
    for (int table = 0; table <= ROWS_PARENTS; table++) {
        const struct rows_info *info = rows_info((enum rows_table)table);
        struct cell cells[ROWS_CELLS_MAX];
        uint8_t kinds[ROWS_CELLS_MAX];
        struct change change;
        unsigned count = rows_cell_kinds((enum rows_table)table, kinds);
        for (unsigned i = 0; i < count; i++)
            cells[i] = kinds[i] == CELL_TEXT    ? text(i % 2 == 0 ? "CUSTOM_A" : "CUSTOM_B")
                       : kinds[i] == CELL_RATIO ? (struct cell){.ratio = 1.5}
                                                : integer(11 + i);
        if (info == NULL)
            continue; /* test_nodes and test_valet */
        assert_int_equal(count, info->count);
        assert_true(rows_change((enum rows_table)table, cells, NULL, &change));
        dump_change(&rows, &change);
        for (unsigned i = 0; i < count; i++) {
            struct cell kept = cells[i];
            cells[i] = null();
            assert_int_equal(rows_change((enum rows_table)table, cells, NULL, &change),
                             (info->columns[i].flags & ROWS_NEEDED) == 0);
            cells[i] = kept;
        }
    }
    expect_text(&rows, "class(11 CUSTOM_B) 12 13\n"
                       "trait(11 CUSTOM_B) 12 13\n"
                       "aggregate(11 CUSTOM_B) 12 13\n"
                       "project(11 CUSTOM_B) 12 13\n"
                       "user(11 CUSTOM_B) 12 13\n"
                       "type(11 CUSTOM_B) 12 13\n"
                       "provider(11 CUSTOM_B CUSTOM_A parent=18 root=17 gen=16) 12 13\n"
                       "inventory(11 14 15 16 17 18 19 1.5) 12 13\n"
                       "has_trait(11 14) 12 13\n"
                       "in_aggregate(11 14) 12 13\n"
                       "consumer(11 CUSTOM_B 15 16 type=18 gen=17) 12 13\n"
                       "allocation(11 18 CUSTOM_B 15 16 17) 12 13\n"
                       "provider(11 CUSTOM_B  parent=13 root=0 gen=0) 0 0\n");
}

static void numbers_are_limited(void **state)
{
    (void)state;
    struct change change;
    struct cell cells[] = {integer(1),        integer(7),           null(),     integer(0),
                           integer(1L << 40), integer(-(1L << 40)), integer(1), integer(8),
                           integer(1),        {.ratio = 1e300}};
    assert_true(rows_change(ROWS_INVENTORIES, cells, NULL, &change));
    assert_int_equal(change.inventory.total, INT32_MAX);
    assert_int_equal(change.inventory.reserved, INT32_MIN);
    assert_true(change.inventory.allocation_ratio == 3.40282e+38);
    cells[9].ratio = -1e300;
    assert_true(rows_change(ROWS_INVENTORIES, cells, NULL, &change));
    assert_true(change.inventory.allocation_ratio == -3.40282e+38);
}

/* Every byte, at every place. */
static void texts_that_can_be_shown_as_uuids(void **state)
{
    (void)state;
    char bytes[38];
    memset(bytes, 'a', sizeof(bytes));
    for (size_t len = 0; len <= sizeof(bytes) - 1; len++)
        assert_int_equal(cell_is_uuid((struct slice){bytes, len}), len >= 1 && len <= 36);
    for (size_t at = 0; at < 36; at++) {
        for (int c = 0; c < 256; c++) {
            bytes[at] = (char)c;
            assert_int_equal(cell_is_uuid((struct slice){bytes, 36}),
                             c >= ' ' && c <= '~' && c != '"' && c != '\\');
        }
        bytes[at] = 'a';
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_request_for_all),
        cmocka_unit_test(a_request_for_each_level),
        cmocka_unit_test(a_cycle_of_parents_ends),
        cmocka_unit_test(a_cycle_begins_at_its_smallest_id),
        cmocka_unit_test(what_is_gone_is_not_sent),
        cmocka_unit_test(large_sets_come_in_parts),
        cmocka_unit_test(nothing_is_sent_if_a_request_fails),
        cmocka_unit_test(a_merge_asks_once),
        cmocka_unit_test(every_column_has_its_field),
        cmocka_unit_test(numbers_are_limited),
        cmocka_unit_test(texts_that_can_be_shown_as_uuids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
