/* Builds the configuration from command line, environment and files. */
#ifndef BERTH_CONF_LOAD_H
#define BERTH_CONF_LOAD_H

#include "base/err.h"
#include "conf/inputs.h"
#include "conf/settings.h"

/* Loads the configuration; the caller owns it. A value on the command line overrides one in the
 * environment (OS_<SECTION>__<OPTION>), which overrides one in a later file, which overrides one in
 * an earlier file (find.h lists the files), and all override the default.
 *
 * If no file is read, berth runs embedded (operators.md, Configuration): noauth2, and a SQLite file
 * of its own whose schema is kept up to date; environment and command line still override this. As
 * soon as a file is read, the defaults are upstream's, and a configuration without a connection is
 * invalid.
 *
 * NULL: `err` has one line that names the file and line, variable or switch at fault. */
struct conf *conf_load(const struct conf_inputs *inputs, struct err *err) BERTH_MUST_CHECK;

/* The same for callers that want to know all faults: conf->faults has every line that conf_load
 * could have failed with. Faults hidden by unreadable files are not found; an invalid value is
 * treated as not set. The result is for inspection only, unless it has no faults. */
struct conf *conf_examine(const struct conf_inputs *inputs);

void conf_destroy(struct conf *conf);

/* Creates the directory with its parents, accessible to their owner only, unless they exist. */
bool conf_make_directory(const char *directory, struct err *err) BERTH_MUST_CHECK;

/* Creates conf->state_directory with its parents, accessible to its owner only; does nothing if it
 * is NULL. */
bool conf_make_state_directory(const struct conf *conf, struct err *err) BERTH_MUST_CHECK;

#endif
