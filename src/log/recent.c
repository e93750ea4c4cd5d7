/* A ring of copies. Errors are rare, so a lock is fast enough. Any thread. */
#include "log/recent.h"

#include "log/append.h"
#include "log/internal.h"

static struct {
    pthread_mutex_t lock;
    struct log_recent_line lines[LOG_RECENT_LINES];
    uint64_t count; /* ever logged */
} recent = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Whole characters, as many as fit. */
static void copy(char *out, size_t room, struct slice text)
{
    size_t len = text.len;
    if (len >= room) {
        len = room - 1;
        while (len > 0 && ((unsigned char)text.data[len] & 0xc0) == 0x80)
            len--;
    }
    if (len > 0)
        memcpy(out, text.data, len);
    out[len] = '\0';
}

void log_recent_add(const struct log_record *record)
{
    struct buf message = {0};
    struct buf text = {0};
    log_append_message(&message, record->message);
    log_append_escaped(&text, buf_slice(&message));
    pthread_mutex_lock(&recent.lock);
    struct log_recent_line *line = &recent.lines[recent.count++ % LOG_RECENT_LINES];
    line->wall_us = record->wall_us;
    copy(line->logger, sizeof(line->logger), record->logger);
    copy(line->text, sizeof(line->text), buf_slice(&text));
    pthread_mutex_unlock(&recent.lock);
    buf_free(&text);
    buf_free(&message);
}

size_t log_recent_read(struct log_recent_line out[static LOG_RECENT_LINES])
{
    pthread_mutex_lock(&recent.lock);
    size_t count = recent.count < LOG_RECENT_LINES ? recent.count : LOG_RECENT_LINES;
    for (size_t i = 0; i < count; i++)
        out[i] = recent.lines[(recent.count - count + i) % LOG_RECENT_LINES];
    pthread_mutex_unlock(&recent.lock);
    return count;
}
