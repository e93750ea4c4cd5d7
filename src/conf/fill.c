/* Converts values to fields: the only code that knows both the table's names and the struct's. Runs
 * while the process starts. */
#include "conf/fill.h"

#include <ctype.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "conf/fill_apis.h"
#include "conf/fill_sections.h"
#include "conf/log_options.h"

static const struct conf_value *typed(const struct conf *conf, const char *section,
                                      const char *name, enum option_type type)
{
    const struct conf_value *value = conf_value(conf, section, name);
    check(value->option->type == type);
    return value;
}

static bool flag(const struct conf *conf, const char *section, const char *name)
{
    return typed(conf, section, name, OPTION_BOOLEAN)->boolean;
}

/* Numbers: the bounds in the table make these casts safe. */
static int64_t number(const struct conf *conf, const char *section, const char *name)
{
    return typed(conf, section, name, OPTION_INTEGER)->integer;
}

static unsigned count(const struct conf *conf, const char *name)
{
    return (unsigned)number(conf, "berth", name);
}

static const char *text(const struct conf *conf, const char *section, const char *name)
{
    const struct conf_value *value = typed(conf, section, name, OPTION_STRING);
    return value->is_set ? value->text : NULL;
}

/* The URL of the database with connection_parameters appended to its query, as oslo.db does. The
 * path of a file is left as it is. */
static const char *database_url(const struct conf *conf)
{
    const char *url = text(conf, "placement_database", "connection");
    const char *parameters = text(conf, "placement_database", "connection_parameters");
    if (url == NULL || url[0] == '\0' || parameters == NULL || parameters[0] == '\0' ||
        strncmp(url, "sqlite", strlen("sqlite")) == 0)
        return url;
    return arena_printf(conf->arena, "%s%c%s", url, strchr(url, '?') == NULL ? '?' : '&',
                        parameters)
        .data;
}

/* Of [berth]; an empty text means none. */
static const char *text_if_any(const struct conf *conf, const char *name)
{
    const char *found = text(conf, "berth", name);
    return found == NULL || found[0] == '\0' ? NULL : found;
}

static bool fill_listeners(struct conf *conf, struct err *err)
{
    conf->listen_is_default =
        typed(conf, "berth", "listen", OPTION_MULTI)->origin <= CONF_ORIGIN_EMBEDDED;
    return fill_listen(conf, "berth", "listen", &conf->listen, &conf->listen_count, err);
}

static bool fill_admin_listeners(struct conf *conf, struct err *err)
{
    return fill_listen(conf, "berth", "admin_listen", &conf->admin_listen,
                       &conf->admin_listen_count, err);
}

static bool fill_socket_mode(struct conf *conf, struct err *err)
{
    const struct conf_value *value = typed(conf, "berth", "socket_mode", OPTION_STRING);
    char *end = NULL;
    unsigned long mode = strtoul(value->text, &end, 8);
    if (!isdigit((unsigned char)value->text[0]) || *end != '\0' || mode > 0777)
        return fill_refuse(err, value, "a mode such as 0660", value->text);
    conf->socket_mode = (unsigned)mode;
    return true;
}

static bool any_has_tls(const struct conf_listen *listen, size_t count_of)
{
    for (size_t i = 0; i < count_of; i++)
        if (listen[i].tls)
            return true;
    return false;
}

static bool fill_tls(struct conf *conf, struct err *err)
{
    conf->tls_cert_file = text_if_any(conf, "tls_cert_file");
    conf->tls_key_file = text_if_any(conf, "tls_key_file");
    conf->tls_ca_file = text_if_any(conf, "tls_ca_file");
    conf->tls_priorities = text_if_any(conf, "tls_priorities");
    if (conf->tls_priorities == NULL)
        conf->tls_priorities =
            option_find(SLICE_LIT("berth"), SLICE_LIT("tls_priorities"))->fallback;
    if ((conf->tls_cert_file == NULL) != (conf->tls_key_file == NULL))
        return err_set(err, 500, NULL,
                       "[berth] tls_cert_file and tls_key_file must be set together");
    const struct {
        const char *option;
        const struct conf_listen *listen;
        size_t count;
    } all[] = {
        {"[berth] listen", conf->listen, conf->listen_count},
        {"[berth] admin_listen", conf->admin_listen, conf->admin_listen_count},
        {"[baremetal] listen", conf->baremetal.listen, conf->baremetal.listen_count},
        {"[valet] listen", conf->valet.listen, conf->valet.listen_count},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && conf->tls_cert_file == NULL; i++)
        if (any_has_tls(all[i].listen, all[i].count))
            return err_set(err, 500, NULL, "%s = https://... needs tls_cert_file and tls_key_file",
                           all[i].option);
    return true;
}

static bool fill_mount_prefixes(struct conf *conf, struct err *err)
{
    return fill_prefixes(conf, "berth", "mount_prefix", &conf->mount_prefixes,
                         &conf->mount_prefix_count, err);
}

/* The cores that this process may use, which in a container may be fewer than the machine has. */
static unsigned default_worker_threads(void)
{
    cpu_set_t cores;
    int n = sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : 0;
    return n < 2 ? 2 : (unsigned)n;
}

