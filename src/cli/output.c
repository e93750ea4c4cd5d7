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
    /* Of an earlier write the reason is forgotten. */
    fprintf(stderr, "%s: cannot write to standard output%s%s\n", program, errno != 0 ? ": " : "",
            errno != 0 ? strerror(errno) : "");
    return lost;
}

void output_suggestion(FILE *errors, const char *meant)
{
    if (meant != NULL)
        fprintf(errors, "; did you mean %s?", meant);
    fputc('\n', errors);
}
