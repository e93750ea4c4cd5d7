/* Starts the thread that queries Keystone about tokens, if the configuration requires it. */
#include "daemon/daemon.h"
#include "keystone/keystone.h"
#include "log/log.h"

static void log_settings(const struct keystone_settings *settings, const struct conf *conf)
{
    log_write(LOG_LEVEL_INFO, "berth.keystone", LOG_NO_CONTEXT,
              "tokens are validated with the %s endpoint of Keystone, found at %s",
              settings->interface, settings->auth_url);
    if (!conf_value(conf, OPTION_AUTH_SECTION, "www_authenticate_uri")->is_set)
        log_write(
            LOG_LEVEL_WARNING, "berth.keystone", LOG_NO_CONTEXT,
            "[keystone_authtoken] www_authenticate_uri is not set: clients are referred to %s",
            settings->auth_url);
    if (settings->insecure)
        log_write(LOG_LEVEL_WARNING, "berth.keystone", LOG_NO_CONTEXT,
                  "[keystone_authtoken] insecure is set: Keystone's certificate is not verified");
}

bool authentication_open(struct daemon *daemon)
{
    if (daemon->conf->auth_strategy != CONF_AUTH_KEYSTONE)
        return true;
    struct keystone_settings *settings = arena_zalloc(daemon->arena, sizeof(*settings));
    if (!keystone_settings_read(daemon->conf, daemon->arena, settings, &daemon->err))
        return false;
    daemon->api.keystone = keystone_start(settings, &keystone_default_limits, &daemon->err);
    if (daemon->api.keystone == NULL)
        return false;
    log_settings(settings, daemon->conf);
    return true;
}

void authentication_hurry(struct daemon *daemon)
{
    if (daemon->api.keystone != NULL)
        keystone_hurry(daemon->api.keystone, daemon->conf->stop_grace_s * 1000 / 2);
}

void authentication_close(struct daemon *daemon)
{
    if (daemon->api.keystone != NULL)
        keystone_stop(daemon->api.keystone);
    daemon->api.keystone = NULL;
}
