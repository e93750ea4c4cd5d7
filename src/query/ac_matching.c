/* Matchings for the contests in one tree: whether all levels can have a provider at all.
 *
 * A member takes the first of its options that has room; if none has, others move, along the
 * shortest augmenting path. Members of one kind have the same options, so a search for a place
 * examines each kind and each provider once: its cost is at most the number of kinds times the
 * number of words of the tree. What the walk has chosen stays; a choice changes the matching only
 * where members must move. Each examination is charged. Any thread. */
#include "query/ac_contests.h"

static void make_room(struct ac_query *query)
{
    struct ac_contests *contests = query->contests;
    uint32_t words = query->tree.words;
    if (words <= contests->words)
        return;
    contests->words = query->tree.capacity;
    uint32_t bits = contests->words * 64;
    contests->seen = arena_array(query->arena, contests->words, sizeof(uint64_t));
    contests->from = arena_array(query->arena, bits, sizeof(uint32_t));
    for (uint32_t c = 0; c < contests->count; c++) {
        struct ac_contest *contest = &contests->contest[c];
        contest->first = arena_array(query->arena, bits, sizeof(uint32_t));
        contest->count = arena_array(query->arena, bits, sizeof(uint32_t));
        contest->room = arena_array(query->arena, bits, sizeof(uint32_t));
        contest->full = arena_array(query->arena, contests->words, sizeof(uint64_t));
    }
}

static void clear(struct ac_query *query, struct ac_contest *contest)
{
    size_t bits = (size_t)query->tree.words * 64;
    memset(contest->first, 0xff, bits * sizeof(*contest->first));
    memset(contest->count, 0, bits * sizeof(*contest->count));
    memset(contest->room, 0xff, bits * sizeof(*contest->room));
    memset(contest->full, 0, query->tree.words * sizeof(*contest->full));
    memset(contest->held, 0xff, contest->member_count * sizeof(*contest->held));
    ac_charge(query, (int64_t)query->tree.words * 8 + contest->member_count / 16);
}

/* The number of members that a provider can serve. */
static uint32_t headroom_at(const struct ac_query *query, struct ac_contest *contest, uint32_t bit)
{
    if (contest->room[bit] != NUMBER_NONE)
        return contest->room[bit];
    struct slot_no slot = {ac_option_slot(query, bit)};
    int64_t room = contest->of_count == 0 ? 1 : contest->member_count;
    for (uint32_t i = 0; i < contest->of_count; i++) {
        int64_t so_many = fit_demand_headroom(&contest->of[i], slot) / contest->of[i].amount;
        room = so_many < room ? so_many : room;
    }
    contest->room[bit] = room < 0 ? 0 : (uint32_t)room;
    return contest->room[bit];
}

static void ac_matching_take(const struct ac_query *query, struct ac_contest *contest,
                             uint32_t member, uint32_t bit)
{
    uint32_t next = contest->first[bit];
    contest->held[member] = bit;
    contest->next[member] = next;
    contest->last[member] = NUMBER_NONE;
    if (next != NUMBER_NONE)
        contest->last[next] = member;
    contest->first[bit] = member;
    if (++contest->count[bit] >= headroom_at(query, contest, bit))
        contest->full[bit / 64] |= (uint64_t)1 << (bit % 64);
}

static void leave(struct ac_contest *contest, uint32_t member)
{
    uint32_t bit = contest->held[member];
    uint32_t next = contest->next[member];
    uint32_t last = contest->last[member];
    if (next != NUMBER_NONE)
        contest->last[next] = last;
    if (last != NUMBER_NONE)
        contest->next[last] = next;
    else
        contest->first[bit] = next;
    contest->count[bit]--;
    contest->full[bit / 64] &= ~((uint64_t)1 << (bit % 64));
    contest->held[member] = NUMBER_NONE;
}

/* The state of a search for a place: which members would move, and from where each kind and bit was
 * reached. */
struct move {
    struct ac_query *query;
    struct ac_contest *contest;
    uint32_t fixed; /* members of levels below this do not move */
    uint32_t queued;
};

static void queue_member(struct move *move, uint32_t member)
{
    struct ac_contests *contests = move->query->contests;
    uint32_t kind =
        (uint32_t)(move->query->levels[move->contest->levels[member]].kind - move->query->kinds);
    if (contests->queued[kind] == contests->round)
        return;
    contests->queued[kind] = contests->round;
    contests->mover[kind] = member;
    contests->queue[move->queued++] = kind;
}

/* Queues the members that could leave the bit. */
static void queue_those_at(struct move *move, uint32_t bit)
{
    const struct ac_contest *contest = move->contest;
    for (uint32_t m = contest->first[bit]; m != NUMBER_NONE; m = contest->next[m]) {
        ac_charge(move->query, 1);
        if (contest->levels[m] >= move->fixed)
            queue_member(move, m);
    }
}

/* Moves every member on the path that ends at a bit with room; the path begins with the member that
 * has no place, or with one that leaves `left`. */
