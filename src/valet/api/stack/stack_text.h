/* A stack as the text of a plan's row, for planning it anew. The form is berth's own and has a
 * number; group uuids are not in it, since a group is meant by its name. Pure; any thread. */
#ifndef BERTH_VALET_API_STACK_STACK_TEXT_H
#define BERTH_VALET_API_STACK_STACK_TEXT_H

#include "base/arena.h"
#include "base/buf.h"
#include "model/stack.h"

/* Appends it. */
void stack_text_write(const struct stack *stack, struct buf *out);

/* Reads it; texts and arrays are the arena's. What is no such text, or says what no plan can say,
 * is a stack of no servers and no groups, and false is returned. */
bool stack_text_read(struct slice text, struct arena *arena, struct stack *stack);

#endif
