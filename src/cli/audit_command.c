/* Reads the database as berthd does, in one read-only transaction, and prints a line for each
 * finding. The main thread. */
#include "cli/audit_command.h"

#include <stdio.h>

#include "base/arena.h"
#include "conf/command_line.h"
#include "conf/load.h"
#include "replica/apply.h"
#include "replica/replica.h"
#include "store/store.h"
#include "valet/state/placement_findings.h"

static const struct command_line_switch switches[] = {
    {"--help", "-h", NULL, "Show this help and exit.", SWITCH_HELP, NULL, NULL, NULL},
    {"--config-file", NULL, "FILE", "Read this file instead of the first placement.conf found.",
     SWITCH_CONFIG_FILE, NULL, NULL, NULL},
    {"--config-dir", NULL, "DIR", "Also read the *.conf files in this directory.",
     SWITCH_CONFIG_DIR, NULL, NULL, NULL},
    {.name = NULL},
};

static void sink_apply(void *cls, const struct change *change)
{
    apply_change(cls, change);
}

/* Builds a version from the database; NULL with err. */
static const struct version *audit_command_load(struct store *store, struct replica *replica,
                                                struct err *err)
{
    const struct version_stamp none = {{0}};
    struct store_stamp ignored;
    enum store_news news = store_begin_read(store, err);
    if (news == STORE_NEWS_FAILED)
        return NULL;
    check(news == STORE_NEWS_RELOAD); /* it has not been read before */
    struct edit *edit = replica_edit_empty(replica);
    enum store_result result = store_load(store, sink_apply, edit, err);
    store_end_read(store, &ignored);
    if (result != STORE_OK) {
        replica_abandon(replica, edit);
        return NULL;
    }
    apply_flush(edit);
    replica_publish(replica, edit, &none);
    return replica_newest(replica);
}

struct findings {
    const struct version *version;
    size_t count;
};

static void print_finding(void *cls, const struct placement_finding *finding)
{
    struct findings *findings = cls;
    findings->count++;
    if (finding->hold != NULL) {
        printf("hold %.*s of project %.*s: its placement no longer exists\n",
               SLICE_ARG(consumer_uuid(finding->hold)),
               SLICE_ARG(catalog_name(
                   catalog_row_at(&findings->version->projects, finding->hold->project))));
        return;
    }
    const struct record *row = &finding->placement->record;
    const struct valet_plan *plan =
        version_valet_plan(findings->version, record_number(row, VALET_PLACEMENT_PLAN_ID));
    printf("placement %.*s of ", SLICE_ARG(record_text(row, VALET_PLACEMENT_UUID)));
    if (plan == NULL)
        fputs("a plan that no longer exists", stdout);
    else
        printf("plan %.*s", SLICE_ARG(record_text(&plan->record, VALET_PLAN_UUID)));
    printf(": neither its hold nor its server exists; it was on %.*s\n",
           SLICE_ARG(record_text(row, VALET_PLACEMENT_LOCATION)));
}

static bool audit_command_look(const struct conf *conf, size_t *count, struct err *err)
{
    const struct store_options options = {.connection = slice_of(conf->connection),
                                          .busy_timeout_ms = 5000};
    struct store *store = store_open(&options, err);
    if (store == NULL)
        return false;
    struct replica *replica = replica_create();
    struct findings findings = {.version = audit_command_load(store, replica, err)};
    if (findings.version != NULL)
        placement_findings(findings.version, print_finding, &findings);
    *count = findings.count;
    replica_destroy(replica);
    store_close(store);
    return findings.version != NULL;
}

static int audit_command_run(const struct conf_inputs *inputs)
{
    struct err err = {.arena = arena_create()};
    size_t count = 0;
    struct conf *conf = conf_load(inputs, &err);
    bool ok = conf != NULL && audit_command_look(conf, &count, &err);
    if (!ok)
        fprintf(stderr, "berth audit: %.*s\n", SLICE_ARG(err.message));
    conf_destroy(conf);
    arena_destroy(err.arena);
    return !ok ? AUDIT_EXIT_WRONG : count > 0 ? AUDIT_EXIT_FOUND : AUDIT_EXIT_OK;
}

int audit_command(int argc, char **argv, struct conf_inputs *inputs)
{
    struct command_line line;
    command_line_parse_all(switches, argc, argv, &line);
    if (line.action == COMMAND_LINE_HELP) {
        fputs("usage: berth audit [SWITCH]...\n\n"
              "Lists holds whose placement no longer exists, and placements whose hold and server\n"
              "both no longer exist.\n\nswitches:\n",
              stdout);
        command_line_print_switches(switches, stdout);
        return AUDIT_EXIT_OK;
    }
    if (line.action != COMMAND_LINE_RUN || !command_line_add_inputs(inputs, &line.inputs)) {
        fprintf(stderr, "berth audit: %s\n",
                line.action != COMMAND_LINE_RUN ? line.error : "too many configuration files");
        return AUDIT_EXIT_WRONG;
    }
    return audit_command_run(inputs);
}
