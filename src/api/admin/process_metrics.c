/* The metrics that Prometheus's client libraries export for every process, under their names. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api/admin/admin_internal.h"
#include "base/clock.h"

/* The fields of /proc/self/stat from the third one, counted from 0 (proc(5)). */
enum { STAT_THREADS = 17, STAT_START = 19, STAT_VIRTUAL = 20, STAT_RESIDENT = 21, STAT_COUNT };

struct stat_fields {
    long long at[STAT_COUNT];
    bool is_read;
};

static struct stat_fields read_stat(void)
{
    struct stat_fields fields = {.is_read = false};
    char text[1024];
    FILE *file = fopen("/proc/self/stat", "re");
    if (file == NULL)
        return fields;
    size_t len = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[len] = '\0';
    /* the program's name may contain anything, but no ')' follows it; the state is a letter */
    char *at = strrchr(text, ')');
    if (at == NULL || strlen(at) < 4)
        return fields;
    at += 3;
    for (unsigned i = 1; i < STAT_COUNT; i++) {
        char *end;
        fields.at[i] = strtoll(at, &end, 10);
        if (end == at)
            return fields;
        at = end;
    }
    fields.is_read = true;
    return fields;
}

int64_t process_started_us(void)
{
    struct stat_fields fields = read_stat();
    long ticks = sysconf(_SC_CLK_TCK);
    int64_t now_us = clock_wall_us();
    if (!fields.is_read || ticks <= 0)
        return now_us;
    return now_us - (int64_t)clock_boot_us() + fields.at[STAT_START] * 1000000 / ticks;
}

static uint64_t count_descriptors(void)
{
    uint64_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    if (directory == NULL)
        return 0;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count > 0 ? count - 1 : 0; /* without the descriptor opened for counting */
}

static void write_cpu(struct exposition *exposition)
{
    exposition_begin(exposition, METRIC_PROCESS_CPU);
    exposition_value(exposition, NULL, 0, (double)clock_process_us() / 1e6);
}

void process_metrics_write(const struct admin *admin, struct exposition *exposition)
{
    struct stat_fields fields = read_stat();
    struct rlimit files;
    write_cpu(exposition);
    exposition_begin(exposition, METRIC_PROCESS_START);
    exposition_value(exposition, NULL, 0, (double)admin->started_us / 1e6);
    if (fields.is_read) {
        uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
        exposition_single(exposition, METRIC_PROCESS_RESIDENT,
                          (uint64_t)fields.at[STAT_RESIDENT] * page);
        exposition_single(exposition, METRIC_PROCESS_VIRTUAL, (uint64_t)fields.at[STAT_VIRTUAL]);
        exposition_single(exposition, METRIC_PROCESS_THREADS, (uint64_t)fields.at[STAT_THREADS]);
    }
    exposition_single(exposition, METRIC_PROCESS_OPEN_FDS, count_descriptors());
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        exposition_single(exposition, METRIC_PROCESS_MAX_FDS, files.rlim_cur);
}
