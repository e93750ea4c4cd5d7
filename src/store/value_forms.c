/* See value_forms.h. Pure; any thread. */
#include "store/value_forms.h"

#include <stdio.h>
#include <stdlib.h>

enum { SECOND_US = 1000000, DIGITS = 6, RATIO_BYTES = 32 };

static int64_t whole_seconds(int64_t us)
{
    int64_t rest = us % SECOND_US;
    return us - (rest < 0 ? rest + SECOND_US : rest);
}

static double single_ratio(double ratio)
{
    char text[RATIO_BYTES];
    snprintf(text, sizeof(text), "%.*g", DIGITS, (double)(float)ratio);
    return strtod(text, NULL);
}

void value_forms_apply(const struct value_forms *forms, struct change *change)
{
    bool is_upstream = change->kind < CHANGE_NODE_PUT;
    if (forms->has_whole_seconds && is_upstream) {
        change->created_at_us = whole_seconds(change->created_at_us);
        change->updated_at_us = whole_seconds(change->updated_at_us);
    }
    if (forms->has_single_ratios &&
        (change->kind == CHANGE_INVENTORY_INSERT || change->kind == CHANGE_INVENTORY_UPDATE))
        change->inventory.allocation_ratio = single_ratio(change->inventory.allocation_ratio);
}
