/* Termination signals are blocked, and checked for while the copy is made: an unfinished copy is
 * then removed. The main thread. */
#include "cli/backup_command.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "conf/command_line.h"
#include "conf/load.h"
#include "store/backup.h"

enum { FAILED = 1, WRONG = 2 };

#define SOURCES                                                                                    \
    {                                                                                              \
        "--config-file",                                                                           \
        NULL,                                                                                      \
        "FILE",                                                                                    \
        "Read this file instead of the first placement.conf found.",                               \
        SWITCH_CONFIG_FILE,                                                                        \
        NULL,                                                                                      \
        NULL,                                                                                      \
        NULL},                                                                                     \
        {"--config-dir",    NULL, "DIR", "Also read the *.conf files in this directory.",          \
         SWITCH_CONFIG_DIR, NULL, NULL,  NULL},                                                    \
    {                                                                                              \
        .name = NULL                                                                               \
    }

static const struct command_line_switch backup_switches[] = {
    {"--help", "-h", NULL, "Show this help and exit.", SWITCH_HELP, NULL, NULL, NULL},
    {"--force", NULL, NULL, "Replace FILE if it exists.", SWITCH_OWN, NULL, NULL, NULL},
    SOURCES,
};

static const struct command_line_switch restore_switches[] = {
    {"--help", "-h", NULL, "Show this help and exit.", SWITCH_HELP, NULL, NULL, NULL},
    {"--no-keep", NULL, NULL,
     "Do not keep the replaced database. Without this switch, it is kept beside the new one, as "
     "NAME.replaced-DATE.",
     SWITCH_OWN, NULL, NULL, NULL},
    SOURCES,
};

struct copying {
    sigset_t ends;
    bool is_shown;
    const char *what;
    unsigned percent;
};

/* Either backup_make() or backup_restore(), and the text that it prints. */
struct work {
    const char *name; /* of the command */
    const char *details;
    const struct command_line_switch *switches;
    bool (*run)(const struct command_line *line, struct slice connection, const char *file,
                const struct backup_watch *watch, struct err *err);
};

static bool backup_command_go_on(void *cls, const char *what, unsigned percent)
{
    struct copying *copying = cls;
    sigset_t pending;
    if (copying->is_shown && (what != copying->what || percent != copying->percent)) {
        copying->what = what;
        copying->percent = percent;
        if (percent > 0)
            fprintf(stderr, "\r%s %u%% ", what, percent);
        else
            fprintf(stderr, "\r%s ... ", what);
    }
    return sigpending(&pending) != 0 || sigandset(&pending, &pending, &copying->ends) != 0 ||
           sigisemptyset(&pending) == 1;
}

/* A signal that the caller ignores, as nohup does, stays ignored: blocked, it would be pending. */
static void block_ends(sigset_t *ends)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction inherited;
    sigemptyset(ends);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        if (sigaction(signals[i], NULL, &inherited) != 0 || inherited.sa_handler != SIG_IGN)
            sigaddset(ends, signals[i]);
    sigprocmask(SIG_BLOCK, ends, NULL);
}

/* Before anything else is printed, which may go to the same terminal. */
static void end_progress(struct copying *copying)
{
    if (copying->what != NULL)
        fputs("\r                    \r", stderr);
    copying->what = NULL;
}

static void print_facts(const struct backup_facts *facts)
{
    printf("%.1f MiB, schema revision %s, %lld resource provider%s",
           (double)facts->bytes / (1 << 20), facts->revision, (long long)facts->providers,
           facts->providers == 1 ? "" : "s");
}

static bool run_backup(const struct command_line *line, struct slice connection, const char *file,
                       const struct backup_watch *watch, struct err *err)
{
    struct backup_facts facts;
    bool overwrite = command_line_own(line, "--force") != NULL;
    if (!backup_make(connection, file, overwrite, watch, &facts, err))
        return false;
    end_progress(watch->cls);
    printf("Backup '%s': ", file);
    print_facts(&facts);
    putchar('\n');
    return true;
}

static bool run_restore(const struct command_line *line, struct slice connection, const char *file,
                        const struct backup_watch *watch, struct err *err)
{
    struct restore_result result;
    bool keep = command_line_own(line, "--no-keep") == NULL;
    if (!backup_restore(connection, file, keep, watch, &result, err))
        return false;
    end_progress(watch->cls);
    printf("Restored '%s': ", result.path);
    print_facts(&result.facts);
    if (result.kept[0] != '\0')
        printf("; the replaced database is '%s'", result.kept);
    putchar('\n');
    return true;
}

static int backup_command_run(const struct work *work, const struct command_line *line,
                              const char *file, const struct conf_inputs *inputs)
{
    struct err err = {.arena = arena_create()};
    struct copying copying = {.is_shown = isatty(STDERR_FILENO) == 1};
    const struct backup_watch watch = {backup_command_go_on, &copying};
    block_ends(&copying.ends);
    struct conf *conf = conf_load(inputs, &err);
    bool ok = conf != NULL && work->run(line, slice_of(conf->connection), file, &watch, &err);
    end_progress(&copying);
    if (!ok)
        fprintf(stderr, "berth %s: %.*s\n", work->name, SLICE_ARG(err.message));
    int code = ok ? 0 : conf == NULL ? WRONG : FAILED;
    conf_destroy(conf);
    arena_destroy(err.arena);
    return code;
}

static int run_command(const struct work *work, int argc, char **argv, struct conf_inputs *inputs)
{
    struct command_line line;
    const char *file = NULL;
    unsigned words = 0;
    const char *wrong = NULL;
    command_line_parse_words(work->switches, argc, argv, &file, 1, &words, &line);
    if (line.action == COMMAND_LINE_HELP) {
        printf("usage: berth %s [SWITCH]... FILE\n\n%s\n\nswitches:\n", work->name, work->details);
        command_line_print_switches(work->switches, stdout);
        return 0;
    }
    if (line.action != COMMAND_LINE_RUN)
        wrong = line.error;
    else if (words == 0)
        wrong = "FILE is missing";
    else if (!command_line_add_inputs(inputs, &line.inputs))
        wrong = "too many configuration files";
    if (wrong == NULL)
        return backup_command_run(work, &line, file, inputs);
    fprintf(stderr, "berth %s: %s\n", work->name, wrong);
    return WRONG;
}

int backup_command(int argc, char **argv, struct conf_inputs *inputs)
{
    static const struct work work = {
        "backup",
        "Writes one consistent state of the database to FILE, and checks it. berthd can\n"
        "keep serving meanwhile. FILE must not exist unless --force is given. It is created\n"
        "with mode 0600, and appears only when it is complete and synced.",
        backup_switches, run_backup};
    return run_command(&work, argc, argv, inputs);
}

int restore_command(int argc, char **argv, struct conf_inputs *inputs)
{
    static const struct work work = {
        "restore",
        "Replaces the database with the backup FILE in one step, after checking FILE. No\n"
        "berthd or other process may have the database open: stop berthd.socket and\n"
        "berthd.service first. The database keeps its owner, group and mode.",
        restore_switches, run_restore};
    return run_command(&work, argc, argv, inputs);
}
