/* What there is to say about an option beyond the one sentence of its row. */
#ifndef BERTH_CONF_OPTION_DETAILS_H
#define BERTH_CONF_OPTION_DETAILS_H

#include "conf/options.h"

/* Full sentences for operators: units, what the default means, when to change it. Paragraphs are
 * separated by a line break. NULL: the row says all. */
const char *option_details(const struct option *option);

/* How many options have one, for a test that every text belongs to an option. */
size_t option_details_count(void);

/* A sentence about a section; NULL: its name says enough. */
const char *section_details(const char *section);

#endif
