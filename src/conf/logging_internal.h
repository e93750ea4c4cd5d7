/* What logging_config.c (sections) and logging_handler.c (one handler's class and arguments)
 * share. */
#ifndef BERTH_CONF_LOGGING_INTERNAL_H
#define BERTH_CONF_LOGGING_INTERNAL_H

#include "conf/load_internal.h"
#include "conf/logging_config.h"
#include "conf/python_literal.h"

/* Fills destination, path, rotation and the like of a handler from its class as written and its
 * arguments. NULL: done; else why it becomes standard error, in the arena or static. */
const char *logging_handler_fill(struct slice class_name, const struct python_value *args,
                                 const struct python_value *kwargs, struct arena *arena,
                                 struct log_handler_settings *out);

#endif
