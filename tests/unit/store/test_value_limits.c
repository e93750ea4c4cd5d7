/* Which values do not fit, by kind of change. */
#include "store/value_limits.h"

#include "base/arena.h"
#include "model/node.h"
#include "unit.h"

static const struct value_limits BOTH = {.has_lengths = true, .refuses_nul = true};

/* The error for a change, "" for none. */
static const char *reason(const struct value_limits *limits, const struct change *change,
                          struct arena *arena)
{
    struct err err = {.arena = arena};
    bool fits = value_limits_fit(limits, change, &err);
    assert_int_equal(err.status, fits ? 0 : 400);
    return fits ? "" : err.message.data;
}

static struct slice repeat(struct arena *arena, const char *character, size_t count)
{
    size_t len = strlen(character);
    char *text = arena_alloc(arena, count * len);
    for (size_t i = 0; i < count; i++)
        memcpy(text + i * len, character, len);
    return (struct slice){text, count * len};
}

/* The change of that kind with this text in its column. */
static struct change with_text(enum change_kind kind, unsigned at, struct slice text)
{
    struct change change = {.kind = kind};
    memcpy((char *)&change + at, &text, sizeof(text));
    return change;
}

#define AT(member) (unsigned)offsetof(struct change, member)

static const struct {
    enum change_kind kind;
    unsigned at;
    size_t most;
    const char *column;
} columns[] = {
    {CHANGE_CLASS_INSERT, AT(catalog.name), 255, "resource_classes.name"},
    {CHANGE_CLASS_RENAME, AT(catalog.name), 255, "resource_classes.name"},
    {CHANGE_TRAIT_INSERT, AT(catalog.name), 255, "traits.name"},
    {CHANGE_AGGREGATE_INSERT, AT(catalog.name), 36, "placement_aggregates.uuid"},
    {CHANGE_PROJECT_INSERT, AT(catalog.name), 255, "projects.external_id"},
    {CHANGE_USER_INSERT, AT(catalog.name), 255, "users.external_id"},
    {CHANGE_CONSUMER_TYPE_INSERT, AT(catalog.name), 255, "consumer_types.name"},
    {CHANGE_PROVIDER_INSERT, AT(provider.name), 200, "resource_providers.name"},
    {CHANGE_PROVIDER_INSERT, AT(provider.uuid), 36, "resource_providers.uuid"},
    {CHANGE_PROVIDER_UPDATE, AT(provider.name), 200, "resource_providers.name"},
    {CHANGE_CONSUMER_INSERT, AT(consumer.uuid), 36, "consumers.uuid"},
    {CHANGE_CONSUMER_UPDATE, AT(consumer.uuid), 36, "consumers.uuid"},
    {CHANGE_ALLOCATION_INSERT, AT(allocation.consumer_uuid), 36, "allocations.consumer_id"},
};

