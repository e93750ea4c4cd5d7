/* The certificates of the https listeners: loaded at startup, on SIGHUP, and when their files
 * change. An unreadable certificate aborts startup; on a reload it is logged, and the old one stays
 * in use. One that expires soon is logged whenever it is loaded, and once a day. */
#include "base/clock.h"
#include "daemon/daemon.h"
#include "log/log.h"

enum { US_PER_S = 1000 * 1000, LOOK_EVERY_US = 2 * US_PER_S };
static const uint64_t REMIND_EVERY_US = UINT64_C(24) * 60 * 60 * US_PER_S;

static struct http_tls_files files_of(const struct conf *conf)
{
    return (struct http_tls_files){
        .cert_file = conf->tls_cert_file,
        .key_file = conf->tls_key_file,
        .ca_file = conf->tls_ca_file,
        .priorities = conf->tls_priorities,
    };
}

/* Also sets the time of the next expiry check. */
static void warn_of_expiry(struct daemon *daemon, struct arena *arena)
{
    struct slice text;
    enum http_tls_expiry expiry =
        http_tls_check_expiry(daemon->tls, clock_wall_us() / US_PER_S, arena, &text);
    daemon->tls_remind_us = clock_monotonic_us() + REMIND_EVERY_US;
    if (expiry != HTTP_TLS_GOOD)
        log_write(expiry == HTTP_TLS_EXPIRED ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING, "berth",
                  LOG_NO_CONTEXT, "%.*s", SLICE_ARG(text));
}

static void log_certificate(struct daemon *daemon)
{
    struct arena *arena = arena_create();
    struct slice warning = http_tls_warning(daemon->tls, arena);
    log_write(LOG_LEVEL_INFO, "berth", LOG_NO_CONTEXT, "TLS certificate: %.*s",
              SLICE_ARG(http_tls_describe(daemon->tls, arena)));
    if (warning.len > 0)
        log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT, "%.*s", SLICE_ARG(warning));
    warn_of_expiry(daemon, arena);
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
    log_certificate(daemon);
    return true;
}

void tls_reload(struct daemon *daemon)
{
    struct http_tls_files files = files_of(conf_in_force(daemon));
    if (daemon->tls == NULL || files.cert_file == NULL)
        return;
    struct err err = {.arena = arena_create()};
    if (http_tls_load(daemon->tls, &files, &err))
        log_certificate(daemon);
    else
        log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT,
                  "the old TLS certificate stays in use: %.*s", SLICE_ARG(err.message));
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
    if (now_us < daemon->tls_remind_us)
        return;
    struct arena *arena = arena_create();
    warn_of_expiry(daemon, arena);
    arena_destroy(arena);
}

void tls_close(struct daemon *daemon)
{
    http_tls_destroy(daemon->tls);
    daemon->tls = NULL;
}
