/* berth backup and berth restore: make and restore copies of the database. */
#ifndef BERTH_CLI_BACKUP_COMMAND_H
#define BERTH_CLI_BACKUP_COMMAND_H

#include "conf/inputs.h"

/* argv[0] is the command, followed by its arguments; `inputs` contains the switches before the
 * command, and receives those after it. Print one line to standard output at the end, and progress
 * to standard error if that is a terminal. The exit code: 0 on success, 1 on failure, 2 for a wrong
 * command line or a configuration that cannot be read. */
int backup_command(int argc, char **argv, struct conf_inputs *inputs);
int restore_command(int argc, char **argv, struct conf_inputs *inputs);

#endif
