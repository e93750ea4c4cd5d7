/* The three checks of the newest release, with its texts: deployment tools show them, and some
 * search for them. One more for a database on a server. One thread. */
#include "cli/upgrade_checks.h"

#include <jansson.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json_write.h"
#include "cli/table.h"
#include "conf/find.h"
#include "store/repair.h"
#include "store/report.h"

enum { DETAILS_WIDTH = 60, DETAILS_INDENT = 2 };

static const char *const titles[] = {"Upgrade Check Results"};

static bool check_roots(const struct conf *conf, struct upgrade_result *result, struct err *err)
{
    bool found;
    if (!repair_find_missing_roots(slice_of(conf->connection), &found, err))
        return false;
    if (!found)
        return true;
    result->code = UPGRADE_FAILURE;
    result->details =
        "There is at least one resource provider table record which misses its root "
        "provider id. Run the \"placement-manage db online_data_migrations\" command.";
    return true;
}

static bool check_consumers(const struct conf *conf, struct upgrade_result *result, struct err *err)
{
    int64_t count;
    if (!repair_count_missing_consumers(slice_of(conf->connection), &count, err))
        return false;
    if (count == 0)
        return true;
    result->code = UPGRADE_WARNING;
    result->details =
        arena_printf(err->arena,
                     "There are %lld incomplete consumers table records for existing allocations. "
                     "Run the \"placement-manage db online_data_migrations\" command.",
                     (long long)count)
            .data;
    return true;
}

static bool is_json(const char *path)
{
    json_t *document = json_load_file(path, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    json_decref(document);
    return document != NULL;
}

/* The file in force: policy.json if policy_file does not exist. */
static void check_policy(const struct conf *conf, const struct conf_inputs *inputs,
                         struct upgrade_result *result, struct arena *arena)
{
    const struct conf_value *file = conf_value(conf, "oslo_policy", "policy_file");
    const char *path = file->is_set ? find_conf_beside(inputs, arena, file->text) : NULL;
    if (path == NULL && file->origin == CONF_ORIGIN_DEFAULT)
        path = find_conf_beside(inputs, arena, "policy.json");
    if (path == NULL || !is_json(path))
        return;
    result->code = UPGRADE_FAILURE;
    result->details =
        "Your policy file is JSON-formatted which is deprecated. You need to switch to "
        "YAML-formatted file. Use the ``oslopolicy-convert-json-to-yaml`` tool to convert the "
        "existing JSON-formatted files to YAML in a backwards-compatible manner: "
        "https://docs.openstack.org/oslo.policy/latest/cli/oslopolicy-convert-json-to-yaml.html.";
}

/* Only of a database on a server, and only berth has it. */
static bool check_server(const struct conf *conf, struct upgrade_results *results, struct err *err)
{
    struct upgrade_result *result = &results->all[results->count];
    struct store_report report;
    struct buf details = {0};
    bool has_server;
    if (!report_make(slice_of(conf->connection), err->arena, &has_server, &report, err))
        return false;
    if (!has_server)
        return true;
    for (size_t i = 0; i < report.warning_count; i++)
        buf_printf(&details, "%.*s. ", SLICE_ARG(report.warnings[i]));
    buf_append_lit(&details, "Server: ");
    report_write_server(&report.server, &details);
    buf_append_char(&details, '.');
    if (report.log_head > 0)
        buf_printf(&details, " Newest batch: %lld, %lld s ago.", (long long)report.log_head,
                   (long long)report.log_head_s);
    const struct store_ids *ids = report_most_used_ids(&report);
    if (ids != NULL)
        buf_printf(&details, " Ids: %s %lld of %d.", ids->table, (long long)ids->used,
                   STORE_IDS_MOST);
    if (report.has_log)
        buf_printf(&details, " Coexist: %s, changes waiting: %lld.",
                   report.triggers > 0 ? "enabled" : "disabled", (long long)report.waiting);
    for (size_t i = 0; i < report.instance_count; i++) {
        buf_append_lit(&details, " Instance: ");
        report_write_instance(&report.instances[i], &details);
        buf_append_char(&details, '.');
    }
    *result = (struct upgrade_result){
        .check = "Database Server",
        .code = report.warning_count > 0 ? UPGRADE_WARNING : UPGRADE_SUCCESS,
        .details = arena_copy(err->arena, buf_slice(&details)).data,
    };
    results->count++;
    buf_free(&details);
    return true;
}

bool upgrade_checks_run(const struct conf *conf, const struct conf_inputs *inputs,
                        struct upgrade_results *results, struct err *err)
{
    struct upgrade_result *all = results->all;
    all[0] = (struct upgrade_result){.check = "Missing Root Provider IDs"};
    all[1] = (struct upgrade_result){.check = "Incomplete Consumers"};
    all[2] = (struct upgrade_result){.check = "Policy File JSON to YAML Migration"};
    results->count = 3;
    if (!check_roots(conf, &all[0], err) || !check_consumers(conf, &all[1], err))
        return false;
    check_policy(conf, inputs, &all[2], err->arena);
    return check_server(conf, results, err);
}

enum upgrade_code upgrade_checks_verdict(const struct upgrade_results *results)
{
    enum upgrade_code worst = UPGRADE_SUCCESS;
    for (size_t i = 0; i < results->count; i++)
        if (results->all[i].code > worst)
            worst = results->all[i].code;
    return worst;
}

static void print_json(const struct upgrade_results *results, FILE *out)
{
    struct buf text = {0};
    buf_append_lit(&text, "{\"name\": ");
    json_write_string(&text, slice_of(titles[0]));
    buf_append_lit(&text, ", \"checks\": [");
    for (size_t i = 0; i < results->count; i++) {
        buf_append_slice(&text, i == 0 ? SLICE_LIT("{\"check\": ") : SLICE_LIT(", {\"check\": "));
        json_write_string(&text, slice_of(results->all[i].check));
        buf_printf(&text, ", \"result\": %d, \"details\": ", (int)results->all[i].code);
        if (results->all[i].details == NULL)
            buf_append_lit(&text, "null");
        else
            json_write_string(&text, slice_of(results->all[i].details));
        buf_append_char(&text, '}');
    }
    buf_append_lit(&text, "]}\n");
    fwrite(text.data, 1, text.len, out);
    buf_free(&text);
}

static void print_table(const struct upgrade_results *results, FILE *out)
{
    static const char *const words[] = {"Success", "Warning", "Failure"};
    struct buf texts[UPGRADE_CHECKS_MOST] = {0};
    const char *cells[UPGRADE_CHECKS_MOST];
    for (size_t i = 0; i < results->count; i++) {
        buf_printf(&texts[i], "Check: %s\nResult: %s\nDetails: ", results->all[i].check,
                   words[results->all[i].code]);
        table_wrap(&texts[i], results->all[i].details == NULL ? "None" : results->all[i].details,
                   DETAILS_WIDTH, DETAILS_INDENT);
        buf_append_char(&texts[i], '\0');
        cells[i] = texts[i].data;
    }
    const struct table table = {
        .columns = 1, .is_boxed = true, .titles = titles, .cells = cells, .rows = results->count};
    table_print(&table, out);
    for (size_t i = 0; i < results->count; i++)
        buf_free(&texts[i]);
}

void upgrade_checks_print(const struct upgrade_results *results, bool json, FILE *out)
{
    if (json)
        print_json(results, out);
    else
        print_table(results, out);
}
