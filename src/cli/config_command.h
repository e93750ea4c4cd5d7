/* berth config: shows and checks this machine's configuration, and prints pages about every
 * option. */
#ifndef BERTH_CLI_CONFIG_COMMAND_H
#define BERTH_CLI_CONFIG_COMMAND_H

#include "conf/inputs.h"

/* argv[0] is `config`, followed by its arguments; `inputs` contains the switches before the
 * command, and receives those after it. Prints to standard output. The exit code: 0; 1 if berthd
 * would not start with the configuration (validate) or there is no such option (show); 2 for a
 * wrong command line or a configuration that cannot be shown. */
int config_command(int argc, char **argv, struct conf_inputs *inputs);

#endif
