/* From the table and the files to one policy: which text counts for each rule, where references
 * lead, what there is to say about it. One thread builds; any may decide. */
#include "policy/set.h"

#include <stdlib.h>

#include "base/check.h"
#include "policy/evaluate.h"
#include "policy/language.h"

struct builder {
    struct policy *policy;
    const struct policy_options *options;
    struct policy_entry *entries;
    size_t count;
    struct policy_parser parser;
    struct err *err;
    /* The table's own rules cannot be at fault: what is said while they are read is a mistake. */
    struct policy_notes none;
};

static int by_name(const void *left, const void *right)
{
    return slice_compare(&((const struct policy_entry *)left)->name,
                         &((const struct policy_entry *)right)->name);
}

static struct policy_entry *find(struct policy_entry *entries, size_t count, struct slice name)
{
    struct policy_entry key = {.name = name};
    return bsearch(&key, entries, count, sizeof(*entries), by_name);
}

/* One entry for each name, later overrides in the place of earlier ones. `chosen` gets the override
 * of each entry, by the entry's place. */
static bool collect(struct builder *b, const struct policy_overrides *overrides,
                    const struct policy_override ***chosen)
{
    struct arena *arena = b->policy->arena;
    size_t most = overrides->count + POLICY_TABLE_COUNT;
    if (overrides->count > POLICY_ENTRIES_MAX)
        return err_set(b->err, 500, NULL, "more than %d rules in policy files", POLICY_ENTRIES_MAX);
    b->entries = arena_zalloc(arena, most * sizeof(*b->entries));
    for (size_t i = 0; i < overrides->count; i++)
        b->entries[b->count++].name = arena_copy(arena, overrides->items[i].name);
    for (unsigned i = POLICY_NONE + 1; i < POLICY_TABLE_COUNT; i++)
        b->entries[b->count++].name = slice_of(policy_rules[i].name);
    qsort(b->entries, b->count, sizeof(*b->entries), by_name);
    size_t kept = 0;
    for (size_t i = 0; i < b->count; i++)
        if (kept == 0 || by_name(&b->entries[kept - 1], &b->entries[i]) != 0)
            b->entries[kept++] = b->entries[i];
    b->count = kept;
    *chosen = arena_zalloc(arena, kept * sizeof(struct policy_override *));
    for (size_t i = 0; i < overrides->count; i++) {
        const struct policy_entry *entry = find(b->entries, kept, overrides->items[i].name);
        (*chosen)[entry - b->entries] = &overrides->items[i];
    }
    for (unsigned i = POLICY_NONE + 1; i < POLICY_TABLE_COUNT; i++)
        find(b->entries, kept, slice_of(policy_rules[i].name))->known = &policy_rules[i];
    return true;
}

static const struct policy_node *parse_own(struct builder *b, const char *text)
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

static bool take_override(struct builder *b, struct policy_entry *entry,
                          const struct policy_override *override)
{
    struct policy_notes *notes = &b->policy->notes;
    entry->where = arena_copy(b->policy->arena, slice_of(override->where)).data;
    notes->where = entry->where;
    notes->rule = entry->name;
    struct err err = {.arena = b->err->arena};
    entry->written = policy_rule_parse(&b->parser, override->value, &err);
    if (entry->written == NULL)
        return err_set(b->err, 500, NULL, "%s: rule %.*s: %.*s", entry->where,
                       SLICE_ARG(entry->name), SLICE_ARG(err.message));
    entry->root = entry->written;
    if (entry->known != NULL)
        entry->is_redundant = is_same(entry->written, parse_own(b, entry->known->check));
    else if (slice_starts_with(entry->name, SLICE_LIT("placement:")))
        policy_note_rule(notes, "no operation asks for a rule of this name");
    notes->where = NULL;
    return true;
}

/* The default of a rule that no file overrides (oslo.policy, handling of deprecated rules). An
 * override of the deprecated name counts for the new one, unless it only refers to that, which is
 * how upstream's sample file writes it. */
