/* berth backup and berth restore: copies of the database. */
#ifndef BERTH_CLI_BACKUP_COMMAND_H
#define BERTH_CLI_BACKUP_COMMAND_H

#include "conf/inputs.h"

/* argv[0] is the command, what follows its arguments; `inputs` has what stood before it, and gets
 * what stands behind it. Print one line to standard output at the end, and progress to standard
 * error if that is a terminal. The exit code: 0, 1 when it could not be done, 2 for a wrong command
 * line or a configuration that cannot be read. */
int backup_command(int argc, char **argv, struct conf_inputs *inputs);
int restore_command(int argc, char **argv, struct conf_inputs *inputs);

#endif
