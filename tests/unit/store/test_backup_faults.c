/* Backup and restore on a disk that fails: each sync, and each call that describes a file, fails
 * once, one after the other. None of these failures may be taken for success, whatever later syncs
 * return, and the database is either the old or the new one. */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "store/backup.h"

enum { CALLS_MOST = 2000, BALLAST_BYTES = 20000000 };

/* The next call of that kind fails once, after `left` others. */
static struct {
    const char *name;
    int left;
    bool has_failed;
    void (*meanwhile)(void); /* what another process does while it fails; NULL: nothing */
} fault;

static bool fails(const char *name)
{
    if (fault.name == NULL || strcmp(fault.name, name) != 0 || fault.has_failed || fault.left-- > 0)
        return false;
    fault.has_failed = true;
    if (fault.meanwhile != NULL)
        fault.meanwhile();
    errno = EIO;
    return true;
}

/* The name of a removed file ends in " (deleted)". */
static bool is_called(int fd, const char *suffix)
{
    char link[32];
    char path[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof(path) - 1);
    path[len > 0 ? len : 0] = '\0';
    const char *found = strstr(path, suffix);
    return found != NULL && (found[strlen(suffix)] == '\0' || found[strlen(suffix)] == ' ');
}

/* These replace the functions of the C library. */
int fsync(int fd)
{
    return fails("fsync") ? -1 : (int)syscall(SYS_fsync, fd);
}

/* SQLite sets owner and mode of its own files, too. */
int fchmod(int fd, mode_t mode)
{
    return is_called(fd, ".restoring") && fails("fchmod") ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

int fchown(int fd, uid_t owner, gid_t group)
{
    return is_called(fd, ".restoring") && fails("fchown")
               ? -1
               : (int)syscall(SYS_fchown, fd, owner, group);
}

int fsetxattr(int fd, const char *name, const void *value, size_t len, int flags)
{
    return fails("fsetxattr") ? -1 : (int)syscall(SYS_fsetxattr, fd, name, value, len, flags);
}

ssize_t getxattr(const char *path, const char *name, void *value, size_t len)
{
    return fails("getxattr") ? -1 : (ssize_t)syscall(SYS_getxattr, path, name, value, len);
}

static bool lacks_flags;

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags)
{
    if (lacks_flags && flags != 0) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags);
}

int fdatasync(int fd)
{
    struct stat file;
    /* SQLite ignores that a directory cannot be synced, so that restore.c uses fsync() there, and
     * syncs a journal once more when it closes a database that it has committed. */
    bool is_counted = fstat(fd, &file) == 0 && !S_ISDIR(file.st_mode) && !is_called(fd, "-journal");
    return is_counted && fails("fdatasync") ? -1 : (int)syscall(SYS_fdatasync, fd);
}

static bool go_on(void *cls, const char *what, unsigned percent)
{
    (void)cls;
    (void)what;
    (void)percent;
    return true;
}

static const struct backup_watch watch = {go_on, NULL};

/* A database larger than what is copied at once, and a backup whose last commit is in its -wal. */
static void prepare(struct fixture *fixture)
{
    char sql[128];
    store_close(open_seeded(fixture, NULL));
    snprintf(sql, sizeof(sql),
             "CREATE TABLE ballast (x); INSERT INTO ballast VALUES (zeroblob(%d))", BALLAST_BYTES);
    foreign(fixture->path, sql);
    fixture_shell(fixture, "cp db copy");
    struct store *store = fixture_open(fixture);
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_TRAIT_INSERT, 9000, "CUSTOM_NEW");
    commit_changes(fixture, store, &list);
    fixture_shell(fixture, "cp db copy && cp db-wal copy-wal");
    store_close(store);
    foreign(fixture->path, "DELETE FROM traits WHERE id = 9000");
    fixture_shell(fixture, "cp db old");
}

static bool is_new(const char *path)
{
    return foreign(path, "SELECT count(*) FROM traits WHERE name = 'CUSTOM_NEW'") == 1;
}

static bool says(const struct fixture *fixture, const char *part)
{
    struct slice message = fixture->err.message;
    return memmem(message.data, message.len, part, strlen(part)) != NULL;
}

