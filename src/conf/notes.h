/* Lines about a configuration that are logged once. */
#ifndef BERTH_CONF_NOTES_H
#define BERTH_CONF_NOTES_H

#include "conf/settings.h"

/* Shown in place of a secret. */
#define NOTES_MASK "****"

/* Appends a value in a form that may be shown: a secret as NOTES_MASK. */
void notes_print_value(const struct conf_value *value, struct buf *out);

/* Logs the source of the configuration, a warning for each deprecated name, one line with the
 * options that are set but have no effect, a warning each for noauth2 on an address that other
 * machines can reach, for scopes that are not enforced and for audit events that do not exist, and
 * the warnings of notes_log_unknown. The main thread. */
void notes_log(const struct conf *conf);

/* Logs a warning for each unknown option and section. The main thread. */
void notes_log_unknown(const struct conf *conf);

#endif
