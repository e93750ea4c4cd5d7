/* Words about a configuration, for the operator who wonders why something does not happen. */
#include "conf/notes.h"

#include "base/buf.h"
#include "log/log.h"

static const char LOGGER[] = "berth.conf";

static void log_list(const char *before, const struct conf_texts *texts)
{
    struct buf list = {0};
    for (size_t i = 0; i < texts->n; i++)
        buf_printf(&list, "%s%s", i == 0 ? "" : ", ", texts->items[i]);
    log_write(LOG_LEVEL_INFO, LOGGER, LOG_NO_CONTEXT, "%s: %.*s", before,
              SLICE_ARG(buf_slice(&list)));
    buf_free(&list);
}

static void warn_open_noauth(const struct conf *conf, const struct conf_listen *listen,
                             size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (conf->auth_strategy == CONF_AUTH_NOAUTH2 && !listen_is_loopback(&listen[i])) {
            log_write(LOG_LEVEL_WARNING, LOGGER, LOG_NO_CONTEXT,
                      "auth_strategy is noauth2 and %s is not loopback: whoever reaches it is "
                      "believed to be who he says",
                      listen[i].host);
            return;
        }
}

void notes_print_value(const struct conf_value *value, struct buf *out)
{
    if (!value->is_set)
        buf_append_slice(out, SLICE_LIT("None"));
    else if (value->option->is_secret)
        buf_append_slice(out, SLICE_LIT(NOTES_MASK));
    else
        value_print(value, out);
}

static void warn_open_admin(const struct conf *conf)
{
    for (size_t i = 0; i < conf->admin_listen_count; i++)
        if (!listen_is_loopback(&conf->admin_listen[i]))
            log_write(LOG_LEVEL_WARNING, LOGGER, LOG_NO_CONTEXT,
                      "admin_listen: %s is not loopback, and whoever reaches it is shown metrics "
                      "and health without a token",
                      conf->admin_listen[i].host);
}

static void warn_healthcheck(const struct conf *conf)
{
    const struct conf_healthcheck *healthcheck = &conf->healthcheck;
    if (healthcheck->unknown_backend != NULL)
        log_write(LOG_LEVEL_WARNING, LOGGER, LOG_NO_CONTEXT,
                  "[healthcheck] backends: '%s' is not known here, and checks nothing",
                  healthcheck->unknown_backend);
    for (unsigned i = 0; i < healthcheck->backend_count; i++)
        if (healthcheck_backend_is_idle(healthcheck, healthcheck->backends[i]))
            log_write(LOG_LEVEL_WARNING, LOGGER, LOG_NO_CONTEXT,
                      "[healthcheck] backends: '%s' has no file to look for",
                      healthcheck_backend_name(healthcheck->backends[i]));
}

/* Sections of further origins, which oslo.middleware still reads and has deprecated. Whoever has
 * one wonders why browsers are refused. */
static void warn_cors_sections(const struct conf *conf)
{
    for (size_t i = 0; i < conf->unknown_n; i++)
        if (slice_starts_with(conf->unknown[i].section, SLICE_LIT("cors.")) &&
            slice_equal(conf->unknown[i].name, SLICE_LIT("allowed_origin")))
            log_write(LOG_LEVEL_WARNING, LOGGER, LOG_NO_CONTEXT,
                      "%s:%u: [%.*s] is not read: all origins belong into [cors] allowed_origin",
                      conf->unknown[i].path, conf->unknown[i].line,
                      SLICE_ARG(conf->unknown[i].section));
}

void notes_log(const struct conf *conf)
{
    if (conf->embedded)
        log_write(LOG_LEVEL_INFO, LOGGER, LOG_NO_CONTEXT,
                  "no configuration file: running embedded");
    else
        log_list("configuration files", &conf->files);
    for (size_t i = 0; i < conf->deprecated.n; i++)
        log_write(LOG_LEVEL_WARNING, LOGGER, LOG_NO_CONTEXT, "deprecated name: %s",
                  conf->deprecated.items[i]);
    if (conf->no_effect.n > 0)
        log_list("options that have no effect here", &conf->no_effect);
    warn_open_noauth(conf, conf->listen, conf->listen_count);
    warn_open_noauth(conf, conf->baremetal.listen, conf->baremetal.listen_count);
    warn_open_noauth(conf, conf->valet.listen, conf->valet.listen_count);
    warn_open_admin(conf);
    warn_healthcheck(conf);
    warn_cors_sections(conf);
    for (size_t i = 0; i < conf->unknown_n; i++)
        log_write(LOG_LEVEL_DEBUG, LOGGER, LOG_NO_CONTEXT,
                  "unknown option passed over: %s:%u: [%.*s] %.*s", conf->unknown[i].path,
                  conf->unknown[i].line, SLICE_ARG(conf->unknown[i].section),
                  SLICE_ARG(conf->unknown[i].name));
}
