/* The schema compared with the Python service's own (where it is installed), upgrades, stamps,
 * refusals. */
#include "fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/schema.h"

#define MASTER                                                                                     \
    "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE '%berth_%'"           \
    " ORDER BY type, name"
#define DROPPED                                                                                    \
    "'inventories_resource_provider_id_idx', 'inventories_resource_provider_resource_class_idx',"  \
    " 'ix_placement_aggregates_uuid', 'resource_providers_name_idx', "                             \
    "'resource_providers_uuid_idx'"
#define MASTER_NEWEST                                                                              \
    "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE '%berth_%'"           \
    " AND name NOT IN (" DROPPED ") ORDER BY type, name"

static bool have_service(void)
{
    return system("/usr/bin/python3 -c 'import placement.db.sqlalchemy.migration' "
                  ">/dev/null 2>&1") == 0;
}

/* A database of the Python service at that revision. */
static void make_by_service(struct fixture *fixture, const char *path, const char *revision)
{
    char script[128];
    char command[512];
    snprintf(script, sizeof(script), "%s/make.py", fixture->dir);
    FILE *file = fopen(script, "w");
    assert_non_null(file);
    fputs("import os, sys\n"
          "os.environ['OS_PLACEMENT_DATABASE__CONNECTION'] = 'sqlite:///' + sys.argv[1]\n"
          "from oslo_config import cfg\n"
          "from placement import conf, db_api\n"
          "from placement.db.sqlalchemy import migration\n"
          "config = cfg.ConfigOpts()\n"
          "conf.register_opts(config)\n"
          "config([], project='placement', default_config_files=[])\n"
          "db_api.configure(config)\n"
          "migration.upgrade(sys.argv[2])\n"
          "print(migration.version())\n",
          file);
    fclose(file);
    snprintf(command, sizeof(command),
             "/usr/bin/python3 %s %s %s >%s/out 2>&1 || (cat %s/out >&2; false)", script, path,
             revision, fixture->dir, fixture->dir);
    assert_int_equal(system(command), 0);
}

static void expect_same_rows(const char *path, const char *sql, const char *other_path,
                             const char *other_sql)
{
    struct buf ours = {0};
    struct buf theirs = {0};
    foreign_rows(path, sql, &ours);
    foreign_rows(other_path, other_sql, &theirs);
    buf_append_char(&ours, '\0');
    buf_append_char(&theirs, '\0');
    assert_true(theirs.len > 1);
    assert_string_equal(ours.data, theirs.data);
    buf_free(&ours);
    buf_free(&theirs);
}

static void expect_revision(struct fixture *fixture, const char *revision)
{
    char found[33];
    fixture->err = (struct err){.arena = fixture->arena};
    assert_true(schema_version(slice_of(fixture->url), found, &fixture->err));
    assert_string_equal(found, revision);
}

static void expect_refused(struct fixture *fixture, bool sync, const char *part)
{
    struct store *store = fixture_try(fixture, fixture->url, sync, true);
    assert_null(store);
    assert_int_equal(fixture->err.status, 503);
    assert_null(memchr(fixture->err.message.data, '\n', fixture->err.message.len));
    if (memmem(fixture->err.message.data, fixture->err.message.len, part, strlen(part)) == NULL)
        print_error("%.*s\n", SLICE_ARG(fixture->err.message));
    assert_non_null(
        memmem(fixture->err.message.data, fixture->err.message.len, part, strlen(part)));
}

static void test_new_file_is_the_services(void **state)
{
    struct fixture *fixture = *state;
    if (!have_service()) {
        print_message("skipped: the Python service is not installed\n");
        skip();
    }
    char theirs[128];
    snprintf(theirs, sizeof(theirs), "%s/theirs", fixture->dir);
    make_by_service(fixture, theirs, "head");
    store_close(fixture_open(fixture));
    expect_revision(fixture, "a082b8bb98d0");
    expect_same_rows(fixture->path, MASTER, theirs, MASTER_NEWEST);
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM sqlite_master WHERE name IN"
                                            " ('berth_log', 'berth_head')"),
                     2);

    /* Stamped back, it is completely the older service's: that service finds nothing to do. */
    assert_true(schema_stamp(slice_of(fixture->url), SLICE_LIT("422ece571366"), &fixture->err));
    expect_same_rows(fixture->path, MASTER, theirs, MASTER);
    make_by_service(fixture, fixture->path, "head");
    expect_same_rows(fixture->path, MASTER, theirs, MASTER);
    /* It is served as it is, and upgraded on request. */
    store_close(fixture_try(fixture, fixture->url, false, false));
    expect_revision(fixture, "422ece571366");
    store_close(fixture_open(fixture));
    expect_revision(fixture, "a082b8bb98d0");
    expect_same_rows(fixture->path, MASTER, theirs, MASTER_NEWEST);
}

