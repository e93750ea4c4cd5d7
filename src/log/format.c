/* Compiles format strings of Python's % operator to programs. The idea: most of a format depends
 * only on whether there is a request and on the line's level, so each combination has a program of
 * its own, in which everything known in advance has become literal text; only a few copies per line
 * remain.
 *
 * Source: Python library reference, printf-style String Formatting, compared with the real one by
 * tests/logging. The main thread. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "log/program.h"

enum { WIDTH_MAX = 1000 };

/* One piece of a format string. */
struct piece {
    struct slice literal; /* data == NULL: it is a key */
    struct slice key;
    struct log_spec spec;
};

struct compiler {
    const struct log_format_settings *settings;
    struct log_format *format;
    struct arena *arena;
    bool color;
    struct log_unknown_key **unknown;
    struct err *err;
    /* of the program being compiled */
    const char *where;
    struct log_program *program;
    bool has_context;
    bool in_identity;
    enum log_level level;
};

static bool format_refuse(struct compiler *c, const char *at, const char *what)
{
    return err_set(c->err, 500, NULL, "%s: %s at \"%.20s\"", c->where, what, at);
}

static bool take_number(const char **at, int *number)
{
    *number = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        if ((*number = *number * 10 + (**at - '0')) > WIDTH_MAX)
            return false;
    return true;
}

static void take_flags(const char **at, struct log_spec *spec)
{
    for (;; (*at)++) {
        switch (**at) {
        case '-':
            spec->left = true;
            continue;
        case '0':
            spec->zeros = true;
            continue;
        case '+':
            spec->plus = true;
            continue;
        case ' ':
            spec->blank = true;
            continue;
        default:
            return;
        }
    }
}

/* Parses the text after the key's closing parenthesis. */
static bool take_spec(struct compiler *c, const char *percent, const char **at,
                      struct log_spec *spec)
{
    *spec = (struct log_spec){.precision = -1};
    take_flags(at, spec);
    bool ok = take_number(at, &spec->width);
    if (ok && **at == '.') {
        (*at)++;
        ok = take_number(at, &spec->precision);
    }
    if (!ok)
        return format_refuse(c, percent, "a width or precision above 1000");
    while (**at == 'h' || **at == 'l' || **at == 'L')
        (*at)++;
    if (**at == '\0')
        return format_refuse(c, percent, "an incomplete format");
    spec->conversion = *(*at)++;
    if (strchr("sdiuxXeEfFgG", spec->conversion) == NULL)
        return format_refuse(c, percent, "a conversion that log formats do not support");
    return true;
}

/* The next piece of the string at *at, which is not at its end. */
static bool take_piece(struct compiler *c, const char **at, struct piece *piece)
{
    const char *from = *at;
    *piece = (struct piece){.literal = {from, strcspn(from, "%")}};
    if (piece->literal.len > 0) {
        *at += piece->literal.len;
        return true;
    }
    if (from[1] == '%') {
        piece->literal.len = 1;
        *at += 2;
        return true;
    }
    if (from[1] != '(')
        return format_refuse(c, from, "a % without a (key)");
    const char *close = strchr(from, ')');
    if (close == NULL)
        return format_refuse(c, from, "a key without its )");
    piece->literal = (struct slice){0};
    piece->key = (struct slice){from + 2, (size_t)(close - from) - 2};
    *at = close + 1;
    return take_spec(c, from, at, &piece->spec);
}

static struct log_op *add_op(struct compiler *c, enum log_op_kind kind)
{
    struct log_program *program = c->program;
    program->ops =
        arena_grow(c->arena, program->ops, program->count, &program->room, sizeof(*program->ops));
    struct log_op *op = &program->ops[program->count++];
    *op = (struct log_op){.kind = kind};
    return op;
}

/* Merges neighbouring literals. */
static void add_literal(struct compiler *c, struct slice text)
{
    if (text.len == 0)
        return;
    struct log_program *program = c->program;
    if (program->count > 0 && program->ops[program->count - 1].kind == LOG_OP_LITERAL) {
        struct log_op *last = &program->ops[program->count - 1];
        const struct slice parts[] = {last->text, text};
        last->text = arena_join(c->arena, parts, 2);
        return;
    }
    add_op(c, LOG_OP_LITERAL)->text = arena_copy(c->arena, text);
}

