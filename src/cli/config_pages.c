/* Three formats of one walk over the table: section by section, and within each the options in the
 * order of the table. One thread. */
#include "cli/config_pages.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "conf/option_details.h"

enum { SAMPLE_WIDTH = 78, PAGE_WIDTH = 118 };

/* How each format writes its parts. */
struct form {
    void (*begin_section)(const char *section, FILE *out);
    void (*write_option)(const struct option *option, FILE *out);
    void (*end_section)(FILE *out);
};

/* Whether this row is the first of its section. */
static bool begins_section(size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (strcmp(option_table[i].section, option_table[row].section) == 0)
            return false;
    return true;
}

static void write_page(const struct form *form, FILE *out)
{
    for (size_t i = 0; i < option_count; i++) {
        if (!begins_section(i))
            continue;
        form->begin_section(option_table[i].section, out);
        for (size_t j = i; j < option_count; j++)
            if (strcmp(option_table[j].section, option_table[i].section) == 0)
                form->write_option(&option_table[j], out);
        if (form->end_section != NULL)
            form->end_section(out);
    }
}

/* The sentence in the row, its details, and notes that apply to all options of this kind. Code is
 * between backticks. */
static void append_marked_help(struct buf *text, const struct option *option)
{
    const char *details = option_details(option);
    buf_append_slice(text, slice_of(option->help));
    if (details != NULL)
        buf_printf(text, " %s", details);
    if (option->effect == OPTION_NO_EFFECT)
        buf_append_lit(text, " Accepted without effect.");
}

/* The same without backticks. */
static void append_help(struct buf *text, const struct option *option)
{
    struct buf marked = {0};
    append_marked_help(&marked, option);
    struct slice rest = buf_slice(&marked);
    for (size_t i = 0; i < rest.len; i++)
        if (rest.data[i] != '`')
            buf_append_char(text, rest.data[i]);
    buf_free(&marked);
}

/* "integer, from 1 to 10", "one of a, b" */
static void append_type(struct buf *text, const struct option *option)
{
    static const char *const names[] = {
        [OPTION_STRING] = "text",
        [OPTION_INTEGER] = "integer",
        [OPTION_FLOAT] = "number",
        [OPTION_BOOLEAN] = "boolean",
        [OPTION_LIST] = "comma-separated list",
        [OPTION_MULTI] = "text, may be given several times",
    };
    if (option->choices != NULL) {
        buf_append_lit(text, "one of ");
        for (const char *at = option->choices; *at != '\0'; at++)
            if (*at == '|')
                buf_append_lit(text, ", ");
            else
                buf_append_char(text, *at);
    } else {
        buf_append_slice(text, slice_of(names[option->type]));
    }
    if (option->min != 0 || option->max != 0)
        buf_printf(text, ", from %lld to %lld", (long long)option->min, (long long)option->max);
}

/* Wraps text, with a prefix on each line. */
static void write_wrapped(const char *prefix, struct slice text, size_t width, FILE *out)
{
    size_t column = 0;
    while (text.len > 0) {
        size_t len = 0;
        while (len < text.len && text.data[len] != ' ')
            len++;
        if (column > 0 && column + 1 + len > width) {
            putc('\n', out);
            column = 0;
        }
        const char *before = column == 0 ? prefix : " ";
        column += strlen(before) + len;
        fprintf(out, "%s%.*s", before, (int)len, text.data);
        while (len < text.len && text.data[len] == ' ')
            len++;
        text = slice_skip(text, len);
    }
    putc('\n', out);
}

static void write_buf_wrapped(const char *prefix, struct buf *text, size_t width, FILE *out)
{
    write_wrapped(prefix, buf_slice(text), width, out);
    buf_free(text);
}

/* The sample file. */

static void sample_begin_section(const char *section, FILE *out)
{
    const char *details = section_details(section);
    fprintf(out, "%s[%s]\n", strcmp(section, option_table[0].section) == 0 ? "" : "\n\n", section);
    if (details != NULL) {
        fputs("#\n", out);
        write_wrapped("# ", slice_of(details), SAMPLE_WIDTH, out);
    }
}

