/* berthd: the order of start and stop; nothing else. */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "conf/command_line.h"
#include "conf/load.h"
#include "conf/notes.h"
#include "daemon/daemon.h"
#include "daemon/logging.h"

/* Whoever starts it without one of the three would read its log in a client's connection. */
enum { MAPPED_FROM_BYTES = 256 * 1024 };

static void fill_standard_descriptors(void)
{
    int fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = open("/dev/null", O_RDWR);
    if (fd >= 0)
        close(fd);
}

static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Memory of large answers and bodies goes back to the system when it is freed. Left alone, the
 * allocator takes the first large block that is freed as a sign to keep such blocks, up to 32 MiB
 * of each and twice as much at the end of each arena. */
static void return_freed_memory(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED_FROM_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, MAPPED_FROM_BYTES);
}

static bool start(struct daemon *daemon)
{
    bool opened = policies_open(daemon) && catalogue_open(daemon) && tls_open(daemon) &&
                  authentication_open(daemon) && database_open(daemon);
    /* behind the line that says what is served; if nothing is, they may say why */
    notes_log(daemon->conf);
    logging_log_options(daemon->conf, daemon->inputs);
    return opened && api_settings_fill(daemon) && listeners_open(daemon);
}

static bool main_run(struct daemon *daemon)
{
    loop_block_signals();
    if (!activation_read(&daemon->activation, daemon->arena, &daemon->err)) {
        logging_tell_early_failure(daemon->inputs, daemon->err.message);
        return false;
    }
    raise_descriptor_limit();
    return_freed_memory();
    bool started = logging_start(daemon->conf, &daemon->err) && start(daemon);
    if (started) {
        listeners_print_ready(daemon);
        loop_run(daemon);
    } else if (!daemon->is_stopped) {
        logging_tell_failure(daemon->err.message);
    }
    authentication_hurry(daemon);
    listeners_close(daemon);
    authentication_close(daemon);
    database_close(daemon);
    tls_close(daemon);
    catalogue_close(daemon);
    policies_close(daemon);
    logging_stop(started || daemon->is_stopped);
    return started || daemon->is_stopped;
}

int main(int argc, char **argv)
{
    struct command_line line;
    fill_standard_descriptors();
    command_line_parse_all(command_line_berthd, argc, argv, &line);
    switch (line.action) {
    case COMMAND_LINE_HELP:
        printf("usage: berthd [switches]\n\nServes the Placement API.\n\nswitches:\n");
        command_line_print_switches(command_line_berthd, stdout);
        return EXIT_SUCCESS;
    case COMMAND_LINE_VERSION:
        printf("berthd %s\n", BERTH_VERSION);
        return EXIT_SUCCESS;
    case COMMAND_LINE_WRONG:
        fprintf(stderr, "berthd: %s\nsee 'berthd --help'\n", line.error);
        return EXIT_COMMAND_LINE;
    case COMMAND_LINE_RUN:
        break;
    }
    struct daemon daemon = {.arena = arena_create(), .inputs = &line.inputs};
    daemon.err.arena = daemon.arena;
    daemon.conf = conf_load(&line.inputs, &daemon.err);
    bool ok = daemon.conf != NULL && main_run(&daemon);
    if (daemon.conf == NULL)
        logging_tell_early_failure(&line.inputs, daemon.err.message);
    conf_destroy(daemon.reloaded);
    conf_destroy(daemon.conf);
    arena_destroy(daemon.arena);
    if (!ok)
        return EXIT_FAILURE;
    return daemon.cut_short ? EXIT_CUT_SHORT : EXIT_SUCCESS;
}
