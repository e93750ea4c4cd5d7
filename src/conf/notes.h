/* What the log says once about a configuration. */
#ifndef BERTH_CONF_NOTES_H
#define BERTH_CONF_NOTES_H

#include "conf/settings.h"

/* What is shown of a secret. */
#define NOTES_MASK "****"

/* Appends a value as it may be shown: a secret as NOTES_MASK. */
void notes_print_value(const struct conf_value *value, struct buf *out);

/* Logs where the configuration comes from, deprecated names (a warning each), the options that are
 * set but have no effect (one line), noauth2 on an address that others reach, scopes that are not
 * enforced and audit events that are not there (a warning each), and what notes_log_unknown does.
 * The main thread. */
void notes_log(const struct conf *conf);

/* Logs a warning for each unknown option and section. The main thread. */
void notes_log_unknown(const struct conf *conf);

#endif
