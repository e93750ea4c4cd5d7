/* See output.h. One thread. */
#include "cli/output.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

int output_end(const char *program, int code, int lost)
{
    errno = 0;
    bool failed = ferror(stdout) != 0;
    if (fflush(stdout) == 0 && !failed)
        return code;
    /* The reason why an earlier write failed is no longer known. */
    fprintf(stderr, "%s: cannot write to standard output%s%s\n", program, errno != 0 ? ": " : "",
            errno != 0 ? strerror(errno) : "");
    return lost;
}

/* The control character at the start of the text, or 0; the number of its bytes. C1 has two in
 * UTF-8.
 */
static unsigned control_at(struct slice text, size_t *bytes)
{
    unsigned first = (unsigned char)text.data[0];
    unsigned second = text.len > 1 ? (unsigned char)text.data[1] : 0;
    bool is_c1 = first == 0xc2 && second >= 0x80 && second < 0xa0;
    *bytes = is_c1 ? 2 : 1;
    return is_c1 ? second : first < 0x20 || first == 0x7f ? first : 0;
}

void output_text(FILE *out, const char *text)
{
    size_t bytes;
    for (struct slice rest = slice_of(text); rest.len > 0; rest = slice_skip(rest, bytes)) {
        unsigned control = control_at(rest, &bytes);
        if (control != 0)
            fprintf(out, "\\x%02x", control);
        else
            fputc(rest.data[0], out);
    }
}

void output_json(FILE *out, struct slice json)
{
    size_t bytes;
    for (struct slice rest = json; rest.len > 0; rest = slice_skip(rest, bytes)) {
        unsigned control = control_at(rest, &bytes);
        /* In its strings, JSON allows only these two kinds unescaped. */
        if (control >= 0x7f)
            fprintf(out, "\\u%04x", control);
        else if (control != '\r')
            fputc(rest.data[0], out);
    }
}

void output_suggestion(FILE *errors, const char *meant)
{
    if (meant != NULL)
        fprintf(errors, "; did you mean %s?", meant);
    fputc('\n', errors);
}
