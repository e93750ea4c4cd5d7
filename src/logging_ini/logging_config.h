/* What log_config_append names: a logging configuration in Python's form (logging.config,
 * Configuration file format), as deployers of OpenStack write it. */
#ifndef BERTH_LOGGING_INI_LOGGING_CONFIG_H
#define BERTH_LOGGING_INI_LOGGING_CONFIG_H

#include "base/err.h"
#include "conf/texts.h"
#include "log/settings.h"

/* Reads and understands the file. `defaults` has the format strings that
 * oslo_log.formatters.ContextFormatter takes from the options, and the program's name for syslog
 * and the journal. What makes no sense here becomes standard error and a line in *warnings.
 * Everything lies in the arena. False: err has one line, with the file's name. */
bool logging_config_read(const char *path, const struct log_handler_settings *defaults,
                         struct arena *arena, struct log_settings *out, struct conf_texts *warnings,
                         struct err *err) BERTH_MUST_CHECK;

/* The same of a text; `path` is for messages. */
bool logging_config_parse(struct slice text, const char *path,
                          const struct log_handler_settings *defaults, struct arena *arena,
                          struct log_settings *out, struct conf_texts *warnings,
                          struct err *err) BERTH_MUST_CHECK;

#endif
