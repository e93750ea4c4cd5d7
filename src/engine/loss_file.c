/* See loss_file.h. A failure is kept, and nothing more is written after it. Writer thread. */
#include "engine/loss_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/loss_json.h"

enum { WRITTEN_AT_ONCE = 1 << 18, NAMES_TRIED = 1000 };

static void fail(struct loss_file *file)
{
    file->error = file->has_failed ? file->error : errno;
    file->has_failed = true;
}

static void flush(struct loss_file *file)
{
    size_t at = 0;
    while (at < file->buf.len && !file->has_failed) {
        ssize_t written = write(file->fd, file->buf.data + at, file->buf.len - at);
        if (written >= 0)
            at += (size_t)written;
        else if (errno != EINTR)
            fail(file);
    }
    file->buf.len = 0;
}

/* Several processes may write files into one directory. */
static void create(struct loss_file *file, const char *directory, int64_t now_us)
{
    time_t now_s = (time_t)(now_us / 1000000);
    struct tm parts;
    char time_text[32];
    strftime(time_text, sizeof(time_text), "%Y%m%dT%H%M%SZ", gmtime_r(&now_s, &parts));
    for (unsigned i = 0; i < NAMES_TRIED && file->fd < 0; i++) {
        int len = snprintf(file->path, sizeof(file->path), "%s/lost-%s-%ld-%u.jsonl", directory,
                           time_text, (long)getpid(), i);
        errno = ENAMETOOLONG;
        if (len < (int)sizeof(file->path))
            file->fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
        if (file->fd < 0 && errno != EEXIST)
            break;
    }
    if (file->fd < 0)
        fail(file);
}

void loss_file_begin(struct loss_file *file, const char *directory, struct slice host,
                     const struct store_going_back *event, const struct version *before,
                     const struct version *after)
{
    int64_t now_us = clock_wall_us();
    char time_text[CLOCK_ISO_BYTES];
    *file = (struct loss_file){.fd = -1, .before = before, .after = after};
    if (directory == NULL)
        return;
    create(file, directory, now_us);
    clock_format_iso(now_us, time_text);
    buf_append_lit(&file->buf, "{\"event\": \"database went back\"");
    loss_json_text(&file->buf, "time", slice_of(time_text));
    loss_json_text(&file->buf, "host", host);
    loss_json_number(&file->buf, "pid", getpid());
    loss_json_text(&file->buf, "database", event->database);
    loss_json_number(&file->buf, "had_batch", event->had);
    loss_json_number(&file->buf, "has_batch", event->has);
    buf_append_lit(&file->buf, "}\n");
}

void loss_file_add(struct loss_file *file, const struct loss *loss)
{
    file->losses++;
    if (file->fd < 0)
        return;
    loss_json_write(&file->buf, loss, file->before, file->after);
    if (file->buf.len >= WRITTEN_AT_ONCE)
        flush(file);
}

static void sync_directory(struct loss_file *file)
{
    char directory[PATH_MAX];
    snprintf(directory, sizeof(directory), "%.*s", (int)(strrchr(file->path, '/') - file->path),
             file->path);
    int fd = open(directory[0] == '\0' ? "/" : directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0)
        fail(file);
    if (fd >= 0)
        close(fd);
}

bool loss_file_end(struct loss_file *file)
{
    if (file->fd >= 0) {
        buf_printf(&file->buf, "{\"end\": true, \"losses\": %llu}\n",
                   (unsigned long long)file->losses);
        flush(file);
        if (!file->has_failed && fsync(file->fd) != 0)
            fail(file);
        if (!file->has_failed)
            sync_directory(file);
        if (close(file->fd) != 0)
            fail(file);
    }
    buf_free(&file->buf);
    file->fd = -1;
    return !file->has_failed;
}
