/* Runs the programs of format.c. Any thread, with its own scratch. */
#include <stdio.h>
#include <time.h>

#include "log/append.h"
#include "log/program.h"

/* A thread that logs often determines the local time once a second. */
static const struct log_time *time_of(const struct log_format *format, int64_t wall_us,
                                      struct log_scratch *scratch)
{
    struct log_time *last = &scratch->times[format->number];
    int64_t second = wall_us / 1000000;
    if (second != last->second) {
        time_t at = (time_t)second;
        struct tm local;
        localtime_r(&at, &local);
        last->len = strftime(last->text, sizeof(last->text), format->date, &local);
        last->second = second;
    }
    return last;
}

static void append_ms(struct buf *out, int64_t wall_us)
{
    unsigned ms = (unsigned)(wall_us / 1000 % 1000);
    char *to = buf_reserve(out, 3);
    to[0] = (char)('0' + ms / 100);
    to[1] = (char)('0' + ms / 10 % 10);
    to[2] = (char)('0' + ms % 10);
    out->len += 3;
}

static void append_asctime(struct buf *out, const struct log_format *format, int64_t wall_us,
                           struct log_scratch *scratch)
{
    const struct log_time *time = time_of(format, wall_us, scratch);
    log_append(out, (struct slice){time->text, time->len});
    if (format->date_has_ms) {
        buf_append_char(out, ',');
        append_ms(out, wall_us);
    }
}

struct slice log_date_text(const struct log_format *format, int64_t wall_us,
                           struct log_scratch *scratch)
{
    struct log_time *time = &scratch->times[format->number];
    (void)time_of(format, wall_us, scratch);
    if (!format->date_has_ms)
        return (struct slice){time->text, time->len};
    size_t len = time->len;
    unsigned ms = (unsigned)(wall_us / 1000 % 1000);
    len += (size_t)snprintf(time->text + len, sizeof(time->text) - len, ",%03u", ms);
    return (struct slice){time->text, len};
}

/* 2026-11-20T20:44:08.037512+01:00 */
static void append_isotime(struct buf *out, int64_t wall_us)
{
    char text[64];
    time_t at = (time_t)(wall_us / 1000000);
    struct tm local;
    localtime_r(&at, &local);
    size_t len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &local);
    buf_append(out, text, len);
    long minutes = local.tm_gmtoff / 60;
    long ahead = minutes < 0 ? -minutes : minutes;
    buf_printf(out, ".%06d%c%02ld:%02ld", (int)(wall_us % 1000000), minutes < 0 ? '-' : '+',
               ahead / 60, ahead % 60);
}

static void append_context(struct buf *out, struct slice text, bool dash)
{
    if (text.len > 0)
        log_append_clean(out, text);
    else if (dash)
        buf_append_char(out, '-');
    else if (text.data == NULL)
        buf_append_lit(out, "None");
}

/* oslo.context's user_idt_format. */
static void append_plain_identity(struct buf *out, const struct log_context *context)
{
    const struct slice words[] = {context->user_id, context->project_id, context->domain_id,
                                  context->user_domain_id, context->project_domain_id};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (i > 0)
            buf_append_char(out, ' ');
        append_context(out, words[i], true);
    }
}

static void render_run(const struct log_format *format, const struct log_program *program,
                       const struct log_record *record, struct log_scratch *scratch,
                       struct buf *out);

/* Values that are converted to text for each line. */
static void append_made(struct buf *out, const struct log_format *format, const struct log_op *op,
                        const struct log_record *record, struct log_scratch *scratch)
{
    const struct log_context *context = record->context;
    switch (op->field) {
    case LOG_FIELD_ASCTIME:
        append_asctime(out, format, record->wall_us, scratch);
        return;
    case LOG_FIELD_ISOTIME:
        append_isotime(out, record->wall_us);
        return;
    case LOG_FIELD_MSG:
        if (record->message->format != NULL) {
            buf_append_slice(out, slice_of(record->message->format));
            return;
        }
        log_append_message(out, record->message);
        return;
    case LOG_FIELD_MESSAGE:
        log_append_message(out, record->message);
        return;
    case LOG_FIELD_CONTEXT:
        append_context(out, log_context_text(context, op->offset), op->dash);
        return;
    case LOG_FIELD_TOKEN:
        buf_append_slice(out, context->has_token ? SLICE_LIT("***")
                              : op->dash         ? SLICE_LIT("-")
                                                 : SLICE_LIT("None"));
        return;
    case LOG_FIELD_ROLES:
        if (op->dash && context->role_count == 0)
            buf_append_char(out, '-');
        else
            log_append_roles(out, context);
        return;
    case LOG_FIELD_IDENTITY:
        render_run(format, &format->identity, record, scratch, out);
        return;
    case LOG_FIELD_PLAIN_IDENTITY:
        append_plain_identity(out, context);
        return;
    default:
        check(false);
    }
}

