/* What berthd's parts would say to a configuration whose values are well-formed. */
#ifndef BERTH_CLI_CONFIG_PARTS_H
#define BERTH_CLI_CONFIG_PARTS_H

#include <stddef.h>
#include <stdio.h>

#include "conf/inputs.h"
#include "conf/settings.h"

/* How many lines of each kind were printed. */
struct config_parts_found {
    size_t errors;
    size_t warnings;
};

/* Asks each part that a start would ask, in its order, as far as that needs nothing but to read
 * what the configuration names: the logging configuration, policy files, certificates, Keystone's
 * settings, the kind of database. Prints as errors what keeps berthd from starting, and as warnings
 * certificates that have expired or will within HTTP_TLS_WARNING_DAYS. The database, the log's
 * files and the addresses are left alone. */
struct config_parts_found config_parts_check(const struct conf *conf,
                                             const struct conf_inputs *inputs, FILE *out);

#endif
