/* Pure; any thread. */
#include "baremetal/api/input/arguments.h"

#include "api/text/name_table.h"
#include "api/text/python_int.h"
#include "api/text/python_repr.h"
#include "base/arena.h"

static struct slice arguments_take(struct arena *arena, struct buf *text)
{
    struct slice taken = arena_copy(arena, buf_slice(text));
    buf_free(text);
    return taken;
}

struct argument argument_find(struct arena *arena, const struct query_string *query,
                              const char *name)
{
    struct argument found = {.name = name};
    struct buf list = {0};
    for (size_t i = 0; i < query->count; i++) {
        if (!slice_equal(query->pairs[i].name, slice_of(name)))
            continue;
        found.is_repeated = found.is_there;
        found.is_there = true;
        found.text = query->pairs[i].value;
        if (list.len > PYTHON_REPR_BYTES_MAX)
            continue;
        buf_append_slice(&list, list.len == 0 ? SLICE_LIT("[") : SLICE_LIT(", "));
        python_repr_string(&list, found.text);
    }
    if (found.is_repeated) {
        buf_append_char(&list, ']');
        found.text = arena_copy(arena, buf_slice(&list));
    }
    buf_free(&list);
    return found;
}

static bool is_among(struct slice name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (slice_equal(slice_of(*names), name))
            return true;
    return false;
}

bool arguments_check_names(const struct query_string *query, const char *const *names,
                           struct err *err)
{
    struct name_table seen = name_table_create(err->arena, query->count);
    struct buf text = {0};
    for (size_t i = 0; i < query->count; i++) {
        struct slice name = query->pairs[i].name;
        if (is_among(name, names) || !name_table_add(&seen, name))
            continue;
        buf_append_slice(&text,
                         text.len == 0 ? SLICE_LIT("Unexpected arguments: ") : SLICE_LIT(", "));
        if (text.len > PYTHON_REPR_BYTES_MAX) {
            buf_append_lit(&text, "...");
            break;
        }
        python_str_text(&text, name);
    }
    bool good = text.len == 0;
    struct slice message = arguments_take(err->arena, &text);
    return good || err_set_text(err, 400, NULL, message);
}

/* "Expected WHAT for NAME: VALUE" */
static bool arguments_refuse(const struct argument *argument, const char *what, struct err *err)
{
    struct buf text = {0};
    buf_append_lit(&text, "Expected ");
    buf_append_slice(&text, slice_of(what));
    buf_append_lit(&text, " for ");
    buf_append_slice(&text, slice_of(argument->name));
    buf_append_lit(&text, ": ");
    python_str_text(&text, argument->text);
    return err_set_text(err, 400, NULL, arguments_take(err->arena, &text));
}

bool argument_text(const struct argument *argument, struct slice *text, struct err *err)
{
    if (argument->is_repeated)
        return arguments_refuse(argument, "string", err);
    if (argument->is_there)
        *text = argument->text;
    return true;
}

bool argument_uuid(const struct argument *argument, struct slice *uuid, struct err *err)
{
    if (!argument->is_there ||
        (!argument->is_repeated && ident_read_uuid(err->arena, argument->text, uuid)))
        return true;
    return arguments_refuse(argument, "UUID", err);
}

bool argument_ident(const struct argument *argument, struct ident *ident, struct err *err)
{
    if (!argument->is_there)
        return true;
    struct ident found = ident_read(err->arena, argument->text);
    if (argument->is_repeated || found.kind == IDENT_NEITHER)
        return arguments_refuse(argument, "UUID or name", err);
    *ident = found;
    return true;
}

bool argument_read_boolean(struct slice text, bool *value)
{
    static const char *const TRUE_WORDS[] = {"1", "t", "true", "on", "y", "yes"};
    static const char *const FALSE_WORDS[] = {"0", "f", "false", "off", "n", "no"};
    text = python_strip(text);
    for (size_t i = 0; i < sizeof(TRUE_WORDS) / sizeof(TRUE_WORDS[0]); i++) {
        bool is_true = slice_equal_nocase(text, slice_of(TRUE_WORDS[i]));
        if (is_true || slice_equal_nocase(text, slice_of(FALSE_WORDS[i]))) {
            *value = is_true;
            return true;
        }
    }
    return false;
}