static void test_file_of_the_service(void **state)
{
    struct fixture *fixture = *state;
    if (!have_service()) {
        print_message("skipped: the Python service is not installed\n");
        skip();
    }
    make_by_service(fixture, fixture->path, "head");
    foreign(fixture->path, "INSERT INTO resource_providers (id, uuid, name, generation,"
                           " root_provider_id) VALUES (1, '" UUID_A "', 'n', 3, 1)");
    struct store *store = fixture_try(fixture, fixture->url, false, false);
    assert_non_null(store);
    struct buf out = {0};
    dump_store(fixture, store, &out);
    assert_non_null(
        memmem(out.data, out.len, "provider(1 " UUID_A " n parent=0 root=1 gen=3)", 69));
    buf_free(&out);
    store_close(store);
    assert_int_equal(foreign(fixture->path, "SELECT count(*) FROM traits"), 377);
    assert_int_equal(foreign(fixture->path, "SELECT id FROM resource_classes WHERE name = 'PCPU'"),
                     14);
}

static void test_older_revisions(void **state)
{
    struct fixture *fixture = *state;
    if (!have_service()) {
        print_message("skipped: the Python service is not installed\n");
        skip();
    }
    char newest[128];
    snprintf(newest, sizeof(newest), "%s/newest", fixture->dir);
    make_by_service(fixture, newest, "head");
    for (int from = SCHEMA_INITIAL; from < SCHEMA_CONSUMER_TYPES; from++) {
        unlink(fixture->path);
        make_by_service(fixture, fixture->path, schema_revision_ids[from]);
        foreign(fixture->path,
                "INSERT INTO consumers (created_at, id, uuid, project_id, user_id,"
                " generation) VALUES ('2020-01-02 03:04:05.000006', 4, '" UUID_C "', 2, 3, 5)");
        expect_refused(fixture, false, "old schema revision");
        expect_revision(fixture, schema_revision_ids[from]);
        fixture->err = (struct err){.arena = fixture->arena};
        assert_true(schema_sync(slice_of(fixture->url), &fixture->err));
        expect_same_rows(fixture->path, MASTER, newest, MASTER_NEWEST);
        assert_int_equal(foreign(fixture->path, "SELECT generation FROM consumers WHERE id = 4 AND"
                                                " consumer_type_id IS NULL AND updated_at IS NULL"
                                                " AND created_at = '2020-01-02 03:04:05.000006'"),
                         5);
    }
}

static void test_data_checks(void **state)
{
    struct fixture *fixture = *state;
    if (!have_service()) {
        print_message("skipped: the Python service is not installed\n");
        skip();
    }
    make_by_service(fixture, fixture->path, "b4ed3a175331");
    foreign(fixture->path, "INSERT INTO resource_providers (id, uuid) VALUES (1, '" UUID_A "')");
    expect_refused(fixture, true, "root provider id");
    expect_revision(fixture, "b4ed3a175331");
    foreign(fixture->path, "UPDATE resource_providers SET root_provider_id = 1;"
                           "INSERT INTO allocations (id, resource_provider_id, consumer_id,"
                           " resource_class_id, used) VALUES (1, 1, '" UUID_C "', 0, 1)");
    expect_refused(fixture, true, "lacks its consumer");
    expect_revision(fixture, "b4ed3a175331");
    foreign(fixture->path, "DELETE FROM allocations");
    store_close(fixture_open(fixture));
    expect_revision(fixture, "a082b8bb98d0");
}

