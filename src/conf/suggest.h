/* Suggests the name that was probably meant by one that does not exist: an option, a command, a
 * switch. */
#ifndef BERTH_CONF_SUGGEST_H
#define BERTH_CONF_SUGGEST_H

#include "conf/options.h"

/* The option of the table that is most similar to the given name, also under one of its old names;
 * NULL: none is similar. The same name in another section is considered, and so is a section with a
 * typing error. */
const struct option *suggest_option(struct slice section, struct slice name);

/* The section of the table that is most similar to the given one; NULL: none is similar. */
const char *suggest_section(struct slice section);

/* The name in a table that is most similar to `word`; NULL: none is similar. Each row has
 * `row_bytes` bytes and begins with its name, a `const char *`. The table has `rows` rows, or ends
 * earlier at a row whose name is NULL. */
const char *suggest_name(const char *word, const void *table, size_t row_bytes, size_t rows);

#endif
