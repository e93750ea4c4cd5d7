/* placement-manage db copy. */
#ifndef BERTH_CLI_COPY_COMMAND_H
#define BERTH_CLI_COPY_COMMAND_H

#include <stdio.h>

#include "base/err.h"
#include "base/slice.h"

/* Copies the database to the one of the URL `to`; "-": of the first line of standard input. Returns
 * the exit code; if err is set, its message is still to be printed. */
int copy_command_run(struct slice connection, const char *to, FILE *out, FILE *errors,
                     struct err *err);

#endif
