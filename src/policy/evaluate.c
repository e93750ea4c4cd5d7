/* Evaluates a tree from left to right, no further than needed.
 *
 * A rule that is reached while it is being evaluated would be evaluated for ever: nothing that it
 * depends on can have changed. So the depth alone detects cycles, and only those that are reached.
 * Any thread. */
#include "policy/evaluate.h"

#include "policy/set.h"

struct walk {
    const struct policy_input *input;
    unsigned steps;
    unsigned depth;
};

static const struct slice NONE = SLICE_LIT("None");

/* The text of an id, as Python's str() returns it. */
static struct slice or_none(struct slice id)
{
    return id.data == NULL ? NONE : id;
}

struct slice policy_target_value(const struct policy_target *target, struct slice key)
{
    for (unsigned i = 0; i < target->count; i++)
        if (slice_equal(target->attributes[i].key, key))
            return or_none(target->attributes[i].value);
    return (struct slice){0};
}

static bool has_all_keys(const struct policy_match *match, const struct policy_target *target)
{
    for (unsigned i = 0; i < match->count; i++)
        if (match->pieces[i].is_key &&
            policy_target_value(target, match->pieces[i].text).data == NULL)
            return false;
    return true;
}

/* Whether the pieces, with keys replaced, are equal to the text; a missing key is a mismatch. */
static bool matches(const struct policy_match *match, const struct policy_target *target,
                    struct slice text, bool any_case)
{
    for (unsigned i = 0; i < match->count; i++) {
        struct slice piece = match->pieces[i].text;
        if (match->pieces[i].is_key)
            piece = policy_target_value(target, piece);
        if (piece.data == NULL || piece.len > text.len)
            return false;
        struct slice head = {text.data, piece.len};
        if (!(any_case ? slice_equal_nocase(head, piece) : slice_equal(head, piece)))
            return false;
        text = slice_skip(text, piece.len);
    }
    return text.len == 0;
}

static bool any_matches(const struct policy_match *match, const struct policy_target *target,
                        const struct identity_roles *roles, bool any_case)
{
    for (unsigned i = 0; i < roles->count; i++)
        if (matches(match, target, roles->names[i], any_case))
            return true;
    return false;
}

static enum policy_outcome role(const struct policy_node *node, const struct policy_input *input)
{
    const struct policy_match *match = &node->match;
    const struct identity *identity = input->identity;
    if (match->broken)
        return has_all_keys(match, input->target) ? POLICY_FAULT : POLICY_FALSE;
    bool has = match->count == 1 && !match->pieces[0].is_key
                   ? identity_has_role(identity, match->pieces[0].text)
                   : any_matches(match, input->target, &identity->roles, true);
    return has ? POLICY_TRUE : POLICY_FALSE;
}

const struct identity_roles *policy_subject_list(const struct identity *identity,
                                                 enum policy_subject subject)
{
    if (subject == POLICY_SUBJECT_ROLES)
        return &identity->roles;
    return subject == POLICY_SUBJECT_SERVICE_ROLES ? &identity->service.roles : NULL;
}

struct slice policy_subject_text(const struct identity *identity, enum policy_subject subject)
{
    switch (subject) {
    case POLICY_SUBJECT_USER_ID:
        return or_none(identity->user_id);
    case POLICY_SUBJECT_USER_DOMAIN_ID:
        return or_none(identity->user_domain_id);
    case POLICY_SUBJECT_PROJECT_ID:
        return or_none(identity->project_id);
    case POLICY_SUBJECT_PROJECT_DOMAIN_ID:
        return or_none(identity->project_domain_id);
    case POLICY_SUBJECT_DOMAIN_ID:
        return or_none(identity->domain_id);
    case POLICY_SUBJECT_SYSTEM_SCOPE:
    case POLICY_SUBJECT_SYSTEM:
        return or_none(identity->system_scope);
    case POLICY_SUBJECT_IS_ADMIN_PROJECT:
        return identity->outside_admin_project ? SLICE_LIT("False") : SLICE_LIT("True");
    case POLICY_SUBJECT_SERVICE_USER_ID:
        return or_none(identity->service.user_id);
    case POLICY_SUBJECT_SERVICE_USER_DOMAIN_ID:
        return or_none(identity->service.user_domain_id);
    case POLICY_SUBJECT_SERVICE_PROJECT_ID:
        return or_none(identity->service.project_id);
    case POLICY_SUBJECT_SERVICE_PROJECT_DOMAIN_ID:
        return or_none(identity->service.project_domain_id);
    case POLICY_SUBJECT_PROJECT_NAME:
        return or_none(identity->names.project);
    case POLICY_SUBJECT_IS_PUBLIC_API:
        return SLICE_LIT("False");
    case POLICY_SUBJECT_LITERAL:
    case POLICY_SUBJECT_UNKNOWN:
    case POLICY_SUBJECT_FAULT:
    case POLICY_SUBJECT_ROLES:
    case POLICY_SUBJECT_SERVICE_ROLES:
        break;
    }
    return (struct slice){0};
}

