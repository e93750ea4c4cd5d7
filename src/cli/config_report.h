/* Reports about the configuration of this machine. */
#ifndef BERTH_CLI_CONFIG_REPORT_H
#define BERTH_CLI_CONFIG_REPORT_H

#include <stdio.h>

#include "conf/inputs.h"
#include "conf/settings.h"

struct config_problems {
    size_t errors;   /* berthd would not start */
    size_t warnings; /* unknown options, old names, certificates that expire soon */
    size_t notes;    /* options without effect */
};

/* Prints each problem that conf_examine or berthd's parts have found in the inputs, and a last line
 * with the numbers of problems. Values of secret options are not shown. */
struct config_problems config_report_problems(const struct conf *conf,
                                              const struct conf_inputs *inputs, FILE *out);

/* Prints the values in force in the format of a configuration file, each with its source: those set
 * explicitly, or all. Secrets are shown as ****. `section` and `name` may be NULL: all of them.
 * False: there is no such option. */
bool config_report_values(const struct conf *conf, bool all, const char *section, const char *name,
                          FILE *out);

#endif
