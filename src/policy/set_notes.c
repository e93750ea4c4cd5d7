/* Notes about a policy: rules that are probably mistakes, references to rules that do not exist,
 * overrides without an effect. A rule in a file is a rule for each service, so the service that it
 * is meant for is determined first, and only its notes for that service are kept. One thread. */
#include "policy/evaluate.h"
#include "policy/set_internal.h"
#include "policy/tables.h"

/* A walk over one rule's tree and, through references, over others', as far as evaluation could
 * go. */
struct survey {
    const struct policy_entry *from;
    unsigned depth;
    unsigned steps;
    bool is_cyclic;
    bool is_long;
    const struct policy_node *undefined; /* a reference to a rule that does not exist */
};

/* The chain of rules that led to the current position. */
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

/* The rules that a set's table refers to, directly or indirectly. */
struct reach {
    const struct set_builder *b;
    struct policy_entry **waiting;
    size_t count;
};

static void reach(struct reach *r, const struct policy_entry *entry)
{
    struct policy_entry *own = &r->b->entries[entry - r->b->entries];
    if (own->is_reached)
        return;
    own->is_reached = true;
    r->waiting[r->count++] = own;
}

/* A rule's own tree is at most POLICY_NESTING_MAX deep. */
static void reach_from(struct reach *r, const struct policy_node *node)
{
    if (node->op == POLICY_OP_RULE && node->rule != NULL)
        reach(r, node->rule);
    for (unsigned i = 0; i < node->count; i++)
        reach_from(r, node->children[i]);
}

static void mark_reached(const struct set_builder *b, struct arena *scratch)
{
    struct reach r = {.b = b, .waiting = arena_array(scratch, b->count, sizeof(*r.waiting))};
    for (size_t i = 0; i < b->count; i++)
        if (b->entries[i].known != NULL)
            reach(&r, &b->entries[i]);
    while (r.count > 0)
        reach_from(&r, r.waiting[--r.count]->root);
}

static bool is_named_for(const struct policy_table *table, struct slice name)
{
    struct slice service = slice_of(table->service);
    return slice_starts_with(name, service) && name.len > service.len &&
           name.data[service.len] == ':';
}

/* The service whose operations have such names; else the only one that knows the rule, or that
 * refers to it; else the first. */
enum policy_service policy_service_of(const struct policy *policy, struct slice name)
{
    unsigned knows = 0;
    unsigned reaches = 0;
    for (unsigned i = 0; i < POLICY_SERVICE_COUNT; i++) {
        const struct policy_entry *entry = policy_find(&policy->sets[i], name);
        if (is_named_for(policy->sets[i].table, name))
            return i;
        if (entry == NULL || !slice_equal(entry->name, name))
            continue;
        knows |= entry->known != NULL ? 1u << i : 0;
        reaches |= entry->is_reached ? 1u << i : 0;
    }
    unsigned those = knows != 0 ? knows : reaches;
    for (unsigned i = 0; i < POLICY_SERVICE_COUNT; i++)
        if ((those & 1u << i) != 0)
            return i;
    return POLICY_OF_PLACEMENT;
}

static bool is_noted_for(const struct set_builder *b, const struct policy_entry *entry)
{
    return entry->where == NULL ||
           policy_table_of(policy_service_of(b->policy, entry->name)) == b->table;
}

/* Parses the text once more, for the notes about it. */
static void note_text(const struct set_builder *b, size_t i, struct arena *scratch)
{
    const struct policy_entry *entry = &b->entries[i];
    struct policy_notes *notes = &b->policy->notes;
    struct policy_parser parser = {.arena = scratch, .notes = notes, .service = b->parser.service};
    struct err err = {.arena = scratch};
    notes->where = entry->where;
    notes->rule = entry->name;
    check(policy_rule_parse(&parser, b->chosen[i]->value, &err) != NULL);
    if (entry->known == NULL && is_named_for(b->table, entry->name))
        policy_note_rule(notes, "no operation uses a rule of this name");
    notes->where = NULL;
}

