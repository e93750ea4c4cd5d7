/* Shows what is running, for operators who do not know the machine; also readable by shell scripts.
 * Any thread. */
#include <unistd.h>

#include "api/admin/admin_internal.h"
#include "api/admin/server_report.h"
#include "api/api.h"
#include "api/services/thread_reader.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "log/recent.h"

static void status_page_write_text(struct buf *out, const char *name, struct slice text)
{
    buf_printf(out, ", \"%s\": ", name);
    json_write_string(out, text);
}

static void write_files(struct buf *out, const struct admin_about *about)
{
    buf_append_lit(out, ", \"configuration_files\": [");
    for (size_t i = 0; i < about->file_count; i++) {
        buf_append_slice(out, i == 0 ? SLICE_LIT("") : SLICE_LIT(", "));
        json_write_string(out, slice_of(about->files[i]));
    }
    buf_append_char(out, ']');
}

static void write_addresses(struct buf *out, struct admin *admin)
{
    buf_append_lit(out, ", \"addresses\": [");
    pthread_mutex_lock(&admin->lock);
    for (unsigned i = 0; i < admin->address_count; i++) {
        buf_append_slice(out, i == 0 ? SLICE_LIT("{\"serves\": ") : SLICE_LIT(", {\"serves\": "));
        json_write_string(out, slice_of(admin->addresses[i].purpose));
        status_page_write_text(out, "url", slice_of(admin->addresses[i].url));
        buf_append_char(out, '}');
    }
    pthread_mutex_unlock(&admin->lock);
    buf_append_char(out, ']');
}

static void write_errors(struct buf *out)
{
    struct log_recent_line lines[LOG_RECENT_LINES];
    size_t count = log_recent_read(lines);
    buf_append_lit(out, ", \"recent_errors\": [");
    for (size_t i = 0; i < count; i++) {
        buf_printf(out, "%s{\"time\": %lld", i == 0 ? "" : ", ",
                   (long long)(lines[i].wall_us / 1000000));
        status_page_write_text(out, "logger", slice_of(lines[i].logger));
        status_page_write_text(out, "message", slice_of(lines[i].text));
        buf_append_char(out, '}');
    }
    buf_append_char(out, ']');
}

void status_write(struct admin *admin, const struct readiness_report *report,
                  struct http_exchange *http)
{
    struct buf *out = &http->out;
    struct replica_reader *reader = thread_reader(admin->api->replica);
    const struct version *version = replica_pin(reader);
    uint64_t providers = version->provider_by_id.count;
    uint64_t over_capacity = version->over_capacity_providers;
    replica_unpin(reader);
    buf_printf(out, "{\"version\": \"%s\", \"pid\": %ld, \"started\": %lld, \"uptime\": %lld",
               BERTH_VERSION, (long)getpid(), (long long)(admin->started_us / 1000000),
               (long long)((clock_wall_us() - admin->started_us) / 1000000));
    write_files(out, &admin->about);
    status_page_write_text(out, "database", admin->about.database);
    buf_printf(out, ", \"providers\": %llu, \"over_capacity\": %llu", (unsigned long long)providers,
               (unsigned long long)over_capacity);
    buf_append_lit(out, ", ");
    health_write_checks(report, out);
    server_report_write_json(admin->store, out);
    write_addresses(out, admin);
    write_errors(out);
    buf_append_lit(out, "}\n");
    admin_answer(http, 200, "application/json");
}
