/* The command line of placement-manage, as the Python service's tool reads it (operators.md,
 * Command lines). */
#ifndef BERTH_CLI_MANAGE_ARGUMENTS_H
#define BERTH_CLI_MANAGE_ARGUMENTS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/check.h"
#include "conf/command_line.h"

enum manage_command { MANAGE_SYNC, MANAGE_VERSION, MANAGE_STAMP };

struct manage_arguments {
    enum manage_command command;
    const char *revision; /* of MANAGE_STAMP */
    struct conf_inputs inputs;
    int exit_code; /* when there is nothing to run */
};

/* True: run `command`. False: help, the version or what is wrong has been printed, and the program
 * ends with `exit_code`: 0 for what was asked for (`db` alone among it), 1 without any command, 2
 * for a wrong command line. */
bool manage_arguments_parse(int argc, char *const *argv, FILE *out, FILE *errors,
                            struct manage_arguments *arguments) BERTH_MUST_CHECK;

#endif