static struct log_value render_value_of(const struct log_format *format, const struct log_op *op,
                                        const struct log_record *record,
                                        struct log_scratch *scratch, struct buf *made)
{
    struct log_value value = {.kind = LOG_VALUE_TEXT};
    switch (op->field) {
    case LOG_FIELD_MSECS:
        return (struct log_value){.kind = LOG_VALUE_REAL,
                                  .real = (double)(record->wall_us / 1000 % 1000)};
    case LOG_FIELD_CREATED:
        return (struct log_value){.kind = LOG_VALUE_REAL, .real = (double)record->wall_us / 1e6};
    case LOG_FIELD_RELATIVE:
        return (struct log_value){.kind = LOG_VALUE_REAL,
                                  .real = (double)log_relative_us(record->wall_us) / 1000};
    case LOG_FIELD_THREAD:
        return (struct log_value){.kind = LOG_VALUE_INTEGER, .integer = scratch->thread_id};
    case LOG_FIELD_LINE:
        return (struct log_value){.kind = LOG_VALUE_INTEGER, .integer = record->place->line};
    case LOG_FIELD_THREAD_NAME:
        value.text = slice_of(scratch->thread_name);
        return value;
    case LOG_FIELD_PATH:
        value.text = log_place_path(record->place);
        return value;
    case LOG_FIELD_FILE:
        value.text = log_place_file(record->place);
        return value;
    case LOG_FIELD_MODULE:
        value.text = log_place_module(record->place);
        return value;
    case LOG_FIELD_FUNCTION:
        value.text = slice_of(record->place->function);
        return value;
    case LOG_FIELD_NAME:
        value.text = record->logger;
        return value;
    default:
        append_made(made, format, op, record, scratch);
        value.text = buf_slice(made);
        return value;
    }
}

static void append_value(struct buf *out, const struct log_format *format, const struct log_op *op,
                         const struct log_record *record, struct log_scratch *scratch)
{
    struct buf made = {0};
    struct log_value value = render_value_of(format, op, record, scratch, &made);
    struct buf padded = {0};
    log_value_append(op->clean ? &padded : out, &value, op->spec);
    log_append_clean(out, buf_slice(&padded));
    buf_free(&padded);
    buf_free(&made);
}

static void render_run(const struct log_format *format, const struct log_program *program,
                       const struct log_record *record, struct log_scratch *scratch,
                       struct buf *out)
{
    for (size_t i = 0; i < program->count; i++) {
        const struct log_op *op = &program->ops[i];
        switch (op->kind) {
        case LOG_OP_LITERAL:
            log_append(out, op->text);
            break;
        case LOG_OP_ASCTIME:
            append_asctime(out, format, record->wall_us, scratch);
            break;
        case LOG_OP_MILLISECONDS:
            append_ms(out, record->wall_us);
            break;
        case LOG_OP_NAME:
            log_append(out, record->logger);
            break;
        case LOG_OP_MESSAGE:
            for (size_t j = 0; j < record->message->part_count; j++)
                log_append_clean(out, record->message->parts[j]);
            break;
        case LOG_OP_CONTEXT:
            append_context(out, log_context_text(record->context, op->offset), op->dash);
            break;
        case LOG_OP_VALUE:
            append_value(out, format, op, record, scratch);
            break;
        }
    }
}

void log_format_render(const struct log_format *format, const struct log_record *record,
                       struct log_scratch *scratch, struct buf *out)
{
    if (format->form == LOG_FORM_JSON)
        log_json_render(record, log_date_text(format, record->wall_us, scratch), format->hostname,
                        scratch, out);
    else
        render_run(format, &format->programs[record->context != NULL][record->level], record,
                   scratch, out);
    buf_append_slice(out, format->line_end);
}
