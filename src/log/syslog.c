/* Sends lines to a syslog daemon: to its socket on this machine in the format of syslog(3), as
 * oslo_log.handlers.OSSysLogHandler does, or in that of Python's SysLogHandler, to a socket or over
 * UDP. The library's syslog() would be sufficient for the first, but it waits for a daemon that
 * hangs.
 *
 * A send that fails is retried once on a new connection; then the line is lost. On the queue's
 * thread, except for formatting, which runs on any thread. */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "log/internal.h"

enum { SEND_WAIT_MS = 5000 }; /* other threads continue: the queue accepts their lines */

struct syslog {
    struct sockaddr_storage address;
    socklen_t address_len;
    int fd;       /* -1: not connected */
    bool stream;  /* the daemon does not accept datagrams; lines end with a NUL byte */
    bool stalled; /* the last wait timed out */
};

static bool set_unix(struct syslog *syslog, const char *path, struct err *err)
{
    struct sockaddr_un *address = (struct sockaddr_un *)&syslog->address;
    if (strlen(path) >= sizeof(address->sun_path))
        return err_set(err, 500, NULL, "syslog: the socket's path is too long: %s", path);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, strlen(path) + 1);
    syslog->address_len = sizeof(*address);
    return true;
}

static bool set_host(struct syslog *syslog, const char *host, const char *port, struct err *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_DGRAM};
    struct addrinfo *found = NULL;
    int error = getaddrinfo(host, port, &hints, &found);
    if (error != 0)
        return err_set(err, 500, NULL, "syslog: %s:%s: %s", host, port, gai_strerror(error));
    memcpy(&syslog->address, found->ai_addr, found->ai_addrlen);
    syslog->address_len = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

void *log_syslog_open(const struct log_handler_settings *settings, struct err *err)
{
    struct syslog *syslog = calloc(1, sizeof(*syslog));
    check(syslog != NULL);
    syslog->fd = -1;
    bool ok = settings->path != NULL ? set_unix(syslog, settings->path, err)
                                     : set_host(syslog, settings->host, settings->port, err);
    if (ok)
        return syslog;
    free(syslog);
    return NULL;
}

static void disconnect(struct syslog *syslog)
{
    if (syslog->fd >= 0)
        close(syslog->fd);
    syslog->fd = -1;
}

static bool connect_as(struct syslog *syslog, int type)
{
    syslog->fd = socket(syslog->address.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (syslog->fd >= 0 &&
        connect(syslog->fd, (struct sockaddr *)&syslog->address, syslog->address_len) == 0)
        return true;
    int error = errno;
    disconnect(syslog);
    errno = error;
    return false;
}

static bool connect_any(struct syslog *syslog)
{
    syslog->stream = false;
    if (connect_as(syslog, SOCK_DGRAM))
        return true;
    syslog->stream = errno == EPROTOTYPE;
    return syslog->stream && connect_as(syslog, SOCK_STREAM);
}

static bool wait_writable(struct syslog *syslog)
{
    struct pollfd wait = {.fd = syslog->fd, .events = POLLOUT};
    int ready;
    do
        ready = poll(&wait, 1, syslog->stalled ? 0 : SEND_WAIT_MS);
    while (ready < 0 && errno == EINTR);
    syslog->stalled = ready == 0;
    return ready > 0;
}

enum send_result { SENT, STUCK, BROKEN };

static enum send_result send_now(struct syslog *syslog, struct slice line)
{
    while (line.len > 0) {
        ssize_t sent = send(syslog->fd, line.data, line.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0)
            line = slice_skip(line, (size_t)sent);
        else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) {
            if (!wait_writable(syslog))
                return STUCK;
        } else if (errno != EINTR) {
            return BROKEN;
        }
    }
    syslog->stalled = false;
    return SENT;
}

bool log_syslog_send(void *sender, const struct slice *fields, size_t count)
{
    struct syslog *syslog = sender;
    check(count == 1);
    for (unsigned attempt = 0; attempt < 2; attempt++) {
        if (syslog->fd < 0 && !connect_any(syslog))
            return false;
        struct slice line = fields[0];
        enum send_result result = send_now(syslog, line);
        if (result == SENT && syslog->stream && line.data[line.len - 1] != '\0')
            result = send_now(syslog, (struct slice){"", 1});
        if (result == SENT)
            return true;
        if (result == STUCK && !syslog->stream)
            return false;
        disconnect(syslog); /* half a line on a stream would run into the next one */
        if (result == STUCK)
            return false;
    }
    return false;
}

void log_syslog_end(void *sender)
{
    disconnect(sender);
    free(sender);
}

/* "Nov  1 20:44:08 ", as syslog(3) writes it, in any locale. */
static void append_time(struct buf *out, int64_t wall_us)
{
    static const char MONTHS[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t at = (time_t)(wall_us / 1000000);
    struct tm local;
    localtime_r(&at, &local);
    buf_printf(out, "%.3s %2d %02d:%02d:%02d ", MONTHS + (size_t)local.tm_mon * 3, local.tm_mday,
               local.tm_hour, local.tm_min, local.tm_sec);
}

void log_syslog_render(const struct log_syslog_form *form, const struct log_format *format,
                       const struct log_record *record, struct log_scratch *scratch,
                       struct buf *out)
{
    size_t frame = log_frame_begin(out);
    size_t field = log_field_begin(out);
    buf_printf(out, "<%d>", form->facility << 3 | log_level_priority(record->level));
    if (!form->raw) {
        append_time(out, record->wall_us);
        buf_append_slice(out, form->identity);
        buf_append_lit(out, ": ");
    }
    size_t text = out->len;
    log_format_render(format, record, scratch, out);
    log_cut(out, text, LOG_DATAGRAM_TEXT_MAX);
    if (form->raw)
        buf_append_char(out, '\0');
    log_field_end(out, field);
    log_frame_end(out, frame);
}
