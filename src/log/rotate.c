/* When a log file is rotated, and the names of the older ones: the same as Python's
 * RotatingFileHandler and TimedRotatingFileHandler, including the odd hours around a change of
 * daylight saving time (Python library reference, logging.handlers; these handlers made the table
 * in the unit test). Any one thread for one file. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "log/internal.h"

enum { HOUR_S = 3600, DAY_S = 86400, WEEK_S = 7 * 86400, KEEP_MAX = 10000 };

static int64_t interval_s(const struct log_rotation_settings *rotation)
{
    switch (rotation->when) {
    case LOG_ROTATION_SECONDS:
        return rotation->interval;
    case LOG_ROTATION_MINUTES:
        return (int64_t)rotation->interval * 60;
    case LOG_ROTATION_HOURS:
        return (int64_t)rotation->interval * HOUR_S;
    case LOG_ROTATION_DAYS:
    case LOG_ROTATION_MIDNIGHT:
        return (int64_t)rotation->interval * DAY_S;
    case LOG_ROTATION_WEEKDAY:
        return (int64_t)rotation->interval * WEEK_S;
    case LOG_ROTATION_NONE:
    case LOG_ROTATION_SIZE:
        break;
    }
    return INT64_MAX / 2;
}

static struct tm local_time(int64_t at_s)
{
    time_t at = (time_t)at_s;
    struct tm local;
    localtime_r(&at, &local);
    return local;
}

static bool by_calendar(const struct log_rotation_settings *rotation)
{
    return rotation->when == LOG_ROTATION_MIDNIGHT || rotation->when == LOG_ROTATION_WEEKDAY;
}

/* Corrects the local hour at `then_s` for a change of daylight saving time since. */
static int64_t daylight_shift(bool daylight_now, int64_t then_s)
{
    bool daylight_then = local_time(then_s).tm_isdst > 0;
    if (daylight_now == daylight_then)
        return 0;
    return daylight_now ? HOUR_S : -HOUR_S;
}

int64_t log_rotate_next(const struct log_rotation_settings *rotation, int64_t from_s)
{
    if (!by_calendar(rotation))
        return from_s + interval_s(rotation);
    struct tm now = local_time(from_s);
    int64_t next = from_s + DAY_S - (now.tm_hour * HOUR_S + now.tm_min * 60 + now.tm_sec);
    int day = (now.tm_wday + 6) % 7; /* 0: Monday */
    if (rotation->when == LOG_ROTATION_MIDNIGHT || day == (int)rotation->weekday)
        return next;
    next += ((int)rotation->weekday - day + 7) % 7 * (int64_t)DAY_S;
    return next + daylight_shift(now.tm_isdst > 0, next);
}

int64_t log_rotate_after(const struct log_rotation_settings *rotation, int64_t now_s)
{
    int64_t next = log_rotate_next(rotation, now_s);
    if (by_calendar(rotation))
        next += daylight_shift(local_time(now_s).tm_isdst > 0, next);
    return next;
}

void log_rotate_suffix(const struct log_rotation_settings *rotation, int64_t due_s, int64_t now_s,
                       char out[32])
{
    int64_t begin = due_s - interval_s(rotation);
    begin += daylight_shift(local_time(now_s).tm_isdst > 0, begin);
    struct tm local = local_time(begin);
    const char *form = "%Y-%m-%d";
    if (rotation->when == LOG_ROTATION_SECONDS)
        form = "%Y-%m-%d_%H-%M-%S";
    else if (rotation->when == LOG_ROTATION_MINUTES)
        form = "%Y-%m-%d_%H-%M";
    else if (rotation->when == LOG_ROTATION_HOURS)
        form = "%Y-%m-%d_%H";
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    check(strftime(out, 32, form, &local) > 0);
#pragma GCC diagnostic pop
}

static char *numbered(const char *path, unsigned number)
{
    char *name = NULL;
    check(asprintf(&name, "%s.%u", path, number) > 0);
    return name;
}

