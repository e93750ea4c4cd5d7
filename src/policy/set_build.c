/* Builds one policy from the tables and the files: for each service, which text is used for each
 * rule, and what references refer to. One thread builds; any may check. */
#include "policy/set.h"

#include <stdlib.h>

#include "base/check.h"
#include "policy/set_internal.h"
#include "policy/tables.h"

static int set_build_by_name(const void *left, const void *right)
{
    return slice_compare(&((const struct policy_entry *)left)->name,
                         &((const struct policy_entry *)right)->name);
}

static struct policy_entry *set_build_find(struct policy_entry *entries, size_t count,
                                           struct slice name)
{
    struct policy_entry key = {.name = name};
    return bsearch(&key, entries, count, sizeof(*entries), set_build_by_name);
}

/* One entry per name; later overrides replace earlier ones. */
static void set_build_collect(struct set_builder *b, const struct policy_overrides *overrides)
{
    struct arena *arena = b->policy->arena;
    const struct policy_table *table = b->table;
    b->entries = arena_zalloc(arena, (overrides->count + table->count) * sizeof(*b->entries));
    for (size_t i = 0; i < overrides->count; i++)
        b->entries[b->count++].name = arena_copy(arena, overrides->items[i].name);
    for (unsigned i = 0; i < table->count; i++)
        b->entries[b->count++].name = slice_of(table->rows[i].name);
    qsort(b->entries, b->count, sizeof(*b->entries), set_build_by_name);
    size_t kept = 0;
    for (size_t i = 0; i < b->count; i++)
        if (kept == 0 || set_build_by_name(&b->entries[kept - 1], &b->entries[i]) != 0)
            b->entries[kept++] = b->entries[i];
    b->count = kept;
    b->chosen = arena_zalloc(arena, kept * sizeof(*b->chosen));
    for (size_t i = 0; i < overrides->count; i++) {
        const struct policy_entry *entry =
            set_build_find(b->entries, kept, overrides->items[i].name);
        b->chosen[entry - b->entries] = &overrides->items[i];
    }
    for (unsigned i = 0; i < table->count; i++)
        set_build_find(b->entries, kept, slice_of(table->rows[i].name))->known = &table->rows[i];
}

static const struct policy_node *parse_own(struct set_builder *b, const char *text)
{
    struct policy_value value = {.kind = POLICY_VALUE_TEXT, .text = slice_of(text)};
    struct policy_notes *notes = b->parser.notes;
    b->parser.notes = &b->none;
    const struct policy_node *node = policy_rule_parse(&b->parser, &value, b->err);
    b->parser.notes = notes;
    check(node != NULL && b->none.count == 0);
    return node;
}

static bool prints_as(const struct policy_node *node, struct slice text)
{
    struct buf printed = {0};
    policy_node_print(&printed, node);
    bool same = slice_equal(buf_slice(&printed), text);
    buf_free(&printed);
    return same;
}

static bool is_same(const struct policy_node *left, const struct policy_node *right)
{
    struct buf printed = {0};
    policy_node_print(&printed, right);
    bool same = prints_as(left, buf_slice(&printed));
    buf_free(&printed);
    return same;
}

static bool take_override(struct set_builder *b, struct policy_entry *entry,
                          const struct policy_override *override)
{
    entry->where = arena_copy(b->policy->arena, slice_of(override->where)).data;
    struct err err = {.arena = b->err->arena};
    entry->written = policy_rule_parse(&b->parser, override->value, &err);
    if (entry->written == NULL)
        return err_set(b->err, 500, NULL, "%s: rule %.*s: %.*s", entry->where,
                       SLICE_ARG(entry->name), SLICE_ARG(err.message));
    entry->root = entry->written;
    if (entry->known != NULL)
        entry->is_redundant = is_same(entry->written, parse_own(b, entry->known->check));
    return true;
}

/* The default of a rule that no file overrides (oslo.policy, handling of deprecated rules). An
 * override of the deprecated name applies to the new one, unless it only refers to that, which is
 * how upstream's sample file writes it. */
