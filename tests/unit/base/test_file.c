/* Whole files and pipes, up to the limit. */
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files),
        cmocka_unit_test(pipes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