/* Characters count, not bytes. */
static void test_lengths(void **state)
{
    static const char *const characters[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    (void)state;
    struct arena *arena = arena_create();
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        for (size_t c = 0; c < 4; c++) {
            struct slice fits = repeat(arena, characters[c], columns[i].most);
            struct slice does_not = repeat(arena, characters[c], columns[i].most + 1);
            struct change change = with_text(columns[i].kind, columns[i].at, fits);
            assert_string_equal(reason(&BOTH, &change, arena), "");
            change = with_text(columns[i].kind, columns[i].at, does_not);
            struct slice wanted =
                arena_printf(arena, "The database cannot store more than %zu characters in %s.",
                             columns[i].most, columns[i].column);
            assert_string_equal(reason(&BOTH, &change, arena), wanted.data);
            const struct value_limits none = {.refuses_nul = true};
            assert_string_equal(reason(&none, &change, arena), "");
        }
    arena_destroy(arena);
}

/* A database may have wider and narrower columns than upstream's, and other character sets. */
static void test_rooms(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct value_limits limits = BOTH;
    enum { NAME = 4 }; /* the column of resource_providers */
    struct text_room *room = &limits.rooms[ROWS_PROVIDERS][NAME];
    assert_string_equal(rows_info(ROWS_PROVIDERS)->columns[NAME].name, "name");
    struct change change =
        with_text(CHANGE_PROVIDER_INSERT, AT(provider.name), repeat(arena, "a", 201));
    room->chars = 201;
    assert_string_equal(reason(&limits, &change, arena), "");
    room->chars = 3;
    change.provider.name = SLICE_LIT("h\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_string_equal(reason(&limits, &change, arena), "");
    room->utf8_bytes = 4;
    assert_string_equal(reason(&limits, &change, arena), "");
    room->utf8_bytes = 3;
    assert_string_equal(
        reason(&limits, &change, arena),
        "The database cannot store the character '\xf0\x9f\x98\x80' in resource_providers.name.");
    room->utf8_bytes = 1;
    assert_string_equal(
        reason(&limits, &change, arena),
        "The database cannot store the character '\xe2\x82\xac' in resource_providers.name.");
    change.provider.name = SLICE_LIT("abc");
    change.provider.uuid = SLICE_LIT("\xe2\x82\xac");
    assert_string_equal(reason(&limits, &change, arena), "");
    change.provider.name = SLICE_LIT("abcd");
    assert_string_equal(reason(&limits, &change, arena),
                        "The database cannot store more than 3 characters in "
                        "resource_providers.name.");
    arena_destroy(arena);
}

static void test_nul(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    const struct value_limits none = {.has_lengths = true};
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        struct change change = with_text(columns[i].kind, columns[i].at, (struct slice){"a\0b", 3});
        assert_string_equal(reason(&BOTH, &change, arena),
                            "The database cannot store a text with U+0000.");
        assert_string_equal(reason(&none, &change, arena), "");
        change = with_text(columns[i].kind, columns[i].at, (struct slice){NULL, 0});
        assert_string_equal(reason(&BOTH, &change, arena), "");
    }
    arena_destroy(arena);
}

/* Texts of records have no length. */
static void test_records(void **state)
{
    (void)state;
    static const unsigned fields[] = {NODE_NAME, NODE_EXTRA, NODE_TRAITS};
    struct arena *arena = arena_create();
    for (size_t i = 0; i < 3; i++) {
        struct record_value values[RECORD_FIELDS_MAX];
        record_init(&NODE_SHAPE, values);
        values[fields[i]].text = repeat(arena, "\xf0\x9f\x98\x80", 5000);
        struct change change = {.kind = CHANGE_NODE_PUT,
                                .row = {1, record_pack(&NODE_SHAPE, 1, values, arena)}};
        assert_string_equal(reason(&BOTH, &change, arena), "");
        values[fields[i]].text = (struct slice){"a\0b", 3};
        change.row.record = record_pack(&NODE_SHAPE, 1, values, arena);
        assert_string_equal(reason(&BOTH, &change, arena),
                            "The database cannot store a text with U+0000.");
    }
    const struct change gone = {.kind = CHANGE_NODE_DELETE, .row = {1, NULL}};
    assert_string_equal(reason(&BOTH, &gone, arena), "");
    arena_destroy(arena);
}

static void test_depth(void **state)
{
    static const struct {
        const char *json;
        bool fits;
    } cases[] = {
        {"{\"a\": [[1], [2], {}]}", true},
        {"{\"a\": [[[]]]}", false},
        {"{\"a\": [[{}]]}", false},
        {"{\"a\": {\"b\": {\"c\": 1}}}", true},
        {"{\"[[[[\": \"{{{\\\"[[\"}", true},
        {"{\"\\\\\": [[[]]]}", false},
        {"[[], [], [], [], {}]", true},
        {"[\"\", [], [[{}]], \"]]]\"]", false},
        {"[\"\\\\\\\"[[[[\", [[]]]", true},
        {"[\"\\\\\\\"]]]]\", [[[]]]]", false},
        {"[1, {\"]\": [{\"a\": 1}]}]", false},
        {"[\"\\\\\\\\\", [[]], \"[[[[\"]", true},
    };
    const struct value_limits limits = {.json_depth = 3};
    (void)state;
    struct arena *arena = arena_create();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct record_value values[RECORD_FIELDS_MAX];
        record_init(&NODE_SHAPE, values);
        values[NODE_EXTRA].text = slice_of(cases[i].json);
        const struct change change = {.kind = CHANGE_NODE_PUT,
                                      .row = {1, record_pack(&NODE_SHAPE, 1, values, arena)}};
        assert_string_equal(
            reason(&limits, &change, arena),
            cases[i].fits ? "" : "The database cannot store JSON with more than 3 levels.");
        assert_string_equal(reason(&BOTH, &change, arena), "");
    }
    arena_destroy(arena);
}

/* The other kinds write no texts. */
static void test_other_kinds(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    static const enum change_kind kinds[] = {
        CHANGE_CLASS_DELETE,     CHANGE_TRAIT_DELETE,          CHANGE_PROVIDER_GENERATION,
        CHANGE_PROVIDER_DELETE,  CHANGE_INVENTORY_INSERT,      CHANGE_INVENTORY_UPDATE,
        CHANGE_INVENTORY_DELETE, CHANGE_PROVIDER_TRAIT_INSERT, CHANGE_PROVIDER_AGGREGATE_DELETE,
        CHANGE_CONSUMER_DELETE,  CHANGE_ALLOCATIONS_OF_DELETE,
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct change change = {.kind = kinds[i]};
        assert_string_equal(reason(&BOTH, &change, arena), "");
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths), cmocka_unit_test(test_rooms),
        cmocka_unit_test(test_nul),     cmocka_unit_test(test_records),
        cmocka_unit_test(test_depth),   cmocka_unit_test(test_other_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
