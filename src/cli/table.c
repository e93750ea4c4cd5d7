/* See table.h. tests/cli/ compares the output with that of prettytable and textwrap. Any thread. */
#include "cli/table.h"

#include <ctype.h>
#include <string.h>

#include "base/check.h"

/* The first line of a cell, and the start of the next one; NULL: there is none. */
static struct slice cell_line(const char **rest)
{
    struct slice line = {*rest, strcspn(*rest, "\n")};
    *rest = line.data[line.len] == '\n' ? line.data + line.len + 1 : NULL;
    return line;
}

static size_t cell_width(const char *cell)
{
    size_t width = 0;
    while (cell != NULL) {
        struct slice line = cell_line(&cell);
        if (line.len > width)
            width = line.len;
    }
    return width;
}

static void print_rule(const struct table *table, const size_t *widths, FILE *out)
{
    for (size_t i = 0; i < table->columns; i++) {
        putc('+', out);
        for (size_t j = 0; j < widths[i] + 2; j++)
            putc('-', out);
    }
    fputs("+\n", out);
}

static void print_line(const struct table *table, struct slice line, size_t width, FILE *out)
{
    size_t excess = width - line.len;
    /* If the padding is odd, the extra blank goes after a text of odd length. */
    size_t left = table->is_boxed ? 0 : (excess + (line.len % 2 == 0)) / 2;
    fprintf(out, "| %*s%.*s%*s ", (int)left, "", SLICE_ARG(line), (int)(excess - left), "");
}

static void print_row(const struct table *table, const char *const *cells, const size_t *widths,
                      FILE *out)
{
    const char *rest[TABLE_COLUMNS_MAX];
    bool more = true;
    for (size_t i = 0; i < table->columns; i++)
        rest[i] = cells[i];
    while (more) {
        more = false;
        for (size_t i = 0; i < table->columns; i++) {
            struct slice line = rest[i] == NULL ? SLICE_LIT("") : cell_line(&rest[i]);
            print_line(table, line, widths[i], out);
            more = more || rest[i] != NULL;
        }
        fputs("|\n", out);
    }
}

void table_print(const struct table *table, FILE *out)
{
    size_t widths[TABLE_COLUMNS_MAX] = {0};
    check(table->columns <= TABLE_COLUMNS_MAX);
    for (size_t i = 0; i < table->columns; i++) {
        widths[i] = strlen(table->titles[i]);
        for (size_t row = 0; row < table->rows; row++) {
            size_t width = cell_width(table->cells[row * table->columns + i]);
            if (width > widths[i])
                widths[i] = width;
        }
    }
    print_rule(table, widths, out);
    print_row(table, table->titles, widths, out);
    print_rule(table, widths, out);
    for (size_t row = 0; row < table->rows; row++) {
        print_row(table, &table->cells[row * table->columns], widths, out);
        if (table->is_boxed || row + 1 == table->rows)
            print_rule(table, widths, out);
    }
}

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) != 0;
}

/* The length of the unbreakable part at the beginning of a text that does not begin with a
 * blank. */
static size_t piece_length(const char *text)
{
    size_t len = 0;
    while (text[len] != '\0' && text[len] != ' ') {
        bool breaks =
            text[len] == '-' && len >= 2 && is_letter(text[len - 1]) && is_letter(text[len - 2]) &&
            is_letter(text[len + 1]) &&
            (is_letter(text[len + 2]) || (text[len + 2] == '-' && is_letter(text[len + 3])));
        len++;
        if (breaks)
            break;
    }
    return len;
}

void table_wrap(struct buf *out, const char *text, size_t width, size_t indent)
{
    size_t column = 0; /* of the current line, without its indentation */
    size_t blanks = 0; /* before the piece, dropped where a line ends */
    size_t room = width;
    while (*text != '\0') {
        if (*text == ' ') {
            blanks++;
            text++;
            continue;
        }
        size_t len = piece_length(text);
        bool too_long = len > room;
        if (column > 0 && column + blanks + len > room && (!too_long || column + blanks >= room)) {
            buf_append_char(out, '\n');
            for (size_t i = 0; i < indent; i++)
                buf_append_char(out, ' ');
            column = 0;
            room = width - indent;
        }
        for (; column > 0 && blanks > 0; blanks--, column++)
            buf_append_char(out, ' ');
        blanks = 0;
        if (len > room - column)
            len = room - column;
        buf_append(out, text, len);
        column += len;
        text += len;
    }
}
