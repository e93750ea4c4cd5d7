/* Command line, environment and files become the configuration. */
#ifndef BERTH_CONF_LOAD_H
#define BERTH_CONF_LOAD_H

#include "base/err.h"
#include "conf/inputs.h"
#include "conf/settings.h"

/* Loads the configuration; the caller owns it. A value on the command line wins over one in the
 * environment (OS_<SECTION>__<OPTION>), this over one in a later file, this over one in an earlier
 * file (find.h says which files), all over the default.
 *
 * When no file is read, berth runs embedded (operators.md, Configuration): noauth2, a SQLite file
 * of its own whose schema is kept up to date; environment and command line still win. As soon as a
 * file is read the defaults are upstream's, and without a connection there is no configuration.
 *
 * NULL: `err` has one line that names the file and line, variable or switch at fault. */
struct conf *conf_load(const struct conf_inputs *inputs, struct err *err) BERTH_MUST_CHECK;

/* The same for somebody who wants to know all that is wrong: conf->faults has every line that
 * conf_load could have failed with. Files that cannot be read hide what else is wrong; a value
 * that cannot be used counts as not given. To be looked at, not to be run with, unless there is no
 * fault. */
struct conf *conf_examine(const struct conf_inputs *inputs);

void conf_destroy(struct conf *conf);

/* Makes conf->state_directory with its parents, for its owner only; nothing to do when that is
 * NULL. */
bool conf_make_state_directory(const struct conf *conf, struct err *err) BERTH_MUST_CHECK;

#endif
