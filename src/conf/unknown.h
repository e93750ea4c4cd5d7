/* Reports unknown options in the files to the operator, one line each. */
#ifndef BERTH_CONF_UNKNOWN_H
#define BERTH_CONF_UNKNOWN_H

#include "conf/settings.h"

/* Calls `report` with one line for each section that has no options here and for each unknown
 * option in other sections, with the name that may have been meant, in the order of the files. A
 * section is reported once, however many options it has; after UNKNOWN_LINES_MAX lines, one more
 * says that the rest is not listed. Returns the number of unknown sections and options. Any thread.
 */
enum { UNKNOWN_LINES_MAX = 100 };

size_t unknown_report(const struct conf *conf, void (*report)(void *cls, struct slice line),
                      void *cls);

#endif
