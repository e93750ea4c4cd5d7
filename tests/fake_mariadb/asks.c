/* The rows by which instances ask for their turn (store/server/asks.h). One thread. */
#include <stdio.h>

#include "maria.h"

/* The statement's only literal. */
static struct slice name_in(const struct call *call)
{
    struct slice at = slice_of(call->sql);
    (void)maria_cut(&at, "'");
    struct slice name = maria_cut(&at, "'");
    if (name.data == NULL)
        maria_give_up(call);
    return name;
}

enum outcome maria_insert_ask(struct call *call)
{
    struct slice name = name_in(call);
    if (maria.ask_count < MARIA_ASKS_MOST)
        snprintf(maria.asks[maria.ask_count++], MARIA_ASK_BYTES, "%.*s", SLICE_ARG(name));
    return maria_affected(call, 1);
}

enum outcome maria_delete_ask(struct call *call)
{
    struct slice name = name_in(call);
    size_t left = 0;
    for (size_t i = 0; i < maria.ask_count; i++)
        if (!slice_equal(slice_of(maria.asks[i]), name))
            memmove(maria.asks[left++], maria.asks[i], MARIA_ASK_BYTES);
    size_t deleted = maria.ask_count - left;
    maria.ask_count = left;
    return maria_affected(call, deleted);
}

/* In the order in which they were written: names are not drawn from the seed. */
enum outcome maria_select_asks(struct call *call)
{
    maria_columns(call, "t");
    for (size_t i = 0; i < maria.ask_count; i++)
        maria_add_text(call, slice_of(maria.asks[i]));
    return OUTCOME_DONE;
}