static void fill_berth(struct conf *conf)
{
    unsigned threads = count(conf, "worker_threads");
    conf->worker_threads = threads > 0 ? threads : default_worker_threads();
    conf->max_body_bytes = (size_t)number(conf, "berth", "max_body");
    conf->body_memory_bytes = (uint64_t)number(conf, "berth", "body_memory");
    conf->max_connections = count(conf, "max_connections");
    conf->max_connections_per_address = count(conf, "max_connections_per_address");
    conf->idle_timeout_s = count(conf, "idle_timeout");
    conf->header_deadline_s = count(conf, "header_deadline");
    conf->stop_grace_s = count(conf, "stop_grace");
    conf->body_deadline_s = count(conf, "body_deadline");
    conf->connection_memory_bytes = (size_t)number(conf, "berth", "connection_memory");
    conf->answer_memory_bytes = (size_t)number(conf, "berth", "answer_memory");
    conf->query_deadline_us = (uint64_t)number(conf, "berth", "query_deadline") * 1000000;
    conf->max_write_rows = (uint64_t)number(conf, "berth", "max_write_rows");
    bool is_bounded = strcmp(text(conf, "berth", "reads"), "bounded") == 0;
    conf->staleness_us = is_bounded ? (uint64_t)number(conf, "berth", "staleness") * 1000 : 0;
    conf->unavailable_reads_us =
        (uint64_t)number(conf, "berth", "reads_while_unavailable") * 1000000;
    conf->scrub_interval_us = (uint64_t)number(conf, "berth", "scrub_interval") * 1000000;
    conf->stalled_ms = count(conf, "stalled_instance_timeout");
    conf->access_log = flag(conf, "berth", "access_log");
    conf->server_header = flag(conf, "berth", "server_header");
    conf->slow_request_us = (uint64_t)number(conf, "berth", "slow_request_ms") * 1000;
    conf->loss_directory = text_if_any(conf, "loss_directory");
}

/* At most what fits into 32 bits, so that sums of times do not overflow. */
static uint64_t seconds_us(const struct conf *conf, const char *name)
{
    int64_t seconds = number(conf, "placement_database", name);
    return (uint64_t)(seconds < 0 ? 0 : seconds > INT32_MAX ? INT32_MAX : seconds) * 1000000;
}

/* A negative number is SQLAlchemy's "never". With 0 it connects again for each use; once a second
 * is as close to that as a long-lived session gets. */
static uint64_t recycle_us(const struct conf *conf)
{
    int64_t seconds = number(conf, "placement_database", "connection_recycle_time");
    return seconds == 0 ? 1000000 : seconds_us(conf, "connection_recycle_time");
}

/* oslo.db does not bound these numbers. With max_retries = 0 it does not try to connect before it
 * must, and then once. */
static void fill_database_server(struct conf *conf)
{
    int64_t most = number(conf, "placement_database", "max_retries");
    conf->connect_attempts = most == -1 || most > 0 ? most : 1;
    conf->connect_interval_us = seconds_us(conf, "retry_interval");
    conf->connection_recycle_us = recycle_us(conf);
}

static void fill_upstream(struct conf *conf)
{
    conf->debug = flag(conf, "DEFAULT", "debug");
    conf->auth_strategy = strcmp(text(conf, "api", "auth_strategy"), "noauth2") == 0
                              ? CONF_AUTH_NOAUTH2
                              : CONF_AUTH_KEYSTONE;
    conf->enforce_new_defaults = flag(conf, "oslo_policy", "enforce_new_defaults");
    conf->enforce_scope = flag(conf, "oslo_policy", "enforce_scope");
    conf->proxy_headers = flag(conf, "oslo_middleware", "enable_proxy_headers_parsing");

    conf->randomize_allocation_candidates =
        flag(conf, "placement", "randomize_allocation_candidates");
    conf->max_allocation_candidates = (int)number(conf, "placement", "max_allocation_candidates");
    conf->incomplete_consumer_project_id =
        text(conf, "placement", "incomplete_consumer_project_id");
    conf->incomplete_consumer_user_id = text(conf, "placement", "incomplete_consumer_user_id");
    const char *strategy = text(conf, "placement", "allocation_candidates_generation_strategy");
    if (strategy == NULL)
        conf->generation_strategy = CONF_STRATEGY_UNSET;
    else if (strcmp(strategy, "depth-first") == 0)
        conf->generation_strategy = CONF_STRATEGY_DEPTH_FIRST;
    else
        conf->generation_strategy = CONF_STRATEGY_BREADTH_FIRST;

    conf->connection = database_url(conf);
    conf->sync_on_startup = flag(conf, "placement_database", "sync_on_startup");
    fill_database_server(conf);
}

static bool check_connection(struct conf *conf, struct err *err)
{
    if (conf->connection != NULL && conf->connection[0] != '\0')
        return true;
    return err_set(err, 500, NULL, "[placement_database] connection is not set%s%s",
                   conf->files.n > 0 ? " in " : "",
                   conf->files.n > 0 ? conf->files.items[conf->files.n - 1] : "");
}

bool fill_settings(struct conf *conf, struct faults *faults)
{
    static bool (*const steps[])(struct conf * conf, struct err * err) = {
        check_connection, fill_listeners, fill_admin_listeners, fill_socket_mode, fill_baremetal,
        fill_valet,       fill_tls,       fill_mount_prefixes,  fill_healthcheck, log_options_check,
    };
    fill_berth(conf);
    fill_upstream(conf);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        if (!steps[i](conf, faults->err) && !faults_go_on(faults))
            return false;
    return true;
}
