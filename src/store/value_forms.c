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

int64_t value_forms_time(const struct value_forms *forms, int64_t us)
{
    return forms->has_whole_seconds ? whole_seconds(us) : us;
}

double value_forms_ratio(const struct value_forms *forms, double ratio)
{
    return forms->has_single_ratios ? single_ratio(ratio) : ratio;
}

void value_forms_apply(const struct value_forms *forms, struct change *change)
{
    if (change->kind < CHANGE_NODE_PUT) {
        change->created_at_us = value_forms_time(forms, change->created_at_us);
        change->updated_at_us = value_forms_time(forms, change->updated_at_us);
    }
    if (change->kind == CHANGE_INVENTORY_INSERT || change->kind == CHANGE_INVENTORY_UPDATE)
        change->inventory.allocation_ratio =
            value_forms_ratio(forms, change->inventory.allocation_ratio);
}
