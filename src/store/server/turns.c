/* See turns.h. Pure; one thread at a time. */
#include "store/server/turns.h"

#include <string.h>

/* How long one is left the next row: it must see the last one, plan, and commit, and then the
 * others must see its own. That is some commits of this instance's, and more if others usually take
 * longer, because their batches are larger; but not much more than they take, or else those that
 * have little to write would be left more and more time. */
enum {
    USUAL_US = 5000, /* until a commit is known */
    LOOK_LEAST_US = 1000,
    LOOK_MOST_US = 50000,
    LOOKS_PER_COMMIT = 2,
    SLOT_COMMITS = 3,
    SLOT_MOST_US = 300000,
    ASKED_US = 200000, /* for one that has asked: its batches may be large, or its node slow */
    WRITES_US = 1000000,
    WEIGHT = 8, /* of the usual time, against one of the last */
};

enum { NODE_AT = LOG_MARK_LEN - sizeof(uint16_t), INSTANCE_LEN = sizeof(uint64_t) };

static const uint16_t ELSEWHERE = UINT16_MAX; /* a node that is not known */

uint16_t turns_node(const char *name)
{
    uint32_t hash = 2166136261U; /* FNV-1a */
    if (name[0] == '\0')
        return 0;
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619U;
    hash ^= hash >> 16;
    return (uint16_t)((hash | 1) & (ELSEWHERE >> 1));
}

void turns_make_mark(uint64_t instance, uint64_t batch, uint16_t node,
                     unsigned char mark[static LOG_MARK_LEN])
{
    memcpy(mark, &instance, INSTANCE_LEN);
    memcpy(mark + INSTANCE_LEN, &batch, LOG_MARK_LEN - INSTANCE_LEN);
    mark[NODE_AT] ^= (unsigned char)node;
    mark[NODE_AT + 1] ^= (unsigned char)(node >> 8);
}

static struct turns_member *turns_find(struct turns *turns, uint64_t instance)
{
    for (unsigned i = 0; i < turns->count; i++)
        if (turns->members[i].instance == instance)
            return &turns->members[i];
    return NULL;
}

/* Those whose turn it was before, and who have not used it. One that has used the last one may only
 * have been too slow, and is left another one. */
static void drop_before(struct turns *turns, int64_t number, uint64_t now_us)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < turns->count; i++) {
        struct turns_member member = turns->members[i];
        bool has_missed = member.number < number && member.until_us <= now_us;
        if (has_missed && !member.is_steady)
            continue;
        member.is_steady &= !has_missed;
        turns->members[kept++] = member;
    }
    turns->count = kept;
}

/* If there is no room, the one that has written longest ago is forgotten. */
static void add(struct turns *turns, const struct turns_member *added)
{
    struct turns_member *at = &turns->members[0];
    for (unsigned i = 1; i < turns->count; i++)
        if (turns->members[i].number < at->number)
            at = &turns->members[i];
    if (turns->count < TURNS_MOST)
        at = &turns->members[turns->count++];
    *at = *added;
}

static void average(uint64_t *usual_us, uint64_t us, unsigned weight)
{
    *usual_us = *usual_us == 0 ? us : (*usual_us * (weight - 1) + us) / weight;
}

void turns_note(struct turns *turns, uint64_t own, int64_t number, const unsigned char *mark,
                uint64_t now_us)
{
    struct turns_member writer = {.number = number};
    memcpy(&writer.instance, mark, INSTANCE_LEN);
    writer.node = (uint16_t)(mark[NODE_AT] | mark[NODE_AT + 1] << 8);
    uint64_t gap_us = now_us - turns->newest_us;
    if (number <= turns->newest) /* the database went back */
        *turns = (struct turns){.commit_us = turns->commit_us};
    bool is_next = number == turns->newest + 1;
    turns->newest = number;
    turns->newest_us = now_us;
    if (writer.instance == own) {
        drop_before(turns, turns->own_number, now_us);
        turns->own_number = number;
        turns->own_us = now_us;
        return;
    }
    if (is_next && gap_us < SLOT_MOST_US)
        average(&turns->others_us, gap_us, gap_us > turns->others_us ? 2 : WEIGHT);
    struct turns_member *member = turns_find(turns, writer.instance);
    if (member == NULL) {
        add(turns, &writer);
        return;
    }
    int64_t before = member->number;
    *member = writer;
    member->is_steady = true;
    drop_before(turns, before, now_us);
}

void turns_note_ask(struct turns *turns, uint64_t instance, uint64_t now_us)
{
    const struct turns_member asks = {
        .instance = instance, .node = ELSEWHERE, .until_us = now_us + ASKED_US};
    struct turns_member *member = turns_find(turns, instance);
    if (member == NULL)
        add(turns, &asks);
    else
        *member = asks;
}

void turns_note_commit(struct turns *turns, uint64_t took_us)
{
    average(&turns->commit_us, took_us, WEIGHT);
}

bool turns_has_written(const struct turns *turns, uint64_t now_us)
{
    return turns->own_number > 0 && now_us - turns->own_us < WRITES_US;
}

/* Whether somebody writes through another node. */
static bool is_shared(const struct turns *turns, uint16_t node)
{
    for (unsigned i = 0; i < turns->count; i++)
        if (turns->members[i].node != node)
            return true;
    return false;
}

static uint64_t between(uint64_t us, uint64_t least_us, uint64_t most_us)
{
    return us < least_us ? least_us : us > most_us ? most_us : us;
}

struct store_turn turns_next(const struct turns *turns, uint16_t node, uint64_t now_us)
{
    uint64_t commit_us = turns->commit_us == 0 ? USUAL_US : turns->commit_us;
    uint64_t look_us = between(commit_us / LOOKS_PER_COMMIT, LOOK_LEAST_US, LOOK_MOST_US);
    uint64_t others_us = turns->others_us + turns->others_us / 4;
    uint64_t slot_us = commit_us * SLOT_COMMITS > others_us ? commit_us * SLOT_COMMITS : others_us;
    slot_us = between(slot_us, 2 * look_us, SLOT_MOST_US);
    uint64_t at_us = turns->newest_us;
    uint64_t asked_us = 0;
    for (unsigned i = 0; i < turns->count; i++) {
        const struct turns_member *member = &turns->members[i];
        if (member->until_us > asked_us)
            asked_us = member->until_us;
        else if (member->until_us == 0 && member->number < turns->own_number)
            at_us += slot_us;
    }
    at_us = at_us > asked_us ? at_us : asked_us;
    bool shared = is_shared(turns, node);
    return (struct store_turn){.is_shared = shared,
                               .wait_us = shared && at_us > now_us ? at_us - now_us : 0,
                               .look_us = look_us};
}