static bool restore(struct fixture *fixture)
{
    struct restore_result result;
    fixture->err = (struct err){.arena = fixture->arena};
    return backup_restore(slice_of(fixture->url), fixture_file(fixture, "copy"), false, &watch,
                          &result, &fixture->err);
}

/* The number of calls of that kind in a restore. */
static int restore_with_each_failing(struct fixture *fixture, const char *call)
{
    for (int i = 0; i < CALLS_MOST; i++) {
        fixture_shell(fixture, "rm -f db db-* && cp -a old db");
        fault.name = call;
        fault.left = i;
        fault.has_failed = false;
        bool ok = restore(fixture);
        fault.name = NULL;
        if (!fault.has_failed) {
            assert_true(ok && is_new(fixture->path));
            return i;
        }
        if (ok)
            fail_msg("%s number %d failed, and nothing was reported", call, i + 1);
        assert_int_equal(is_new(fixture->path), says(fixture, "is in place, but"));
        assert_int_equal(access(fixture_file(fixture, "db.restoring"), F_OK), -1);
    }
    return CALLS_MOST;
}

static void test_restore_reports_each_failed_sync(void **state)
{
    struct fixture *fixture = *state;
    prepare(fixture);
    assert_in_range(restore_with_each_failing(fixture, "fsync"), 3, CALLS_MOST - 1);
    assert_in_range(restore_with_each_failing(fixture, "fdatasync"), 2, CALLS_MOST - 1);
}

/* An access control list with an entry for one user, with read and write permission. */
static const unsigned char acl[] = {
    2, 0,    0,    0,    1,    0,    6,    0, 0xff, 0xff, 0xff, 0xff, 2,    0,    6,
    0, 0xfe, 0xff, 0,    0,    4,    0,    4, 0,    0xff, 0xff, 0xff, 0xff, 0x10, 0,
    6, 0,    0xff, 0xff, 0xff, 0xff, 0x20, 0, 0,    0,    0xff, 0xff, 0xff, 0xff};

static bool has_acl(const char *path, size_t bytes)
{
    unsigned char found[sizeof(acl)];
    ssize_t len = syscall(SYS_getxattr, path, "system.posix_acl_access", found, sizeof(found));
    return bytes == 0 ? len < 0 : len == (ssize_t)bytes && memcmp(found, acl, bytes) == 0;
}

static void test_restore_reports_who_cannot_be_given_the_file(void **state)
{
    struct fixture *fixture = *state;
    prepare(fixture);
    assert_int_equal(restore_with_each_failing(fixture, "fchmod"), 2);
    if (geteuid() == 0) {
        fixture_shell(fixture, "chown 65534:65533 old");
        assert_int_equal(restore_with_each_failing(fixture, "fchown"), 1);
    }
}

static void test_restore_reports_that_an_access_list_is_lost(void **state)
{
    struct fixture *fixture = *state;
    prepare(fixture);
    const char *old = fixture_file(fixture, "old");
    if (setxattr(old, "system.posix_acl_access", acl, sizeof(acl), 0) != 0)
        skip();
    assert_int_equal(restore_with_each_failing(fixture, "fsetxattr"), 1);
    assert_true(has_acl(fixture->path, sizeof(acl)));
    assert_int_equal(restore_with_each_failing(fixture, "getxattr"), 2);
    assert_true(has_acl(fixture->path, sizeof(acl)));

    /* The database does not have what the new file inherits from its directory. */
    assert_int_equal(removexattr(old, "system.posix_acl_access"), 0);
    assert_int_equal(setxattr(fixture->dir, "system.posix_acl_default", acl, sizeof(acl), 0), 0);
    assert_int_equal(restore_with_each_failing(fixture, "fsetxattr"), 0);
    assert_true(has_acl(fixture->path, 0));

    /* A list of the same length is replaced. */
    assert_int_equal(setxattr(old, "system.posix_acl_access", acl, sizeof(acl), 0), 0);
    assert_int_equal(restore_with_each_failing(fixture, "fsetxattr"), 1);
    assert_true(has_acl(fixture->path, sizeof(acl)));

    /* An equal one is not set: that may be forbidden. */
    fixture_shell(fixture, "chmod 0600 old");
    assert_int_equal(restore_with_each_failing(fixture, "fsetxattr"), 0);
    assert_true(getxattr(fixture->path, "system.posix_acl_access", NULL, 0) == sizeof(acl));
}

