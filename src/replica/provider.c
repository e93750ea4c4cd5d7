/* The text of an inventory's summary. The writer writes it once for each change, because answers
 * with a thousand providers repeat it far more often than it changes. */
#include "replica/provider.h"

void provider_inventory_write_summary(struct buf *out, const struct provider_inventory *inventory)
{
    if (inventory->summary_len > 0) {
        memcpy(buf_reserve(out, SUMMARY_TEXT_MAX), inventory->summary, SUMMARY_TEXT_MAX);
        out->len += inventory->summary_len;
        return;
    }
    buf_append_lit(out, "{\"capacity\": ");
    buf_append_int(out, capacity_of(&inventory->figures));
    buf_append_lit(out, ", \"used\": ");
    buf_append_int(out, inventory->used);
    buf_append_char(out, '}');
}

void provider_inventory_summarise(struct provider_inventory *inventory)
{
    static const char BEFORE[] = "{\"capacity\": ";
    static const char BETWEEN[] = ", \"used\": ";
    char capacity[DECIMAL_MAX];
    char used[DECIMAL_MAX];
    size_t capacity_len = decimal_write(capacity, capacity_of(&inventory->figures));
    size_t used_len = decimal_write(used, inventory->used);
    size_t len = sizeof(BEFORE) - 1 + capacity_len + sizeof(BETWEEN) - 1 + used_len + 1;
    inventory->summary_len = 0;
    if (len > SUMMARY_TEXT_MAX)
        return;
    char *at = mempcpy(inventory->summary, BEFORE, sizeof(BEFORE) - 1);
    at = mempcpy(at, capacity, capacity_len);
    at = mempcpy(at, BETWEEN, sizeof(BETWEEN) - 1);
    at = mempcpy(at, used, used_len);
    *at = '}';
    inventory->summary_len = (uint32_t)len;
}
