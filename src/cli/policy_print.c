/* Prints THE tables. The main thread. */
#include "cli/policy_print.h"

#include "base/json_write.h"
#include "policy/tables.h"

enum { WIDTH = 78 };

static const char *const SCOPES[] = {"system", "domain", "project"};

static void print_scopes(struct buf *out, unsigned scopes)
{
    const char *between = "";
    for (unsigned i = 0; i < 3; i++)
        if ((scopes & 1u << i) != 0) {
            buf_printf(out, "%s%s", between, SCOPES[i]);
            between = ", ";
        }
    if (scopes == 0)
        buf_append_lit(out, "any");
}

/* Comment lines of at most WIDTH characters. */
static void print_comment(struct buf *out, const char *text)
{
    struct slice rest = slice_of(text);
    size_t column = 0;
    while (rest.len > 0) {
        struct slice word = slice_cut(&rest, ' ');
        if (column > 0 && column + 1 + word.len > WIDTH) {
            buf_append_char(out, '\n');
            column = 0;
        }
        column += (size_t)1 + word.len;
        buf_append_slice(out, column == 1 + word.len ? SLICE_LIT("# ") : SLICE_LIT(" "));
        buf_append_slice(out, word);
    }
    buf_append_char(out, '\n');
}

static void print_rule(struct buf *out, struct slice name, struct slice rule)
{
    json_write_string(out, name);
    buf_append_lit(out, ": ");
    json_write_string(out, rule);
}

static void print_operations(struct buf *out, const struct policy_default *row, const char *before,
                             const char *after)
{
    for (unsigned i = 0; i < POLICY_OPERATIONS_MAX && row->operations[i].method != NULL; i++)
        buf_printf(out, "%s%s %s%s", before, row->operations[i].method, row->operations[i].path,
                   after);
}

static void print_deprecation(struct buf *out, const struct policy_deprecation *old)
{
    if (old == NULL)
        return;
    buf_printf(out,
               "# Deprecated since %s: \"%s\": \"%s\", which also passes unless\n"
               "# [oslo_policy] enforce_new_defaults is true or a file changes this rule.\n",
               old->since, old->name, old->check);
}

/* A policy file's rule of such a name applies to every service, although the defaults differ. */
static bool is_shared(const struct policy_default *row)
{
    unsigned count = 0;
    for (unsigned i = 0; i < POLICY_SERVICE_COUNT; i++)
        count += policy_table_find(policy_table_of(i), slice_of(row->name)) != NULL;
    return count > 1;
}

static void print_sample_row(struct buf *out, const struct policy_default *row, bool all)
{
    bool apart = all && is_shared(row);
    print_comment(out, row->description);
    print_operations(out, row, "# ", "\n");
    if (row->unserved)
        buf_append_lit(out, "# Not served here.\n");
    if (apart)
        buf_append_lit(
            out, "# More than one service has a rule of this name; a file sets all of them.\n");
    buf_append_lit(out, "# Scope types: ");
    print_scopes(out, row->scopes);
    buf_append_char(out, '\n');
    print_deprecation(out, row->deprecated);
    if (row->leaving != NULL)
        buf_printf(out, "# Deprecated since %s: to be removed.\n", row->leaving);
    buf_append_slice(out, apart ? SLICE_LIT("# ") : SLICE_LIT("#"));
    print_rule(out, slice_of(row->name), slice_of(row->check));
    buf_append_lit(out, "\n\n");
}

static void print_sample_of(struct buf *out, const struct policy_table *table, bool all)
{
    buf_printf(out, "# Rules of %s.\n\n", table->title);
    for (unsigned i = table->checked; i < table->count; i++)
        if (!table->rows[i].unserved)
            print_sample_row(out, &table->rows[i], all);
    for (unsigned i = 0; i < table->count; i++)
        if (i < table->checked || table->rows[i].unserved)
            print_sample_row(out, &table->rows[i], all);
}

void policy_print_sample(struct buf *out, unsigned services)
{
    buf_append_lit(out, "# Policies: every rule with its default. A rule that is uncommented here "
                        "replaces\n# the default.\n\n");
    for (unsigned i = 0; i < POLICY_SERVICE_COUNT; i++)
        if ((services & 1u << i) != 0)
            print_sample_of(out, policy_table_of(i), services == POLICY_ALL_SERVICES);
}

static void print_before(struct buf *out, const struct policy_default *row)
{
    const struct policy_deprecation *old = row->deprecated;
    if (old == NULL)
        return;
    buf_printf(out, "`%s`", old->check);
    if (strcmp(old->name, row->name) != 0)
        buf_printf(out, " (`%s`)", old->name);
}

static void print_reference_row(struct buf *out, const struct policy_default *row)
{
    buf_printf(out, "| `%s` | `%s` | ", row->name, row->check);
    print_before(out, row);
    buf_append_lit(out, " | ");
    print_operations(out, row, "`", "`<br>");
    if (row->operations[0].method != NULL)
        out->len -= sizeof("<br>") - 1;
    buf_append_lit(out, " | ");
    print_scopes(out, row->scopes);
    buf_printf(out, " | %s |\n", row->description);
}

static void print_reference_part(struct buf *out, const struct policy_table *table,
                                 const char *title, unsigned from, bool unserved)
{
    unsigned end = from < table->checked ? table->checked : table->count;
    bool begun = false;
    for (unsigned i = from; i < end; i++) {
        if (table->rows[i].unserved != unserved)
            continue;
        if (!begun)
            buf_printf(out,
                       "\n### %s: %s\n\n| rule | default | before | operations | scope types | |\n"
                       "|---|---|---|---|---|---|\n",
                       table->title, title);
        begun = true;
        print_reference_row(out, &table->rows[i]);
    }
}

void policy_print_reference(struct buf *out)
{
    for (unsigned i = 0; i < POLICY_SERVICE_COUNT; i++) {
        const struct policy_table *table = policy_table_of(i);
        print_reference_part(out, table, "operations", 0, false);
        print_reference_part(out, table, "rules that others refer to", table->checked, false);
        print_reference_part(out, table, "operations that are not served", table->checked, true);
    }
}
