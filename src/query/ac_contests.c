/* Finds a query's contests. Most queries have none: no two groups request the same class, and none
 * must be isolated.
 *
 * An amount that all of a set of levels request at least limits how many of them one provider can
 * serve. These amounts make contests: for each class the smallest amount requested, a contest of
 * all levels that request the class; then the amounts that single kinds request, of all their
 * classes together and of each class alone, because only amounts that are the same in every class
 * give an exact limit. There are at most CONTESTS_MAX contests, and only a few kinds are examined,
 * so that the work is linear in the number of levels. Any thread. */
#include "query/ac_contests.h"

enum {
    KINDS_LOOKED_AT = 16,
    WIDE = 4, /* that many levels are likely to be tried in vain in a tree */
};

static int64_t asks_of(const struct ac_level *level, struct class_no class_no)
{
    for (uint32_t i = 0; i < level->demand_count; i++)
        if (level->demands[i].class_no.v == class_no.v)
            return level->demands[i].amount;
    return 0;
}

static bool asks_at_least(const struct ac_level *level, const struct fit_demand *of, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (asks_of(level, of[i].class_no) < of[i].amount)
            return false;
    return true;
}

static bool has_part(const struct ac_query *query, uint32_t level, const struct fit_demand *of,
                     uint32_t of_count)
{
    return of_count == 0 ? query->groups[query->levels[level].group].is_granular
                         : asks_at_least(&query->levels[level], of, of_count);
}

/* Isolated levels are already in a contest that is stricter than any other. */
static bool is_needed(const struct ac_query *query, const struct ac_contest *contest)
{
    bool all_granular = true;
    for (uint32_t m = 0; m < contest->member_count; m++)
        all_granular =
            all_granular && query->groups[query->levels[contest->levels[m]].group].is_granular;
    if (query->isolate && all_granular && contest->of_count > 0)
        return false;
    for (uint32_t c = 0; c < query->contests->count; c++) {
        const struct ac_contest *other = &query->contests->contest[c];
        if (other->member_count == contest->member_count && contest->of_count == 1 &&
            other->of_count > 1 && other->levels[0] == contest->levels[0] &&
            memcmp(other->levels, contest->levels,
                   contest->member_count * sizeof(*contest->levels)) == 0)
            return false; /* the other contest requests this amount and more */
    }
    return contest->member_count > 1;
}

static void count_sum(const struct ac_query *query, struct ac_contest *contest)
{
    for (uint32_t m = 0; contest->of_count == 1 && m < contest->member_count; m++) {
        int64_t amount = asks_of(&query->levels[contest->levels[m]], contest->of[0].class_no);
        contest->sum = amount > INT64_MAX - contest->sum ? INT64_MAX : contest->sum + amount;
    }
}

static void add_contest(struct ac_query *query, const struct fit_demand *of, uint32_t of_count,
                        enum ac_none none)
{
    struct ac_contests *contests = query->contests;
    if (contests->count == CONTESTS_MAX ||
        !budget_take(query->budget, (int64_t)query->level_count * (1 + of_count)))
        return;
    struct ac_contest *contest = &contests->contest[contests->count];
    *contest = (struct ac_contest){.none = none, .of = of, .of_count = of_count};
    contest->levels = arena_array(query->arena, query->level_count, sizeof(uint32_t));
    contest->member_of = arena_array(query->arena, query->level_count, sizeof(uint32_t));
    for (uint32_t l = 0; l < query->level_count; l++) {
        bool has = has_part(query, l, of, of_count);
        contest->member_of[l] = has ? contest->member_count : NUMBER_NONE;
        if (has)
            contest->levels[contest->member_count++] = l;
    }
    if (!is_needed(query, contest))
        return;
    count_sum(query, contest);
    contest->held = arena_array(query->arena, contest->member_count, sizeof(uint32_t));
    contest->next = arena_array(query->arena, contest->member_count, sizeof(uint32_t));
    contest->last = arena_array(query->arena, contest->member_count, sizeof(uint32_t));
    contests->count++;
}

static bool is_there(const struct ac_contests *contests, const struct fit_demand *of)
{
    for (uint32_t c = 0; c < contests->count; c++) {
        const struct ac_contest *contest = &contests->contest[c];
        if (contest->of_count == 1 && contest->of[0].class_no.v == of->class_no.v &&
            contest->of[0].amount == of->amount)
            return true;
    }
    return false;
}

static void add_single(struct ac_query *query, const struct fit_demand *of)
{
    if (!is_there(query->contests, of))
        add_contest(query, of, 1, AC_NONE_SUMS);
}

/* The smallest amount of the demand's class that any level requests. */
static const struct fit_demand *least_of(struct ac_query *query, const struct fit_demand *demand)
{
    for (uint32_t k = 0; k < query->kind_count; k++)
        for (uint32_t i = 0; i < query->kinds[k].demand_count; i++) {
            const struct fit_demand *other = &query->kinds[k].demands[i];
            if (other->class_no.v == demand->class_no.v && other->amount < demand->amount)
                demand = other;
        }
    ac_charge(query, query->kind_count);
    return demand;
}

static void add_demands(struct ac_query *query, bool least)
{
    uint32_t kinds = query->kind_count < KINDS_LOOKED_AT ? query->kind_count : KINDS_LOOKED_AT;
    for (uint32_t k = 0; k < kinds; k++)
        for (uint32_t i = 0; i < query->kinds[k].demand_count; i++) {
            if (query->contests->count == CONTESTS_MAX || query->budget->left < 0)
                return;
            const struct fit_demand *of = &query->kinds[k].demands[i];
            add_single(query, least ? least_of(query, of) : of);
        }
}

bool ac_contests_are_likely(struct ac_query *query)
{
    uint32_t granular = 0;
    uint32_t sharing = 0;
    for (uint32_t l = 0; l < query->level_count; l++) {
        granular += query->groups[query->levels[l].group].is_granular;
        sharing += query->levels[l].shares_class;
    }
    query->may_contest = sharing > 0 || (query->isolate && granular > 1);
    return query->may_contest && (sharing >= WIDE || (query->isolate && granular >= WIDE));
}

void ac_contests_find(struct ac_query *query)
{
    bool shares_class = false;
    query->may_contest = false;
    for (uint32_t l = 0; l < query->level_count; l++)
        shares_class = shares_class || query->levels[l].shares_class;
    struct ac_contests *contests = arena_zalloc(query->arena, sizeof(*contests));
    query->contests = contests;
    if (query->isolate)
        add_contest(query, NULL, 0, AC_NONE_GROUP_POLICY);
    for (uint32_t k = 0; k < query->kind_count && k < KINDS_LOOKED_AT && shares_class; k++)
        if (query->kinds[k].demand_count > 1)
            add_contest(query, query->kinds[k].demands, query->kinds[k].demand_count, AC_NONE_SUMS);
    if (shares_class) {
        add_demands(query, true);
        add_demands(query, false);
    }
    if (contests->count == 0) {
        query->contests = NULL;
        return;
    }
    contests->queue = arena_array(query->arena, query->kind_count, sizeof(uint32_t));
    contests->mover = arena_array(query->arena, query->kind_count, sizeof(uint32_t));
    contests->queued = arena_zalloc(query->arena, query->kind_count * sizeof(uint32_t));
}
