/* An array that grows with the longest pipeline and is then used again. One thread at a time. */
#include "store/postgres/session/queue.h"

#include <stdlib.h>

void pg_queue_append(struct pg_queue *queue, struct pg_entry entry)
{
    if (queue->count == queue->capacity) {
        queue->capacity = queue->capacity == 0 ? 64 : 2 * queue->capacity;
        queue->entries = reallocarray(queue->entries, queue->capacity, sizeof(*queue->entries));
        check(queue->entries != NULL);
    }
    queue->entries[queue->count++] = entry;
}

bool pg_queue_prepares(const struct pg_queue *queue, uint64_t hash)
{
    for (size_t i = queue->next; i < queue->count; i++)
        if (queue->entries[i].prepares == hash)
            return true;
    return false;
}
