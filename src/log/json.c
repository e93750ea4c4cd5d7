/* Formats one line as oslo.log's JSONFormatter does, with its keys in its order. Any thread. */
#include "base/json_write.h"
#include "log/program.h"

static void key(struct buf *out, const char *name)
{
    if (out->data[out->len - 1] != '{')
        buf_append_lit(out, ", ");
    buf_append_char(out, '"');
    buf_append_slice(out, slice_of(name));
    buf_append_lit(out, "\": ");
}

/* null if absent. */
static void text(struct buf *out, const char *name, struct slice value)
{
    key(out, name);
    if (value.data == NULL)
        buf_append_lit(out, "null");
    else
        json_write_string(out, value);
}

static void integer(struct buf *out, const char *name, int64_t value)
{
    key(out, name);
    buf_append_int(out, value);
}

/* A number with `places` decimals, one or more, at most 16 digits in total, as Python shows the
 * float: without trailing zeros. Searching for the shortest form, as json_write_double does, takes
 * longer than the rest of the line. */
static void decimal(struct buf *out, const char *name, int64_t value, unsigned places)
{
    char digits[DECIMAL_MAX];
    int64_t scale = 1;
    for (unsigned i = 0; i < places; i++)
        scale *= 10;
    key(out, name);
    if (value < 0)
        buf_append_char(out, '-');
    value = value < 0 ? -value : value;
    buf_append_int(out, value / scale);
    buf_append_char(out, '.');
    size_t len = decimal_write(digits, scale + value % scale); /* a one before the decimals */
    while (len > 2 && digits[len - 1] == '0')
        len--;
    buf_append(out, digits + 1, len - 1);
}

static void constant(struct buf *out, const char *name, const char *value)
{
    key(out, name);
    buf_append_slice(out, slice_of(value));
}

static void joined(struct buf *out, const struct log_message *message, unsigned first,
                   unsigned count)
{
    buf_append_char(out, '"');
    for (unsigned i = first; i < first + count; i++)
        json_write_piece(out, message->parts[i]);
    buf_append_char(out, '"');
}

static bool is_number(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    return text.len > 0 && (text.len == 1 || text.data[0] != '0');
}

/* "1.39" as [1, 39]; any other text stays a text. */
static void argument_value(struct buf *out, const struct log_message *message,
                           const struct log_argument *argument)
{
    struct slice minor = message->parts[argument->first];
    struct slice major = slice_cut(&minor, '.');
    if (!argument->is_version || !is_number(major) || !is_number(minor)) {
        joined(out, message, argument->first, argument->count);
        return;
    }
    buf_append_char(out, '[');
    buf_append_slice(out, major);
    buf_append_lit(out, ", ");
    buf_append_slice(out, minor);
    buf_append_char(out, ']');
}

/* Named arguments make an object, positional ones a list. */
static void arguments(struct buf *out, const struct log_message *message)
{
    bool named = message->argument_count > 0 && message->arguments[0].name != NULL;
    key(out, "args");
    buf_append_char(out, named ? '{' : '[');
    for (size_t i = 0; i < message->argument_count; i++) {
        const struct log_argument *argument = &message->arguments[i];
        if (named)
            key(out, argument->name);
        else if (i > 0)
            buf_append_lit(out, ", ");
        argument_value(out, message, argument);
    }
    buf_append_char(out, named ? '}' : ']');
}

static void roles(struct buf *out, const struct log_context *context)
{
    key(out, "roles");
    buf_append_char(out, '[');
    for (unsigned i = 0; i < context->role_count; i++) {
        if (i > 0)
            buf_append_lit(out, ", ");
        json_write_string(out, context->roles[i]);
    }
    buf_append_char(out, ']');
}

/* oslo.context's own format, regardless of logging_user_identity_format. */
static void identity(struct buf *out, const struct log_context *context)
{
    const struct slice words[] = {context->user_id, context->project_id, context->domain_id,
                                  context->user_domain_id, context->project_domain_id};
    key(out, "user_identity");
    buf_append_char(out, '"');
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (i > 0)
            buf_append_char(out, ' ');
        json_write_piece(out, words[i].len > 0 ? words[i] : SLICE_LIT("-"));
    }
    buf_append_char(out, '"');
}

static void context(struct buf *out, const struct log_context *context)
{
    key(out, "context");
    buf_append_char(out, '{');
    if (context != NULL) {
        text(out, "user_name", context->user_name);
        text(out, "project_name", context->project_name);
        text(out, "domain_name", context->domain_name);
        text(out, "user_domain_name", context->user_domain_name);
        text(out, "project_domain_name", context->project_domain_name);
        text(out, "user", context->user_id);
        text(out, "project_id", context->project_id);
        text(out, "system_scope", context->system_scope);
        text(out, "project", context->project_id);
        text(out, "domain", context->domain_id);
        text(out, "user_domain", context->user_domain_id);
        text(out, "project_domain", context->project_domain_id);
        constant(out, "is_admin", "false");
        constant(out, "read_only", "false");
        constant(out, "show_deleted", "false");
        constant(out, "auth_token", context->has_token ? "\"***\"" : "null");
        text(out, "request_id", context->request_id);
        text(out, "global_request_id", context->global_request_id);
        constant(out, "resource_uuid", "null");
        roles(out, context);
        identity(out, context);
        constant(out, "is_admin_project", "true");
    }
    buf_append_char(out, '}');
}

static void place(struct buf *out, const struct log_record *record)
{
    text(out, "pathname", log_place_path(record->place));
    text(out, "filename", log_place_file(record->place));
    text(out, "module", log_place_module(record->place));
    integer(out, "lineno", record->place->line);
    text(out, "funcname", slice_of(record->place->function));
}

static void message(struct buf *out, const struct log_message *message)
{
    joined(out, message, 0, (unsigned)message->part_count);
}

void log_json_render(const struct log_record *record, struct slice date, struct slice hostname,
                     struct log_scratch *scratch, struct buf *out)
{
    buf_append_lit(out, "{\"message\": ");
    message(out, record->message);
    text(out, "asctime", date);
    text(out, "name", record->logger);
    key(out, "msg");
    if (record->message->format != NULL)
        json_write_string(out, slice_of(record->message->format));
    else
        message(out, record->message);
    arguments(out, record->message);
    text(out, "levelname", slice_of(log_level_name(record->level)));
    integer(out, "levelno", log_level_number(record->level));
    place(out, record);
    decimal(out, "created", record->wall_us, 6);
    decimal(out, "msecs", record->wall_us / 1000 % 1000 * 10, 1);
    decimal(out, "relative_created", log_relative_us(record->wall_us), 3);
    integer(out, "thread", scratch->thread_id);
    text(out, "thread_name", slice_of(scratch->thread_name));
    constant(out, "process_name", "\"MainProcess\"");
    integer(out, "process", scratch->process_id);
    constant(out, "traceback", "null");
    text(out, "hostname", hostname);
    constant(out, "error_summary", "\"\"");
    context(out, record->context);
    key(out, "extra");
    buf_append_char(out, '{');
    if (record->context != NULL)
        text(out, "project", record->context->project_id);
    else
        constant(out, "project", "\"unknown\"");
    constant(out, "version", "\"unknown\"");
    buf_append_lit(out, "}}");
}
