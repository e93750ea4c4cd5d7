/* Logs all options with their values, so that operators can see what is in force: oslo.config's
 * log_opt_values in its format. The main thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/python_text.h"
#include "conf/notes.h"
#include "daemon/logging.h"
#include "log/log.h"

enum { SHOWN_MAX = 4096 };

static const char LOGGER[] = "placement.wsgi";

static void log_line(const struct buf *line)
{
    log_write(LOG_LEVEL_DEBUG, LOGGER, LOG_NO_CONTEXT, "%.*s", SLICE_ARG(buf_slice(line)));
}

static void log_one_text(const char *text)
{
    log_write(LOG_LEVEL_DEBUG, LOGGER, LOG_NO_CONTEXT, "%s", text);
}

static void log_one_rule(char sign)
{
    char line[81] = "";
    memset(line, sign, sizeof(line) - 1);
    log_one_text(line);
}

/* Python's repr of a list. */
static void append_list(struct buf *out, const char *const *items, size_t n)
{
    buf_append_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        buf_append_slice(out, i == 0 ? SLICE_LIT("") : SLICE_LIT(", "));
        python_text_write(out, slice_of(items[i]), SHOWN_MAX);
    }
    buf_append_char(out, ']');
}

static void log_one_option(const struct conf_value *value)
{
    struct buf line = {0};
    char name[128];
    bool plain = strcmp(value->option->section, "DEFAULT") == 0;
    snprintf(name, sizeof(name), "%s%s%s", plain ? "" : value->option->section, plain ? "" : ".",
             value->option->name);
    buf_printf(&line, "%-30s = ", name);
    notes_print_value(value, &line);
    log_line(&line);
    buf_free(&line);
}

static int logging_options_by_name(const void *left, const void *right)
{
    const struct conf_value *const *a = left;
    const struct conf_value *const *b = right;
    return strcmp((*a)->option->name, (*b)->option->name);
}

/* The options of the section whose first row is `first`, by name. */
static void log_one_section(const struct conf *conf, size_t first)
{
    const char *section = option_table[first].section;
    struct arena *arena = arena_create();
    const struct conf_value **values = arena_array(arena, option_count - first, sizeof(*values));
    size_t n = 0;
    for (size_t i = first; i < option_count; i++)
        if (strcmp(option_table[i].section, section) == 0)
            values[n++] = &conf->values[i];
    qsort((void *)values, n, sizeof(*values), logging_options_by_name);
    for (size_t i = 0; i < n; i++)
        log_one_option(values[i]);
    arena_destroy(arena);
}

static bool is_first_of_section(size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(option_table[i].section, option_table[at].section) == 0)
            return false;
    return true;
}

static void log_one_arguments(const struct conf_inputs *inputs)
{
    struct buf line = {0};
    buf_append_lit(&line, "command line args: [");
    for (size_t i = 0; i < inputs->sources_n; i++)
        buf_printf(&line, "%s'%s', '%s'", line.data[line.len - 1] == '[' ? "" : ", ",
                   inputs->sources[i].is_directory ? "--config-dir" : "--config-file",
                   inputs->sources[i].path);
    for (size_t i = 0; i < inputs->overrides_n; i++) {
        const struct conf_override *given = &inputs->overrides[i];
        const struct option *option = option_find(slice_of(given->section), slice_of(given->name));
        bool secret = option != NULL && option->is_secret;
        buf_printf(&line, "%s'%s', '%s'", line.data[line.len - 1] == '[' ? "" : ", ", given->where,
                   secret ? NOTES_MASK : given->value);
    }
    buf_append_char(&line, ']');
    log_line(&line);
    buf_free(&line);
}

void logging_log_options(const struct conf *conf, const struct conf_inputs *inputs)
{
    if (!conf_value(conf, "DEFAULT", "log_options")->boolean ||
        !log_is_enabled(LOG_LEVEL_DEBUG, LOGGER))
        return;
    struct buf files = {0};
    log_one_rule('*');
    log_one_text("Configuration options gathered from:");
    log_one_arguments(inputs);
    buf_append_lit(&files, "config files: ");
    append_list(&files, conf->files.items, conf->files.n);
    log_line(&files);
    buf_free(&files);
    log_one_rule('=');
    for (size_t i = 0; i < option_count; i++)
        if (strcmp(option_table[i].section, "DEFAULT") == 0 && is_first_of_section(i))
            log_one_section(conf, i);
    for (size_t i = 0; i < option_count; i++)
        if (strcmp(option_table[i].section, "DEFAULT") != 0 && is_first_of_section(i))
            log_one_section(conf, i);
    log_one_rule('*');
}
