/* Log lines about a configuration that explain to the operator why something has no effect. */
#include "conf/notes.h"

#include "base/buf.h"
#include "conf/unknown.h"
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
                      "auth_strategy is noauth2 and %s is not loopback: anyone who can reach it "
                      "can claim any identity",
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
                      "admin_listen: %s is not loopback: anyone who can reach it sees metrics and "
                      "health without a token",
                      conf->admin_listen[i].host);
}

static void warn_healthcheck(const struct conf *conf)
{
    const struct conf_healthcheck *healthcheck = &conf->healthcheck;
    if (healthcheck->unknown_backend != NULL)
        log_write(LOG_LEVEL_WARNING, LOGGER, LOG_NO_CONTEXT,
                  "[healthcheck] backends: '%s' is not known, and is ignored",
                  healthcheck->unknown_backend);
    for (unsigned i = 0; i < healthcheck->backend_count; i++)
        if (healthcheck_backend_is_idle(healthcheck, healthcheck->backends[i]))
            log_write(LOG_LEVEL_WARNING, LOGGER, LOG_NO_CONTEXT,
                      "[healthcheck] backends: '%s' has no file to look for",
                      healthcheck_backend_name(healthcheck->backends[i]));
}

static void notes_warn(void *cls, struct slice line)
{
    (void)cls;
    log_write(LOG_LEVEL_WARNING, LOGGER, LOG_NO_CONTEXT, "%.*s", SLICE_ARG(line));
}

void notes_log_unknown(const struct conf *conf)
{
    (void)unknown_report(conf, notes_warn, NULL);
}

static void warn_of_weaker(const struct conf *conf)
{
    if (!conf->enforce_scope)
        log_write(LOG_LEVEL_WARNING, LOGGER, LOG_NO_CONTEXT,
                  "[oslo_policy] enforce_scope is false: tokens with system or domain scope pass "
                  "where the newest Python service refuses them");
    if (conf_value(conf, "audit", "enabled")->boolean)
        log_write(LOG_LEVEL_WARNING, LOGGER, LOG_NO_CONTEXT,
                  "[audit] enabled is true, but berth emits no audit events");
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
    warn_of_weaker(conf);
    notes_log_unknown(conf);
}
