/* Additional information about an option, beyond the one sentence in its row. */
#ifndef BERTH_CONF_OPTION_DETAILS_H
#define BERTH_CONF_OPTION_DETAILS_H

#include "conf/options.h"

/* Full sentences for operators: units, the meaning of the default, when to change it. Paragraphs
 * are separated by a line break. NULL: none. */
const char *option_details(const struct option *option);

/* The number of options that have such a text, for a test that every text belongs to an option. */
size_t option_details_count(void);

/* A sentence about a section; NULL: none. */
const char *section_details(const char *section);

#endif
