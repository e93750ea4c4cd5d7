/* Boxed tables on a terminal, as Python's prettytable prints them: the tools' output is read by
 * scripts that know that form. */
#ifndef BERTH_CLI_TABLE_H
#define BERTH_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"

enum { TABLE_COLUMNS_MAX = 8 };

struct table {
    size_t columns;
    bool is_boxed; /* text at the left and a rule below each row; otherwise text in the middle */
    const char *const *titles;
    const char *const *cells; /* row by row; a cell may have several lines, a title has one */
    size_t rows;
};

/* Texts are ASCII. */
void table_print(const struct table *table, FILE *out);

/* Appends the text broken into lines of at most `width`, each but the first behind `indent` blanks,
 * as Python's textwrap breaks them: at blanks, and behind a hyphen between letters; a word that is
 * longer than a line is cut. */
void table_wrap(struct buf *out, const char *text, size_t width, size_t indent);

#endif
