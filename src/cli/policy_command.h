/* berth policy: the policies that berthd would have, and pages about every rule. */
#ifndef BERTH_CLI_POLICY_COMMAND_H
#define BERTH_CLI_POLICY_COMMAND_H

#include "conf/inputs.h"

/* What it ends with. */
enum policy_exit {
    POLICY_EXIT_OK = 0,
    POLICY_EXIT_NO = 1, /* a rule that was asked does not pass, or there is something to tell */
    POLICY_EXIT_WRONG =
        2 /* a wrong command line, or what it needs cannot be read; one line tells */
};

/* argv[0] is `policy`, what follows its arguments; `inputs` has what stood before it, and gets what
 * stands behind it. Prints to standard output. */
int policy_command(int argc, char **argv, struct conf_inputs *inputs);

#endif
