/* When files are rotated and how they are named then, compared with Python's handlers
 * (rotation_cases.h); and which of the older ones stay. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "log/internal.h"
#include "rotation_cases.h"
#include "unit.h"

static void as_python_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        const struct rotation_case *at = &CASES[i];
        const struct log_rotation_settings rotation = {
            .when = at->when, .interval = at->interval, .weekday = at->weekday};
        char suffix[32];
        int64_t now = at->due_s + at->late_s;
        int64_t due = log_rotate_next(&rotation, at->begin_s);
        int64_t next = log_rotate_after(&rotation, now);
        log_rotate_suffix(&rotation, at->due_s, now, suffix);
        if (due != at->due_s || next != at->next_s || strcmp(suffix, at->suffix) != 0)
            fail_msg("case %zu: due %lld, %s, next %lld", i, (long long)due, suffix,
                     (long long)next);
    }
}

static char directory[64];

static void touch(const char *name, const char *content)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(content, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void expect_content(const char *name, const char *content)
{
    char text[64] = "";
    int fd = open(name, O_RDONLY);
    if (content == NULL) {
        assert_int_equal(fd, -1);
        return;
    }
    assert_true(fd >= 0);
    assert_true(read(fd, text, sizeof(text) - 1) >= 0);
    close(fd);
    assert_string_equal(text, content);
}

static size_t count_files(void)
{
    size_t n = 0;
    DIR *dir = opendir(".");
    assert_non_null(dir);
    for (struct dirent *at = readdir(dir); at != NULL; at = readdir(dir))
        n += at->d_name[0] != '.';
    closedir(dir);
    return n;
}

/* As RotatingFileHandler.doRollover: every number is incremented, the last file is deleted. */
static void by_size(void **state)
{
    (void)state;
    touch("log", "new");
    touch("log.1", "1");
    touch("log.2", "2");
    touch("log.3", "3");
    touch("log.4", "kept by nobody");
    assert_true(log_rotate_by_size("log", 3));
    expect_content("log", NULL);
    expect_content("log.1", "new");
    expect_content("log.2", "1");
    expect_content("log.3", "2");
    expect_content("log.4", "kept by nobody");
    touch("log", "newer");
    assert_int_equal(unlink("log.1"), 0);
    assert_true(log_rotate_by_size("log", 3));
    expect_content("log.1", "newer");
    expect_content("log.2", NULL); /* a gap moves on */
    expect_content("log.3", "1");
    assert_false(log_rotate_by_size("log", 3)); /* it does not exist */
    touch("log", "only");
    assert_true(log_rotate_by_size("log", 1));
    expect_content("log.1", "only");
    touch("log", "more");
    touch("log.9999", "old");
    touch("log.10001", "kept by nobody");
    assert_true(log_rotate_by_size("log", 4000000000)); /* at most 10000 are kept */
    expect_content("log.1", "more");
    expect_content("log.2", "only");
    expect_content("log.10000", "old");
    expect_content("log.10001", "kept by nobody");
}

/* Only files that this rotation created are removed, the oldest first; compressed ones count. */
static void by_time(void **state)
{
    (void)state;
    const struct log_rotation_settings days = {.when = LOG_ROTATION_DAYS, .interval = 1, .keep = 3};
    touch("log", "today");
    touch("log.2026-11-18", "18");
    touch("log.2026-11-19.gz", "19");
    touch("log.2026-11-17", "17");
    touch("log.2026-11-20", "20");
    touch("log.2026-11-1", "no date");
    touch("log.2026-11-02.tar.gz", "of somebody else, as for Python");
    touch("log.2026-11-02.", "");
    touch("log.2026-11-16_10", "of another rotation");
    touch("log2.2026-11-01", "of another log");
    touch("log.old", "old");
    char path[128];
    snprintf(path, sizeof(path), "%s/log", directory);
    /* 2026-11-22 00:00 in the test's zone */
    assert_true(log_rotate_by_time(path, &days, 1795302000, 1795302000));
    expect_content("log", NULL);
    expect_content("log.2026-11-21", "today");
    expect_content("log.2026-11-20", "20");
    expect_content("log.2026-11-19.gz", "19");
    expect_content("log.2026-11-18", NULL);
    expect_content("log.2026-11-17", NULL);
    assert_int_equal(count_files(), 9);
    touch("log", "again");
    assert_false(log_rotate_by_time("log", &days, 1795302000, 1795302000));
    assert_int_equal(errno, EEXIST);
    expect_content("log.2026-11-21", "today");
    expect_content("log", "again");
    assert_int_equal(unlink("log"), 0);
    assert_false(log_rotate_by_time("log", &days, 1795302000, 1795302000));
    const struct log_rotation_settings all = {.when = LOG_ROTATION_DAYS, .interval = 1};
    touch("log", "once more");
    assert_true(log_rotate_by_time("log", &all, 1795388400, 1795388400));
    expect_content("log.2026-11-19.gz", "19");
    expect_content("log.2026-11-22", "once more");
}

