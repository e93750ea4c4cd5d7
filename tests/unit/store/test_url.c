/* URLs as SQLAlchemy 1.4 reads them (each case was compared with it), and random text. */
#include "store/sqlite/url.h"
#include "unit.h"

#include <stdio.h>

#include "base/arena.h"

static void expect_path(const char *url, const char *path)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct slice found;
    bool ok = sqlite_url_parse(slice_of(url), &found, &err);
    if (ok != (path != NULL))
        print_error("%s\n", url);
    assert_int_equal(ok, path != NULL);
    assert_int_equal(err.status, path == NULL ? 503 : 0);
    if (path != NULL)
        assert_true(slice_equal(found, slice_of(path)));
    else
        assert_null(memchr(err.message.data, '\n', err.message.len));
    arena_destroy(arena);
}

static void test_paths(void **state)
{
    (void)state;
    expect_path("sqlite://", "");
    expect_path("sqlite:///", "");
    expect_path("sqlite:///:memory:", "");
    expect_path("sqlite:///:memory:?x=1", "");
    expect_path("sqlite:///a.db", "a.db");
    expect_path("sqlite:////abs/a.db", "/abs/a.db");
    expect_path("sqlite+pysqlite:///a.db", "a.db");
    expect_path("sqlite:///a%20b.db", "a%20b.db");
    expect_path("sqlite:///a%zz", "a%zz");
    expect_path("sqlite:////tmp/x.db?timeout=3", "/tmp/x.db");
    expect_path("sqlite:///a?b=c%2F?d", "a");
    expect_path("sqlite:////a?", "/a");
    expect_path("sqlite:///a#b", "a#b");
    expect_path("sqlite://:@/a", "a");
    expect_path("sqlite://@/a", "a");
    expect_path("sqlite://:0/a", "a");
    expect_path("sqlite://?x=/y", "");
}

static void test_refused(void **state)
{
    (void)state;
    expect_path("", NULL);
    expect_path("sqlite", NULL);
    expect_path("sqlite:relative", NULL);
    expect_path("sqlite:/a", NULL);
    expect_path(" sqlite:///a", NULL);
    expect_path("SQLite:///a", NULL);
    expect_path("sqlite+aiosqlite:///a", NULL);
    expect_path("sqlite://host/x", NULL);
    expect_path("sqlite://localhost/", NULL);
    expect_path("sqlite://:1/a", NULL);
    expect_path("sqlite://[]/a", NULL);
    expect_path("sqlite://user@/a", NULL);
    expect_path("sqlite://:secret@/a", NULL);
    expect_path("mysql+pymysql://u:p@h/db", NULL);
    expect_path("postgresql://h/db", NULL);
}

static void test_message_names_no_secret(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct slice path;
    assert_false(sqlite_url_parse(SLICE_LIT("mysql+pymysql://u:secret@h/db"), &path, &err));
    assert_true(slice_equal(err.message, SLICE_LIT("the database connection mysql+pymysql:// is not"
                                                   " supported in this build")));
    arena_destroy(arena);
}

static void test_noise(void **state)
{
    (void)state;
    static const char alphabet[] = "sqlite:/@?[]%\0a+_.0";
    uint32_t seed = 1;
    struct arena *arena = arena_create();
    size_t parsed = 0;
    for (int round = 0; round < 200000; round++) {
        char text[24];
        size_t len = 0;
        seed = seed * 1664525 + 1013904223;
        if (seed >> 31 != 0) {
            memcpy(text, "sqlite://", 9);
            len = 9;
        }
        for (size_t end = len + (seed >> 20) % 14; len < end; len++) {
            seed = seed * 1664525 + 1013904223;
            text[len] = alphabet[(seed >> 16) % (sizeof(alphabet) - 1)];
        }
        struct err err = {.arena = arena};
        struct slice path = {0};
        if (sqlite_url_parse((struct slice){text, len}, &path, &err)) {
            parsed++;
            assert_true(path.data >= text && path.data + path.len <= text + len);
        } else {
            assert_int_equal(err.status, 503);
        }
        arena_reset(arena);
    }
    assert_true(parsed > 1000);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_message_names_no_secret),
        cmocka_unit_test(test_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
