/* berth config: what the configuration of this machine comes to, and pages about every option. */
#ifndef BERTH_CLI_CONFIG_COMMAND_H
#define BERTH_CLI_CONFIG_COMMAND_H

#include "conf/inputs.h"

/* argv[0] is `config`, what follows its arguments; `inputs` has what stood before it, and gets what
 * stands behind it. Prints to standard output. The exit code: 0, 1 when berthd could not start with
 * the configuration (validate) or there is no such option (show), 2 for a wrong command line or a
 * configuration that cannot be shown. */
int config_command(int argc, char **argv, struct conf_inputs *inputs);

#endif
