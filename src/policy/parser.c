/* Creates nodes. One thread per parser. */
#include "policy/parser.h"

struct policy_node *policy_node_new(struct policy_parser *parser, enum policy_op op,
                                    struct slice text)
{
    struct policy_node *node = arena_zalloc(parser->arena, sizeof(*node));
    node->op = op;
    node->text = text;
    return node;
}
