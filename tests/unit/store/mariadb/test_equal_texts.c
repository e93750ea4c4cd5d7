/* Names that a collation takes for one another, and characters that a charset lacks: a batch with a
 * name is written, or refused for the same reason, exactly as a program that inserts it would be by
 * the same database; and what is read is what was written. */
#include "store/odd_texts.h"
#include "store/server/peer.h"

#include "base/arena.h"

static const struct {
    enum change_kind kind;
    const char *table;
    const char *column;
} names[] = {
    {CHANGE_PROJECT_INSERT, "projects", "external_id"},
    {CHANGE_TRAIT_INSERT, "traits", "name"},
    {CHANGE_PROVIDER_INSERT, "resource_providers", "name"},
};
enum { NAMES = sizeof(names) / sizeof(names[0]), FIRST_ID = 50000 };

struct world {
    struct fixture *fixture;
    struct store *store;
    struct server_session *other; /* inserts the same names into copies of the tables */
    struct change_list written;
    unsigned duplicates, unfit;
};

static const char *hex_of(struct fixture *fixture, const char *text)
{
    return arena_printf(fixture->arena, "_utf8mb4 %s", peer_bytes(fixture, text)).data;
}

/* False: it fails, for that reason. */
static bool other_inserts(struct world *world, size_t name, int64_t id, const char *text,
                          enum server_reason *reason)
{
    struct fixture *fixture = world->fixture;
    const char *uuid = arena_printf(fixture->arena, "%036lld", (long long)id).data;
    bool is_provider = names[name].kind == CHANGE_PROVIDER_INSERT;
    const struct slice sql = arena_printf(
        fixture->arena, "INSERT INTO copy_%s (id, %s%s) VALUES (%lld, %s%s%s%s)", names[name].table,
        names[name].column, is_provider ? ", uuid" : "", (long long)id, hex_of(fixture, text),
        is_provider ? ", '" : "", is_provider ? uuid : "", is_provider ? "'" : "");
    bool is_inserted = peer_try(fixture, world->other, sql.data);
    *reason = is_inserted ? SERVER_REASON_OTHER : server_session_reason(world->other);
    return is_inserted;
}

static struct change_list change_of(struct world *world, size_t name, int64_t id, const char *text)
{
    struct change_list list = changes_of(world->fixture);
    const char *uuid =
        arena_printf(world->fixture->arena, "aaaaaaaa-0000-4000-9000-%012lld", (long long)id).data;
    if (names[name].kind == CHANGE_PROVIDER_INSERT)
        add_provider(&list, id, 0, id, uuid, text);
    else
        add_catalog(&list, names[name].kind, id, text);
    store_adapt(world->store, &list.items[0]);
    return list;
}

static struct slice text_of(const struct change *change)
{
    return change->kind == CHANGE_PROVIDER_INSERT ? change->provider.name : change->catalog.name;
}

/* The row because of which the name was refused is known. What refuses it again is not news. */
static void expect_alike(struct world *world, const struct change *change)
{
    struct store_alike alike;
    struct store *store = world->store;
    assert_true(store_find_alike(store, change->kind, 0, text_of(change), &alike));
    size_t at = 0;
    while (at < world->written.count && (world->written.items[at].kind != change->kind ||
                                         world->written.items[at].row.id != alike.id))
        at++;
    if (at < world->written.count)
        assert_true(slice_equal(text_of(&world->written.items[at]), alike.text));
    else
        assert_true(alike.id < FIRST_ID); /* a row that was there before */
    assert_true(store_why_refused(store)->memory_is_wrong);
    struct change_list list = changes_of(world->fixture);
    change_append_copy(&list, change);
    /* that row is read again, unless it was since the last commit */
    struct store_stamp stamp;
    assert_in_range(read_into(world->fixture, store, NULL), STORE_NEWS_NONE, STORE_NEWS_FOLLOW);
    assert_true(store_end_read(store, &stamp));
    const struct store_refusal *why = refuse_changes(world->fixture, store, &list);
    assert_true(why->is_duplicate);
    assert_false(why->memory_is_wrong);
}

