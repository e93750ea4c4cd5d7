/* Escapes character by character, which is sufficient for error pages because they are short. Any
 * thread. */
#include "api/text/html_text.h"

void html_write_text(struct buf *out, struct slice text, struct slice quote,
                     struct slice apostrophe)
{
    for (size_t i = 0; i < text.len; i++) {
        switch (text.data[i]) {
        case '<':
            buf_append_lit(out, "&lt;");
            break;
        case '>':
            buf_append_lit(out, "&gt;");
            break;
        case '&':
            buf_append_lit(out, "&amp;");
            break;
        case '"':
            buf_append_slice(out, quote);
            break;
        case '\'':
            buf_append_slice(out, apostrophe);
            break;
        default:
            buf_append_char(out, text.data[i]);
        }
    }
}
