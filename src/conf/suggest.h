/* What was probably meant by a name that does not exist: an option, a command, a switch. */
#ifndef BERTH_CONF_SUGGEST_H
#define BERTH_CONF_SUGGEST_H

#include "conf/options.h"

/* The option of the table that is most like the name as it was written, also under one of its old
 * names; NULL: none is like it. The same name in another section counts, and so does a section with
 * a slip in it. */
const struct option *suggest_option(struct slice section, struct slice name);

/* The section of the table that is most like the one that was written; NULL: none is like it. */
const char *suggest_section(struct slice section);

/* The name in a table that is most like `word`; NULL: none is like it. Each row has `row_bytes`
 * bytes and begins with its name, a `const char *`. The table has `rows` rows, fewer if one has the
 * name NULL: that ends it. */
const char *suggest_name(const char *word, const void *table, size_t row_bytes, size_t rows);

#endif
