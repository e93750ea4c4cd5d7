/* See loss_report.h. The log has a summary and the first losses only, because a restored backup may
 * lose anything; the file has all of them. */
#include "engine/loss_report.h"

#include <stdio.h>

#include "engine/loss_file.h"
#include "log/log.h"

enum { LOGGED_MOST = 20, LOGGED_ALLOCATIONS_MOST = 4, BEAT_EVERY = 256 };

/* One event. */
struct reporting {
    struct loss_report *report;
    const struct version *before;
    struct loss_file file;
    uint64_t counts[ENTITY_COUNT][LOSS_STATE_COUNT];
    uint64_t allocations;
    uint64_t losses;
    uint64_t logged;
    void (*beat)(void *cls);
    void *cls;
};

static void append_allocations(struct buf *buf, const struct version *version,
                               const struct consumer *consumer)
{
    for (uint32_t i = 0; i < consumer->allocation_count; i++) {
        const struct consumer_allocation *allocation = &consumer->allocation[i];
        const struct provider *provider = version_provider(version, allocation->provider);
        if (i == LOGGED_ALLOCATIONS_MOST) {
            buf_printf(buf, " and %u more", consumer->allocation_count - i);
            return;
        }
        buf_printf(
            buf, "%s %lld %.*s of %.*s (%.*s)", i == 0 ? "" : ",", (long long)allocation->used,
            SLICE_ARG(catalog_name(catalog_row_at(&version->classes, allocation->class_no.v))),
            SLICE_ARG(provider_name(provider)), SLICE_ARG(provider_uuid(provider)));
    }
}

static void append_consumer(struct buf *buf, const struct version *version,
                            const struct consumer *consumer)
{
    buf_printf(buf, " %.*s of project %.*s: it had generation %d and held",
               SLICE_ARG(consumer_uuid(consumer)),
               SLICE_ARG(catalog_name(catalog_row_at(&version->projects, consumer->project))),
               consumer->generation);
    if (consumer->allocation_count == 0)
        buf_append_lit(buf, " nothing");
    append_allocations(buf, version, consumer);
}

/* Of a loss that memory had. */
static void log_loss(const struct version *before, const struct loss *loss)
{
    struct buf buf = {0};
    buf_printf(&buf, "%s: %s", losses_state_name(loss->state), losses_kind_name(loss->entity));
    if (loss->entity == ENTITY_CONSUMER)
        append_consumer(&buf, before, loss->had.consumer);
    else if (loss->entity == ENTITY_PROVIDER)
        buf_printf(&buf, " %.*s (%.*s): it had generation %d",
                   SLICE_ARG(provider_uuid(loss->had.provider)),
                   SLICE_ARG(provider_name(loss->had.provider)), loss->had.provider->generation);
    else if (loss->entity < ENTITY_PROVIDER)
        buf_printf(&buf, " %.*s", SLICE_ARG(catalog_name(loss->had.row)));
    else if (losses_shape(loss->entity)->fields[0].kind == RECORD_TEXT)
        buf_printf(&buf, " %.*s", SLICE_ARG(record_text(loss->had.record, 0)));
    else
        buf_printf(&buf, " %.*s", SLICE_ARG(record_text(loss->had.record, 1)));
    log_write(LOG_LEVEL_WARNING, "berth", LOG_NO_CONTEXT, "%.*s", SLICE_ARG(buf_slice(&buf)));
    buf_free(&buf);
}

static void add(void *cls, const struct loss *loss)
{
    struct reporting *reporting = cls;
    const struct loss_report_options *options = &reporting->report->options;
    reporting->counts[loss->entity][loss->state]++;
    reporting->allocations += loss->allocations;
    loss_file_add(&reporting->file, loss);
    if (loss->state != LOSS_APPEARED && reporting->logged < LOGGED_MOST) {
        log_loss(reporting->before, loss);
        reporting->logged++;
    }
    if (options->lost != NULL)
        options->lost(options->cls, loss);
    if (++reporting->losses % BEAT_EVERY == 0)
        reporting->beat(reporting->cls);
}

/* "consumer: 3 gone, 1 older; resource_provider: 2 older" */
static void append_counts(struct buf *buf, const struct reporting *reporting)
{
    const char *before = "";
    for (int entity = 0; entity < ENTITY_COUNT; entity++) {
        const char *separator = ":";
        for (int state = 0; state < LOSS_STATE_COUNT; state++) {
            uint64_t count = reporting->counts[entity][state];
            if (count == 0)
                continue;
            if (separator[0] == ':')
                buf_printf(buf, "%s%s", before, losses_kind_name((enum entity)entity));
            buf_printf(buf, "%s %llu %s", separator, (unsigned long long)count,
                       losses_state_name((enum loss_state)state));
            separator = ",";
            before = "; ";
        }
    }
    if (reporting->losses == 0)
        buf_append_lit(buf, "nothing");
}

static void log_summary(struct reporting *reporting, bool is_written)
{
    const struct loss_file *file = &reporting->file;
    struct buf buf = {0};
    append_counts(&buf, reporting);
    log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT,
              "of what this process had read or acknowledged, the database no longer has %llu "
              "allocations, and these differ: %.*s",
              (unsigned long long)reporting->allocations, SLICE_ARG(buf_slice(&buf)));
    buf_free(&buf);
    if (!is_written)
        log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT,
                  "the file %s, which would name all of it, cannot be written: %s", file->path,
                  strerror(file->error));
    else if (file->path[0] != '\0')
        log_write(LOG_LEVEL_ERROR, "berth", LOG_NO_CONTEXT, "the file %s names all of it",
                  file->path);
}

static void count(struct loss_counters *counters, const struct reporting *reporting,
                  bool is_written)
{
    counter_add(&counters->events, 1);
    counter_add(&counters->allocations, reporting->allocations);
    counter_add(&counters->unwritten, !is_written);
    for (int entity = 0; entity < ENTITY_COUNT; entity++)
        for (int state = 0; state < LOSS_APPEARED; state++)
            counter_add(&counters->lost[entity], reporting->counts[entity][state]);
}

void loss_report_write(struct loss_report *report, const struct store_going_back *event,
                       const struct version *before, const struct version *after,
                       void (*beat)(void *cls), void *cls)
{
    struct reporting reporting = {.report = report, .before = before, .beat = beat, .cls = cls};
    loss_file_begin(&reporting.file, report->options.directory, report->options.host, event, before,
                    after);
    losses_find(before, after, add, &reporting);
    bool is_written = loss_file_end(&reporting.file);
    log_summary(&reporting, is_written);
    count(&report->counters, &reporting, is_written);
}
