/* The file that log_config_append names: a logging configuration in Python's format
 * (logging.config, Configuration file format), as deployers of OpenStack write it. */
#ifndef BERTH_LOGGING_INI_LOGGING_CONFIG_H
#define BERTH_LOGGING_INI_LOGGING_CONFIG_H

#include "base/err.h"
#include "conf/texts.h"
#include "log/settings.h"

/* Reads and interprets the file. `defaults` has the format strings that
 * oslo_log.formatters.ContextFormatter takes from the options, and the program's name for syslog
 * and the journal. Handlers that berth does not support become standard error, with a line in
 * *warnings. Everything lies in the arena. False: err has one line, with the file's name. */
bool logging_config_read(const char *path, const struct log_handler_settings *defaults,
                         struct arena *arena, struct log_settings *out, struct conf_texts *warnings,
                         struct err *err) BERTH_MUST_CHECK;

/* The same for a text; `path` is used in messages. */
bool logging_config_parse(struct slice text, const char *path,
                          const struct log_handler_settings *defaults, struct arena *arena,
                          struct log_settings *out, struct conf_texts *warnings,
                          struct err *err) BERTH_MUST_CHECK;

#endif