static void sample_defaults(const struct option *option, FILE *out)
{
    const char *rest = option->fallback;
    if (rest == NULL) {
        fprintf(out, "#%s = <None>\n", option->name);
        return;
    }
    do {
        size_t len = option->type == OPTION_MULTI ? strcspn(rest, ",") : strlen(rest);
        /* Without quotes, a parser would trim a trailing blank. */
        const char *quote = len > 0 && rest[len - 1] == ' ' ? "\"" : "";
        fprintf(out, "#%s =%s%s%.*s%s\n", option->name, len > 0 ? " " : "", quote, (int)len, rest,
                quote);
        rest += len + (rest[len] != '\0');
    } while (*rest != '\0');
}

static void sample_option(const struct option *option, FILE *out)
{
    static const char *const types[] = {
        [OPTION_STRING] = "string value",
        [OPTION_INTEGER] = "integer value",
        [OPTION_FLOAT] = "floating point value",
        [OPTION_BOOLEAN] = "boolean value",
        [OPTION_LIST] = "list value",
        [OPTION_MULTI] = "multi valued",
    };
    struct buf text = {0};
    append_help(&text, option);
    buf_printf(&text, " (%s)", types[option->type]);
    putc('\n', out);
    write_buf_wrapped("# ", &text, SAMPLE_WIDTH, out);
    if (option->min != 0 || option->max != 0)
        fprintf(out, "# Minimum value: %lld\n# Maximum value: %lld\n", (long long)option->min,
                (long long)option->max);
    if (option->choices != NULL) {
        fputs("# Possible values: ", out);
        for (const char *at = option->choices; *at != '\0'; at++)
            fputs(*at == '|' ? ", " : (char[]){*at, '\0'}, out);
        putc('\n', out);
    }
    for (int i = 0; i < OPTION_OLD_NAMES && option->deprecated[i].section != NULL; i++)
        fprintf(out, "# Deprecated group/name - [%s]/%s\n", option->deprecated[i].section,
                option->deprecated[i].name);
    if (option->is_mutable && option->effect == OPTION_IN_EFFECT)
        fputs("# Note: This option can be changed without restarting.\n", out);
    sample_defaults(option, out);
}

void config_write_sample(FILE *out)
{
    static const struct form form = {sample_begin_section, sample_option, NULL};
    write_page(&form, out);
}

/* The reference page. */

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The bytes up to and including the second backtick of a text that begins with one. */
static size_t marked_code_len(struct slice text)
{
    size_t len = 1;
    while (len < text.len && text.data[len] != '`')
        len++;
    return len < text.len ? len + 1 : len;
}

/* Besides the text between backticks, names with an underscore, sections, switches, paths, tildes
 * and asterisks are formatted as code: most of these have a meaning in Markdown. */
static void append_markdown(struct buf *out, struct slice text)
{
    while (text.len > 0) {
        if (text.data[0] == '`') {
            size_t code = marked_code_len(text);
            buf_append(out, text.data, code);
            text = slice_skip(text, code);
            continue;
        }
        size_t len = 0;
        bool is_section = text.data[0] == '[';
        bool is_code = is_section || text.data[0] == '/' ||
                       (text.len > 1 && text.data[0] == '-' && text.data[1] == '-');
        while (len < text.len && text.data[len] != ' ' && text.data[len] != '`') {
            is_code = is_code || strchr("_*<>$~", text.data[len]) != NULL;
            len++;
        }
        size_t first = len > 0 && text.data[0] == '(';
        size_t last = len;
        while (last > first && !is_name_char(text.data[last - 1]) &&
               strchr(is_section ? "]" : "*/)>~", text.data[last - 1]) == NULL)
            last--;
        if (last > first && text.data[last - 1] == ')' && first == 1)
            last--;
        buf_append(out, text.data, first);
        if (is_code)
            buf_append_char(out, '`');
        buf_append(out, text.data + first, last - first);
        if (is_code)
            buf_append_char(out, '`');
        buf_append(out, text.data + last, len - last);
        if (len < text.len && text.data[len] == ' ')
            buf_append_char(out, text.data[len++]);
        text = slice_skip(text, len);
    }
}

