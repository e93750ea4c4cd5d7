/* Which files make up the configuration. */
#ifndef BERTH_CONF_FIND_H
#define BERTH_CONF_FIND_H

#include "base/arena.h"
#include "base/err.h"
#include "conf/inputs.h"

struct conf_files {
    const char **paths; /* in the order of reading: a later file wins over an earlier one */
    size_t n;
};

/* Lists the files; no file at all is no error. The order of choice (operators.md, Configuration):
 *
 * 1. what the command line names, in its order, and nothing else;
 * 2. $OS_PLACEMENT_CONFIG_DIR/placement.conf if the variable is neither unset nor blank, otherwise
 *    the first placement.conf in ~/.placement, ~, /etc/placement and /etc;
 *    behind it, with the variable or without, the *.conf of the first placement.conf.d in those
 *    four, as the Python service does.
 *
 * False: a directory cannot be read. A file that is named and does not exist shows when it is read.
 */
bool find_conf_files(const struct conf_inputs *inputs, struct arena *arena, struct conf_files *out,
                     struct err *err) BERTH_MUST_CHECK;

/* The caller's home directory: $HOME, else the user database's. "/" if there is none. */
const char *find_home(void);

#endif
