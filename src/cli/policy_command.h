/* berth policy: shows the policies that berthd would use, and prints pages about every rule. */
#ifndef BERTH_CLI_POLICY_COMMAND_H
#define BERTH_CLI_POLICY_COMMAND_H

#include "conf/inputs.h"

/* argv[0] is `policy`, followed by its arguments; `inputs` contains the switches before the
 * command, and receives those after it. Prints to standard output. */
int policy_command(int argc, char **argv, struct conf_inputs *inputs);

#endif
