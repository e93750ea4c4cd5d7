/* berth policy: the policies that berthd would have, and pages about every rule. */
#ifndef BERTH_CLI_POLICY_COMMAND_H
#define BERTH_CLI_POLICY_COMMAND_H

#include "conf/inputs.h"

/* argv[0] is `policy`, what follows its arguments; `inputs` has what stood before it, and gets what
 * stands behind it. Prints to standard output. */
int policy_command(int argc, char **argv, struct conf_inputs *inputs);

#endif