/* File systems that cannot refuse to replace a file in the same call, such as older ones of a
 * network: what is there stays, too. */
static bool cannot_refuse;

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags)
{
    if (!cannot_refuse)
        return (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags);
    errno = EINVAL;
    return -1;
}

static void by_time_without_no_replace(void **state)
{
    (void)state;
    const struct log_rotation_settings days = {.when = LOG_ROTATION_DAYS, .interval = 1};
    cannot_refuse = true;
    touch("log", "today");
    assert_true(log_rotate_by_time("log", &days, 1795302000, 1795302000));
    expect_content("log.2026-11-21", "today");
    touch("log", "again");
    assert_false(log_rotate_by_time("log", &days, 1795302000, 1795302000));
    assert_int_equal(errno, EEXIST);
    expect_content("log.2026-11-21", "today");
    expect_content("log", "again");
    cannot_refuse = false;
}

/* A file, to its directory and back. */

static const struct log_rotation_settings NONE = {.when = LOG_ROTATION_NONE};

static void write_lines(struct log_file *file, const char *text, int64_t now_s)
{
    struct slice lines = slice_of(text);
    log_file_follow(file, false, now_s);
    while (lines.len > 0) {
        size_t len = log_file_ready(file, lines, now_s);
        assert_true(len > 0 && len <= lines.len);
        assert_true(write(file->fd, lines.data, len) == (ssize_t)len);
        lines = slice_skip(lines, len);
    }
}

static void open_file(struct log_file *file, const struct log_rotation_settings *rotation,
                      int64_t now_s)
{
    struct err err = {.arena = arena_create()};
    if (!log_file_open(file, "log", rotation, now_s, &err))
        fail_msg("%.*s", SLICE_ARG(err.message));
    arena_destroy(err.arena);
}

