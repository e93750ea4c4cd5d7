/* What the log says once about a configuration. */
#ifndef BERTH_CONF_NOTES_H
#define BERTH_CONF_NOTES_H

#include "conf/settings.h"

/* What is shown of a secret. */
#define NOTES_MASK "****"

/* Logs where the configuration comes from, deprecated names (a warning each), the options that are
 * set but have no effect (one line), noauth2 on an address that others reach (a warning), and at
 * DEBUG what was passed over, and with [DEFAULT] log_options every value but secrets. The main
 * thread. */
void notes_log(const struct conf *conf);

#endif
