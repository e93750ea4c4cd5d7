/* The certificates of the https listeners: read at start, at SIGHUP, and when their files change.
 * What cannot be read ends a start, and is told on a reload, which leaves the old ones in use. */
#include "base/clock.h"
#include "daemon/daemon.h"
#include "log/log.h"

enum { LOOK_EVERY_US = 2 * 1000 * 1000 };

static struct http_tls_files files_of(const struct conf *conf)
{
    return (struct http_tls_files){
        .cert_file = conf->tls_cert_file,
        .key_file = conf->tls_key_file,
        .ca_file = conf->tls_ca_file,
        .priorities = conf->tls_priorities,
    };
}

static void tell(const struct daemon *daemon)
{
    struct arena *arena = arena_create();
    struct slice warning = http_tls_warning(daemon->tls, arena);
    log_write(LOG_LEVEL_INFO, "berth", LOG_NO_CONTEXT, "TLS certificate: %.*s",
              SLICE_ARG(http_tls_describe(daemon->tls, arena)));
    if (warning.len > 0)
        log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT, "%.*s", SLICE_ARG(warning));
    arena_destroy(arena);
}

bool tls_open(struct daemon *daemon)
{
    struct http_tls_files files = files_of(daemon->conf);
    if (files.cert_file == NULL)
        return true;
    daemon->tls = http_tls_create(&files, &daemon->err);
    if (daemon->tls == NULL)
        return false;
    tell(daemon);
    return true;
}

void tls_reload(struct daemon *daemon)
{
    struct http_tls_files files = files_of(conf_in_force(daemon));
    if (daemon->tls == NULL || files.cert_file == NULL)
        return;
    struct err err = {.arena = arena_create()};
    if (http_tls_load(daemon->tls, &files, &err))
        tell(daemon);
    else
        log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT,
                  "the TLS certificate in use stays: %.*s", SLICE_ARG(err.message));
    arena_destroy(err.arena);
}

void tls_look_after(struct daemon *daemon)
{
    uint64_t now_us = clock_monotonic_us();
    if (daemon->tls == NULL || now_us < daemon->tls_look_us)
        return;
    daemon->tls_look_us = now_us + LOOK_EVERY_US;
    if (http_tls_have_changed(daemon->tls))
        tls_reload(daemon);
}

void tls_close(struct daemon *daemon)
{
    http_tls_destroy(daemon->tls);
    daemon->tls = NULL;
}
