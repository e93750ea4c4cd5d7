/* See config_parts.h. A table of the parts in the order of berthd's start; each tells its first
 * fault. One thread. */
#include "cli/config_parts.h"

#include "conf/log_options.h"
#include "http/http.h"
#include "keystone/settings.h"
#include "logging_ini/logging_config.h"
#include "policy/files.h"
#include "policy/keeper.h"
#include "policy/set.h"
#include "store/store.h"

struct question {
    const struct conf *conf;
    const struct conf_inputs *inputs;
    struct arena *arena;
};

static bool check_logging(const struct question *q, struct err *err)
{
    const struct conf_value *file = conf_value(q->conf, "DEFAULT", "log_config_append");
    if (!file->is_set || file->text[0] == '\0')
        return true;
    struct log_settings settings;
    struct conf_texts warnings;
    const struct log_handler_settings common = log_options_handler(q->conf);
    return logging_config_read(file->text, &common, q->arena, &settings, &warnings, err);
}

static bool check_policies(const struct question *q, struct err *err)
{
    struct policy_places places = policy_places_of(q->conf, q->inputs);
    struct policy_options options = policy_options_of(q->conf);
    struct policy *policy = policy_load(&places, &options, err);
    if (policy == NULL)
        return false;
    policy_release(policy);
    return true;
}

static bool check_certificates(const struct question *q, struct err *err)
{
    struct http_tls_files files = {
        .cert_file = q->conf->tls_cert_file,
        .key_file = q->conf->tls_key_file,
        .ca_file = q->conf->tls_ca_file,
        .priorities = q->conf->tls_priorities,
    };
    if (files.cert_file == NULL || files.key_file == NULL)
        return true;
    struct http_tls *tls = http_tls_create(&files, err);
    if (tls == NULL)
        return false;
    http_tls_destroy(tls);
    return true;
}

static bool check_keystone(const struct question *q, struct err *err)
{
    struct keystone_settings settings = {0};
    return q->conf->auth_strategy != CONF_AUTH_KEYSTONE ||
           keystone_settings_read(q->conf, q->arena, &settings, err);
}

static bool check_database(const struct question *q, struct err *err)
{
    const char *connection = q->conf->connection;
    return connection == NULL || connection[0] == '\0' ||
           store_knows_connection(slice_of(connection), err);
}

size_t config_parts_check(const struct conf *conf, const struct conf_inputs *inputs, FILE *out)
{
    static bool (*const parts[])(const struct question *, struct err *) = {
        check_logging, check_policies, check_certificates, check_keystone, check_database,
    };
    struct question question = {conf, inputs, arena_create()};
    size_t errors = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct err err = {.arena = question.arena};
        if (parts[i](&question, &err))
            continue;
        errors++;
        fprintf(out, "error: %.*s\n", SLICE_ARG(err.message));
    }
    arena_destroy(question.arena);
    return errors;
}
