/* See node_history.h. The oldest node is forgotten if there are too many. Changes are counted by
 * the minute, so that no number of them is too large. No threads of its own. */
#include "store/server/node_history.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MINUTE_US UINT64_C(60000000)
#define HOUR_US   (NODE_HISTORY_MINUTES * MINUTE_US)

static void count_change(struct node_history *history, uint64_t now_us)
{
    uint64_t minute = now_us / MINUTE_US;
    unsigned at = (unsigned)(minute % NODE_HISTORY_MINUTES);
    if (history->minutes[at].minute != minute)
        history->minutes[at].changes = 0;
    history->minutes[at].minute = minute;
    history->minutes[at].changes++;
    history->changes++;
}

/* The first place becomes free, and the node's former one is gone. */
static void free_first_place(struct node_history *history, const char *name)
{
    unsigned i = 0;
    while (i < history->count && strcmp(history->nodes[i].name, name) != 0)
        i++;
    if (i == NODE_HISTORY_MOST)
        i--;
    else if (i == history->count)
        history->count++;
    memmove(&history->nodes[1], &history->nodes[0], i * sizeof(history->nodes[0]));
}

void node_history_note(struct node_history *history, const char *node, uint64_t now_us)
{
    struct node_history_node newest = {.left_us = 0};
    snprintf(newest.name, sizeof(newest.name), "%s", node);
    bool is_first = history->count == 0;
    if (newest.name[0] == '\0' || (!is_first && strcmp(history->nodes[0].name, newest.name) == 0))
        return;
    if (!is_first) {
        history->nodes[0].left_us = now_us;
        count_change(history, now_us);
    }
    free_first_place(history, newest.name);
    history->nodes[0] = newest;
}

unsigned node_history_recent(const struct node_history *history, uint64_t now_us)
{
    unsigned count = history->count > 0;
    while (count > 0 && count < history->count && now_us - history->nodes[count].left_us < HOUR_US)
        count++;
    return count;
}

unsigned node_history_changes(const struct node_history *history, uint64_t now_us)
{
    unsigned changes = 0;
    for (unsigned i = 0; i < NODE_HISTORY_MINUTES; i++)
        if (history->minutes[i].minute + NODE_HISTORY_MINUTES > now_us / MINUTE_US)
            changes += history->minutes[i].changes;
    return changes;
}