static void write_name(struct world *world, size_t name, int64_t id, const char *text)
{
    struct fixture *fixture = world->fixture;
    struct err err = {.arena = fixture->arena};
    struct store_stamp stamp;
    bool foreign;
    enum server_reason reason;
    const struct change_list list = change_of(world, name, id, text);
    bool is_inserted = other_inserts(world, name, id, text, &reason);
    bool can_hold = store_can_hold(world->store, &list.items[0], &err);
    assert_int_equal(can_hold, reason != SERVER_REASON_CANNOT_HOLD);
    world->unfit += !can_hold;
    if (!can_hold)
        return;
    assert_int_not_equal(lock_into(fixture, world->store, NULL), STORE_NEWS_FAILED);
    assert_true(store_end_read(world->store, &stamp));
    enum store_result result = commit_list(world->store, &list, &stamp, &foreign, &err);
    assert_int_equal(result, is_inserted ? STORE_OK : STORE_REFUSED);
    if (is_inserted) {
        change_append_copy(&world->written, &list.items[0]);
        return;
    }
    world->duplicates++;
    assert_int_equal(reason, SERVER_REASON_DUPLICATE);
    assert_true(store_why_refused(world->store)->is_duplicate);
    assert_int_equal(store_why_refused(world->store)->request, 0);
    expect_alike(world, &list.items[0]);
}

/* ---- many names of one request ---- */

static bool has_project(const struct change_list *list, struct slice text)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].kind == CHANGE_PROJECT_INSERT &&
            slice_equal(list->items[i].catalog.name, text))
            return true;
    return false;
}

/* As a planner does it. */
static bool is_known_as(struct world *world, const struct change_list *list, struct slice text)
{
    struct store_alike alike;
    if (has_project(&world->written, text) || has_project(list, text))
        return true;
    return store_find_alike(world->store, CHANGE_PROJECT_INSERT, 0, text, &alike) &&
           (has_project(&world->written, alike.text) || has_project(list, alike.text));
}

static struct change_list plan_projects(struct world *world, const char *const *texts, size_t count,
                                        int64_t first_id)
{
    struct change_list list = changes_of(world->fixture);
    for (size_t i = 0; i < count; i++) {
        struct err err = {.arena = world->fixture->arena};
        const struct change_list one = change_of(world, 0, first_id + (int64_t)i, texts[i]);
        if (store_can_hold(world->store, &one.items[0], &err) &&
            !is_known_as(world, &list, slice_of(texts[i])))
            change_append_copy(&list, &one.items[0]);
    }
    return list;
}

/* Commits these projects; returns whether the request was refused once before. */
static bool write_projects(struct world *world, const char *const *texts, size_t count,
                           int64_t first_id)
{
    struct store_stamp stamp;
    bool foreign;
    for (int refused = 0;; refused++) {
        struct change_list list = plan_projects(world, texts, count, first_id);
        enum store_result result =
            take_news_and_commit(world->fixture, world->store, &list, &stamp, &foreign);
        for (size_t i = 0; result == STORE_OK && i < list.count; i++)
            change_append_copy(&world->written, &list.items[i]);
        if (result == STORE_OK)
            return refused > 0;
        assert_int_equal(result, STORE_REFUSED);
        assert_true(store_why_refused(world->store)->memory_is_wrong);
        assert_int_equal(refused, 0);
    }
}

/* What a program that inserts them one by one has in the end. */
static void expect_as_of_other(struct world *world, const char *const *texts, size_t count,
                               int64_t first_id)
{
    for (size_t i = 0; i < count; i++) {
        enum server_reason reason;
        int64_t id = first_id + (int64_t)i;
        bool is_inserted = other_inserts(world, 0, id, texts[i], &reason);
        bool is_written = false;
        for (size_t at = 0; at < world->written.count; at++)
            is_written |= world->written.items[at].row.id == id;
        assert_int_equal(is_written, is_inserted);
    }
}

/* Each is stored by its first spelling, whether that is of this request or of the one before. */
static void write_requests(struct world *world)
{
    const char *before[ODD_TEXTS_COUNT];
    size_t count = 0;
    for (size_t i = ODD_TEXTS_COUNT; i-- > 0;)
        if (i % 3 == 1)
            before[count++] = ODD_TEXTS[i];
    bool was_refused = write_projects(world, before, count, FIRST_ID);
    expect_as_of_other(world, before, count, FIRST_ID);
    was_refused |= write_projects(world, ODD_TEXTS, ODD_TEXTS_COUNT, 2 * FIRST_ID);
    expect_as_of_other(world, ODD_TEXTS, ODD_TEXTS_COUNT, 2 * FIRST_ID);
    world->duplicates += was_refused;
    assert_false(write_projects(world, ODD_TEXTS, ODD_TEXTS_COUNT, 3 * FIRST_ID));
}