static void shift(const struct move *move, uint32_t bit, uint32_t left)
{
    const struct ac_contests *contests = move->query->contests;
    for (;;) {
        uint32_t member = contests->mover[contests->from[bit]];
        uint32_t before = move->contest->held[member];
        if (before != NUMBER_NONE)
            leave(move->contest, member);
        ac_matching_take(move->query, move->contest, member, bit);
        if (before == NUMBER_NONE || before == left)
            return;
        bit = before;
    }
}

/* Finds a place for a member that has none; if it is NUMBER_NONE, makes room at the bit `left`. */
static bool find_place(struct ac_query *query, struct ac_contest *contest, uint32_t member,
                       uint32_t left, uint32_t fixed)
{
    struct ac_contests *contests = query->contests;
    struct move move = {query, contest, fixed, 0};
    uint32_t words = query->tree.words;
    contests->round++;
    memset(contests->seen, 0, words * sizeof(*contests->seen));
    if (member != NUMBER_NONE) {
        queue_member(&move, member);
    } else {
        contests->seen[left / 64] |= (uint64_t)1 << (left % 64);
        queue_those_at(&move, left);
    }
    for (uint32_t q = 0; q < move.queued && budget_take(query->budget, 1 + words / 2); q++) {
        uint32_t kind = contests->queue[q];
        for (uint32_t w = 0; w < words; w++) {
            uint64_t reached = query->kinds[kind].options[w] & ~contests->seen[w];
            contests->seen[w] |= reached;
            for (; reached != 0; reached &= reached - 1) {
                uint32_t bit = w * 64 + (uint32_t)__builtin_ctzll(reached);
                contests->from[bit] = kind;
                if (contest->count[bit] < headroom_at(query, contest, bit)) {
                    shift(&move, bit, left);
                    return true;
                }
                queue_those_at(&move, bit);
                ac_charge(query, 2);
            }
        }
    }
    return false;
}

/* Whether the providers together have as much as is requested of them together. */
static bool sum_fits(struct ac_query *query, const struct ac_contest *contest)
{
    uint64_t *all = query->contests->seen;
    int64_t sum = 0;
    memset(all, 0, query->tree.words * sizeof(*all));
    for (uint32_t m = 0; m < contest->member_count; m++) {
        const uint64_t *options = query->levels[contest->levels[m]].kind->options;
        for (uint32_t w = 0; w < query->tree.words; w++)
            all[w] |= options[w];
    }
    ac_charge(query, (int64_t)contest->member_count * (1 + query->tree.words / 4));
    for (uint32_t bit = ac_next_option(&query->tree, all, NULL, 0);
         bit != NUMBER_NONE && sum < contest->sum;
         bit = ac_next_option(&query->tree, all, NULL, bit + 1)) {
        sum += fit_demand_headroom(&contest->of[0], (struct slot_no){ac_option_slot(query, bit)});
        ac_charge(query, 2);
    }
    return sum >= contest->sum;
}

static bool match(struct ac_query *query, struct ac_contest *contest, const struct ac_walk *walk,
                  uint32_t depth)
{
    bool is_mixed =
        contest->of_count == 1 && contest->sum > contest->of[0].amount * contest->member_count;
    if (depth == 0 && is_mixed && !sum_fits(query, contest))
        return false;
    clear(query, contest);
    uint32_t m = 0;
    for (; m < contest->member_count && contest->levels[m] < depth; m++)
        ac_matching_take(query, contest, m, walk->at[contest->levels[m]]);
    for (; m < contest->member_count; m++) {
        const uint64_t *options = query->levels[contest->levels[m]].kind->options;
        uint32_t bit = ac_next_option(&query->tree, options, contest->full, 0);
        if (!budget_take(query->budget, 1 + query->tree.words / 8))
            return false;
        if (bit != NUMBER_NONE && headroom_at(query, contest, bit) > 0)
            ac_matching_take(query, contest, m, bit);
        else if (!find_place(query, contest, m, NUMBER_NONE, depth))
            return false;
    }
    return true;
}

static bool lose(struct ac_query *query, const struct ac_contest *contest)
{
    if (query->none < contest->none)
        query->none = contest->none;
    return false;
}

bool ac_contests_match(struct ac_query *query, const struct ac_walk *walk, uint32_t depth)
{
    make_room(query);
    for (uint32_t c = 0; c < query->contests->count; c++)
        if (!match(query, &query->contests->contest[c], walk, depth))
            return lose(query, &query->contests->contest[c]);
    return true;
}

static bool choose(struct ac_query *query, struct ac_contest *contest, uint32_t level, uint32_t bit)
{
    uint32_t member = contest->member_of[level];
    if (member == NUMBER_NONE || contest->held[member] == bit)
        return true;
    uint32_t before = contest->held[member];
    leave(contest, member);
    if (contest->count[bit] < headroom_at(query, contest, bit) ||
        find_place(query, contest, NUMBER_NONE, bit, level + 1)) {
        ac_matching_take(query, contest, member, bit);
        return true;
    }
    ac_matching_take(query, contest, member, before);
    return false;
}

bool ac_contests_choose(struct ac_query *query, uint32_t level, uint32_t bit)
{
    for (uint32_t c = 0; c < query->contests->count; c++)
        if (!choose(query, &query->contests->contest[c], level, bit))
            return lose(query, &query->contests->contest[c]);
    return true;
}
