/* Whole files and pipes, up to the limit. */
#include "base/file.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "await.h"
#include "base/arena.h"
#include "unit.h"

static void files(void **state)
{
    (void)state;
    enum { SIZE = 20000 };
    char path[] = "/tmp/berth-file-XXXXXX";
    static char content[SIZE];
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct buf out = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    memset(content, 'x', SIZE);
    assert_int_equal(write(fd, content, SIZE), SIZE);
    close(fd);
    assert_true(file_read(path, "the file", SIZE, &out, &err));
    assert_int_equal(out.len, SIZE);
    assert_memory_equal(out.data, content, SIZE);
    out.len = 0;
    assert_false(file_read(path, "the file", SIZE - 1, &out, &err));
    assert_non_null(strstr(arena_copy(arena, err.message).data, " is larger than 19999 bytes"));
    unlink(path);
    err = (struct err){.arena = arena};
    assert_false(file_read(path, "the file", SIZE, &out, &err));
    assert_non_null(strstr(arena_copy(arena, err.message).data, ": No such file or directory"));
    err = (struct err){.arena = arena};
    assert_false(file_read("/tmp", "the file", SIZE, &out, &err));
    assert_string_equal(arena_copy(arena, err.message).data,
                        "cannot read the file /tmp: Is a directory");
    buf_free(&out);
    arena_destroy(arena);
}

static void pipes(void **state)
{
    (void)state;
    int ends[2];
    char path[32];
    struct err err = {0};
    struct buf out = {0};
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "abc", 3), 3);
    close(ends[1]);
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
    assert_true(file_read(path, "the pipe", 10, &out, &err));
    assert_true(slice_equal(buf_slice(&out), SLICE_LIT("abc")));
    close(ends[0]);
    buf_free(&out);
}

static int unread(int fd)
{
    int bytes = -1;
    assert_int_equal(ioctl(fd, FIONREAD, &bytes), 0);
    return bytes;
}

/* Each time the reader has read everything and waits. */
static void *write_slowly(void *cls)
{
    const int *fd = cls;
    for (int i = 0; i < 3; i++) {
        AWAIT(unread(*fd) == 0);
        assert_int_equal(write(*fd, "abc", 3), 3);
    }
    close(*fd);
    return NULL;
}

/* The writer is slower than the reader, which waits for everything. */
static void slow_pipes(void **state)
{
    (void)state;
    int ends[2];
    char path[32];
    struct err err = {0};
    struct buf out = {0};
    assert_int_equal(pipe(ends), 0);
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, write_slowly, &ends[1]), 0);
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
    assert_true(file_read(path, "the pipe", 10, &out, &err));
    assert_true(slice_equal(buf_slice(&out), SLICE_LIT("abcabcabc")));
    assert_int_equal(pthread_join(writer, NULL), 0);
    close(ends[0]);
    buf_free(&out);
}

static void pipes_without_writer(void **state)
{
    (void)state;
    char directory[] = "/tmp/berth-file-XXXXXX";
    char path[64];
    struct err err = {0};
    struct buf out = {0};
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/pipe", directory);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_true(file_read(path, "the pipe", 10, &out, &err));
    assert_int_equal(out.len, 0);
    unlink(path);
    rmdir(directory);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files),
        cmocka_unit_test(pipes),
        cmocka_unit_test(slow_pipes),
        cmocka_unit_test(pipes_without_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
