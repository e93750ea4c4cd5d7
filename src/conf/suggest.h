/* What somebody may have meant who wrote the name of an option that is none. */
#ifndef BERTH_CONF_SUGGEST_H
#define BERTH_CONF_SUGGEST_H

#include "conf/options.h"

/* The option of the table that is most like the name as it was written, also under one of its old
 * names; NULL: none is like it. The same name in another section counts, and so does a section with
 * a slip in it. */
const struct option *suggest_option(struct slice section, struct slice name);

#endif
