/* See config_parts.h. A table of the parts in the order in which berthd starts them; each reports
 * its first fault. One thread. */
#include "cli/config_parts.h"

#include <string.h>

#include "base/clock.h"
#include "conf/log_options.h"
#include "http/http.h"
#include "keystone/settings.h"
#include "logging_ini/logging_config.h"
#include "policy/files.h"
#include "policy/keeper.h"
#include "policy/set.h"
#include "store/store.h"

enum { LISTENERS_COMPARED = 1000 }; /* berthd opens fewer */
enum { US_PER_S = 1000 * 1000 };

/* What the checks of all parts work with. */
struct parts_check {
    const struct conf *conf;
    const struct conf_inputs *inputs;
    struct arena *arena;
    FILE *out;
    struct config_parts_found *found;
};

static void config_parts_warn(const struct parts_check *check, struct slice text)
{
    check->found->warnings++;
    fprintf(check->out, "warning: %.*s\n", SLICE_ARG(text));
}

static bool check_logging(const struct parts_check *check, struct err *err)
{
    const struct conf_value *file = conf_value(check->conf, "DEFAULT", "log_config_append");
    if (!file->is_set || file->text[0] == '\0')
        return true;
    struct log_settings settings;
    struct conf_texts warnings;
    const struct log_handler_settings common = log_options_handler(check->conf);
    if (!logging_config_read(file->text, &common, check->arena, &settings, &warnings, err))
        return false;
    for (size_t i = 0; i < warnings.n; i++)
        config_parts_warn(check, slice_of(warnings.items[i]));
    return true;
}

static bool check_policies(const struct parts_check *check, struct err *err)
{
    struct policy_places places = policy_places_of(check->conf, check->inputs);
    struct policy_options options = policy_options_of(check->conf);
    struct policy *policy = policy_load(&places, &options, err);
    if (policy == NULL)
        return false;
    policy_release(policy);
    return true;
}

static bool check_certificates(const struct parts_check *check, struct err *err)
{
    struct http_tls_files files = {
        .cert_file = check->conf->tls_cert_file,
        .key_file = check->conf->tls_key_file,
        .ca_file = check->conf->tls_ca_file,
        .priorities = check->conf->tls_priorities,
    };
    if (files.cert_file == NULL || files.key_file == NULL)
        return true;
    struct http_tls *tls = http_tls_create(&files, err);
    if (tls == NULL)
        return false;
    struct slice text = http_tls_warning(tls, check->arena);
    if (text.len > 0)
        config_parts_warn(check, text);
    if (http_tls_check_expiry(tls, clock_wall_us() / US_PER_S, check->arena, &text) !=
        HTTP_TLS_GOOD)
        config_parts_warn(check, text);
    http_tls_destroy(tls);
    return true;
}

static bool check_keystone(const struct parts_check *check, struct err *err)
{
    struct keystone_settings settings = {0};
    return check->conf->auth_strategy != CONF_AUTH_KEYSTONE ||
           keystone_settings_read(check->conf, check->arena, &settings, err);
}

static bool check_database(const struct parts_check *check, struct err *err)
{
    const char *connection = check->conf->connection;
    if (connection == NULL || connection[0] == '\0')
        return true;
    if (!store_knows_connection(slice_of(connection), err))
        return false;
    struct slice ignored = store_ignored_parameters(slice_of(connection), check->arena);
    if (ignored.len > 0) {
        check->found->notes++;
        fprintf(check->out, "note: parameters of the database connection have no effect: %.*s\n",
                SLICE_ARG(ignored));
    }
    return true;
}

/* An address in the configuration, and the option that contains it. */
struct address {
    const char *section;
    const char *option;
    const struct conf_listen *listen;
};

static struct slice address_text(const struct address *address, struct arena *arena)
{
    const struct conf_listen *listen = address->listen;
    if (listen->path != NULL)
        return arena_printf(arena, "[%s] %s unix:%s", address->section, address->option,
                            listen->path);
    return arena_printf(arena,
                        strchr(listen->host, ':') != NULL ? "[%s] %s [%s]:%u" : "[%s] %s %s:%u",
                        address->section, address->option, listen->host, listen->port);
}

static size_t add_addresses(struct address *out, size_t n, const char *section, const char *option,
                            const struct conf_listen *listen, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[n++] = (struct address){section, option, &listen[i]};
    return n;
}

/* Sockets from the service manager replace some of the addresses; the others must not conflict. */
static bool check_listeners(const struct parts_check *check, struct err *err)
{
    const struct conf *conf = check->conf;
    size_t most = conf->listen_count + conf->admin_listen_count + conf->baremetal.listen_count +
                  conf->valet.listen_count;
    struct address *all = arena_array(check->arena, most, sizeof(*all));
    size_t n = add_addresses(all, 0, "berth", "listen", conf->listen, conf->listen_count);
    n = add_addresses(all, n, "baremetal", "listen", conf->baremetal.listen,
                      conf->baremetal.listen_count);
    n = add_addresses(all, n, "valet", "listen", conf->valet.listen, conf->valet.listen_count);
    n = add_addresses(all, n, "berth", "admin_listen", conf->admin_listen,
                      conf->admin_listen_count);
    for (size_t i = 0; i < n && i < LISTENERS_COMPARED; i++)
        for (size_t j = 0; j < i; j++)
            if (listen_collides(all[j].listen, all[i].listen))
                return err_set(err, 500, NULL, "%.*s collides with %.*s",
                               SLICE_ARG(address_text(&all[i], check->arena)),
                               SLICE_ARG(address_text(&all[j], check->arena)));
    return true;
}

struct config_parts_found config_parts_check(const struct conf *conf,
                                             const struct conf_inputs *inputs, FILE *out)
{
    static bool (*const parts[])(const struct parts_check *, struct err *) = {
        check_logging,  check_policies, check_certificates,
        check_keystone, check_database, check_listeners,
    };
    struct config_parts_found found = {0};
    struct parts_check check = {conf, inputs, arena_create(), out, &found};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct err err = {.arena = check.arena};
        if (parts[i](&check, &err))
            continue;
        found.errors++;
        fprintf(out, "error: %.*s\n", SLICE_ARG(err.message));
    }
    arena_destroy(check.arena);
    return found;
}
