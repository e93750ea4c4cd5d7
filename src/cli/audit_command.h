/* berth audit: finds inconsistencies between Valet's holds and placements in the database. */
#ifndef BERTH_CLI_AUDIT_COMMAND_H
#define BERTH_CLI_AUDIT_COMMAND_H

#include "conf/inputs.h"

/* The exit codes. */
enum audit_exit {
    AUDIT_EXIT_OK = 0,
    AUDIT_EXIT_FOUND = 1, /* there are findings */
    AUDIT_EXIT_WRONG =
        2 /* a wrong command line, or the database cannot be read; one line gives the reason */
};

/* argv[0] is `audit`, followed by its arguments; `inputs` contains the switches before the command,
 * and receives those after it. Prints to standard output. */
int audit_command(int argc, char **argv, struct conf_inputs *inputs);

#endif
