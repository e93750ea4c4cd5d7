/* placement-status upgrade check: what an operator needs to know before a new release runs. */
#ifndef BERTH_CLI_UPGRADE_CHECKS_H
#define BERTH_CLI_UPGRADE_CHECKS_H

#include <stdio.h>

#include "base/err.h"
#include "conf/inputs.h"
#include "conf/settings.h"

enum { UPGRADE_CHECKS_MOST = 4 };

enum upgrade_code { UPGRADE_SUCCESS, UPGRADE_WARNING, UPGRADE_FAILURE }; /* also exit codes */

struct upgrade_result {
    const char *check;
    enum upgrade_code code;
    const char *details; /* NULL: none */
};

/* Results in the order in which they are printed. */
struct upgrade_results {
    struct upgrade_result all[UPGRADE_CHECKS_MOST];
    size_t count;
};

/* Runs the checks. Texts lie in err's arena. False: err names the check that could not be made. */
bool upgrade_checks_run(const struct conf *conf, const struct conf_inputs *inputs,
                        struct upgrade_results *results, struct err *err) BERTH_MUST_CHECK;

/* The worst of the results. */
enum upgrade_code upgrade_checks_verdict(const struct upgrade_results *results);

/* Prints as oslo.upgradecheck does: a boxed table, or with `json` one object. */
void upgrade_checks_print(const struct upgrade_results *results, bool json, FILE *out);

#endif
