/* Evaluates a rule once more and writes down the steps; of alternatives, only those that decided
 * the result are shown. One thread per call. */
#include "cli/policy_explain.h"

#include "policy/set.h"

/* Deeper nesting would not be readable. */
enum { LEVELS_MAX = 40, BYTES_MAX = 32 * 1024 };

struct explanation {
    struct buf *out;
    const struct policy_input *input;
    size_t began; /* out's length before */
    bool ended;
};

static const char *word_of(enum policy_outcome outcome)
{
    switch (outcome) {
    case POLICY_TRUE:
        return "passed";
    case POLICY_FALSE:
        return "failed";
    case POLICY_FAULT:
        break;
    }
    return "refused";
}

/* Begins to describe what %(key)s is replaced by, "(wanted: ...". False: it cannot be replaced, and
 * the description is complete. */
static bool explain_wanted(struct explanation *e, const struct policy_match *match)
{
    struct buf *out = e->out;
    for (unsigned i = 0; i < match->count; i++) {
        const struct policy_piece *piece = &match->pieces[i];
        if (piece->is_key && policy_target_value(e->input->target, piece->text).data == NULL) {
            buf_printf(out, "  (the target has no %.*s)", SLICE_ARG(piece->text));
            return false;
        }
    }
    if (match->broken) {
        buf_append_lit(out, "  (it cannot be filled in)");
        return false;
    }
    buf_append_lit(out, "  (wanted: \"");
    for (unsigned i = 0; i < match->count; i++)
        buf_append_slice(out, match->pieces[i].is_key
                                  ? policy_target_value(e->input->target, match->pieces[i].text)
                                  : match->pieces[i].text);
    buf_append_char(out, '"');
    return true;
}

static void append_list(struct buf *out, const struct identity_roles *list)
{
    buf_append_lit(out, "; there: ");
    if (list->count == 0)
        buf_append_lit(out, "none");
    for (unsigned i = 0; i < list->count; i++)
        buf_printf(out, "%s\"%.*s\"", i == 0 ? "" : ", ", SLICE_ARG(list->names[i]));
    buf_append_char(out, ')');
}

static void explain_generic(struct explanation *e, const struct policy_node *node)
{
    const struct identity *identity = e->input->identity;
    struct buf *out = e->out;
    if (node->subject == POLICY_SUBJECT_UNKNOWN || node->subject == POLICY_SUBJECT_FAULT ||
        node->below) {
        buf_append_lit(out, "  (the token has no such credential)");
        return;
    }
    if (!explain_wanted(e, &node->match))
        return;
    const struct identity_roles *list = policy_subject_list(identity, node->subject);
    if (list != NULL)
        append_list(out, list);
    else
        buf_printf(out, "; there: \"%.*s\")",
                   SLICE_ARG(node->subject == POLICY_SUBJECT_LITERAL
                                 ? node->literal
                                 : policy_subject_text(identity, node->subject)));
}

static void explain_role(struct explanation *e, const struct policy_node *node)
{
    if (explain_wanted(e, &node->match))
        append_list(e->out, &e->input->identity->roles);
}

static void explain_rule_node(struct explanation *e, const struct policy_node *node)
{
    if (node->rule == NULL)
        buf_append_lit(e->out, "  (not defined)");
    else if (!slice_equal(node->rule->name, node->text))
        buf_printf(e->out, "  (not defined: %.*s is used instead)", SLICE_ARG(node->rule->name));
    else if (node->rule->where != NULL)
        buf_printf(e->out, "  (%s)", node->rule->where);
    else if (node->rule->renamed != NULL)
        buf_printf(e->out, "  (%s, by its old name)", node->rule->renamed);
}

static void explain_node(struct explanation *e, const struct policy_node *node)
{
    switch (node->op) {
    case POLICY_OP_AND:
        buf_append_lit(e->out, "all of");
        return;
    case POLICY_OP_OR:
        buf_append_lit(e->out, "one of");
        return;
    case POLICY_OP_NOT:
        buf_append_lit(e->out, "not");
        return;
    default:
        policy_node_print(e->out, node);
    }
    if (node->op == POLICY_OP_RULE)
        explain_rule_node(e, node);
    else if (node->op == POLICY_OP_ROLE)
        explain_role(e, node);
    else if (node->op == POLICY_OP_GENERIC)
        explain_generic(e, node);
}

/* The chain of rules that led to the current position. */
struct trail {
    const struct policy_entry *entry;
    const struct trail *before;
};

static void explain(struct explanation *e, const struct policy_node *node, unsigned level,
                    const struct trail *trail);

/* The checks that were evaluated, or only the one that decided the result. */
static void explain_children(struct explanation *e, const struct policy_node *node,
                             enum policy_outcome outcome, unsigned level, const struct trail *trail)
{
    enum policy_outcome ends = node->op == POLICY_OP_OR ? POLICY_TRUE : POLICY_FALSE;
    bool one = node->op != POLICY_OP_NOT && (outcome == ends || outcome == POLICY_FAULT);
    for (unsigned i = 0; i < node->count; i++)
        if (!one || policy_evaluate(node->children[i], e->input) == outcome) {
            explain(e, node->children[i], level, trail);
            if (one)
                return;
        }
}

static bool is_on(const struct trail *trail, const struct policy_entry *entry)
{
    for (; trail != NULL; trail = trail->before)
        if (trail->entry == entry)
            return true;
    return false;
}

static void explain_rule(struct explanation *e, const struct policy_entry *entry, unsigned level,
                         const struct trail *trail)
{
    const struct trail next = {entry, trail};
    if (is_on(trail, entry))
        buf_printf(e->out, "%*swhich is being evaluated already: the rules form a circle\n",
                   (int)(2 * level), "");
    else
        explain(e, entry->root, level, &next);
}

static void explain(struct explanation *e, const struct policy_node *node, unsigned level,
                    const struct trail *trail)
{
    if (e->ended)
        return;
    e->ended = e->out->len - e->began > BYTES_MAX;
    if (e->ended || level == LEVELS_MAX) {
        buf_printf(e->out, "%*sand so on\n", (int)(2 * level), "");
        return;
    }
    enum policy_outcome outcome = policy_evaluate(node, e->input);
    buf_printf(e->out, "%*s%-7s  ", (int)(2 * level), "", word_of(outcome));
    explain_node(e, node);
    buf_append_char(e->out, '\n');
    explain_children(e, node, outcome, level + 1, trail);
    if (node->op == POLICY_OP_RULE && node->rule != NULL)
        explain_rule(e, node->rule, level + 1, trail);
}

void policy_explain(struct buf *out, const struct policy_entry *entry,
                    const struct policy_input *input)
{
    struct explanation explanation = {out, input, out->len, false};
    explain_rule(&explanation, entry, 1, NULL);
}