bool argument_refuse_boolean(const char *name, struct slice value, struct err *err)
{
    struct buf text = {0};
    buf_append_lit(&text, "Invalid ");
    buf_append_slice(&text, slice_of(name));
    buf_append_lit(&text, ": Unrecognized value '");
    python_str_text(&text, value);
    buf_append_lit(&text, "', acceptable values are: '0', '1', 'f', 'false', 'n', 'no', 'off', "
                          "'on', 't', 'true', 'y', 'yes'");
    return err_set_text(err, 400, NULL, arguments_take(err->arena, &text));
}

bool argument_boolean(const struct argument *argument, bool *value, struct err *err)
{
    if (!argument->is_there ||
        (!argument->is_repeated && argument_read_boolean(argument->text, value)))
        return true;
    return argument_refuse_boolean(argument->name, argument->text, err);
}

bool argument_integer(const struct argument *argument, int64_t *number, struct err *err)
{
    return !argument->is_there ||
           (!argument->is_repeated && python_int_parse(argument->text, number)) ||
           arguments_refuse(argument, "an integer", err);
}

bool argument_limit(const struct argument *argument, size_t *limit, struct err *err)
{
    int64_t number = 0;
    if (!argument->is_there)
        return true;
    if (!argument_integer(argument, &number, err))
        return false;
    if (number <= 0)
        return err_set_text(err, 400, NULL, SLICE_LIT("Limit must be positive"));
    if ((uint64_t)number < *limit)
        *limit = (size_t)number;
    return true;
}

bool argument_sort_dir(const struct argument *argument, bool *is_descending, struct err *err)
{
    struct slice text = SLICE_LIT("asc");
    return argument_text(argument, &text, err) && argument_check_sort_dir(text, is_descending, err);
}

bool argument_check_sort_dir(struct slice text, bool *is_descending, struct err *err)
{
    bool is_desc = slice_equal(text, SLICE_LIT("desc"));
    if (!is_desc && !slice_equal(text, SLICE_LIT("asc"))) {
        struct buf words = {0};
        buf_append_lit(&words, "Invalid sort direction: ");
        python_str_text(&words, text);
        buf_append_lit(&words, ". Acceptable values are 'asc' or 'desc'");
        return err_set_text(err, 400, NULL, arguments_take(err->arena, &words));
    }
    *is_descending = is_desc;
    return true;
}

static struct slice arguments_lower(struct arena *arena, struct slice text)
{
    char *copy = arena_alloc(arena, text.len);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        copy[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return (struct slice){copy, text.len};
}

bool argument_words(const struct argument *argument, struct argument_words *words, struct err *err)
{
    if (argument->is_repeated)
        return arguments_refuse(argument, "string", err);
    if (!argument->is_there)
        return true;
    struct slice rest = argument->text;
    size_t most = 1;
    for (size_t i = 0; i < rest.len; i++)
        most += rest.data[i] == ',';
    struct name_table seen = name_table_create(err->arena, most);
    *words = (struct argument_words){arena_array(err->arena, most, sizeof(struct slice)), 0};
    while (rest.len > 0) {
        struct slice word = arguments_lower(err->arena, python_strip(slice_cut(&rest, ',')));
        if (word.len > 0 && name_table_add(&seen, word))
            words->words[words->count++] = word;
    }
    return true;
}

bool argument_check_fields(const struct argument_words *fields,
                           bool (*is_known)(const void *with, struct slice name), const void *with,
                           struct err *err)
{
    struct buf text = {0};
    for (size_t i = 0; i < fields->count; i++) {
        if (is_known(with, fields->words[i]))
            continue;
        buf_append_slice(&text, text.len == 0 ? SLICE_LIT("Field(s) \"") : SLICE_LIT(", "));
        if (text.len > PYTHON_REPR_BYTES_MAX) {
            buf_append_lit(&text, "...");
            break;
        }
        python_str_text(&text, fields->words[i]);
    }
    if (text.len == 0)
        return true;
    buf_append_lit(&text, "\" are not valid");
    return err_set_text(err, 400, NULL, arguments_take(err->arena, &text));
}
