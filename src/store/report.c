/* See report.h. Any thread. */
#include "store/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "store/driver.h"
#include "store/schema_drivers.h"

void report_add_instance(struct store_report *report, struct arena *arena,
                         const struct store_instance *instance)
{
    report->instances = arena_grow(arena, report->instances, report->instance_count,
                                   &report->instance_capacity, sizeof(*report->instances));
    struct store_instance *copy = &report->instances[report->instance_count++];
    *copy = *instance;
    copy->name = arena_copy(arena, instance->name);
    copy->host = arena_copy(arena, instance->host);
    copy->version = arena_copy(arena, instance->version);
    copy->node = arena_copy(arena, instance->node);
}

void report_add_node(struct store_report *report, struct arena *arena, struct slice name,
                     int64_t left_s)
{
    report->nodes = arena_grow(arena, report->nodes, report->node_count, &report->node_capacity,
                               sizeof(*report->nodes));
    report->nodes[report->node_count++] =
        (struct store_node){.name = arena_copy(arena, name), .left_s = left_s};
}

static void add_warning(struct store_report *report, struct arena *arena, struct slice text)
{
    report->warnings = arena_grow(arena, report->warnings, report->warning_count,
                                  &report->warning_capacity, sizeof(*report->warnings));
    report->warnings[report->warning_count++] = text;
}

void report_warn(struct store_report *report, struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_warning(report, arena, arena_vprintf(arena, format, args));
    va_end(args);
}

const struct store_ids *report_most_used_ids(const struct store_report *report)
{
    const struct store_ids *most = NULL;
    for (size_t i = 0; i < report->id_count; i++)
        if (most == NULL || report->ids[i].used > most->used)
            most = &report->ids[i];
    return most;
}

struct store_report report_copy(const struct store_report *report, struct arena *arena)
{
    struct store_report copy = *report;
    copy.instances = NULL;
    copy.nodes = NULL;
    copy.warnings = NULL;
    copy.instance_count = copy.instance_capacity = 0;
    copy.node_count = copy.node_capacity = 0;
    copy.warning_count = copy.warning_capacity = 0;
    if (report->id_count > 0) {
        copy.ids = arena_alloc(arena, report->id_count * sizeof(*copy.ids));
        memcpy(copy.ids, report->ids, report->id_count * sizeof(*copy.ids));
    }
    for (size_t i = 0; i < report->instance_count; i++)
        report_add_instance(&copy, arena, &report->instances[i]);
    for (size_t i = 0; i < report->node_count; i++)
        report_add_node(&copy, arena, report->nodes[i].name, report->nodes[i].left_s);
    for (size_t i = 0; i < report->warning_count; i++)
        add_warning(&copy, arena, arena_copy(arena, report->warnings[i]));
    return copy;
}

const char *report_replication_name(enum store_replication replication)
{
    static const char *const NAMES[] = {
        [STORE_REPLICATION_NONE] = "none",
        [STORE_REPLICATION_ASYNC] = "asynchronous",
        [STORE_REPLICATION_SYNC] = "synchronous",
        [STORE_REPLICATION_UNKNOWN] = "unknown",
    };
    return NAMES[replication];
}

const char *report_setting(const struct store_server *server, const char *name)
{
    for (unsigned i = 0; i < server->setting_count; i++)
        if (strcmp(server->settings[i].name, name) == 0)
            return server->settings[i].value;
    return "";
}

void report_add_setting(struct store_server *server, const char *name, struct slice value)
{
    check(server->setting_count < STORE_SETTINGS_MOST);
    struct store_setting *setting = &server->settings[server->setting_count++];
    setting->name = name;
    snprintf(setting->value, sizeof(setting->value), "%.*s", SLICE_ARG(value));
}

const char *report_role(const struct store_server *server)
{
    if (server->is_standby)
        return "standby";
    if (server->is_read_only)
        return "read-only";
    return server->cluster_size > 0 ? "node" : "primary";
}

void report_write_server(const struct store_server *server, struct buf *out)
{
    buf_printf(out, "%s ", report_role(server));
    if (server->cluster_size > 0)
        buf_printf(out, "%s (%s, %u in the cluster) ", server->node, server->node_state,
                   server->cluster_size);
    buf_printf(out, "at %s, version %s, %s", server->address, server->version, server->isolation);
    for (unsigned i = 0; i < server->setting_count; i++)
        buf_printf(out, ", %s %s", server->settings[i].name, server->settings[i].value);
    buf_printf(out, ", %s replication, %s%s",
               server->replication == STORE_REPLICATION_NONE
                   ? "no"
                   : report_replication_name(server->replication),
               server->uses_tls ? "TLS" : "no TLS", server->is_pooled ? ", through a pooler" : "");
}

void report_write_instance(const struct store_instance *instance, struct buf *out)
{
    buf_printf(out, "%.*s, process %lld, version %.*s, ", SLICE_ARG(instance->host),
               (long long)instance->pid, SLICE_ARG(instance->version));
    if (instance->node.len > 0)
        buf_printf(out, "node %.*s, ", SLICE_ARG(instance->node));
    buf_printf(out, "%lld batches behind, seen %lld s ago%s", (long long)instance->behind,
               (long long)instance->seen_s, instance->is_own ? " (this one)" : "");
}

void report_write_nodes(const struct store_report *report, struct buf *out)
{
    for (size_t i = 0; i < report->node_count; i++) {
        if (i > 0)
            buf_printf(out, ", until %lld s ago ", (long long)report->nodes[i].left_s);
        buf_append_slice(out, report->nodes[i].name);
    }
    buf_printf(out, ", %lld change%s in the last hour", (long long)report->node_changes,
               report->node_changes == 1 ? "" : "s");
}

bool store_report(const struct store *store, struct arena *arena, struct store_report *report)
{
    return store->driver->report != NULL && store->driver->report(store, arena, report);
}

bool report_make(struct slice connection, struct arena *arena, bool *has_server,
                 struct store_report *report, struct err *err)
{
    const struct schema_driver *driver = schema_driver_of(connection);
    *has_server = driver->report != NULL;
    return driver->report == NULL || driver->report(connection, arena, report, err);
}
