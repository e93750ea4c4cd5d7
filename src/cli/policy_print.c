/* Printing THE table and what became of it. The main thread. */
#include "cli/policy_print.h"

#include "base/json_write.h"

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
               "# Deprecated since %s: \"%s\": \"%s\", which passes too unless\n"
               "# [oslo_policy] enforce_new_defaults is true or a file changes this rule.\n",
               old->since, old->name, old->check);
}

static void print_sample_row(struct buf *out, const struct policy_default *row)
{
    print_comment(out, row->description);
    print_operations(out, row, "# ", "\n");
    buf_append_lit(out, "# Scope types: ");
    print_scopes(out, row->scopes);
    buf_append_char(out, '\n');
    print_deprecation(out, row->deprecated);
    buf_append_char(out, '#');
    print_rule(out, slice_of(row->name), slice_of(row->check));
    buf_append_lit(out, "\n\n");
}

void policy_print_sample(struct buf *out)
{
    buf_append_lit(out, "# Policies of the placement service: every rule with its default. A rule "
                        "that is\n# uncommented here replaces the default.\n\n");
    for (unsigned i = POLICY_RULE_COUNT; i < POLICY_TABLE_COUNT; i++)
        print_sample_row(out, &policy_rules[i]);
    for (unsigned i = POLICY_NONE + 1; i < POLICY_RULE_COUNT; i++)
        print_sample_row(out, &policy_rules[i]);
}

static void print_reference_row(struct buf *out, const struct policy_default *row)
{
    buf_printf(out, "| `%s` | `%s` | ", row->name, row->check);
    print_operations(out, row, "`", "`<br>");
    if (row->operations[0].method != NULL)
        out->len -= sizeof("<br>") - 1;
    else
        buf_append_slice(out, row->deprecated == NULL ? SLICE_LIT("") : SLICE_LIT("yes"));
    buf_append_lit(out, " | ");
    print_scopes(out, row->scopes);
    buf_printf(out, " | %s |\n", row->description);
}

void policy_print_reference(struct buf *out)
{
    buf_append_lit(out, "### Operations\n\n| rule | default | operations | scope types | |\n"
                        "|---|---|---|---|---|\n");
    for (unsigned i = POLICY_NONE + 1; i < POLICY_RULE_COUNT; i++)
        print_reference_row(out, &policy_rules[i]);
    buf_append_lit(out, "\n### Rules that others refer to\n\n"
                        "| rule | default | deprecated rule passes too | scope types | |\n"
                        "|---|---|---|---|---|\n");
    for (unsigned i = POLICY_RULE_COUNT; i < POLICY_TABLE_COUNT; i++)
        print_reference_row(out, &policy_rules[i]);
}

static void print_origin(struct buf *out, const struct policy_entry *entry)
{
    if (entry->where != NULL)
        buf_printf(out, "  # %s", entry->where);
    else if (entry->renamed != NULL)
        buf_printf(out, "  # %s, by its deprecated name", entry->renamed);
    else
        buf_append_lit(out, "  # default");
    if (entry->known == NULL)
        buf_append_lit(out, "; no rule of the service");
    if (entry->is_redundant)
        buf_append_lit(out, "; the same as the default");
    if (entry->has_deprecated)
        buf_printf(out, "; with the deprecated \"%s\"", entry->known->deprecated->check);
    buf_append_char(out, '\n');
}

static void print_entry(struct buf *out, const struct policy_entry *entry, bool redundant)
{
    struct buf rule = {0};
    if (redundant && !entry->is_redundant)
        return;
    policy_node_print(&rule, entry->root);
    print_rule(out, entry->name, buf_slice(&rule));
    print_origin(out, entry);
    buf_free(&rule);
}

void policy_print_list(struct buf *out, const struct policy *policy, bool redundant)
{
    for (size_t i = 0; i < policy->entry_count; i++)
        print_entry(out, &policy->entries[i], redundant);
}
