/* Progress goes to standard error: on a terminal, a line that is written again several times a
 * second; otherwise a new line every ten seconds, for a log. One thread. */
#include "cli/copy_command.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/copy.h"

enum { URL_BYTES = 4096, TERMINAL_US = 200000, LOG_US = 10000000 };

struct copy_progress {
    FILE *errors;
    bool is_terminal;
    bool is_line_open;
    uint64_t began_us; /* the step that is shown */
    uint64_t shown_us;
    const char *what;
    const char *table;
};

static void end_line(struct copy_progress *progress)
{
    if (progress->is_line_open)
        fputs("\r\033[K", progress->errors);
    progress->is_line_open = false;
}

static void copy_command_go_on(void *cls, const char *what, const char *table, int64_t rows,
                               int64_t all)
{
    struct copy_progress *progress = cls;
    uint64_t now_us = clock_monotonic_us();
    if (what != progress->what || table != progress->table) {
        progress->what = what;
        progress->table = table;
        progress->began_us = now_us;
    }
    if (now_us - progress->shown_us < (progress->is_terminal ? TERMINAL_US : LOG_US))
        return;
    double seconds = (double)(now_us - progress->began_us) / 1e6;
    end_line(progress);
    fprintf(progress->errors, "%s %s: %lld", what, table, (long long)rows);
    if (all > 0)
        fprintf(progress->errors, " of %lld", (long long)all);
    fprintf(progress->errors, " rows, %.0f rows/s%s", seconds > 0 ? (double)rows / seconds : 0.0,
            progress->is_terminal ? "" : "\n");
    fflush(progress->errors);
    progress->is_line_open = progress->is_terminal;
    progress->shown_us = now_us;
}

static void copy_command_notice(void *cls, struct slice line)
{
    struct copy_progress *progress = cls;
    end_line(progress);
    fprintf(progress->errors, "placement-manage: %.*s\n", SLICE_ARG(line));
}

/* So that a password need not be on the command line. */
static bool read_url(char url[static URL_BYTES], struct err *err)
{
    if (fgets(url, URL_BYTES, stdin) == NULL)
        return err_set(err, 400, NULL, "there is no URL on standard input");
    url[strcspn(url, "\r\n")] = '\0';
    return true;
}

int copy_command_run(struct slice connection, const char *to, FILE *out, FILE *errors,
                     struct err *err)
{
    char url[URL_BYTES];
    struct copy_progress progress = {.errors = errors,
                                     .is_terminal = isatty(fileno(errors)) == 1,
                                     .shown_us = clock_monotonic_us()};
    const struct copy_watch watch = {copy_command_go_on, copy_command_notice, &progress};
    struct copy_result result;
    uint64_t began_us = clock_monotonic_us();
    if (to == NULL) {
        fputs("placement-manage: error: the following arguments are required: --to\n", errors);
        return 2;
    }
    if (strcmp(to, "-") == 0) {
        if (!read_url(url, err))
            return 1;
        to = url;
    }
    bool ok = copy_make(connection, slice_of(to), &watch, &result, err);
    end_line(&progress);
    if (!ok)
        return 1;
    double seconds = (double)(clock_monotonic_us() - began_us) / 1e6;
    fprintf(out,
            "Copied %lld rows in %.1f s; each row of the target is equal to that of the "
            "source.\n",
            (long long)result.rows, seconds);
    return 0;
}
