/* One handler of a logging configuration: its class and arguments. */
#ifndef BERTH_LOGGING_INI_LOGGING_HANDLER_H
#define BERTH_LOGGING_INI_LOGGING_HANDLER_H

#include "log/settings.h"
#include "logging_ini/python_literal.h"

/* Fills a handler's destination, path, rotation and so on from its class as written and its
 * arguments. NULL: done; otherwise the reason why it becomes standard error, in the arena or
 * static. */
const char *logging_handler_fill(struct slice class_name, const struct python_value *args,
                                 const struct python_value *kwargs, struct arena *arena,
                                 struct log_handler_settings *out);

#endif
