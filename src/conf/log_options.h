/* Converts oslo.log's options to settings of the log. */
#ifndef BERTH_CONF_LOG_OPTIONS_H
#define BERTH_CONF_LOG_OPTIONS_H

#include "base/err.h"
#include "conf/settings.h"
#include "log/settings.h"

/* The settings; everything lies in the arena or in conf. False: err names the option at fault. */
bool log_options_fill(const struct conf *conf, struct arena *arena, struct log_settings *out,
                      struct err *err) BERTH_MUST_CHECK;

/* Settings that all handlers share: formats, facility 1 and the program's name. */
struct log_handler_settings log_options_handler(const struct conf *conf);

/* Whether the log would accept the options if log_config_append is not set. Opens nothing. */
bool log_options_check(struct conf *conf, struct err *err) BERTH_MUST_CHECK;

#endif
