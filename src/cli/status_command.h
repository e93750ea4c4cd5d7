/* berth status: what a berthd that runs on this machine says of itself. */
#ifndef BERTH_CLI_STATUS_COMMAND_H
#define BERTH_CLI_STATUS_COMMAND_H

#include "conf/inputs.h"

/* argv[0] is the command's name. The exit code: 0 it is ready; 1 it runs and is not ready, or what
 * it answered cannot be read; 2 wrong command line or configuration; 3 no berthd answers. */
int status_command(int argc, char **argv, struct conf_inputs *inputs);

#endif
