/* See server_report.h. The report may be a minute old; the facts about the server are fresher. Any
 * thread. */
#include "api/admin/server_report.h"

#include "base/clock.h"
#include "base/json_write.h"

static const char *word(bool value)
{
    return value ? "true" : "false";
}

static void member(struct buf *out, const char *name, const char *text)
{
    buf_printf(out, ", \"%s\": ", name);
    json_write_string(out, slice_of(text));
}

static void append_cluster(const struct store_server *server, struct buf *out)
{
    if (server->cluster_size == 0)
        return;
    buf_append_lit(out, ", \"cluster\": {\"node\": ");
    json_write_string(out, slice_of(server->node));
    member(out, "state", server->node_state);
    buf_printf(out, ", \"size\": %u}", server->cluster_size);
}

static void append_server(const struct store_server *server, uint64_t now_us, struct buf *out)
{
    buf_append_lit(out, ", \"server\": {\"address\": ");
    json_write_string(out, slice_of(server->address));
    member(out, "version", server->version);
    member(out, "role", report_role(server));
    member(out, "isolation", server->isolation);
    for (unsigned i = 0; i < server->setting_count; i++)
        member(out, server->settings[i].name, server->settings[i].value);
    member(out, "replication", report_replication_name(server->replication));
    if (server->knows_standbys)
        buf_printf(out, ", \"standbys\": %u", server->standbys);
    if (server->has_timeline)
        buf_printf(out, ", \"timeline\": %u", server->timeline);
    append_cluster(server, out);
    buf_printf(out, ", \"tls\": %s, \"pooled\": %s, \"seconds_since_seen\": %llu}",
               word(server->uses_tls), word(server->is_pooled),
               (unsigned long long)((now_us - server->seen_us) / 1000000));
}

static void append_ids(const struct store_report *report, struct buf *out)
{
    if (report->id_count == 0)
        return;
    buf_append_lit(out, ", \"ids\": {");
    for (size_t i = 0; i < report->id_count; i++)
        buf_printf(out, "\"%s\": %lld, ", report->ids[i].table, (long long)report->ids[i].used);
    buf_printf(out, "\"most\": %d}", STORE_IDS_MOST);
}

static void append_instances(const struct store_report *report, struct buf *out)
{
    buf_append_lit(out, ", \"instances\": [");
    for (size_t i = 0; i < report->instance_count; i++) {
        const struct store_instance *one = &report->instances[i];
        buf_append_slice(out,
                         i == 0 ? SLICE_LIT("{\"instance\": ") : SLICE_LIT(", {\"instance\": "));
        json_write_string(out, one->name);
        buf_append_lit(out, ", \"host\": ");
        json_write_string(out, one->host);
        buf_append_lit(out, ", \"version\": ");
        json_write_string(out, one->version);
        if (one->node.len > 0) {
            buf_append_lit(out, ", \"node\": ");
            json_write_string(out, one->node);
        }
        buf_printf(out,
                   ", \"pid\": %lld, \"batches_behind\": %lld, \"seconds_since_seen\": %lld,"
                   " \"is_this_one\": %s}",
                   (long long)one->pid, (long long)one->behind, (long long)one->seen_s,
                   word(one->is_own));
    }
    buf_append_char(out, ']');
}

/* Through which this instance writes. */
static void append_nodes(const struct store_report *report, struct buf *out)
{
    if (report->node_count == 0)
        return;
    buf_append_lit(out, ", \"nodes\": [");
    for (size_t i = 0; i < report->node_count; i++) {
        buf_append_slice(out, i == 0 ? SLICE_LIT("{\"node\": ") : SLICE_LIT(", {\"node\": "));
        json_write_string(out, report->nodes[i].name);
        buf_printf(out, ", \"seconds_since_left\": %lld}", (long long)report->nodes[i].left_s);
    }
    buf_printf(out, "], \"node_changes\": %lld", (long long)report->node_changes);
}

void server_report_append_json(const struct store_report *report, uint64_t now_us, struct buf *out)
{
    append_server(&report->server, now_us, out);
    if (report->has_log)
        buf_printf(out,
                   ", \"log\": {\"head\": %lld, \"seconds_since_head\": %lld, \"rows\": %lld,"
                   " \"bytes\": %lld}",
                   (long long)report->log_head, (long long)report->log_head_s,
                   (long long)report->log_rows, (long long)report->log_bytes);
    append_ids(report, out);
    if (report->has_log)
        buf_printf(out, ", \"coexist\": {\"enabled\": %s, \"waiting\": %lld}",
                   word(report->triggers > 0), (long long)report->waiting);
    append_instances(report, out);
    append_nodes(report, out);
    buf_append_lit(out, ", \"warnings\": [");
    for (size_t i = 0; i < report->warning_count; i++) {
        buf_append_slice(out, i == 0 ? SLICE_LIT("") : SLICE_LIT(", "));
        json_write_string(out, report->warnings[i]);
    }
    buf_append_char(out, ']');
}

void server_report_append_text(const struct store_report *report, struct buf *out)
{
    buf_append_lit(out, "server: ");
    report_write_server(&report->server, out);
    buf_append_char(out, '\n');
    if (report->log_head > 0)
        buf_printf(out, "log: newest batch %lld, %lld s ago\n", (long long)report->log_head,
                   (long long)report->log_head_s);
    const struct store_ids *ids = report_most_used_ids(report);
    if (ids != NULL)
        buf_printf(out, "ids: %s %lld of %d\n", ids->table, (long long)ids->used, STORE_IDS_MOST);
    for (size_t i = 0; i < report->instance_count; i++) {
        buf_append_lit(out, "instance: ");
        report_write_instance(&report->instances[i], out);
        buf_append_char(out, '\n');
    }
    if (report->node_changes > 0) {
        buf_append_lit(out, "nodes: ");
        report_write_nodes(report, out);
        buf_append_char(out, '\n');
    }
    for (size_t i = 0; i < report->warning_count; i++)
        buf_printf(out, "warning: %.*s\n", SLICE_ARG(report->warnings[i]));
}

/* Takes the fresher facts. */
static bool take_report(const struct store *store, struct arena *arena, struct store_report *report)
{
    struct store_server server = store_server(store);
    if (!store_report(store, arena, report))
        return false;
    if (server.seen_us > report->server.seen_us)
        report->server = server;
    return true;
}

void server_report_write_json(const struct store *store, struct buf *out)
{
    struct arena *arena = arena_create();
    struct store_report report;
    if (take_report(store, arena, &report))
        server_report_append_json(&report, clock_monotonic_us(), out);
    arena_destroy(arena);
}

void server_report_write_text(const struct store *store, struct buf *out)
{
    struct arena *arena = arena_create();
    struct store_report report;
    if (take_report(store, arena, &report))
        server_report_append_text(&report, out);
    arena_destroy(arena);
}
