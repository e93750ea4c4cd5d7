/* The kernels. A run of 64 slots is not read if its maximum is too small or if none of its bits is
 * left. Any thread, on a pinned version. */
#include "query/fit.h"

#include "base/search.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The bits of those of 64 figures that are at least `amount`, which is above 0. */
static uint64_t at_least(const int32_t figures[CHUNK_RUN], int32_t amount)
{
    uint64_t bits = 0;
#ifdef __SSE2__
    __m128i below = _mm_set1_epi32(amount - 1);
    for (unsigned i = 0; i < CHUNK_RUN; i += 16) {
        __m128i a = _mm_cmpgt_epi32(_mm_loadu_si128((const __m128i *)(figures + i)), below);
        __m128i b = _mm_cmpgt_epi32(_mm_loadu_si128((const __m128i *)(figures + i + 4)), below);
        __m128i c = _mm_cmpgt_epi32(_mm_loadu_si128((const __m128i *)(figures + i + 8)), below);
        __m128i d = _mm_cmpgt_epi32(_mm_loadu_si128((const __m128i *)(figures + i + 12)), below);
        __m128i bytes = _mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d));
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(bytes) << i;
    }
#else
    for (unsigned i = 0; i < CHUNK_RUN; i++)
        bits |= (uint64_t)(figures[i] >= amount) << i;
#endif
    return bits;
}

static bool odd_fits(const struct version *version, const struct fit_demand *demand,
                     struct slot_no slot)
{
    const struct provider_inventory *inventory =
        provider_inventory_of(version_place(version, slot)->provider, demand->class_no);
    return inventory != NULL && capacity_unit_fits(&inventory->figures, demand->amount);
}

/* Clears odd slots whose min_unit or step_size does not allow the amount. */
static uint32_t drop_odd(const struct version *version, const struct fit_demand *demand,
                         uint32_t page, uint64_t words[FIT_WORDS])
{
    uint64_t odd[FIT_WORDS] = {0};
    uint32_t steps = FIT_STEPS_A_SET;
    slotset_page_or(&demand->column->odd, page, odd);
    for (uint32_t i = 0; i < FIT_WORDS; i++) {
        uint64_t left = odd[i] & words[i];
        while (left != 0) {
            uint32_t bit = (uint32_t)__builtin_ctzll(left);
            left &= left - 1;
            steps += 8;
            struct slot_no slot = {page * FIT_PAGE_SLOTS + i * 64 + bit};
            if (!odd_fits(version, demand, slot))
                words[i] &= ~((uint64_t)1 << bit);
        }
    }
    return steps;
}

static uint32_t fit_column_page(const struct version *version, const struct fit_demand *demand,
                                uint32_t page, uint64_t words[FIT_WORDS])
{
    uint32_t runs = 0;
    enum { CHUNKS = FIT_PAGE_SLOTS / CHUNK_SLOTS };
    bool impossible = demand->amount > INT32_MAX;
    for (uint32_t i = 0; i < CHUNKS; i++) {
        uint64_t *four = words + (size_t)i * CHUNK_RUNS;
        const struct column_chunk *chunk =
            impossible ? NULL : column_chunk_at(demand->column, page * CHUNKS + i);
        for (uint32_t run = 0; run < CHUNK_RUNS; run++) {
            if (four[run] == 0)
                continue;
            if (chunk == NULL || chunk->most[run] < demand->amount)
                four[run] = 0;
            else {
                four[run] &=
                    at_least(chunk->headroom + (size_t)run * CHUNK_RUN, (int32_t)demand->amount);
                runs++;
            }
        }
    }
    uint32_t steps = 8 + 2 * runs;
    return demand->column->odd.count == 0 ? steps : steps + drop_odd(version, demand, page, words);
}

/* The first of the demand's headrooms whose slot is not less than `slot`. */
static uint32_t first_headroom(const struct fit_demand *demand, uint32_t slot)
{
    uint32_t at;
    SEARCH_LOWER(at, 0, demand->headroom_count, demand->headrooms[at].slot.v < slot);
    return at;
}

static bool headroom_fits(const struct version *version, const struct fit_demand *demand,
                          const struct fit_headroom *room)
{
    return demand->amount <= room->headroom && (!slotset_has(&demand->column->odd, room->slot) ||
                                                odd_fits(version, demand, room->slot));
}

