/* Boxed tables on a terminal, as Python's prettytable prints them, because scripts parse the tools'
 * output. */
#ifndef BERTH_CLI_TABLE_H
#define BERTH_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"

enum { TABLE_COLUMNS_MAX = 8 };

struct table {
    size_t columns;
    bool is_boxed; /* text on the left and a rule below each row; otherwise centred text */
    const char *const *titles;
    const char *const *cells; /* row by row; a cell may have several lines, a title has one */
    size_t rows;
};

/* Texts are ASCII. */
void table_print(const struct table *table, FILE *out);

/* Appends the text broken into lines of at most `width`, each except the first after `indent`
 * blanks, as Python's textwrap breaks them: at blanks, and after a hyphen between letters; a word
 * longer than a line is cut. */
void table_wrap(struct buf *out, const char *text, size_t width, size_t indent);

#endif
