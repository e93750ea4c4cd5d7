/* The log as configured (oslo.log's options). The main thread. */
#ifndef BERTH_DAEMON_LOGGING_H
#define BERTH_DAEMON_LOGGING_H

#include "base/err.h"
#include "base/slice.h"
#include "conf/inputs.h"
#include "conf/settings.h"

/* Opens the log's destinations and starts the log. False: err has one line, and the log continues
 * on standard error. */
bool logging_start(const struct conf *conf, struct err *err) BERTH_MUST_CHECK;

/* After the configuration was read again (SIGHUP): reopens the log files and applies the options
 * that may change while the process runs: debug, default_log_levels, log_config_append (also if
 * only the contents of its file have changed). False: err has one line, and the log is
 * unchanged. */
bool logging_apply(const struct conf *conf, struct err *err) BERTH_MUST_CHECK;

/* Called periodically: reopens files that were moved, and reports lost lines. */
void logging_look_after(void);

/* With [DEFAULT] log_options: the values of all options at level DEBUG, secrets as ****, in the
 * form of oslo.config's log_opt_values. */
void logging_log_options(const struct conf *conf, const struct conf_inputs *inputs);

/* Writes pending lines, with `stopped` as the last one if the process has served requests, and ends
 * the log. */
void logging_stop(bool has_served);

/* Writes the reason why the process could not start as one line to standard error, whatever the
 * log's destinations are, and to the log if that goes elsewhere, too. If standard error is the
 * journal's stream, the line has the priority of an error. */
void logging_tell_failure(struct slice message);

/* The same before the log was started. It is opened for this line if the options that can be read
 * name a destination; problems with that are ignored. */
void logging_tell_early_failure(const struct conf_inputs *inputs, struct slice message);

#endif