static bool is_bare(const struct log_spec *spec)
{
    return spec->width == 0 && spec->precision < 0 && !spec->plus && !spec->blank;
}

static enum log_op_kind quick_kind(enum log_field field, const struct log_spec *spec)
{
    if (field == LOG_FIELD_MSECS && spec->conversion == 'd' && spec->zeros && !spec->left &&
        spec->width == 3 && spec->precision < 0 && !spec->plus && !spec->blank)
        return LOG_OP_MILLISECONDS;
    if (spec->conversion != 's' || !is_bare(spec))
        return LOG_OP_VALUE;
    switch (field) {
    case LOG_FIELD_ASCTIME:
        return LOG_OP_ASCTIME;
    case LOG_FIELD_NAME:
        return LOG_OP_NAME;
    case LOG_FIELD_MESSAGE:
        return LOG_OP_MESSAGE;
    case LOG_FIELD_CONTEXT:
        return LOG_OP_CONTEXT;
    default:
        return LOG_OP_VALUE;
    }
}

static bool add_string(struct compiler *c, const char *where, const char *string);

/* A plain %(user_identity)s is replaced by the identity's own pieces. */
static bool add_identity(struct compiler *c)
{
    const char *where = c->where;
    c->in_identity = true;
    bool ok = add_string(c, "logging_user_identity_format", c->settings->identity);
    c->in_identity = false;
    c->where = where;
    return ok;
}

static void add_constant(struct compiler *c, const struct piece *piece, enum log_constant constant)
{
    struct buf text = {0};
    struct log_value value =
        log_constant_value(constant, c->level, c->color, c->in_identity, c->settings->product);
    log_value_append(&text, &value, &piece->spec);
    add_literal(c, buf_slice(&text));
    buf_free(&text);
}

static void add_field(struct compiler *c, const struct piece *piece, const struct log_key *key)
{
    enum log_field field = key->field;
    if (field == LOG_FIELD_IDENTITY && c->in_identity)
        field = LOG_FIELD_PLAIN_IDENTITY;
    struct log_op *op = add_op(c, quick_kind(field, &piece->spec));
    op->field = field;
    op->dash = c->in_identity;
    op->clean =
        key->scope == LOG_IN_CONTEXT || field == LOG_FIELD_MESSAGE || field == LOG_FIELD_MSG;
    op->offset = key->detail;
    struct log_spec *spec = arena_alloc(c->arena, sizeof(*spec));
    *spec = piece->spec;
    op->spec = spec;
}

static void note_unknown(struct compiler *c, struct slice key)
{
    for (struct log_unknown_key *at = *c->unknown; at != NULL; at = at->next)
        if (slice_equal(at->key, key) && strcmp(at->format, c->where) == 0)
            return;
    struct log_unknown_key *note = arena_alloc(c->arena, sizeof(*note));
    *note = (struct log_unknown_key){c->where, arena_copy(c->arena, key), *c->unknown};
    *c->unknown = note;
}

static bool add_piece(struct compiler *c, const struct piece *piece)
{
    if (piece->literal.data != NULL) {
        add_literal(c, piece->literal);
        return true;
    }
    const struct log_key *key = log_key_find(piece->key, c->has_context, c->in_identity);
    if (key == NULL && c->in_identity) {
        add_constant(c, piece, LOG_CONSTANT_DASH);
        return true;
    }
    if (key == NULL) {
        note_unknown(c, piece->key);
        return true;
    }
    if (piece->spec.conversion != 's' && (key->kind == LOG_VALUE_TEXT || c->in_identity))
        return err_set(c->err, 500, NULL, "%s: %%(%.*s)%c, but it is not a number", c->where,
                       SLICE_ARG(piece->key), piece->spec.conversion);
    if (key->kind == LOG_VALUE_REAL && (piece->spec.conversion | 0x20) == 'x')
        return err_set(c->err, 500, NULL, "%s: %%(%.*s)%c, but it is not a whole number", c->where,
                       SLICE_ARG(piece->key), piece->spec.conversion);
    if (key->field == LOG_FIELD_CONSTANT)
        add_constant(c, piece, (enum log_constant)key->detail);
    else if (key->field == LOG_FIELD_IDENTITY && !c->in_identity && piece->spec.conversion == 's' &&
             is_bare(&piece->spec))
        return add_identity(c);
    else
        add_field(c, piece, key);
    return true;
}