static void reference_begin_section(const char *section, FILE *out)
{
    const char *details = section_details(section);
    fprintf(out, "\n## [%s]\n", section);
    if (details != NULL) {
        putc('\n', out);
        write_wrapped("", slice_of(details), PAGE_WIDTH, out);
    }
}

static void append_old_names(struct buf *text, const struct option *option, const char *before)
{
    for (int i = 0; i < OPTION_OLD_NAMES && option->deprecated[i].section != NULL; i++)
        buf_printf(text, "%s[%s] %s", i == 0 ? before : ", ", option->deprecated[i].section,
                   option->deprecated[i].name);
}

static void reference_option(const struct option *option, FILE *out)
{
    struct buf facts = {0};
    struct buf plain = {0};
    struct buf text = {0};
    buf_printf(&facts, "**`%s`** (", option->name);
    append_type(&facts, option);
    if (option->fallback == NULL)
        buf_append_lit(&facts, "; no default");
    else if (option->fallback[0] == '\0')
        buf_append_lit(&facts, "; default: empty");
    else
        buf_printf(&facts, "; default: `%s`", option->fallback);
    if (option->is_mutable && option->effect == OPTION_IN_EFFECT)
        buf_append_lit(&facts, "; taken by a reload");
    append_old_names(&facts, option, "; old name: ");
    buf_append_char(&facts, ')');
    append_marked_help(&plain, option);
    append_markdown(&text, buf_slice(&plain));
    buf_free(&plain);
    putc('\n', out);
    write_buf_wrapped("", &facts, PAGE_WIDTH, out);
    putc('\n', out);
    write_buf_wrapped("", &text, PAGE_WIDTH, out);
}

void config_write_reference(FILE *out)
{
    static const struct form form = {reference_begin_section, reference_option, NULL};
    write_page(&form, out);
}

/* The manual page. */

/* One sentence per line, as mdoc requires. A line never begins with a character that would make it
 * a request. */
static void write_mdoc(struct slice text, FILE *out)
{
    bool at_begin = true;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (at_begin && (c == '.' || c == '\''))
            fputs("\\&", out);
        at_begin = false;
        if (c == '\\') {
            fputs("\\e", out);
        } else if (c == ' ' && i > 0 && text.data[i - 1] == '.' && i + 1 < text.len &&
                   isupper((unsigned char)text.data[i + 1])) {
            putc('\n', out);
            at_begin = true;
        } else {
            putc(c, out);
        }
    }
    putc('\n', out);
}

static void manual_begin_section(const char *section, FILE *out)
{
    const char *details = section_details(section);
    fprintf(out, ".Ss [%s]\n", section);
    if (details != NULL)
        write_mdoc(slice_of(details), out);
    fputs(".Bl -tag -width Ds\n", out);
}

static void manual_option(const struct option *option, FILE *out)
{
    struct buf facts = {0};
    struct buf text = {0};
    buf_append_char(&facts, '(');
    append_type(&facts, option);
    if (option->fallback != NULL)
        buf_printf(&facts, "; default: %s",
                   option->fallback[0] == '\0' ? "empty" : option->fallback);
    if (option->is_mutable && option->effect == OPTION_IN_EFFECT)
        buf_append_lit(&facts, "; taken by a reload");
    append_old_names(&facts, option, "; old name: ");
    buf_append_lit(&facts, ")");
    append_help(&text, option);
    fprintf(out, ".It Cm %s\n", option->name);
    write_mdoc(buf_slice(&facts), out);
    fputs(".br\n", out);
    write_mdoc(buf_slice(&text), out);
    buf_free(&facts);
    buf_free(&text);
}

static void manual_end_section(FILE *out)
{
    fputs(".El\n", out);
}

void config_write_manual(FILE *out)
{
    static const struct form form = {manual_begin_section, manual_option, manual_end_section};
    write_page(&form, out);
}
