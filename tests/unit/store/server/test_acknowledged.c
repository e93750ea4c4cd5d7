/* The file with the newest state of an instance: what is left of it after damage, and who may use
 * it. */
#include "store/server/acknowledged.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "unit.h"

static char directory[64];
static const struct slice DATABASE = {"postgresql://h/d", 16};

static int make_directory(void **state)
{
    (void)state;
    snprintf(directory, sizeof(directory), "/tmp/berth-acknowledged-XXXXXX");
    return mkdtemp(directory) == NULL ? -1 : 0;
}

static int remove_entry(const char *path, const struct stat *file, int kind, struct FTW *walk)
{
    (void)file;
    (void)kind;
    (void)walk;
    return remove(path);
}

static int remove_directory(void **state)
{
    (void)state;
    return nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* The number of the state in the file, of which all others are multiples; 0: there is none. */
static int64_t opened(struct acknowledged *file, struct slice database)
{
    struct epochs_left left;
    int64_t number = acknowledged_open(file, slice_of(directory), database, &left).number;
    assert_int_equal(left.rows[0].epoch, number * 10);
    assert_int_equal(left.gone, number * 20);
    return number;
}

static void write_number(struct acknowledged *file, int64_t number)
{
    const struct log_state state = {.number = number};
    const struct epochs_left left = {.rows[0].epoch = number * 10, .gone = number * 20};
    acknowledged_write(file, &state, &left);
}

static int64_t left_by_the_last(struct slice database)
{
    struct acknowledged file;
    int64_t number = opened(&file, database);
    acknowledged_close(&file);
    return number;
}

/* The newest state, whichever slot it is in; an empty log leaves none. */
static void test_newest(void **state)
{
    (void)state;
    struct acknowledged file;
    assert_int_equal(opened(&file, DATABASE), 0);
    write_number(&file, 0);
    acknowledged_close(&file);
    for (int64_t number = 1; number < 5; number++) {
        assert_int_equal(opened(&file, DATABASE), number - 1);
        write_number(&file, number);
        acknowledged_close(&file);
    }
    assert_int_equal(opened(&file, DATABASE), 4);
    write_number(&file, 9);
    write_number(&file, 8); /* the database went back: the last one counts, not the largest */
    acknowledged_close(&file);
    assert_int_equal(left_by_the_last(DATABASE), 8);
}

/* The path of the only file. */
static void only_file(char path[static 128])
{
    char command[160];
    snprintf(command, sizeof(command), "ls -d %s/*", directory);
    FILE *list = popen(command, "r");
    assert_non_null(list);
    assert_int_equal(fscanf(list, "%127s", path), 1);
    assert_int_equal(pclose(list), 0);
}

/* Whatever byte of the file is damaged, at most the newest state is lost, and no state is read that
 * was never written. */
static void test_damage(void **state)
{
    (void)state;
    struct acknowledged file;
    char path[128];
    unsigned lost = 0;
    assert_int_equal(opened(&file, DATABASE), 0);
    write_number(&file, 1);
    write_number(&file, 2);
    acknowledged_close(&file);
    only_file(path);
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    for (off_t at = 0; at < 256; at++) {
        unsigned char byte;
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte ^= 0x10;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        int64_t left = left_by_the_last(DATABASE);
        assert_in_range(left, 1, 2);
        lost += left == 1;
        byte ^= 0x10;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    assert_true(lost >= 64);
    assert_int_equal(left_by_the_last(DATABASE), 2);
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(left_by_the_last(DATABASE), 0);
    close(fd);
}

/* Two instances have a file each, and so has each database. */
static void test_whose(void **state)
{
    (void)state;
    struct acknowledged one, two, other;
    assert_int_equal(opened(&one, DATABASE), 0);
    assert_int_equal(opened(&two, DATABASE), 0);
    assert_int_equal(opened(&other, SLICE_LIT("postgresql://h/e")), 0);
    write_number(&one, 1);
    write_number(&two, 2);
    write_number(&other, 3);
    acknowledged_close(&two);
    assert_int_equal(left_by_the_last(DATABASE), 2); /* the first file is still in use */
    acknowledged_close(&one);
    assert_int_equal(left_by_the_last(DATABASE), 1);
    acknowledged_close(&other);
    assert_int_equal(left_by_the_last(SLICE_LIT("postgresql://h/e")), 3);
}

/* Without a directory, and without room for a file, nothing is kept. */
static void test_nowhere(void **state)
{
    (void)state;
    struct acknowledged file;
    struct epochs_left left;
    const struct slice none = {NULL, 0};
    assert_int_equal(acknowledged_open(&file, none, DATABASE, &left).number, 0);
    write_number(&file, 1);
    acknowledged_close(&file);
    assert_int_equal(acknowledged_open(&file, SLICE_LIT("/proc/none"), DATABASE, &left).number, 0);
    write_number(&file, 1);
    acknowledged_close(&file);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit limit = {0, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(opened(&file, DATABASE), 0);
    write_number(&file, 1);
    acknowledged_close(&file);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(left_by_the_last(DATABASE), 0);
}

/* Another program truncates the file: the process goes on without it, and what is written then is
 * not taken for a state. */
static void test_truncated(void **state)
{
    (void)state;
    struct acknowledged file;
    char path[128];
    assert_int_equal(opened(&file, DATABASE), 0);
    write_number(&file, 1);
    only_file(path);
    assert_int_equal(truncate(path, 0), 0);
    write_number(&file, 2);
    write_number(&file, 3);
    acknowledged_close(&file);
    assert_int_equal(left_by_the_last(DATABASE), 0);
    assert_int_equal(opened(&file, DATABASE), 0);
    write_number(&file, 4);
    acknowledged_close(&file);
    assert_int_equal(left_by_the_last(DATABASE), 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_newest),  TEST(test_damage),    TEST(test_whose),
        TEST(test_nowhere), TEST(test_truncated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