static char staged[PATH_MAX];
static char served_wal[PATH_MAX];

/* A server opens the new database, once it is in place. */
static void create_wal(void)
{
    if (access(staged, F_OK) != 0)
        close(open(served_wal, O_WRONLY | O_CREAT | O_EXCL, 0600));
}

/* When the last sync fails, the name and the files beside it already belong to the new database. */
static void test_restore_leaves_the_wal_of_the_new_database(void **state)
{
    struct fixture *fixture = *state;
    bool is_in_place = false;
    prepare(fixture);
    snprintf(staged, sizeof(staged), "%s", fixture_file(fixture, "db.restoring"));
    snprintf(served_wal, sizeof(served_wal), "%s", fixture_file(fixture, "db-wal"));
    fault.meanwhile = create_wal;
    for (int i = 0; !is_in_place; i++) {
        assert_true(i < CALLS_MOST);
        fixture_shell(fixture, "rm -f db db-* && cp -a old db && : >db.restoring");
        fault.name = "fsync";
        fault.left = i;
        fault.has_failed = false;
        assert_false(restore(fixture));
        fault.name = NULL;
        is_in_place = says(fixture, "is in place, but");
        assert_int_equal(access(served_wal, F_OK), is_in_place ? 0 : -1);
    }
    fault.meanwhile = NULL;
}

static bool back_up(struct fixture *fixture)
{
    struct backup_facts facts;
    fixture->err = (struct err){.arena = fixture->arena};
    return backup_make(slice_of(fixture->url), fixture_file(fixture, "made"), true, &watch, &facts,
                       &fixture->err);
}

static bool back_up_to(struct fixture *fixture, const char *name)
{
    struct backup_facts facts;
    fixture->err = (struct err){.arena = fixture->arena};
    return backup_make(slice_of(fixture->url), fixture_file(fixture, name), false, &watch, &facts,
                       &fixture->err);
}

/* A name that is taken is refused there, too, and one that is given is reported as given. */
static void test_backup_where_rename_has_no_flags(void **state)
{
    struct fixture *fixture = *state;
    struct stat made;
    store_close(open_seeded(fixture, NULL));
    lacks_flags = true;
    assert_true(back_up_to(fixture, "made"));
    assert_int_equal(stat(fixture_file(fixture, "made"), &made), 0);
    assert_int_equal(made.st_nlink, 1);
    assert_int_equal(access(fixture_file(fixture, "made.partial"), F_OK), -1);
    assert_false(back_up_to(fixture, "made"));
    assert_true(says(fixture, "exists already"));
    lacks_flags = false;
}

static int back_up_with_each_failing(struct fixture *fixture, const char *call)
{
    for (int i = 0; i < CALLS_MOST; i++) {
        fixture_shell(fixture, "rm -f made && echo older > made");
        fault.name = call;
        fault.left = i;
        fault.has_failed = false;
        bool ok = back_up(fixture);
        fault.name = NULL;
        struct stat made;
        assert_int_equal(stat(fixture_file(fixture, "made"), &made), 0);
        if (!fault.has_failed) {
            assert_true(ok && made.st_size > BALLAST_BYTES);
            return i;
        }
        if (ok)
            fail_msg("%s number %d failed, and nothing was reported", call, i + 1);
        assert_int_equal(made.st_size > BALLAST_BYTES, says(fixture, "is in place, but"));
        assert_int_equal(access(fixture_file(fixture, "made.partial"), F_OK), -1);
    }
    return CALLS_MOST;
}

static void test_backup_reports_each_failed_sync(void **state)
{
    struct fixture *fixture = *state;
    prepare(fixture);
    assert_in_range(back_up_with_each_failing(fixture, "fsync"), 3, CALLS_MOST - 1);
    assert_in_range(back_up_with_each_failing(fixture, "fdatasync"), 2, CALLS_MOST - 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_restore_reports_each_failed_sync),
        TEST(test_restore_leaves_the_wal_of_the_new_database),
        TEST(test_restore_reports_who_cannot_be_given_the_file),
        TEST(test_restore_reports_that_an_access_list_is_lost),
        TEST(test_backup_where_rename_has_no_flags),
        TEST(test_backup_reports_each_failed_sync),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