static void take_default(struct builder *b, struct policy_entry *entry)
{
    const struct policy_deprecation *old = entry->known->deprecated;
    struct arena *arena = b->policy->arena;
    entry->written = parse_own(b, entry->known->check);
    entry->root = entry->written;
    if (old == NULL)
        return;
    const struct policy_entry *renamed = find(b->entries, b->count, slice_of(old->name));
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

static bool take_rules(struct builder *b, const struct policy_override *const *chosen)
{
    for (size_t i = 0; i < b->count; i++)
        if (chosen[i] != NULL && !take_override(b, &b->entries[i], chosen[i]))
            return false;
    for (size_t i = 0; i < b->count; i++)
        if (chosen[i] == NULL)
            take_default(b, &b->entries[i]);
    return true;
}

static void resolve_references(struct builder *b)
{
    const struct policy_references *references = &b->parser.references;
    b->policy->entries = b->entries;
    b->policy->entry_count = b->count;
    if (b->options->default_rule.len > 0)
        b->policy->fallback = find(b->entries, b->count, b->options->default_rule);
    for (size_t i = 0; i < references->count; i++)
        references->items[i]->rule = policy_find(b->policy, references->items[i]->text);
}

/* A walk over one rule's tree and, through references, over others', as far as evaluation might
 * come. */
struct survey {
    const struct policy_entry *from;
    unsigned depth;
    unsigned steps;
    bool is_cyclic;
    bool is_long;
    const struct policy_node *undefined; /* a reference that leads nowhere */
};

/* The rules that led to where the walk is. */
struct trail {
    const struct policy_entry *entry;
    const struct trail *before;
};

static bool is_on(const struct trail *trail, const struct policy_entry *entry)
{
    for (; trail != NULL; trail = trail->before)
        if (trail->entry == entry)
            return true;
    return false;
}

static void survey(struct survey *s, const struct policy_node *node, const struct trail *trail)
{
    if (s->steps == POLICY_STEPS_MAX || s->depth == POLICY_DEPTH_MAX) {
        s->is_long = true;
        return;
    }
    s->steps++;
    s->depth++;
    for (unsigned i = 0; i < node->count; i++)
        survey(s, node->children[i], trail);
    if (node->op == POLICY_OP_RULE && node->rule == NULL)
        s->undefined = node;
    if (node->op == POLICY_OP_RULE && node->rule != NULL) {
        const struct trail next = {node->rule, trail};
        if (!is_on(trail, node->rule))
            survey(s, node->rule->root, &next);
        else if (node->rule == s->from)
            s->is_cyclic = true;
    }
    s->depth--;
}

static void note_references(struct builder *b)
{
    struct policy_notes *notes = &b->policy->notes;
    for (size_t i = 0; i < b->count; i++) {
        const struct policy_entry *entry = &b->entries[i];
        const struct trail trail = {entry, NULL};
        struct survey s = {.from = entry};
        survey(&s, entry->root, &trail);
        notes->where = entry->where != NULL ? entry->where : entry->renamed;
        notes->rule = entry->name;
        if (s.is_cyclic)
            policy_note_rule(notes, "refers to itself: whoever it is asked of is refused where it "
                                    "comes to that");
        if (s.is_long)
            policy_note_rule(notes,
                             "is too long with all that it refers to: who is not decided after %d "
                             "checks, or %d deep, is refused",
                             POLICY_STEPS_MAX, POLICY_DEPTH_MAX);
        if (s.undefined != NULL && notes->where != NULL)
            policy_note_rule(notes, "comes to rule:%.*s, which is not defined and never passes",
                             SLICE_ARG(s.undefined->text));
    }
    notes->where = NULL;
}

static void note_overrides(struct builder *b)
{
    struct policy_notes *notes = &b->policy->notes;
    struct buf redundant = {0};
    for (size_t i = 0; i < b->count; i++) {
        const struct policy_entry *entry = &b->entries[i];
        if (entry->is_redundant)
            buf_printf(&redundant, "%s%.*s", redundant.len == 0 ? "" : ", ",
                       SLICE_ARG(entry->name));
        if (entry->renamed != NULL)
            policy_note(notes, LOG_LEVEL_WARNING,
                        "%s: the deprecated %s is overridden, which counts for %.*s, too",
                        entry->renamed, entry->known->deprecated->name, SLICE_ARG(entry->name));
    }
    if (redundant.len > 0)
        policy_note(notes, LOG_LEVEL_INFO, "rules in policy files that are the defaults: %.*s",
                    SLICE_ARG(buf_slice(&redundant)));
    buf_free(&redundant);
}

/* What a request asks first is reached without references. */
static void fill_roots(struct builder *b)
{
    for (unsigned i = POLICY_NONE + 1; i < POLICY_RULE_COUNT; i++) {
        const struct policy_node *node =
            find(b->entries, b->count, slice_of(policy_rules[i].name))->root;
        for (unsigned hops = 0; node->op == POLICY_OP_RULE && node->rule != NULL && hops < 16;
             hops++)
            node = node->rule->root;
        b->policy->roots[i] = node;
    }
}

struct policy *policy_build(const struct policy_options *options,
                            const struct policy_overrides *overrides, struct err *err)
{
    struct arena *arena = arena_create();
    struct policy *policy = arena_zalloc(arena, sizeof(*policy));
    struct builder b = {.policy = policy, .options = options, .err = err, .none.arena = arena};
    const struct policy_override **chosen = NULL;
    atomic_init(&policy->holders, 1);
    policy->arena = arena;
    policy->enforce_scope = options->enforce_scope;
    policy->notes.arena = arena;
    b.parser = (struct policy_parser){.arena = arena, .notes = &policy->notes};
    if (!collect(&b, overrides, &chosen) || !take_rules(&b, chosen)) {
        policy_release(policy);
        return NULL;
    }
    resolve_references(&b);
    note_references(&b);
    note_overrides(&b);
    fill_roots(&b);
    return policy;
}

const struct policy_entry *policy_find(const struct policy *policy, struct slice name)
{
    struct policy_entry key = {.name = name};
    const struct policy_entry *found =
        bsearch(&key, policy->entries, policy->entry_count, sizeof(key), by_name);
    return found != NULL ? found : policy->fallback;
}

void policy_hold(struct policy *policy)
{
    atomic_fetch_add_explicit(&policy->holders, 1, memory_order_relaxed);
}

void policy_release(struct policy *policy)
{
    if (atomic_fetch_sub_explicit(&policy->holders, 1, memory_order_acq_rel) == 1)
        arena_destroy(policy->arena);
}
