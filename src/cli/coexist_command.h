/* placement-manage db coexist. */
#ifndef BERTH_CLI_COEXIST_COMMAND_H
#define BERTH_CLI_COEXIST_COMMAND_H

#include <stdio.h>

#include "base/err.h"
#include "base/slice.h"

/* Runs "enable", "disable" or "status" on the database of that URL, and prints the status. The exit
 * code: 0; 1 if it failed (err has a line) or triggers are missing; 2 for another word (reported on
 * `errors`). */
int coexist_command_run(struct slice connection, const char *action, FILE *out, FILE *errors,
                        struct err *err);

#endif