static void test_refusals(void **state)
{
    struct fixture *fixture = *state;
    assert_null(fixture_try(fixture, fixture->url, true, false));
    assert_non_null(
        memmem(fixture->err.message.data, fixture->err.message.len, "does not exist", 14));
    expect_refused(
        fixture, false,
        "does not exist: is the path in [placement_database] connection right? For a new database, "
        "run \"placement-manage db sync\" or set");
    assert_int_not_equal(access(fixture->path, F_OK), 0);
    foreign(fixture->path, "CREATE TABLE something (x)");
    expect_refused(fixture, false, "has no schema");
    store_close(fixture_open(fixture));
    foreign(fixture->path, "UPDATE alembic_version SET version_num = 'fedcba987654'");
    expect_refused(fixture, true, "fedcba987654");
    expect_refused(fixture, false, "fedcba987654");
    foreign(fixture->path, "UPDATE alembic_version SET version_num = 'a082'");
    expect_refused(fixture, true, "does not know");
    foreign(fixture->path, "INSERT INTO alembic_version VALUES ('422ece571366')");
    expect_refused(fixture, true, "more than one");
    foreign(fixture->path, "DELETE FROM alembic_version");
    expect_refused(fixture, true, "no schema revision");
    foreign(fixture->path, "DROP TABLE alembic_version");
    expect_refused(fixture, true, "no schema revision");
    sqlite3 *other;
    assert_int_equal(sqlite3_open(fixture->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    fixture->busy_timeout_ms = 100;
    expect_refused(fixture, true, "locked");
    sqlite3_close(other);
    FILE *garbage = fopen(fixture->path, "w");
    for (int i = 0; i < 500; i++)
        fputs("This is not a database. ", garbage);
    fclose(garbage);
    expect_refused(fixture, true, "not a database");
    char deep[160];
    snprintf(deep, sizeof(deep), "sqlite:///%s/none/such/db", fixture->dir);
    assert_null(fixture_try(fixture, deep, true, true));
    assert_non_null(memmem(fixture->err.message.data, fixture->err.message.len,
                           "No such file or directory", 25));
    snprintf(deep, sizeof(deep), "sqlite:///%s", fixture->dir);
    assert_null(fixture_try(fixture, deep, true, true));
    assert_int_equal(fixture->err.status, 503);
}

static void expect_stamp(struct fixture *fixture, const char *name, const char *revision)
{
    fixture->err = (struct err){.arena = fixture->arena};
    bool ok = schema_stamp(slice_of(fixture->url), slice_of(name), &fixture->err);
    assert_int_equal(ok, revision != NULL);
    assert_int_equal(err_is_set(&fixture->err), revision == NULL);
    if (revision != NULL)
        expect_revision(fixture, revision);
}

static void test_stamp(void **state)
{
    struct fixture *fixture = *state;
    store_close(fixture_open(fixture));
    const char *const indexes =
        "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND name IN (" DROPPED ")";
    assert_int_equal(foreign(fixture->path, indexes), 0);
    expect_stamp(fixture, "head", "a082b8bb98d0");
    assert_int_equal(foreign(fixture->path, indexes), 0);
    expect_stamp(fixture, "nothing", NULL);
    expect_stamp(fixture, "", NULL);
    expect_stamp(fixture, "422", NULL);
    expect_stamp(fixture, "422ece5713667", NULL);
    expect_revision(fixture, "a082b8bb98d0");
    expect_stamp(fixture, "422e", "422ece571366");
    assert_int_equal(foreign(fixture->path, indexes), 5);
    expect_stamp(fixture, "heads", "a082b8bb98d0");
    expect_stamp(fixture, "b5c396305c25", "b5c396305c25");
    expect_stamp(fixture, "base", "");
    expect_stamp(fixture, "422ece571366", "422ece571366");
    assert_int_equal(foreign(fixture->path, indexes), 5);

    /* Upstream's tool accepts an empty file, too. */
    unlink(fixture->path);
    expect_stamp(fixture, "422ece571366", "422ece571366");
    unlink(fixture->path);
    assert_true(schema_sync(slice_of(fixture->url), &fixture->err));
    expect_revision(fixture, "a082b8bb98d0");
    assert_true(schema_sync(slice_of(fixture->url), &fixture->err));
    store_close(fixture_try(fixture, fixture->url, false, false));
    assert_false(err_is_set(&fixture->err));
    char revision[33];
    assert_false(schema_version(SLICE_LIT("mysql://h/d"), revision, &fixture->err));
}

static void test_standard_names(void **state)
{
    struct fixture *fixture = *state;
    store_close(fixture_open(fixture));
    foreign(fixture->path, "DELETE FROM traits WHERE id IN (7, 9); DELETE FROM resource_classes"
                           " WHERE id = 3; INSERT INTO traits (name) VALUES ('CUSTOM_X')");
    struct buf before = {0};
    struct buf after = {0};
    foreign_rows(fixture->path, "SELECT count(*), min(id), max(id) FROM traits", &before);
    store_close(fixture_open(fixture));
    foreign_rows(fixture->path,
                 "SELECT count(*) FROM traits; SELECT count(*) FROM resource_classes;"
                 "SELECT name, updated_at FROM resource_classes WHERE id = 3;"
                 "SELECT count(*) FROM traits WHERE created_at LIKE '20__-__-__ __:__:__.______';",
                 &after);
    buf_append_char(&after, '\0');
    assert_string_equal(after.data, "378\n21\nPCI_DEVICE|NULL\n377\n");
    buf_free(&before);
    buf_free(&after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_new_file_is_the_services, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_file_of_the_service, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_older_revisions, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_data_checks, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_refusals, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_stamp, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_standard_names, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
