/* Text inside HTML. */
#ifndef BERTH_API_TEXT_HTML_TEXT_H
#define BERTH_API_TEXT_HTML_TEXT_H

#include "base/buf.h"

/* Appends the text with HTML markup escaped. The libraries that the Python service uses escape <, >
 * and & alike, but differ in how they write the two quotes. */
void html_write_text(struct buf *out, struct slice text, struct slice quote,
                     struct slice apostrophe);

#endif
