/* The command line of berth policy. */
#ifndef BERTH_CLI_POLICY_ARGUMENTS_H
#define BERTH_CLI_POLICY_ARGUMENTS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/check.h"
#include "conf/command_line.h"
#include "policy/policy.h"

enum policy_action {
    POLICY_ACTION_LIST,
    POLICY_ACTION_CHECK,
    POLICY_ACTION_SAMPLE,
    POLICY_ACTION_VALIDATE,
    POLICY_ACTION_REFERENCE,
};

/* The exit codes of berth policy. */
enum policy_exit {
    POLICY_EXIT_OK = 0,
    POLICY_EXIT_NO = 1, /* a checked rule fails, or there is something to report */
    POLICY_EXIT_WRONG =
        2 /* a wrong command line, or an input cannot be read; one line gives the reason */
};

enum { POLICY_ASKED_MAX = 64 };

struct policy_arguments {
    enum policy_action action;
    bool redundant;
    unsigned services;       /* a bit for each requested service */
    const char *policy_file; /* NULL: that of the configuration */
    const char *token_file;
    struct policy_attribute targets[COMMAND_LINE_OWN_MAX];
    unsigned target_count;
    const char *words[1 + POLICY_ASKED_MAX]; /* the action, and names of rules */
    unsigned word_count;
    int exit_code; /* when there is nothing to run */
};

/* True: run `action`, with the inputs, to which those of the command line have been added. False:
 * help or an error has been printed, and the program ends with exit_code. */
bool policy_arguments_parse(int argc, char *const *argv, struct conf_inputs *inputs, FILE *out,
                            FILE *errors, struct policy_arguments *arguments) BERTH_MUST_CHECK;

#endif
