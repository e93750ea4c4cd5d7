/* SIGHUP, step by step. A step that fails keeps the previous state, logs the reason, and does not
 * prevent the other steps. The main thread, between two ticks.
 *
 * Two configurations exist: the one that the process was started with, into which other parts
 * point, and the newest valid one, which has the current values of mutable options. A step copies
 * what it takes from the newest, because the next reload frees it. */
#include "daemon/daemon.h"

#include "conf/changes.h"
#include "conf/load.h"
#include "conf/notes.h"
#include "daemon/logging.h"
#include "log/log.h"
#include "policy/keeper.h"

static const char LOGGER[] = "berth";

/* Reads the same files, variables and switches again. NULL: the reason has been logged. */
static struct conf *load_again(const struct daemon *daemon)
{
    struct err err = {.arena = arena_create()};
    struct conf *next = conf_load(daemon->inputs, &err);
    if (next != NULL && next->embedded != daemon->conf->embedded) {
        (void)err_set(&err, 500, NULL,
                      next->embedded ? "there is no configuration file any more"
                                     : "there is a configuration file now, which needs a restart");
        conf_destroy(next);
        next = NULL;
    }
    if (next == NULL)
        log_write(LOG_LEVEL_ERROR, LOGGER, LOG_NO_CONTEXT,
                  "the configuration stays as it was: %.*s", SLICE_ARG(err.message));
    arena_destroy(err.arena);
    return next;
}

static void apply_logging(const struct conf *next)
{
    struct err err = {.arena = arena_create()};
    if (!logging_apply(next, &err))
        log_write(LOG_LEVEL_ERROR, LOGGER, LOG_NO_CONTEXT, "the log stays as it was: %.*s",
                  SLICE_ARG(err.message));
    arena_destroy(err.arena);
}

static void take_configuration(struct daemon *daemon)
{
    struct conf *next = load_again(daemon);
    if (daemon->admin != NULL)
        admin_count_reload(daemon->admin, next != NULL);
    if (next == NULL)
        return;
    notes_log_unknown(next);
    size_t changed = changes_log(daemon->conf, conf_in_force(daemon), next);
    apply_logging(next);
    api_settings_take(daemon, next);
    listeners_take(daemon, next);
    conf_destroy(daemon->reloaded);
    daemon->reloaded = next;
    log_write(LOG_LEVEL_INFO, LOGGER, LOG_NO_CONTEXT,
              "configuration read again, %zu option%s changed", changed, changed == 1 ? "" : "s");
}

void daemon_reload(struct daemon *daemon)
{
    notify_reloading();
    take_configuration(daemon);
    /* The files named in the configuration are read again even if it has not changed. */
    tls_reload(daemon);
    catalogue_reload(daemon);
    policy_keeper_look(daemon->api.policies, true);
    notify_ready();
}
