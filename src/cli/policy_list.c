/* Prints the rules in force: those of all services in one list by name. The main thread. */
#include "base/json_write.h"
#include "cli/policy_print.h"
#include "policy/tables.h"

/* The rules of one name in the requested services. */
struct row {
    struct slice name;
    const struct policy_entry *entries[POLICY_SERVICE_COUNT];
    const struct policy_table *tables[POLICY_SERVICE_COUNT];
    unsigned count;
};

/* The services that have a rule of this name; if none has, the service that the name belongs to. */
static struct row policy_list_row_of(const struct policy *policy, unsigned services,
                                     struct slice name)
{
    struct row row = {.name = name};
    unsigned known = 0;
    for (unsigned i = 0; i < POLICY_SERVICE_COUNT; i++)
        if (policy_table_find(policy_table_of(i), name) != NULL)
            known |= 1u << i;
    unsigned shown = known != 0 ? known & services : 1u << policy_service_of(policy, name);
    for (unsigned i = 0; i < POLICY_SERVICE_COUNT; i++) {
        if ((shown & 1u << i) == 0)
            continue;
        row.entries[row.count] = policy_find(&policy->sets[i], name);
        row.tables[row.count++] = policy->sets[i].table;
    }
    return row;
}

static bool is_redundant(const struct row *row)
{
    for (unsigned i = 0; i < row->count; i++)
        if (!row->entries[i]->is_redundant)
            return false;
    return true;
}

static bool is_same_text(const struct row *row)
{
    struct buf texts[2] = {{0}, {0}};
    bool same = true;
    policy_node_print(&texts[0], row->entries[0]->root);
    for (unsigned i = 1; i < row->count; i++) {
        texts[1].len = 0;
        policy_node_print(&texts[1], row->entries[i]->root);
        same &= slice_equal(buf_slice(&texts[0]), buf_slice(&texts[1]));
    }
    buf_free(&texts[0]);
    buf_free(&texts[1]);
    return same;
}

static void print_origin(struct buf *out, const struct policy_entry *entry, const char *service,
                         bool redundant)
{
    if (entry->where != NULL)
        buf_printf(out, "  # %s", entry->where);
    else if (entry->renamed != NULL)
        buf_printf(out, "  # %s, by its deprecated name", entry->renamed);
    else
        buf_append_lit(out, "  # default");
    if (service != NULL)
        buf_printf(out, " of %s", service);
    if (entry->known == NULL)
        buf_append_lit(out, "; not a rule of the service");
    if (redundant)
        buf_append_lit(out, "; the same as the default");
    if (entry->has_deprecated)
        buf_printf(out, "; with the deprecated \"%s\"", entry->known->deprecated->check);
    buf_append_char(out, '\n');
}

static void print_row(struct buf *out, const struct row *row, bool only_redundant)
{
    bool redundant = is_redundant(row);
    bool same = is_same_text(row);
    if (only_redundant && !redundant)
        return;
    for (unsigned i = 0; i < (same ? 1 : row->count); i++) {
        struct buf rule = {0};
        policy_node_print(&rule, row->entries[i]->root);
        if (!same)
            buf_append_lit(out, "# ");
        json_write_string(out, row->name);
        buf_append_lit(out, ": ");
        json_write_string(out, buf_slice(&rule));
        print_origin(out, row->entries[i], same ? NULL : row->tables[i]->service, redundant);
        buf_free(&rule);
    }
}

void policy_print_list(struct buf *out, const struct policy *policy, unsigned services,
                       bool redundant)
{
    size_t at[POLICY_SERVICE_COUNT] = {0};
    for (;;) {
        const struct slice *next = NULL;
        for (unsigned i = 0; i < POLICY_SERVICE_COUNT; i++) {
            const struct policy_set *set = &policy->sets[i];
            if (at[i] < set->entry_count &&
                (next == NULL || slice_compare(&set->entries[at[i]].name, next) < 0))
                next = &set->entries[at[i]].name;
        }
        if (next == NULL)
            return;
        struct row row = policy_list_row_of(policy, services, *next);
        if (row.count > 0)
            print_row(out, &row, redundant);
        for (unsigned i = 0; i < POLICY_SERVICE_COUNT; i++) {
            const struct policy_set *set = &policy->sets[i];
            if (at[i] < set->entry_count && slice_equal(set->entries[at[i]].name, row.name))
                at[i]++;
        }
    }
}
