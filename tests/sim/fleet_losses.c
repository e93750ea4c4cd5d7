/* After the database went back: whatever an instance had, and has not any more, is named by it
 * before anybody can see that it is gone. One thread. */
#include <stdlib.h>

#include "fleet.h"
#include "sim.h"

struct named_loss {
    struct named_loss *next;
    enum entity entity;
    uint32_t allocations;
    char uuid[UUID_TEXT_MAX];
    uint8_t len;
};

void losses_note(void *cls, const struct loss *loss)
{
    struct instance *instance = cls;
    const struct loss_side *had = &loss->had;
    struct slice uuid = {0};
    if (had->provider != NULL)
        uuid = provider_uuid(had->provider);
    else if (had->consumer != NULL)
        uuid = consumer_uuid(had->consumer);
    fleet.tally.named_losses++;
    if (uuid.data == NULL)
        return;
    struct named_loss *named = calloc(1, sizeof(*named));
    check(named != NULL);
    *named = (struct named_loss){.next = instance->losses,
                                 .entity = loss->entity,
                                 .allocations = loss->allocations,
                                 .len = (uint8_t)uuid.len};
    memcpy(named->uuid, uuid.data, uuid.len);
    instance->losses = named;
}

void losses_forget(struct instance *instance)
{
    while (instance->losses != NULL) {
        struct named_loss *gone = instance->losses;
        instance->losses = gone->next;
        free(gone);
    }
}

static bool is_named(const struct instance *instance, enum entity entity, struct slice uuid)
{
    for (const struct named_loss *at = instance->losses; at != NULL; at = at->next)
        if (at->entity == entity && slice_equal((struct slice){at->uuid, at->len}, uuid))
            return true;
    return false;
}

/* A row with that uuid and at least that generation. Uuids of one database are kept once. */
static bool has_provider(const struct tables *tables, const struct change_provider *wanted)
{
    const struct rows *rows = &tables->rows[TABLE_PROVIDERS];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_provider *row = &rows->row[i].image.provider;
        if (row->uuid.data == wanted->uuid.data)
            return row->generation >= wanted->generation;
    }
    return false;
}

static bool has_consumer(const struct tables *tables, const struct change_consumer *wanted)
{
    const struct rows *rows = &tables->rows[TABLE_CONSUMERS];
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct change_consumer *row = &rows->row[i].image.consumer;
        if (row->uuid.data == wanted->uuid.data)
            return row->generation >= wanted->generation;
    }
    return false;
}

static void check_named(const struct instance *instance, enum entity entity, struct slice uuid)
{
    if (!is_named(instance, entity, uuid))
        sim_fail("the database went back, and instance %d does not name %.*s, which is gone",
                 instance->process.number, SLICE_ARG(uuid));
}

static void check_all(const struct instance *instance, const struct tables *had,
                      const struct tables *has)
{
    const struct rows *providers = &had->rows[TABLE_PROVIDERS];
    const struct rows *consumers = &had->rows[TABLE_CONSUMERS];
    for (uint32_t i = 0; i < providers->count; i++)
        if (!has_provider(has, &providers->row[i].image.provider))
            check_named(instance, ENTITY_PROVIDER, providers->row[i].image.provider.uuid);
    for (uint32_t i = 0; i < consumers->count; i++)
        if (!has_consumer(has, &consumers->row[i].image.consumer))
            check_named(instance, ENTITY_CONSUMER, consumers->row[i].image.consumer.uuid);
}

/* Whether the newest batch of a state is not in the history of another one. A row that was lost may
 * have been written again: the empty one that takes a number, if its COMMIT was not answered. */
static bool is_gone(const struct state *had, const struct state *has)
{
    const struct log_line *head = state_head(had);
    if (head == NULL || has->log_count == 0 || head->number < has->log[0]->number)
        return false; /* it may have been pruned */
    const struct log_line *line = state_line(has, head->number);
    return line == NULL || !slice_equal(line->mark, head->mark) ||
           !slice_equal(line->digest, head->digest);
}

void losses_check(struct instance *instance, const struct state *has)
{
    const struct state *had = states_at(&server.states, instance->seen_at);
    if (instance->seen_at != 0 && had != NULL && is_gone(had, has)) {
        const struct log_line *head = state_head(had);
        fleet.tally.gone_backs++;
        epochs_note_loss(instance, head->number, head->mark);
        check_all(instance, &had->tables, &has->tables);
    }
    losses_forget(instance);
    instance->seen_at = has->at;
}
