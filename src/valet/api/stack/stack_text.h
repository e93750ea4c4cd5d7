/* A stack as the text in a plan's row, from which it can be planned again. The format is berth's
 * own and has a version number; it omits group uuids, since a group is identified by its name.
 * Pure; any thread. */
#ifndef BERTH_VALET_API_STACK_STACK_TEXT_H
#define BERTH_VALET_API_STACK_STACK_TEXT_H

#include "base/arena.h"
#include "base/buf.h"
#include "model/stack.h"

/* Appends the text. */
void stack_text_write(const struct stack *stack, struct buf *out);

/* Reads the text; texts and arrays are in the arena. Returns false, with a stack without servers
 * and groups, if the text is malformed or contains what no plan can contain. */
bool stack_text_read(struct slice text, struct arena *arena, struct stack *stack);

#endif
