/* What berth makes of configurations, as JSON, for run.py.
 *
 *     conf_dump table      one line: the table of options
 *     conf_dump values     for each line of standard input one line: the values of all options, or
 * what is wrong. A line is a configuration: words with tabs between them and %XX for bytes;
 * NAME=VALUE sets a variable up to a word `--`, then come switches of the tools.
 *
 * The working directory is the caller's. One thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/json_write.h"
#include "cli/tool_arguments.h"
#include "conf/load.h"

enum { WORDS_MAX = 64 };

static const char *const type_names[] = {
    [OPTION_STRING] = "string",   [OPTION_INTEGER] = "integer", [OPTION_FLOAT] = "float",
    [OPTION_BOOLEAN] = "boolean", [OPTION_LIST] = "list",       [OPTION_MULTI] = "multi",
};

static void write_text(struct buf *out, const char *text)
{
    if (text == NULL)
        buf_append_lit(out, "null");
    else
        json_write_string(out, slice_of(text));
}

static void write_row(struct buf *out, const struct option *option)
{
    buf_append_lit(out, "{\"section\": ");
    write_text(out, option->section);
    buf_append_lit(out, ", \"name\": ");
    write_text(out, option->name);
    buf_append_lit(out, ", \"type\": ");
    write_text(out, type_names[option->type]);
    buf_append_lit(out, ", \"default\": ");
    write_text(out, option->fallback);
    buf_append_lit(out, ", \"choices\": ");
    write_text(out, option->choices);
    buf_printf(
        out, ", \"any_case\": %s, \"mutable\": %s, \"secret\": %s, \"min\": %lld, \"max\": %lld",
        option->choices_any_case ? "true" : "false", option->is_mutable ? "true" : "false",
        option->is_secret ? "true" : "false", (long long)option->min, (long long)option->max);
    buf_append_lit(out, ", \"old\": [");
    for (int i = 0; i < OPTION_OLD_NAMES; i++) {
        if (option->deprecated[i].section == NULL)
            break;
        buf_append_slice(out, i == 0 ? SLICE_LIT("[") : SLICE_LIT(", ["));
        write_text(out, option->deprecated[i].section);
        buf_append_lit(out, ", ");
        write_text(out, option->deprecated[i].name);
        buf_append_char(out, ']');
    }
    buf_append_lit(out, "]}");
}

static void write_table(struct buf *out)
{
    for (size_t i = 0; i < option_count; i++) {
        buf_append_slice(out, i == 0 ? SLICE_LIT("[") : SLICE_LIT(", "));
        write_row(out, &option_table[i]);
    }
    buf_append_char(out, ']');
}

static void write_value(struct buf *out, const struct conf_value *value)
{
    if (!value->is_set) {
        buf_append_lit(out, "null");
        return;
    }
    switch (value->option->type) {
    case OPTION_STRING:
        write_text(out, value->text);
        break;
    case OPTION_INTEGER:
        buf_append_int(out, value->integer);
        break;
    case OPTION_FLOAT:
        json_write_double(out, value->real);
        break;
    case OPTION_BOOLEAN:
        buf_append_slice(out, value->boolean ? SLICE_LIT("true") : SLICE_LIT("false"));
        break;
    case OPTION_LIST:
    case OPTION_MULTI:
        buf_append_char(out, '[');
        for (size_t i = 0; i < value->items_n; i++) {
            if (i > 0)
                buf_append_lit(out, ", ");
            write_text(out, value->items[i]);
        }
        buf_append_char(out, ']');
        break;
    }
}

static void write_values(struct buf *out, const struct conf *conf)
{
    for (size_t i = 0; i < option_count; i++) {
        buf_append_slice(out, i == 0 ? SLICE_LIT("{\"values\": {\"") : SLICE_LIT(", \""));
        buf_printf(out, "%s.%s\": ", option_table[i].section, option_table[i].name);
        write_value(out, &conf->values[i]);
    }
    buf_append_lit(out, "}}");
}

static int hex_digit(char c)
{
    return c >= 'A' ? c - 'A' + 10 : c - '0';
}

/* In place: a word only becomes shorter. */
static void decode(char *word)
{
    char *out = word;
    for (; *word != '\0'; word++) {
        if (*word == '%') {
            *out++ = (char)(hex_digit(word[1]) * 16 + hex_digit(word[2]));
            word += 2;
        } else {
            *out++ = *word;
        }
    }
    *out = '\0';
}

static void load(struct buf *out, int argc, char *const *argv)
{
    struct command_line line;
    struct err err = {.arena = arena_create()};
    struct conf *conf = NULL;
    command_line_parse_all(tool_switches, argc, argv, &line);
    if (line.action == COMMAND_LINE_RUN)
        conf = conf_load(&line.inputs, &err);
    else
        err.message = slice_of(line.error);
    if (conf != NULL) {
        write_values(out, conf);
    } else {
        buf_append_lit(out, "{\"error\": ");
        json_write_string(out, err.message);
        buf_append_char(out, '}');
    }
    conf_destroy(conf);
    arena_destroy(err.arena);
}

static void take_line(struct buf *out, char *line)
{
    char *words[WORDS_MAX];
    int n = 0;
    int first = 0;
    for (char *at = line; at != NULL && n < WORDS_MAX;)
        words[n++] = strsep(&at, "\t\n");
    for (int i = 0; i < n; i++)
        decode(words[i]);
    clearenv();
    while (first < n && strcmp(words[first], "--") != 0)
        putenv(words[first++]);
    /* The word `--` stands in the program's place. */
    load(out, n - first - 1, words + first); /* the last word is what follows the line's end */
    clearenv();
}

int main(int argc, char **argv)
{
    struct buf out = {0};
    char *line = NULL;
    size_t room = 0;
    if (argc == 2 && strcmp(argv[1], "table") == 0) {
        write_table(&out);
        printf("%.*s\n", SLICE_ARG(buf_slice(&out)));
    } else if (argc == 2 && strcmp(argv[1], "values") == 0) {
        while (getline(&line, &room, stdin) > 0) {
            out.len = 0;
            take_line(&out, line);
            fwrite(out.data, 1, out.len, stdout);
            putchar('\n');
        }
    } else {
        fputs("usage: conf_dump table|values\n", stderr);
        return 2;
    }
    free(line);
    buf_free(&out);
    return 0;
}
