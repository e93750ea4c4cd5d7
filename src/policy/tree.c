/* Printing of trees. Pure. */
#include "policy/tree.h"

static void print_joined(struct buf *out, const struct policy_node *node, const char *between)
{
    buf_append_char(out, '(');
    for (unsigned i = 0; i < node->count; i++) {
        if (i > 0)
            buf_append(out, between, strlen(between));
        policy_node_print(out, node->children[i]);
    }
    buf_append_char(out, ')');
}

void policy_node_print(struct buf *out, const struct policy_node *node)
{
    switch (node->op) {
    case POLICY_OP_FALSE:
        buf_append_char(out, '!');
        return;
    case POLICY_OP_TRUE:
        buf_append_char(out, '@');
        return;
    case POLICY_OP_NOT:
        buf_append_lit(out, "not ");
        policy_node_print(out, node->children[0]);
        return;
    case POLICY_OP_AND:
        print_joined(out, node, " and ");
        return;
    case POLICY_OP_OR:
        print_joined(out, node, " or ");
        return;
    case POLICY_OP_RULE:
        buf_append_lit(out, "rule:");
        buf_append_slice(out, node->text);
        return;
    case POLICY_OP_ROLE:
    case POLICY_OP_GENERIC:
    case POLICY_OP_FAULT:
        buf_append_slice(out, node->text);
        return;
    }
}
