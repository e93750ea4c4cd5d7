/* Format strings of the log: the first lines of the input are the formats for date, identity,
 * suffix and line; the rest is text that a client may choose. Every format that compiles is run. It
 * must not let a control character of that text through, and must write valid JSON if it writes
 * JSON. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "log/program.h"

enum { STRINGS = 4, INPUT_MAX = 4096 };

static const struct log_place PLACE = {"../src/a/b.c", "f", 7};

/* Formats in a file have no control characters; an operator who does write them gets them. */
static char *next_string(struct slice *rest, struct arena *arena)
{
    struct slice line = slice_cut(rest, '\n');
    char *text = arena_alloc(arena, line.len + 1);
    for (size_t i = 0; i < line.len; i++)
        text[i] = (unsigned char)line.data[i] < 0x20 || line.data[i] == 0x7f ? ' ' : line.data[i];
    text[line.len] = '\0';
    return text;
}

static struct log_context context_of(const struct slice *text)
{
    return (struct log_context){
        .request_id = *text,
        .user_id = *text,
        .user_name = *text,
        .project_id = *text,
        .project_name = *text,
        .domain_id = {"", 0},
        .system_scope = *text,
        .roles = text,
        .role_count = 1,
        .has_token = text->len % 2 == 0,
    };
}

static void check_text(struct slice line)
{
    for (size_t i = 0; i < line.len; i++)
        check((unsigned char)line.data[i] >= 0x20 || line.data[i] == '\t' ||
              line.data[i] == '\033');
}

static void check_json(struct slice line)
{
    json_error_t error;
    json_t *value = json_loadb(line.data, line.len, JSON_ALLOW_NUL, &error);
    check(json_is_object(value));
    json_decref(value);
    check(memchr(line.data, '\n', line.len) == NULL);
}

static void run(const struct log_format *format, struct slice text, bool may_have_controls)
{
    static const struct log_argument ARGUMENTS[] = {{"a", 0, 1, false}, {"b", 0, 2, true}};
    struct log_scratch scratch = {.thread_name = "worker"};
    struct log_context context = context_of(&text);
    const struct slice parts[] = {text, SLICE_LIT(" ")};
    const struct log_message message = {parts, 2, text.len % 3 == 0 ? "%(a)s" : NULL, ARGUMENTS, 2};
    for (size_t i = 0; i < LOG_HANDLERS_MAX; i++)
        scratch.times[i].second = -1;
    for (unsigned level = 0; level < 2 * LOG_LEVELS; level++) {
        struct buf out = {0};
        const struct log_record record = {.level = (enum log_level)(level / 2),
                                          .logger = SLICE_LIT("a.b"),
                                          .place = &PLACE,
                                          .context = level % 2 == 0 ? &context : NULL,
                                          .message = &message,
                                          .wall_us = 1795279448037512};
        log_format_render(format, &record, &scratch, &out);
        if (format->form == LOG_FORM_JSON)
            check_json(buf_slice(&out));
        else if (!may_have_controls)
            check_text(buf_slice(&out));
        buf_free(&out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > INPUT_MAX)
        return 0;
    struct arena *arena = arena_create();
    struct slice rest = {(const char *)data, size};
    char *strings[STRINGS];
    for (size_t i = 0; i < STRINGS; i++)
        strings[i] = next_string(&rest, arena);
    /* %n and %t are line breaks and tabs that the operator requested. */
    bool may_have_controls = strpbrk(strings[0], "nt") != NULL;
    for (unsigned form = LOG_FORM_CONTEXT; form <= LOG_FORM_JSON; form++) {
        struct err err = {.arena = arena};
        struct log_unknown_key *unknown = NULL;
        const struct log_format_settings settings = {
            .form = (enum log_form)form,
            .date = strings[0],
            .identity = strings[1],
            .debug_suffix = strings[2],
            .context = strings[3],
            .without = strings[3],
            .plain = strings[3],
            .product = "placement",
        };
        const struct log_format *format = log_format_compile(
            &settings, form == LOG_FORM_CONTEXT && size % 2 == 0, form, arena, &unknown, &err);
        if (format != NULL)
            run(format, rest, may_have_controls);
        else
            check(err_is_set(&err));
    }
    arena_destroy(arena);
    return 0;
}
