/* Process ids are reused after a while or a reboot; together with the machine's boot id and the
 * start time of the process, both from /proc, they are unique. Any thread. */
#include "baremetal/write/instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct slice read_line(const char *path, char *text, size_t bytes)
{
    FILE *file = fopen(path, "re");
    size_t len = file == NULL ? 0 : fread(text, 1, bytes, file);
    if (file != NULL)
        fclose(file);
    const char *end = memchr(text, '\n', len);
    return (struct slice){text, end == NULL ? len : (size_t)(end - text)};
}

static struct slice boot_id(char *text, size_t bytes)
{
    struct slice id = read_line("/proc/sys/kernel/random/boot_id", text, bytes);
    return id.len > 0 ? id : SLICE_LIT("-");
}

/* The PID namespace: two containers may have the same process ids. */
static struct slice namespace_id(char *text, size_t bytes)
{
    ssize_t len = readlink("/proc/self/ns/pid", text, bytes);
    return len > 0 ? (struct slice){text, (size_t)len} : SLICE_LIT("-");
}

/* proc(5): field 22 of stat, in clock ticks after the boot; the name before it may contain blanks.
 * A process that has ended but has not been waited for has none. */
static struct slice start_of(long pid, char *text, size_t bytes)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    struct slice rest = read_line(path, text, bytes);
    const char *name_end = rest.len == 0 ? NULL : memrchr(rest.data, ')', rest.len);
    if (name_end == NULL)
        return (struct slice){0};
    rest = slice_skip(rest, (size_t)(name_end - rest.data) + 2);
    if (slice_starts_with(rest, SLICE_LIT("Z")) || slice_starts_with(rest, SLICE_LIT("X")))
        return (struct slice){0};
    enum { FIELDS_BETWEEN = 19 };
    for (int i = 0; i < FIELDS_BETWEEN; i++)
        (void)slice_cut(&rest, ' ');
    return slice_cut(&rest, ' ');
}

struct slice instance_name(struct slice host, struct arena *arena)
{
    char boot[64];
    char space[64];
    char stat[1024];
    long pid = (long)getpid();
    struct slice start = start_of(pid, stat, sizeof(stat));
    return arena_printf(arena, "%.*s %.*s %.*s %ld %.*s", SLICE_ARG(host),
                        SLICE_ARG(boot_id(boot, sizeof(boot))),
                        SLICE_ARG(namespace_id(space, sizeof(space))), pid, SLICE_ARG(start));
}

bool instance_is_gone(struct slice name, struct slice host, bool is_shared)
{
    char boot[64];
    char space[64];
    char stat[1024];
    char digits[24];
    if (!slice_equal(slice_cut(&name, ' '), host))
        return false;
    if (!slice_equal(slice_cut(&name, ' '), boot_id(boot, sizeof(boot))))
        return !is_shared;
    if (!slice_equal(slice_cut(&name, ' '), namespace_id(space, sizeof(space))))
        return false;
    struct slice pid = slice_cut(&name, ' ');
    if (pid.len == 0 || pid.len >= sizeof(digits))
        return true;
    memcpy(digits, pid.data, pid.len);
    digits[pid.len] = '\0';
    return !slice_equal(name, start_of(strtol(digits, NULL, 10), stat, sizeof(stat)));
}
