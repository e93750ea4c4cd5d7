/* berth audit: what of Valet's holds and placements in the database does not fit together. */
#ifndef BERTH_CLI_AUDIT_COMMAND_H
#define BERTH_CLI_AUDIT_COMMAND_H

#include "conf/inputs.h"

/* What it ends with. */
enum audit_exit {
    AUDIT_EXIT_OK = 0,
    AUDIT_EXIT_FOUND = 1, /* there is something to look at */
    AUDIT_EXIT_WRONG = 2  /* a wrong command line, or the database cannot be read; one line tells */
};

/* argv[0] is `audit`, what follows its arguments; `inputs` has what stood before it, and gets what
 * stands behind it. Prints to standard output. */
int audit_command(int argc, char **argv, struct conf_inputs *inputs);

#endif
