/* The log as the configuration wants it (oslo.log's options). The main thread. */
#ifndef BERTH_DAEMON_LOGGING_H
#define BERTH_DAEMON_LOGGING_H

#include "base/err.h"
#include "base/slice.h"
#include "conf/inputs.h"
#include "conf/settings.h"

/* Opens the log's destinations and starts it. False: err has one line, and the log goes on to
 * standard error. */
bool logging_start(const struct conf *conf, struct err *err) BERTH_MUST_CHECK;

/* After a new look at the configuration (SIGHUP): opens the log's files anew and takes over what
 * may change while the process runs: debug, default_log_levels, log_config_append (also when only
 * the file that it names has changed). False: err has one line, and the log is as it was. */
bool logging_apply(const struct conf *conf, struct err *err) BERTH_MUST_CHECK;

/* Every now and then: files that were moved are opened anew, lost lines are told of. */
void logging_look_after(void);

/* With [DEFAULT] log_options: the values of all options at level DEBUG, secrets as ****, in the
 * form of oslo.config's log_opt_values. */
void logging_tell_options(const struct conf *conf, const struct conf_inputs *inputs);

/* Writes what is gathered, with `stopped` as the last line if the process has served, and ends the
 * log. */
void logging_stop(bool has_served);

/* Why the process ends, as one line on standard error, whatever the log's destinations are. Where
 * that is the journal's stream, the line has the priority of an error. */
void logging_print_error(struct slice message);

#endif