/* So many that they are not compared. */
static void refuse_many(struct world *world)
{
    enum { MANY = ALIKES_MOST + 1 };
    const char *texts[MANY];
    struct store_alike alike;
    for (size_t i = 0; i < MANY; i++)
        texts[i] = arena_printf(world->fixture->arena, "many %zu", i).data;
    texts[MANY - 1] = "MANY 0";
    const struct change_list list = plan_projects(world, texts, MANY, 4 * FIRST_ID);
    assert_int_equal(list.count, MANY);
    const struct store_refusal *why = refuse_changes(world->fixture, world->store, &list);
    assert_true(why->is_duplicate);
    assert_int_equal(why->change, MANY - 1);
    assert_false(
        store_find_alike(world->store, CHANGE_PROJECT_INSERT, 0, SLICE_LIT("MANY 0"), &alike));
    assert_false(write_projects(world, texts + 1, MANY - 1, 4 * FIRST_ID));
}

/* ---- what is read ---- */

static void take_name(void *cls, const struct change *change)
{
    const struct change_list *written = cls;
    for (size_t i = 0; i < written->count; i++) {
        struct change *wanted = &written->items[i];
        if (wanted->kind != change->kind || wanted->row.id != change->row.id)
            continue;
        bool is_provider = change->kind == CHANGE_PROVIDER_INSERT;
        assert_true(slice_equal(is_provider ? wanted->provider.name : wanted->catalog.name,
                                is_provider ? change->provider.name : change->catalog.name));
        wanted->kind = CHANGE_LOAD_PROVIDERS_END; /* it was read */
    }
}

static void expect_read(struct world *world)
{
    struct fixture *fixture = world->fixture;
    struct store *reader = fixture_open(fixture);
    struct store_stamp stamp;
    assert_int_equal(store_begin_read(reader, &fixture->err), STORE_NEWS_RELOAD);
    assert_int_equal(store_load(reader, take_name, &world->written, &fixture->err), STORE_OK);
    assert_true(store_end_read(reader, &stamp));
    for (size_t i = 0; i < world->written.count; i++)
        assert_int_equal(world->written.items[i].kind, CHANGE_LOAD_PROVIDERS_END);
    store_close(reader);
}

/* ---- collations ---- */

static struct world begin(struct fixture *fixture, const char *charset, const char *collation)
{
    if (strcmp(collation, "nopad_bin") == 0 && fixture_is_mysql())
        collation = "0900_bin"; /* the same by another name */
    (void)peer_execute(fixture, arena_printf(fixture->arena,
                                             "ALTER DATABASE CHARACTER SET %s"
                                             " COLLATE %s_%s",
                                             charset, charset, collation)
                                    .data);
    struct world world = {.fixture = fixture,
                          .store = open_seeded(fixture, NULL),
                          .other = peer_connect(fixture),
                          .written = changes_of(fixture)};
    for (size_t i = 0; i < NAMES; i++)
        peer_run(fixture, world.other,
                 arena_printf(fixture->arena,
                              "CREATE TABLE copy_%s LIKE %s;INSERT INTO copy_%s SELECT * FROM %s",
                              names[i].table, names[i].table, names[i].table, names[i].table)
                     .data);
    return world;
}

static void end(struct world *world)
{
    void *fixture = world->fixture;
    server_session_destroy(world->other);
    store_close(world->store);
    fixture_teardown(&fixture);
}

static void test_collation(const char *charset, const char *collation, bool are_some_equal)
{
    void *fixture;
    assert_int_equal(fixture_setup(&fixture), 0);
    struct world world = begin(fixture, charset, collation);
    for (int64_t i = 0; i < ODD_TEXTS_COUNT; i++)
        for (size_t name = 0; name < NAMES; name++)
            write_name(&world, name, FIRST_ID + i, ODD_TEXTS[i]);
    expect_read(&world);
    assert_int_equal(world.duplicates > 0, are_some_equal);
    assert_int_equal(world.unfit > 0, strcmp(charset, "utf8mb4") != 0);
    end(&world);
    assert_int_equal(fixture_setup(&fixture), 0);
    world = begin(fixture, charset, collation);
    write_requests(&world);
    expect_read(&world);
    assert_int_equal(world.duplicates > 0, are_some_equal);
    end(&world);
}

static void test_of_old_clouds(void **state)
{
    (void)state;
    test_collation("utf8mb3", "general_ci", true);
}

static void test_of_new_clouds(void **state)
{
    (void)state;
    test_collation("utf8mb4", "unicode_520_ci", true);
}

static void test_trailing_blanks(void **state)
{
    (void)state;
    test_collation("utf8mb4", "bin", true);
}

static void test_bytes(void **state)
{
    (void)state;
    test_collation("utf8mb4", "nopad_bin", false);
}

static void test_many(void **state)
{
    (void)state;
    void *fixture;
    assert_int_equal(fixture_setup(&fixture), 0);
    struct world world = begin(fixture, "utf8mb4", "general_ci");
    refuse_many(&world);
    end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_old_clouds),
        cmocka_unit_test(test_of_new_clouds),
        cmocka_unit_test(test_trailing_blanks),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
