/* See states.h. */
#include "states.h"

#include <stdlib.h>

static struct state *slot(struct states *states, uint64_t at)
{
    return &states->kept[at % STATES_KEPT];
}

void states_begin(struct states *states)
{
    states->newest = 0;
    states->clock = 0;
    states->lines = NULL;
    states->texts = (struct texts){0};
    memset(states->sequences, 0, sizeof(states->sequences));
    struct state *first = slot(states, 0);
    first->at = first->follows = 0;
    first->log_count = 0;
    first->epoch_count = 0;
    first->line = NULL;
    first->written = (struct written){0};
    for (int t = 0; t < TABLE_COUNT; t++)
        first->tables.rows[t].count = 0;
    first->tables.clock = 0;
    first->tables.texts = &states->texts;
    memset(first->sequences, 0, sizeof(first->sequences));
}

void states_end(struct states *states)
{
    for (int i = 0; i < STATES_KEPT; i++) {
        free((void *)states->kept[i].written.keys);
        states->kept[i].written = (struct written){0};
    }
    while (states->lines != NULL) {
        struct log_line *gone = states->lines;
        states->lines = gone->next;
        free(gone);
    }
    texts_free(&states->texts);
}

const struct state *states_newest(const struct states *states)
{
    return &states->kept[states->newest % STATES_KEPT];
}

const struct state *states_at(const struct states *states, uint64_t at)
{
    if (at > states->newest || at + STATES_KEPT <= states->newest)
        return NULL;
    return &states->kept[at % STATES_KEPT];
}

static void copy(struct state *to, const struct state *from)
{
    tables_copy(&to->tables, &from->tables);
    to->log_count = from->log_count;
    memcpy(to->log, from->log, from->log_count * sizeof(from->log[0]));
    to->epoch_count = from->epoch_count;
    memcpy(to->epochs, from->epochs, from->epoch_count * sizeof(from->epochs[0]));
    memcpy(to->sequences, from->sequences, sizeof(to->sequences));
}

struct state *states_draft(struct states *states)
{
    struct state *draft = slot(states, states->newest + 1);
    copy(draft, states_newest(states));
    draft->at = states->newest + 1;
    draft->line = NULL;
    return draft;
}

void states_join(struct tables *tables)
{
    struct rows *allocations = &tables->rows[TABLE_ALLOCATIONS];
    const struct rows *consumers = &tables->rows[TABLE_CONSUMERS];
    for (uint32_t i = 0; i < allocations->count; i++) {
        struct change_allocation *allocation = &allocations->row[i].image.allocation;
        allocation->consumer_id = 0;
        for (uint32_t k = 0; k < consumers->count; k++)
            if (consumers->row[k].image.consumer.uuid.data == allocation->consumer_uuid.data)
                allocation->consumer_id = consumers->row[k].image.consumer.id;
    }
}

void states_append(struct states *states, struct state *draft, struct written written)
{
    check(draft == slot(states, states->newest + 1));
    free((void *)draft->written.keys);
    draft->written = written;
    draft->follows = states->newest;
    draft->tables.clock = states->clock;
    memcpy(draft->sequences, states->sequences, sizeof(draft->sequences));
    states->newest++;
}

bool states_go_back(struct states *states, uint64_t by)
{
    const struct state *then = states_newest(states);
    for (; by > 0 && then != NULL && then->at > 0; by--)
        then = states_at(states, then->follows);
    if (then == NULL || then->at == 0)
        return false;
    struct state *now = slot(states, states->newest + 1);
    if (now == then)
        return false;
    copy(now, then);
    memcpy(states->sequences, then->sequences, sizeof(states->sequences));
    now->at = states->newest + 1;
    now->line = then->line;
    uint64_t follows = then->follows;
    states_append(states, now, (struct written){0});
    now->follows = follows;
    return true;
}

static bool has_ids(enum table table)
{
    return table != TABLE_INVENTORIES && table != TABLE_PROVIDER_TRAITS &&
           table != TABLE_PROVIDER_AGGREGATES;
}

static void insert_row(struct rows *rows, bool in_order, const struct row *row)
{
    check(rows->count < ROWS_MAX);
    uint32_t at = rows->count++;
    for (; in_order && at > 0 && rows->row[at - 1].image.row.id > row->image.row.id; at--)
        rows->row[at] = rows->row[at - 1];
    rows->row[at] = *row;
}

void states_write(struct tables *tables, const struct row_write *write)
{
    struct rows *rows = &tables->rows[write->table];
    uint32_t at = 0;
    while (at < rows->count && rows->row[at].birth != write->row.birth)
        at++;
    if (at == rows->count) {
        if (!write->is_delete)
            insert_row(rows, has_ids(write->table), &write->row);
    } else if (write->is_delete) {
        memmove(&rows->row[at], &rows->row[at + 1], (rows->count - at - 1) * sizeof(rows->row[0]));
        rows->count--;
    } else {
        rows->row[at] = write->row;
    }
}

static struct slice append(char **end, struct slice bytes)
{
    struct slice copied = {*end, bytes.len};
    memcpy(*end, bytes.data, bytes.len);
    *end += bytes.len;
    return copied;
}

struct log_line *states_line(struct states *states, int64_t number, int64_t written_at,
                             struct slice mark, struct slice digest, struct slice entries)
{
    struct log_line *line = malloc(sizeof(*line) + mark.len + digest.len + entries.len + 1);
    check(line != NULL);
    char *end = (char *)(line + 1);
    *line = (struct log_line){.next = states->lines, .number = number, .written_at = written_at};
    line->mark = append(&end, mark);
    line->digest = append(&end, digest);
    line->entries = append(&end, entries);
    return states->lines = line;
}

const struct log_line *state_line(const struct state *state, int64_t number)
{
    for (unsigned i = state->log_count; i > 0; i--)
        if (state->log[i - 1]->number == number)
            return state->log[i - 1];
    return NULL;
}