static bool is_missing(const struct identity *identity, enum policy_subject subject)
{
    return subject == POLICY_SUBJECT_UNKNOWN ||
           (subject == POLICY_SUBJECT_SYSTEM && identity->system_scope.len == 0);
}

static enum policy_outcome generic(const struct policy_node *node, const struct policy_input *input)
{
    const struct identity *identity = input->identity;
    const struct policy_match *match = &node->match;
    const struct identity_roles *list = policy_subject_list(identity, node->subject);
    /* oslo.policy finds errors in this order. */
    if (match->broken || node->subject == POLICY_SUBJECT_FAULT || node->below) {
        if (!has_all_keys(match, input->target))
            return POLICY_FALSE;
        if (match->broken || node->subject == POLICY_SUBJECT_FAULT)
            return POLICY_FAULT;
        bool empty = is_missing(identity, node->subject) || (list != NULL && list->count == 0);
        return empty ? POLICY_FALSE : POLICY_FAULT;
    }
    if (is_missing(identity, node->subject))
        return POLICY_FALSE;
    if (list != NULL)
        return any_matches(match, input->target, list, false) ? POLICY_TRUE : POLICY_FALSE;
    struct slice text = node->subject == POLICY_SUBJECT_LITERAL
                            ? node->literal
                            : policy_subject_text(identity, node->subject);
    return matches(match, input->target, text, false) ? POLICY_TRUE : POLICY_FALSE;
}

static enum policy_outcome evaluate(const struct policy_node *node, struct walk *walk);

/* Evaluates operands until one gives `ends`, or all have been evaluated. */
static enum policy_outcome evaluate_all(const struct policy_node *node, struct walk *walk,
                                        enum policy_outcome ends)
{
    for (unsigned i = 0; i < node->count; i++) {
        enum policy_outcome outcome = evaluate(node->children[i], walk);
        if (outcome == ends || outcome == POLICY_FAULT)
            return outcome;
    }
    return ends == POLICY_TRUE ? POLICY_FALSE : POLICY_TRUE;
}

static enum policy_outcome evaluate_node(const struct policy_node *node, struct walk *walk)
{
    enum policy_outcome outcome;
    switch (node->op) {
    case POLICY_OP_FALSE:
        return POLICY_FALSE;
    case POLICY_OP_TRUE:
        return POLICY_TRUE;
    case POLICY_OP_NOT:
        outcome = evaluate(node->children[0], walk);
        if (outcome == POLICY_FAULT)
            return outcome;
        return outcome == POLICY_TRUE ? POLICY_FALSE : POLICY_TRUE;
    case POLICY_OP_AND:
        return evaluate_all(node, walk, POLICY_FALSE);
    case POLICY_OP_OR:
        return evaluate_all(node, walk, POLICY_TRUE);
    case POLICY_OP_RULE:
        return node->rule == NULL ? POLICY_FALSE : evaluate(node->rule->root, walk);
    case POLICY_OP_ROLE:
        return role(node, walk->input);
    case POLICY_OP_GENERIC:
        return generic(node, walk->input);
    case POLICY_OP_FAULT:
        break;
    }
    return POLICY_FAULT;
}

static enum policy_outcome evaluate(const struct policy_node *node, struct walk *walk)
{
    if (walk->depth == POLICY_DEPTH_MAX || walk->steps == POLICY_STEPS_MAX)
        return POLICY_FAULT;
    walk->steps++;
    walk->depth++;
    enum policy_outcome outcome = evaluate_node(node, walk);
    walk->depth--;
    return outcome;
}

enum policy_outcome policy_evaluate(const struct policy_node *node,
                                    const struct policy_input *input)
{
    struct walk walk = {.input = input};
    return evaluate(node, &walk);
}
