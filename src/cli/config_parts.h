/* Checks that berthd's parts make of a configuration whose values are well-formed. */
#ifndef BERTH_CLI_CONFIG_PARTS_H
#define BERTH_CLI_CONFIG_PARTS_H

#include <stddef.h>
#include <stdio.h>

#include "conf/inputs.h"
#include "conf/settings.h"

/* The number of lines printed of each kind. */
struct config_parts_found {
    size_t errors;
    size_t warnings;
    size_t notes;
};

/* Runs the checks of each part that berthd starts, in that order, as far as they only need to read
 * what the configuration names: the logging configuration, policy files, certificates, Keystone's
 * settings, the type of database. Prints as errors what would prevent berthd from starting, and as
 * warnings certificates that have expired or will expire within HTTP_TLS_WARNING_DAYS, and as notes
 * what has no effect. Does not touch the database, the log files or the addresses. */
struct config_parts_found config_parts_check(const struct conf *conf,
                                             const struct conf_inputs *inputs, FILE *out);

#endif