static bool add_string(struct compiler *c, const char *where, const char *string)
{
    c->where = where;
    while (*string != '\0') {
        struct piece piece;
        if (!take_piece(c, &string, &piece) || !add_piece(c, &piece))
            return false;
    }
    return true;
}

static bool compile_program(struct compiler *c, bool has_context, enum log_level level)
{
    const struct log_format_settings *settings = c->settings;
    c->program = &c->format->programs[has_context][level];
    c->has_context = has_context;
    c->level = level;
    if (settings->form == LOG_FORM_PLAIN)
        return add_string(c, "format", settings->plain);
    const char *string = has_context ? settings->context : settings->without;
    bool has_suffix = level == LOG_LEVEL_DEBUG && settings->debug_suffix[0] != '\0';
    if (string[0] == '\0' && !has_suffix)
        string = "%(message)s"; /* logging.Formatter treats an empty one like this */
    if (!add_string(c,
                    has_context ? "logging_context_format_string" : "logging_default_format_string",
                    string))
        return false;
    if (!has_suffix)
        return true;
    add_literal(c, SLICE_LIT(" "));
    return add_string(c, "logging_debug_format_suffix", settings->debug_suffix);
}

static bool compile_texts(struct compiler *c)
{
    for (unsigned level = 0; level < LOG_LEVELS; level++)
        if (!compile_program(c, false, (enum log_level)level) ||
            !compile_program(c, true, (enum log_level)level))
            return false;
    c->program = &c->format->identity;
    c->has_context = true;
    return add_identity(c);
}

/* Whether dates of this format fit; a character is appended because an empty date is valid. */
static bool date_fits(const char *date, struct arena *arena)
{
    char text[LOG_TIME_MAX - 8]; /* names of time zones vary a little over the year */
    const char *marked = arena_printf(arena, "%s|", date).data;
    for (int month = 0; month < 12; month++) {
        struct tm at = {.tm_year = 126, .tm_mon = month, .tm_mday = 30, .tm_wday = 3};
        if (strftime(text, sizeof(text), marked, &at) == 0)
            return false;
    }
    return true;
}

static bool set_date(struct compiler *c)
{
    const char *date = c->settings->date;
    struct log_format *format = c->format;
    format->date_has_ms = date == NULL || date[0] == '\0';
    format->date =
        format->date_has_ms ? "%Y-%m-%d %H:%M:%S" : arena_copy(c->arena, slice_of(date)).data;
    return date_fits(format->date, c->arena) ||
           err_set(c->err, 500, NULL, "log_date_format: dates of more than %d bytes",
                   LOG_TIME_MAX - 8);
}

struct log_format *log_format_compile(const struct log_format_settings *settings, bool color,
                                      unsigned number, struct arena *arena,
                                      struct log_unknown_key **unknown, struct err *err)
{
    char host[256] = "";
    struct log_format *format = arena_zalloc(arena, sizeof(*format));
    struct compiler compiler = {.settings = settings,
                                .format = format,
                                .arena = arena,
                                .color = color,
                                .unknown = unknown,
                                .err = err};
    gethostname(host, sizeof(host) - 1);
    format->form = settings->form;
    format->number = number;
    format->hostname = arena_copy(arena, slice_of(host));
    format->line_end = color ? SLICE_LIT("\033[00m") : SLICE_LIT("");
    if (!set_date(&compiler))
        return NULL;
    if (settings->form == LOG_FORM_JSON)
        return format;
    return compile_texts(&compiler) ? format : NULL;
}
