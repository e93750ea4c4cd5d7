/* Text inside HTML. */
#ifndef BERTH_API_TEXT_HTML_TEXT_H
#define BERTH_API_TEXT_HTML_TEXT_H

#include "base/buf.h"

/* Appends the text with what HTML would take for markup escaped. The libraries that the Python
 * service is made of agree about <, > and & and write the two quotes each in its own way. */
void html_write_text(struct buf *out, struct slice text, struct slice quote,
                     struct slice apostrophe);

#endif
