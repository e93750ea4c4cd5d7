/* Finds the files that make up the configuration. */
#ifndef BERTH_CONF_FIND_H
#define BERTH_CONF_FIND_H

#include "base/arena.h"
#include "base/err.h"
#include "conf/inputs.h"

struct conf_files {
    const char **paths; /* in the order of reading: a later file overrides an earlier one */
    size_t n;
    size_t room;
};

/* Lists the files; finding none is not an error. The order is that of oslo.config (operators.md,
 * Configuration):
 *
 * 1. unless the command line names a file: $OS_PLACEMENT_CONFIG_DIR/placement.conf if the variable
 *    is neither unset nor blank, otherwise the first placement.conf in ~/.placement, ~,
 *    /etc/placement and /etc;
 * 2. unless the command line names a directory: the *.conf files in the first placement.conf.d in
 *    those four;
 * 3. what the command line names, in its order;
 * 4. if there are none: placement.conf and the *.conf files of placement.conf.d in /etc/berth.
 *
 * False: a directory cannot be read. A named file that does not exist is only
 * noticed when it is read. */
bool find_conf_files(const struct conf_inputs *inputs, struct arena *arena, struct conf_files *out,
                     struct err *err) BERTH_MUST_CHECK;

/* Finds a file that the configuration names without a directory, such as policy_file: in a
 * directory, or beside a file, named on the command line (the last first), else in one of the four
 * places, or in /etc/berth if its files are used. A name with a leading slash is used as it is.
 * NULL: not found. */
const char *find_conf_beside(const struct conf_inputs *inputs, struct arena *arena,
                             const char *name);

/* The caller's home directory: $HOME, else that in the user database. "/" if there is none. */
const char *find_home(void);

#endif
