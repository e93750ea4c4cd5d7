/* See config_report.h. One thread. */
#include "cli/config_report.h"

#include <string.h>
#include <strings.h>

#include "cli/config_parts.h"
#include "conf/notes.h"
#include "conf/option_details.h"
#include "conf/unknown.h"
#include "conf/url_mask.h"

static void print_warning(void *cls, struct slice line)
{
    fprintf(cls, "warning: %.*s\n", SLICE_ARG(line));
}

/* Why, of an option of the database, where it is not what other programs would do. */
static const char *why_no_effect(struct slice section, struct slice name)
{
    bool is_of_database = slice_equal(section, SLICE_LIT("placement_database"));
    return is_of_database ? option_details(option_find(section, name)) : NULL;
}

/* The text is "[section] name". */
static void print_no_effect(const char *text, FILE *out)
{
    struct slice name = slice_of(text + 1);
    struct slice section = slice_cut(&name, ']');
    const char *why = why_no_effect(section, slice_skip(name, 1));
    fprintf(out, "note: %s has no effect%s%s\n", text, why == NULL ? "" : ". ",
            why == NULL ? "" : why);
}

struct config_problems config_report_problems(const struct conf *conf,
                                              const struct conf_inputs *inputs, FILE *out)
{
    struct config_problems problems = {
        .errors = conf->faults.n, .warnings = conf->deprecated.n, .notes = conf->no_effect.n};
    for (size_t i = 0; i < conf->files.n; i++)
        fprintf(out, "read: %s\n", conf->files.items[i]);
    if (conf->embedded)
        fputs("read: no file; berthd would run embedded\n", out);
    for (size_t i = 0; i < conf->faults.n; i++)
        fprintf(out, "error: %s\n", conf->faults.items[i]);
    /* If a file was only half read, missing values are not reported as faults of a part. */
    if (!conf->half_read) {
        struct config_parts_found found = config_parts_check(conf, inputs, out);
        problems.errors += found.errors;
        problems.warnings += found.warnings;
        problems.notes += found.notes;
    }
    for (size_t i = 0; i < conf->deprecated.n; i++)
        fprintf(out, "warning: deprecated name: %s\n", conf->deprecated.items[i]);
    problems.warnings += unknown_report(conf, print_warning, out);
    for (size_t i = 0; i < conf->no_effect.n; i++)
        print_no_effect(conf->no_effect.items[i], out);
    fprintf(out, "%zu error%s, %zu warning%s, %zu note%s\n", problems.errors,
            problems.errors == 1 ? "" : "s", problems.warnings, problems.warnings == 1 ? "" : "s",
            problems.notes, problems.notes == 1 ? "" : "s");
    return problems;
}

static const char *origin_text(const struct conf_value *value)
{
    switch (value->origin) {
    case CONF_ORIGIN_DEFAULT:
        return "default";
    case CONF_ORIGIN_EMBEDDED:
        return "embedded, because no file was read";
    case CONF_ORIGIN_FILE:
    case CONF_ORIGIN_ENVIRONMENT:
    case CONF_ORIGIN_COMMAND_LINE:
        break;
    }
    return value->where;
}

/* Writes a text so that parsing it gives the same text: dollar signs doubled, lines indented,
 * blanks at its ends quoted. */
static void print_text(const char *text, FILE *out)
{
    size_t len = strlen(text);
    bool quoted = len > 0 && strchr(text, '\n') == NULL &&
                  (strchr(" \t\"'", text[0]) != NULL || strchr(" \t", text[len - 1]) != NULL);
    fputs(quoted ? "\"" : "", out);
    for (; *text != '\0'; text++)
        if (*text == '$')
            fputs("$$", out);
        else if (*text == '\n')
            fputs("\n    ", out);
        else
            putc(*text, out);
    fputs(quoted ? "\"" : "", out);
}

static void print_number(const struct conf_value *value, FILE *out)
{
    struct buf text = {0};
    value_print(value, &text);
    fwrite(text.data, 1, text.len, out);
    buf_free(&text);
}

/* To identify the database, operators need the whole URL except the password. */
static bool is_database_url(const struct option *option)
{
    return option->type == OPTION_STRING && (strcmp(option->name, "connection") == 0 ||
                                             strcmp(option->name, "slave_connection") == 0);
}

static void print_secret(const struct conf_value *value, FILE *out)
{
    struct buf shown = {0};
    if (is_database_url(value->option))
        url_mask_write(slice_of(value->text), &shown);
    else
        buf_append_lit(&shown, NOTES_MASK);
    buf_append_char(&shown, '\0');
    fprintf(out, "%s = ", value->option->name);
    print_text(shown.data, out);
    putc('\n', out);
    buf_free(&shown);
}

static void print_value(const struct conf_value *value, FILE *out)
{
    const char *name = value->option->name;
    if (!value->is_set) {
        fprintf(out, "#%s = <None>\n", name);
        return;
    }
    if (value->option->is_secret) {
        print_secret(value, out);
        return;
    }
    if (value->option->type == OPTION_MULTI) {
        for (size_t i = 0; i < value->items_n; i++) {
            fprintf(out, "%s = ", name);
            print_text(value->items[i], out);
            putc('\n', out);
        }
        return;
    }
    fprintf(out, "%s = ", name);
    switch (value->option->type) {
    case OPTION_STRING:
        print_text(value->text, out);
        break;
    case OPTION_BOOLEAN:
        fputs(value->boolean ? "true" : "false", out);
        break;
    case OPTION_LIST:
        for (size_t i = 0; i < value->items_n; i++) {
            fputs(i == 0 ? "" : ",", out);
            print_text(value->items[i], out);
        }
        break;
    case OPTION_INTEGER:
    case OPTION_FLOAT:
    case OPTION_MULTI:
        print_number(value, out);
        break;
    }
    putc('\n', out);
}

static bool config_report_is_wanted(const struct conf_value *value, const char *section,
                                    const char *name)
{
    const struct option *option = value->option;
    return (section == NULL || strcasecmp(option->section, section) == 0) &&
           (name == NULL || strcmp(option->name, name) == 0);
}

bool config_report_values(const struct conf *conf, bool all, const char *section, const char *name,
                          FILE *out)
{
    const char *last = NULL;
    bool found = false;
    for (size_t i = 0; i < option_count; i++) {
        const struct conf_value *value = &conf->values[i];
        if (!config_report_is_wanted(value, section, name))
            continue;
        found = true;
        if (!all && name == NULL && value->origin == CONF_ORIGIN_DEFAULT)
            continue;
        if (last == NULL || strcmp(last, value->option->section) != 0)
            fprintf(out, "%s[%s]\n", last == NULL ? "" : "\n", value->option->section);
        last = value->option->section;
        fprintf(out, "# %s\n", origin_text(value));
        print_value(value, out);
    }
    return found;
}