static void take_default(struct set_builder *b, struct policy_entry *entry)
{
    const struct policy_deprecation *old = entry->known->deprecated;
    struct arena *arena = b->policy->arena;
    entry->written = parse_own(b, entry->known->check);
    entry->root = entry->written;
    if (old == NULL)
        return;
    const struct policy_entry *renamed = set_build_find(b->entries, b->count, slice_of(old->name));
    if (renamed != NULL && renamed->where != NULL) {
        struct slice itself = arena_printf(arena, "rule:%.*s", SLICE_ARG(entry->name));
        if (!prints_as(renamed->written, itself)) {
            entry->renamed = renamed->where;
            entry->root = renamed->written;
            return;
        }
    }
    if (b->options->enforce_new_defaults || strcmp(old->check, entry->known->check) == 0)
        return;
    struct policy_node *either = policy_node_new(&b->parser, POLICY_OP_OR, (struct slice){0});
    const struct policy_node **children = arena_array(arena, 2, sizeof(*children));
    children[0] = entry->written;
    children[1] = parse_own(b, old->check);
    either->children = children;
    either->count = 2;
    entry->root = either;
    entry->has_deprecated = true;
}

static bool take_rules(struct set_builder *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->chosen[i] != NULL && !take_override(b, &b->entries[i], b->chosen[i]))
            return false;
    for (size_t i = 0; i < b->count; i++)
        if (b->chosen[i] == NULL)
            take_default(b, &b->entries[i]);
    return true;
}

static void resolve_references(struct set_builder *b, struct policy_set *set)
{
    const struct policy_references *references = &b->parser.references;
    *set = (struct policy_set){.table = b->table, .entries = b->entries, .entry_count = b->count};
    if (b->options->default_rule.len > 0)
        set->fallback = set_build_find(b->entries, b->count, b->options->default_rule);
    for (size_t i = 0; i < references->count; i++)
        references->items[i]->rule = policy_find(set, references->items[i]->text);
}

/* The start of a request's evaluation is reached without references. */
static void fill_roots(struct set_builder *b, struct policy_set *set)
{
    const struct policy_table *table = b->table;
    struct policy_root *roots = arena_array(b->policy->arena, table->checked, sizeof(*roots));
    for (unsigned i = 0; i < table->checked; i++) {
        const struct policy_default *row = &table->rows[i];
        const struct policy_node *node =
            set_build_find(b->entries, b->count, slice_of(row->name))->root;
        for (unsigned hops = 0; node->op == POLICY_OP_RULE && node->rule != NULL && hops < 16;
             hops++)
            node = node->rule->root;
        roots[i] = (struct policy_root){node, row->scopes};
    }
    set->roots = roots;
}

static bool build_set(struct set_builder *b, const struct policy_overrides *overrides,
                      enum policy_service service)
{
    /* Notes are made when all sets are complete. */
    struct policy_notes unheard = {.count = POLICY_NOTES_MAX};
    b->table = policy_table_of(service);
    b->parser =
        (struct policy_parser){.arena = b->policy->arena, .notes = &unheard, .service = service};
    b->none.arena = b->policy->arena;
    set_build_collect(b, overrides);
    if (!take_rules(b))
        return false;
    resolve_references(b, &b->policy->sets[service]);
    fill_roots(b, &b->policy->sets[service]);
    b->parser.notes = NULL;
    return true;
}

struct policy *policy_build(const struct policy_options *options,
                            const struct policy_overrides *overrides, struct err *err)
{
    struct arena *arena = arena_create();
    struct policy *policy = arena_zalloc(arena, sizeof(*policy));
    struct set_builder builders[POLICY_SERVICE_COUNT] = {0};
    atomic_init(&policy->holders, 1);
    policy->arena = arena;
    policy->enforce_scope = options->enforce_scope;
    policy->enforce_new_defaults = options->enforce_new_defaults;
    policy->notes.arena = arena;
    for (unsigned i = 0; i < POLICY_SERVICE_COUNT; i++) {
        builders[i] = (struct set_builder){.policy = policy, .options = options, .err = err};
        if (!build_set(&builders[i], overrides, i)) {
            policy_release(policy);
            return NULL;
        }
    }
    policy_set_note(policy, builders);
    return policy;
}
