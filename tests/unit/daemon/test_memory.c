/* The memory for bodies, limited by what the process may use: by its resource limits, and by the
 * control group of a container or of the service manager, whose files are played here. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "log/log.h"
#include "log/settings.h"
#include "unit.h"

#define GIB (UINT64_C(1) << 30)

/* NULL: there is no such file. */
static struct {
    const char *of_process; /* /proc/self/cgroup */
    const char *of_group;   /* /sys/fs/cgroup/a/b/memory.max */
    const char *of_root;    /* /sys/fs/cgroup/memory.max */
} files;

FILE *fopen(const char *path, const char *mode)
{
    const struct {
        const char *path;
        const char *text;
    } played[] = {{"/proc/self/cgroup", files.of_process},
                  {"/sys/fs/cgroup/a/b/memory.max", files.of_group},
                  {"/sys/fs/cgroup/memory.max", files.of_root}};
    for (size_t i = 0; i < sizeof(played) / sizeof(played[0]); i++)
        if (strcmp(path, played[i].path) == 0) {
            const char *text = played[i].text;
            errno = ENOENT;
            return text == NULL ? NULL : fmemopen((void *)(uintptr_t)text, strlen(text), "r");
        }
    __typeof__(&fopen) real = (__typeof__(&fopen))dlsym(RTLD_NEXT, "fopen");
    return real(path, mode);
}

static rlim_t limit_of_data = RLIM_INFINITY;

/* A real limit would also apply to the test, which needs much more memory with a sanitizer. */
int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
    limit->rlim_cur = resource == RLIMIT_DATA ? limit_of_data : RLIM_INFINITY;
    limit->rlim_max = RLIM_INFINITY;
    return 0;
}

static void expect_bytes(uint64_t wanted, uint64_t expected)
{
    struct conf conf = {.body_memory_bytes = wanted};
    assert_int_equal(memory_of_bodies(&conf), expected);
}

/* A quarter of the least limit, or what is configured if that is less. */
static void control_groups(void **state)
{
    (void)state;
    files.of_process = "12:memory:/x\n0::/a/b\n";
    const struct {
        const char *of_group;
        const char *of_root;
        uint64_t expected;
    } cases[] = {
        {NULL, NULL, 3 * GIB},
        {"max\n", NULL, 3 * GIB},
        {"max\n", "max\n", 3 * GIB},
        {"4294967296\n", NULL, GIB},
        {"4294967296\n", "max\n", GIB},
        {"max\n", "4294967296\n", GIB},
        {"8589934592\n", "4294967296\n", GIB},
        {"4294967296\n", "8589934592\n", GIB},
        {"0\n", NULL, 3 * GIB},
        {"nonsense\n", NULL, 3 * GIB},
        {"1099511627776\n", NULL, 3 * GIB},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        files.of_group = cases[i].of_group;
        files.of_root = cases[i].of_root;
        expect_bytes(3 * GIB, cases[i].expected);
    }
    files.of_group = "4294967296\n";
    files.of_root = NULL;
    expect_bytes(GIB, GIB);
    expect_bytes(GIB + 1, GIB);
    files.of_process = "12:memory:/a/b\n"; /* the first version of control groups */
    expect_bytes(3 * GIB, 3 * GIB);
    files.of_process = NULL;
    expect_bytes(3 * GIB, 3 * GIB);
}

/* It is logged, because berthd then refuses bodies that the configuration seems to allow. */
static void resource_limits(void **state)
{
    (void)state;
    char text[512] = "";
    char path[] = "/tmp/berth-test-memory-XXXXXX";
    int fd = mkostemp(path, O_APPEND);
    assert_true(fd >= 0);
    assert_int_equal(unlink(path), 0);
    log_start(fd, false);
    files.of_process = NULL;
    expect_bytes(3 * GIB, 3 * GIB);
    limit_of_data = 4 * GIB;
    expect_bytes(3 * GIB, GIB);
    limit_of_data = RLIM_INFINITY;
    log_stop();
    assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
    close(fd);
    assert_non_null(strstr(text, " INFO berth [-] [berth] body_memory is reduced to 1073741824 "
                                 "bytes, a quarter of the memory limit of this process\n"));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_groups),
        cmocka_unit_test(resource_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
