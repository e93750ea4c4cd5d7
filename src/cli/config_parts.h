/* What berthd's parts would say to a configuration whose values are well-formed. */
#ifndef BERTH_CLI_CONFIG_PARTS_H
#define BERTH_CLI_CONFIG_PARTS_H

#include <stddef.h>
#include <stdio.h>

#include "conf/inputs.h"
#include "conf/settings.h"

/* Asks each part that a start would ask, in its order, as far as that needs nothing but to read
 * what the configuration names: the logging configuration, policy files, certificates, Keystone's
 * settings, the kind of database. What keeps berthd from starting is printed as errors; the result
 * is their number. The database, the log's files and the addresses are left alone. */
size_t config_parts_check(const struct conf *conf, const struct conf_inputs *inputs, FILE *out);

#endif