bool log_rotate_by_size(const char *path, unsigned keep)
{
    if (keep > KEEP_MAX)
        keep = KEEP_MAX;
    bool ok = true;
    char *to = numbered(path, keep);
    for (unsigned i = keep; ok && i > 1; i--) {
        char *from = numbered(path, i - 1);
        ok = rename(from, to) == 0 || errno == ENOENT; /* as in Python, this leaves a gap */
        free(to);
        to = from;
    }
    ok = ok && rename(path, to) == 0;
    free(to);
    return ok;
}

/* Whether `text` has digits and separators as in `form`, where 0 is any digit, optionally followed
 * by a dot and one word, as in the name of a compressed file. */
static bool has_form(const char *text, const char *form)
{
    for (; *form != '\0'; text++, form++)
        if (*form == '0' ? *text < '0' || *text > '9' : *text != *form)
            return false;
    if (*text == '\0')
        return true;
    size_t word = 0;
    while (*text == '.' && (isalnum((unsigned char)text[1 + word]) || text[1 + word] == '_'))
        word++;
    return word > 0 && text[1 + word] == '\0';
}

static const char *suffix_form(enum log_rotation when)
{
    switch (when) {
    case LOG_ROTATION_SECONDS:
        return "0000-00-00_00-00-00";
    case LOG_ROTATION_MINUTES:
        return "0000-00-00_00-00";
    case LOG_ROTATION_HOURS:
        return "0000-00-00_00";
    default:
        return "0000-00-00";
    }
}

static int compare_names(const void *left, const void *right)
{
    const char *const *a = left;
    const char *const *b = right;
    return strcmp(*a, *b);
}

/* The names of files that rotation made of `base`, in an array of the arena. */
static size_t rotated_names(DIR *directory, const char *base, enum log_rotation when,
                            struct arena *arena, const char ***names)
{
    size_t count = 0;
    size_t room = 0;
    size_t base_len = strlen(base);
    *names = NULL;
    for (struct dirent *at = readdir(directory); at != NULL; at = readdir(directory)) {
        if (strncmp(at->d_name, base, base_len) != 0 || at->d_name[base_len] != '.' ||
            !has_form(at->d_name + base_len + 1, suffix_form(when)))
            continue;
        *names = arena_grow(arena, (void *)*names, count, &room, sizeof(**names));
        (*names)[count++] = arena_copy(arena, slice_of(at->d_name)).data;
    }
    return count;
}

static void remove_old(const char *path, const struct log_rotation_settings *rotation)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash == NULL ? path : slash + 1;
    struct arena *arena = arena_create();
    const char *folder =
        slash == NULL ? "." : arena_printf(arena, "%.*s/", (int)(slash - path), path).data;
    DIR *directory = opendir(folder);
    const char **names;
    size_t count =
        directory == NULL ? 0 : rotated_names(directory, base, rotation->when, arena, &names);
    if (count > rotation->keep) {
        qsort((void *)names, count, sizeof(*names), compare_names);
        for (size_t i = 0; i < count - rotation->keep; i++)
            (void)unlinkat(dirfd(directory), names[i], 0);
    }
    if (directory != NULL)
        closedir(directory);
    arena_destroy(arena);
}

/* A second hour with the same name, when daylight saving time ends, or another berthd's rotation
 * must not overwrite the lines of the first; in Python before 3.12 it does. */
static bool rename_to_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    struct stat status; /* not supported by the file system */
    if (lstat(to, &status) != 0)
        return rename(from, to) == 0;
    errno = EEXIST;
    return false;
}

bool log_rotate_by_time(const char *path, const struct log_rotation_settings *rotation,
                        int64_t due_s, int64_t now_s)
{
    char suffix[32];
    char *to = NULL;
    log_rotate_suffix(rotation, due_s, now_s, suffix);
    check(asprintf(&to, "%s.%s", path, suffix) > 0);
    bool ok = rename_to_new(path, to);
    free(to);
    if (ok && rotation->keep > 0)
        remove_old(path, rotation);
    return ok;
}
