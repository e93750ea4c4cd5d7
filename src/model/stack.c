/* Compares what servers of a plan of stacks require. Pure; any thread. */
#include "model/stack.h"

bool stack_names_equal(const struct stack_names *a, const struct stack_names *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count && a->names != b->names; i++)
        if (!slice_equal(a->names[i], b->names[i]))
            return false;
    return true;
}

bool stack_names_has(const struct stack_names *names, struct slice name)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (slice_equal(names->names[i], name))
            return true;
    return false;
}

bool stack_server_requests_same(const struct stack_server *a, const struct stack_server *b)
{
    if (a->amount_count != b->amount_count)
        return false;
    for (uint32_t i = 0; i < a->amount_count && a->amounts != b->amounts; i++)
        if (a->amounts[i].amount != b->amounts[i].amount ||
            !slice_equal(a->amounts[i].class_name, b->amounts[i].class_name))
            return false;
    return stack_names_equal(&a->required, &b->required) &&
           stack_names_equal(&a->forbidden, &b->forbidden);
}
