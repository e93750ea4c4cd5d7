/* How much memory the process may use, according to its resource limits and to the control group
 * that a container or the service manager has put it into. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "daemon/daemon.h"
#include "log/log.h"

enum { SHARE_OF_LIMIT = 4 };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t limit_of(__rlimit_resource_t resource)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur
                                                                               : UINT64_MAX;
}

/* A file that contains a number, or "max". */
static uint64_t limit_in(const char *path)
{
    char text[32] = "";
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return UINT64_MAX;
    size_t len = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[len] = '\0';
    char *end;
    unsigned long long bytes = strtoull(text, &end, 10);
    return end == text || bytes == 0 ? UINT64_MAX : bytes;
}

/* Control groups version 2: "0::/system.slice/berth.service". Only its own group, not those above
 * it. */
static uint64_t limit_of_group(void)
{
    char line[512] = "";
    char path[sizeof(line) + 64];
    FILE *file = fopen("/proc/self/cgroup", "re");
    bool found = false;
    while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL)
        found = strncmp(line, "0::/", 4) == 0;
    if (file != NULL)
        fclose(file);
    if (!found)
        return UINT64_MAX;
    line[strcspn(line, "\n")] = '\0';
    snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.max", line + 3);
    return least(limit_in(path), limit_in("/sys/fs/cgroup/memory.max"));
}

uint64_t memory_of_bodies(const struct conf *conf)
{
    uint64_t limit = least(limit_of(RLIMIT_AS), limit_of(RLIMIT_DATA));
    uint64_t possible = least(limit, limit_of_group()) / SHARE_OF_LIMIT;
    if (conf->body_memory_bytes <= possible)
        return conf->body_memory_bytes;
    log_write(LOG_LEVEL_INFO, "berth", LOG_NO_CONTEXT,
              "[berth] body_memory is reduced to %llu bytes, a quarter of the memory limit of this "
              "process",
              (unsigned long long)possible);
    return possible;
}
