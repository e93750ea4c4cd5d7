/* Sends lines to the journal in its native protocol, with the fields of oslo.log's
 * OSJournalHandler. The library's send function waits for a journal that hangs, so it runs on the
 * queue's thread; formatting runs on any thread. */
#define SD_JOURNAL_SUPPRESS_LOCATION

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "log/internal.h"

static const char SOCKET[] = "/run/systemd/journal/socket";

bool log_journal_send(void *sender, const struct slice *fields, size_t count)
{
    struct iovec parts[LOG_FIELDS_MAX];
    (void)sender;
    for (size_t i = 0; i < count; i++)
        parts[i] = (struct iovec){(void *)(uintptr_t)fields[i].data, fields[i].len};
    /* The library reports no error if there is no journal. */
    return access(SOCKET, F_OK) == 0 && sd_journal_sendv(parts, (int)count) == 0;
}

bool log_reaches_journal(int fd)
{
    const char *stream = getenv("JOURNAL_STREAM");
    struct stat status;
    unsigned long long device;
    unsigned long long inode;
    return stream != NULL && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
           fstat(fd, &status) == 0 && status.st_dev == device && status.st_ino == inode &&
           access(SOCKET, F_OK) == 0;
}

static void append_text(struct buf *out, const char *name, struct slice text)
{
    if (text.len == 0)
        return;
    size_t field = log_field_begin(out);
    buf_append_slice(out, slice_of(name));
    buf_append_char(out, '=');
    buf_append_slice(out, text);
    log_field_end(out, field);
}

static void append_number(struct buf *out, const char *name, int number)
{
    char digits[DECIMAL_MAX];
    append_text(out, name, (struct slice){digits, decimal_write(digits, number)});
}

static void append_line(struct buf *out, const struct log_format *format,
                        const struct log_record *record, struct log_scratch *scratch)
{
    size_t field = log_field_begin(out);
    buf_append_lit(out, "MESSAGE=");
    log_format_render(format, record, scratch, out);
    log_cut(out, field, LOG_JOURNAL_TEXT_MAX);
    log_field_end(out, field);
}

void log_journal_render(int facility, struct slice identity, const struct log_format *format,
                        const struct log_record *record, struct log_scratch *scratch,
                        struct buf *out)
{
    const struct log_context *context = record->context;
    size_t frame = log_frame_begin(out);
    append_line(out, format, record, scratch);
    append_number(out, "PRIORITY", log_level_priority(record->level));
    append_number(out, "SYSLOG_FACILITY", facility);
    append_text(out, "SYSLOG_IDENTIFIER", identity);
    append_text(out, "LOGGER_NAME", record->logger);
    append_text(out, "LOGGER_LEVEL", slice_of(log_level_name(record->level)));
    append_text(out, "CODE_FILE", log_place_path(record->place));
    append_number(out, "CODE_LINE", record->place->line);
    append_text(out, "CODE_FUNC", slice_of(record->place->function));
    append_text(out, "THREAD_NAME", slice_of(scratch->thread_name));
    append_text(out, "PROCESS_NAME", SLICE_LIT("MainProcess"));
    if (context != NULL) {
        append_text(out, "REQUEST_ID", context->request_id);
        append_text(out, "GLOBAL_REQUEST_ID", context->global_request_id);
        append_text(out, "USER_ID", context->user_id);
        append_text(out, "USER_NAME", context->user_name);
        append_text(out, "PROJECT_ID", context->project_id);
        append_text(out, "PROJECT_NAME", context->project_name);
    }
    log_frame_end(out, frame);
}