/* Computes the bits of slots with a different headroom again. */
static uint32_t put_rooms(const struct version *version, const struct fit_demand *demand,
                          uint32_t page, const uint64_t before[FIT_WORDS],
                          uint64_t words[FIT_WORDS])
{
    uint32_t first = page * FIT_PAGE_SLOTS;
    uint32_t begin = first_headroom(demand, first);
    uint32_t i = begin;
    for (; i < demand->headroom_count && demand->headrooms[i].slot.v - first < FIT_PAGE_SLOTS;
         i++) {
        uint32_t at = demand->headrooms[i].slot.v - first;
        uint64_t bit = (uint64_t)1 << (at % 64);
        if (headroom_fits(version, demand, &demand->headrooms[i]))
            words[at / 64] |= before[at / 64] & bit;
        else
            words[at / 64] &= ~bit;
    }
    return 2 + 4 * (i - begin);
}

uint32_t fit_demand_page(const struct version *version, const struct fit_demand *demand,
                         uint32_t page, uint64_t words[FIT_WORDS])
{
    if (demand->headroom_count == 0)
        return fit_column_page(version, demand, page, words);
    uint64_t before[FIT_WORDS];
    memcpy(before, words, sizeof(before));
    uint32_t steps = fit_column_page(version, demand, page, words);
    return steps + put_rooms(version, demand, page, before, words);
}

/* Without overlap (restrict), the compiler can process several words at once. */
static void fit_keep(const uint64_t *restrict bits, uint64_t *restrict words)
{
    for (uint32_t w = 0; w < FIT_WORDS; w++)
        words[w] &= bits[w];
}

static void drop(const uint64_t *restrict bits, uint64_t *restrict words)
{
    for (uint32_t w = 0; w < FIT_WORDS; w++)
        words[w] &= ~bits[w];
}

static void keep_any(const struct fit_any *any, uint32_t page, uint64_t words[FIT_WORDS])
{
    const uint64_t *bits = any->count == 1 ? slotset_page_bits(any->sets[0], page) : NULL;
    if (bits != NULL) {
        fit_keep(bits, words);
        return;
    }
    uint64_t all[FIT_WORDS] = {0};
    for (uint32_t j = 0; j < any->count; j++)
        slotset_page_or(any->sets[j], page, all);
    fit_keep(all, words);
}

void fit_filter_page(const struct fit_filter *filter, uint32_t page, uint64_t words[FIT_WORDS])
{
    for (uint32_t i = 0; i < filter->any_count; i++)
        keep_any(&filter->any[i], page, words);
    if (filter->none_count == 0)
        return;
    uint64_t none[FIT_WORDS] = {0};
    for (uint32_t i = 0; i < filter->none_count; i++)
        slotset_page_or(filter->none[i], page, none);
    drop(none, words);
}

int32_t fit_given_headroom(const struct fit_demand *demand, struct slot_no slot)
{
    uint32_t at = first_headroom(demand, slot.v);
    if (at < demand->headroom_count && demand->headrooms[at].slot.v == slot.v)
        return demand->headrooms[at].headroom;
    return column_headroom(demand->column, slot);
}

bool fit_demand_slot(const struct version *version, const struct fit_demand *demand,
                     struct slot_no slot)
{
    if (demand->amount > fit_demand_headroom(demand, slot))
        return false;
    return !slotset_has(&demand->column->odd, slot) || odd_fits(version, demand, slot);
}

bool fit_filter_slot(const struct fit_filter *filter, struct slot_no slot)
{
    for (uint32_t i = 0; i < filter->any_count; i++) {
        bool found = false;
        for (uint32_t j = 0; j < filter->any[i].count && !found; j++)
            found = slotset_has(filter->any[i].sets[j], slot);
        if (!found)
            return false;
    }
    for (uint32_t i = 0; i < filter->none_count; i++)
        if (slotset_has(filter->none[i], slot))
            return false;
    return true;
}

int64_t fit_filter_steps(const struct fit_filter *filter)
{
    enum { SETS_A_STEP = 2 };
    int64_t sets = filter->none_count;
    for (uint32_t i = 0; i < filter->any_count; i++)
        sets += filter->any[i].count;
    return 1 + sets / SETS_A_STEP;
}