static void note_texts(const struct set_builder *b, struct arena *scratch)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->chosen[i] != NULL && is_noted_for(b, &b->entries[i]))
            note_text(b, i, scratch);
}

static void note_references(const struct set_builder *b)
{
    struct policy_notes *notes = &b->policy->notes;
    for (size_t i = 0; i < b->count; i++) {
        const struct policy_entry *entry = &b->entries[i];
        const struct trail trail = {entry, NULL};
        struct survey s = {.from = entry};
        if (!is_noted_for(b, entry))
            continue;
        survey(&s, entry->root, &trail);
        notes->where = entry->where != NULL ? entry->where : entry->renamed;
        notes->rule = entry->name;
        if (s.is_cyclic)
            policy_note_rule(
                notes,
                "refers to itself: requests for which that reference is evaluated are refused");
        if (s.is_long)
            policy_note_rule(notes,
                             "is too long with everything it refers to: requests that are not "
                             "decided after %d checks, or at depth %d, are refused",
                             POLICY_STEPS_MAX, POLICY_DEPTH_MAX);
        if (s.undefined != NULL && notes->where != NULL)
            policy_note_rule(notes, "refers to rule:%.*s, which is not defined and never passes",
                             SLICE_ARG(s.undefined->text));
    }
    notes->where = NULL;
}

/* Whether the override is equal to the default, for each service that knows the rule. */
static bool is_redundant(const struct policy *policy, const struct policy_entry *entry)
{
    for (unsigned i = 0; i < POLICY_SERVICE_COUNT; i++) {
        const struct policy_entry *other = policy_find(&policy->sets[i], entry->name);
        if (other->known != NULL && !other->is_redundant)
            return false;
    }
    return entry->is_redundant;
}

static void add_name(struct buf *names, const struct policy_entry *entry)
{
    buf_printf(names, "%s%.*s", names->len == 0 ? "" : ", ", SLICE_ARG(entry->name));
}

static void note_names(struct policy_notes *notes, const char *what, struct buf *names)
{
    if (names->len > 0)
        policy_note(notes, LOG_LEVEL_INFO, "%s: %.*s", what, SLICE_ARG(buf_slice(names)));
    buf_free(names);
}

static void note_overrides(struct policy *policy, const struct set_builder builders[])
{
    struct policy_notes *notes = &policy->notes;
    struct buf redundant = {0};
    struct buf unserved = {0};
    for (const struct set_builder *b = builders; b < builders + POLICY_SERVICE_COUNT; b++)
        for (size_t i = 0; i < b->count; i++) {
            const struct policy_entry *entry = &b->entries[i];
            if (entry->renamed != NULL)
                policy_note(notes, LOG_LEVEL_WARNING,
                            "%s: the deprecated %s is overridden, which also applies to %.*s",
                            entry->renamed, entry->known->deprecated->name, SLICE_ARG(entry->name));
            if (entry->where == NULL || !is_noted_for(b, entry))
                continue;
            if (is_redundant(policy, entry))
                add_name(&redundant, entry);
            else if (entry->known != NULL && entry->known->unserved)
                add_name(&unserved, entry);
        }
    note_names(notes, "rules in policy files that are equal to the defaults", &redundant);
    note_names(notes, "rules in policy files whose operations berth does not serve", &unserved);
}

void policy_set_note(struct policy *policy, const struct set_builder builders[])
{
    struct arena *scratch = arena_create();
    for (unsigned i = 0; i < POLICY_SERVICE_COUNT; i++)
        mark_reached(&builders[i], scratch);
    for (unsigned i = 0; i < POLICY_SERVICE_COUNT; i++)
        note_texts(&builders[i], scratch);
    for (unsigned i = 0; i < POLICY_SERVICE_COUNT; i++)
        note_references(&builders[i]);
    note_overrides(policy, builders);
    arena_destroy(scratch);
}