static void files_are_appended_to(void **state)
{
    (void)state;
    struct log_file file;
    struct stat status;
    touch("log", "before\n");
    umask(027);
    open_file(&file, &NONE, 100);
    write_lines(&file, "a\n", 100);
    expect_content("log", "before\na\n");
    assert_int_equal(truncate("log", 0), 0); /* copytruncate */
    write_lines(&file, "b\n", 100);
    expect_content("log", "b\n");
    assert_int_equal(rename("log", "log.1"), 0); /* rename, and a new file of the rotator */
    write_lines(&file, "c\n", 100);
    expect_content("log.1", "b\n");
    expect_content("log", "c\n");
    assert_int_equal(stat("log", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    log_file_close(&file);
    umask(022);
}

/* Only regular files are rotated. */
static void a_pipe(void **state)
{
    (void)state;
    const struct log_rotation_settings rotation = {
        .when = LOG_ROTATION_SIZE, .keep = 1, .max_bytes = 4};
    struct log_file file;
    assert_int_equal(mkfifo("log", 0600), 0);
    int reader = open("log", O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    open_file(&file, &rotation, 100);
    assert_int_equal(log_file_ready(&file, SLICE_LIT("aaaa\nbbbb\n"), 100), 10);
    assert_int_equal(count_files(), 1);
    log_file_close(&file);
    close(reader);
}

static void files_that_cannot_be_opened(void **state)
{
    (void)state;
    struct log_file file;
    struct err err = {.arena = arena_create()};
    assert_false(log_file_open(&file, "no/log", &NONE, 100, &err));
    assert_string_equal(err.message.data,
                        "cannot open the log file no/log: No such file or directory");
    err.status = 0;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_false(log_file_open(&file, "pipe", &NONE, 100, &err)); /* without waiting for a reader */
    arena_destroy(err.arena);
}

/* Tried once a second, and in any case on request. */
static void removed_directory(void **state)
{
    (void)state;
    struct log_file file;
    struct err err = {.arena = arena_create()};
    assert_int_equal(mkdir("sub", 0700), 0);
    assert_true(log_file_open(&file, "sub/log", &NONE, 100, &err));
    arena_destroy(err.arena);
    assert_int_equal(unlink("sub/log"), 0);
    assert_int_equal(rmdir("sub"), 0);
    log_file_follow(&file, false, 100);
    assert_int_equal(file.fd, -1);
    assert_int_equal(mkdir("sub", 0700), 0);
    log_file_follow(&file, false, 100);
    assert_int_equal(file.fd, -1);
    log_file_follow(&file, false, 101);
    assert_true(file.fd >= 0);
    write_lines(&file, "x\n", 101);
    expect_content("sub/log", "x\n");
    assert_int_equal(rename("sub/log", "sub/old"), 0);
    assert_int_equal(chdir("sub"), 0);
    assert_int_equal(chdir(".."), 0);
    log_file_follow(&file, true, 101);
    expect_content("sub/log", "");
    log_file_close(&file);
}

static void rotated_by_size(void **state)
{
    (void)state;
    const struct log_rotation_settings rotation = {
        .when = LOG_ROTATION_SIZE, .keep = 2, .max_bytes = 12};
    struct log_file file;
    open_file(&file, &rotation, 100);
    write_lines(&file, "aaaa\nbbbb\ncccc\n", 100); /* twelve bytes are never reached */
    expect_content("log.1", "aaaa\nbbbb\n");
    expect_content("log", "cccc\n");
    write_lines(&file, "a line that is longer than a file\nd\n", 100);
    expect_content("log.2", "cccc\n");
    expect_content("log.1", "a line that is longer than a file\n");
    expect_content("log", "d\n");
    assert_int_equal(count_files(), 3);
    log_file_close(&file);
}

/* With a backup count of 0 there is no rotation, as in Python. */
static void no_rotation_by_size(void **state)
{
    (void)state;
    const struct log_rotation_settings rotation = {.when = LOG_ROTATION_SIZE, .max_bytes = 4};
    struct log_file file;
    open_file(&file, &rotation, 100);
    write_lines(&file, "aaaa\nbbbb\n", 100);
    expect_content("log", "aaaa\nbbbb\n");
    log_file_close(&file);
}

static void rotated_by_time(void **state)
{
    (void)state;
    const struct log_rotation_settings rotation = {
        .when = LOG_ROTATION_MINUTES, .interval = 1, .keep = 2};
    struct log_file file;
    int64_t now = 1795302000;
    open_file(&file, &rotation, now);
    assert_true(file.due_s <= now + 60);
    file.due_s = now + 60;
    write_lines(&file, "a\n", now + 59);
    write_lines(&file, "b\n", now + 60);
    expect_content("log.2026-11-22_00-00", "a\n");
    expect_content("log", "b\n");
    write_lines(&file, "c\n", now + 200);
    expect_content("log.2026-11-22_00-01", "b\n");
    write_lines(&file, "d\n", now + 300);
    expect_content("log.2026-11-22_00-00", NULL); /* two are kept */
    assert_int_equal(count_files(), 3);
    log_file_close(&file);
}

/* Of the files that a rotation has made, the oldest are removed: those whose names have its form.
 */
static void removed_by_time(void **state)
{
    (void)state;
    static const struct {
        enum log_rotation when;
        const char *oldest;
        const char *older;
        const char *newest;
    } cases[] = {
        {LOG_ROTATION_SECONDS, "log.2026-11-21_23-59-57", "log.2026-11-21_23-59-58",
         "log.2026-11-21_23-59-59"},
        {LOG_ROTATION_HOURS, "log.2026-11-21_21", "log.2026-11-21_22", "log.2026-11-21_23"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct log_rotation_settings rotation = {
            .when = cases[i].when, .interval = 1, .keep = 2};
        touch(cases[i].oldest, "1");
        touch(cases[i].older, "2");
        touch("log.2026-11-20", "of another rotation");
        touch("log", "3");
        assert_true(log_rotate_by_time("log", &rotation, 1795302000, 1795302000));
        expect_content(cases[i].oldest, NULL);
        expect_content(cases[i].older, "2");
        expect_content(cases[i].newest, "3");
        expect_content("log.2026-11-20", "of another rotation");
    }
}

/* When daylight saving time ends two hours get the same name: the lines of both are kept. */
static void an_hour_twice(void **state)
{
    (void)state;
    const struct log_rotation_settings rotation = {.when = LOG_ROTATION_HOURS, .interval = 1};
    struct log_file file;
    int64_t now = 1792885500; /* 2026-10-25 01:45, summer time until 03:00 */
    open_file(&file, &rotation, now);
    file.due_s = now + 900;
    write_lines(&file, "a\n", now);
    write_lines(&file, "b\n", now + 1200);
    write_lines(&file, "c\n", now + 1200 + 3600);
    write_lines(&file, "d\n", now + 1200 + 7200);
    assert_int_equal(system("cat log* | sort | tr -d '\\n' > all"), 0);
    expect_content("all", "abcd");
    log_file_close(&file);
}

/* Another berthd has rotated the same file: this one does not rotate it again. */
static void rotated_by_another(void **state)
{
    (void)state;
    const struct log_rotation_settings rotation = {
        .when = LOG_ROTATION_SIZE, .keep = 1, .max_bytes = 12};
    struct log_file file;
    open_file(&file, &rotation, 100);
    write_lines(&file, "aaaa\nbbbb\n", 100);
    assert_int_equal(rename("log", "log.1"), 0);
    touch("log", "of the other\n");
    (void)log_file_ready(&file, SLICE_LIT("cccc\n"), 100); /* it has just checked */
    expect_content("log.1", "aaaa\nbbbb\n");
    expect_content("log", "of the other\n");
    log_file_close(&file);
}

/* It is rotating now: its renames and ours must not interfere. */
static void rotated_by_another_now(void **state)
{
    (void)state;
    const struct log_rotation_settings rotation = {
        .when = LOG_ROTATION_SIZE, .keep = 1, .max_bytes = 6};
    struct log_file file;
    open_file(&file, &rotation, 100);
    int other = open("log", O_RDONLY);
    assert_true(other >= 0);
    assert_int_equal(flock(other, LOCK_EX), 0);
    write_lines(&file, "aaaa\nbbbb\n", 100);
    expect_content("log", "aaaa\nbbbb\n");
    assert_int_equal(file.rotate_error, EWOULDBLOCK);
    close(other);
    write_lines(&file, "cccc\n", 101);
    expect_content("log.1", "aaaa\nbbbb\n");
    expect_content("log", "cccc\n");
    assert_int_equal(file.rotate_error, 0);
    log_file_close(&file);
}

/* logrotate's new file belongs to another user: lines go on to the renamed one. */
static void a_path_that_cannot_be_opened(void **state)
{
    (void)state;
    struct log_file file;
    open_file(&file, &NONE, 100);
    write_lines(&file, "a\n", 100);
    assert_int_equal(rename("log", "log.1"), 0);
    assert_int_equal(mkdir("log", 0700), 0);
    write_lines(&file, "b\n", 100);
    assert_int_equal(file.open_error, EISDIR);
    expect_content("log.1", "a\nb\n");
    assert_int_equal(rmdir("log"), 0);
    write_lines(&file, "c\n", 100);
    expect_content("log.1", "a\nb\nc\n");
    write_lines(&file, "d\n", 50); /* the clock was set back */
    expect_content("log", "d\n");
    assert_int_equal(file.open_error, 0);
    log_file_close(&file);
}

/* A file that cannot be renamed continues to grow, and the rotation is tried again. */
static void rotation_in_vain(void **state)
{
    (void)state;
    const struct log_rotation_settings rotation = {
        .when = LOG_ROTATION_SIZE, .keep = 1, .max_bytes = 6};
    struct log_file file;
    open_file(&file, &rotation, 100);
    assert_int_equal(mkdir("log.1", 0700), 0);
    touch("log.1/x", "");
    write_lines(&file, "aaaa\nbbbb\n", 100);
    expect_content("log", "aaaa\nbbbb\n");
    assert_true(file.rotate_error != 0);
    assert_int_equal(unlink("log.1/x"), 0);
    assert_int_equal(rmdir("log.1"), 0);
    write_lines(&file, "cccc\n", 100);
    expect_content("log", "aaaa\nbbbb\ncccc\n");
    write_lines(&file, "dddd\n", 101);
    expect_content("log", "dddd\n");
    assert_int_equal(file.rotate_error, 0);
    log_file_close(&file);
}

static int setup(void **state)
{
    (void)state;
    setenv("TZ", ZONE, 1);
    tzset();
    snprintf(directory, sizeof(directory), "/tmp/berth-test-rotate-XXXXXX");
    return mkdtemp(directory) == NULL || chdir(directory) != 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    assert_int_equal(chdir("/"), 0);
    snprintf(command, sizeof(command), "rm -r %s", directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(as_python_does, setup, teardown),
        cmocka_unit_test_setup_teardown(by_size, setup, teardown),
        cmocka_unit_test_setup_teardown(by_time, setup, teardown),
        cmocka_unit_test_setup_teardown(by_time_without_no_replace, setup, teardown),
        cmocka_unit_test_setup_teardown(files_are_appended_to, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pipe, setup, teardown),
        cmocka_unit_test_setup_teardown(files_that_cannot_be_opened, setup, teardown),
        cmocka_unit_test_setup_teardown(removed_directory, setup, teardown),
        cmocka_unit_test_setup_teardown(rotated_by_size, setup, teardown),
        cmocka_unit_test_setup_teardown(no_rotation_by_size, setup, teardown),
        cmocka_unit_test_setup_teardown(rotated_by_time, setup, teardown),
        cmocka_unit_test_setup_teardown(removed_by_time, setup, teardown),
        cmocka_unit_test_setup_teardown(an_hour_twice, setup, teardown),
        cmocka_unit_test_setup_teardown(rotated_by_another, setup, teardown),
        cmocka_unit_test_setup_teardown(rotated_by_another_now, setup, teardown),
        cmocka_unit_test_setup_teardown(a_path_that_cannot_be_opened, setup, teardown),
        cmocka_unit_test_setup_teardown(rotation_in_vain, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
