/* berth status: shows what a berthd on this machine reports about itself. */
#ifndef BERTH_CLI_STATUS_COMMAND_H
#define BERTH_CLI_STATUS_COMMAND_H

#include "conf/inputs.h"

/* argv[0] is the command's name. The exit code: 0 berthd is ready; 1 it runs and is not ready, or
 * its answer cannot be parsed; 2 wrong command line or configuration; 3 no berthd answers. */
int status_command(int argc, char **argv, struct conf_inputs *inputs);

#endif
