/* Slot sets: few members are in one list, many in pages.
 *
 * Invariants:
 * 1. The list of a small set is in ascending order, and its capacity follows from the count.
 * 2. A page is present only if it has members.
 * 3. A page's list is in ascending order and at most LIST_MAX long.
 * 4. A bitset that shrinks below LIST_BACK becomes a list again (LIST_BACK is far below LIST_MAX,
 * so that a member that comes and goes does not cause a conversion each time).
 *
 * Writers own an edit; readers see published sets. */
#include "replica/slotset.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

enum { FEW_FIRST = 4, LIST_FIRST = 4, LIST_MAX = 128, LIST_BACK = 64 };

struct slotset_few {
    struct cow_node node;
    uint32_t slots[];
};

struct slotset_page {
    struct cow_node node;
    uint32_t count;
    uint32_t capacity; /* of the list; 0: a bitset */
    union {
        uint16_t list[1];
        uint64_t bits[1];
    };
};

/* The size of the node of a small set with that many members; 0: no node is needed. */
static size_t few_bytes(uint32_t count)
{
    if (count < 2)
        return 0;
    uint32_t room = FEW_FIRST;
    while (room < count)
        room *= 2;
    return sizeof(struct slotset_few) + room * sizeof(uint32_t);
}

static const uint32_t *few_slots(const struct slotset *set)
{
    return set->count < 2 ? &set->only : set->few->slots;
}

/* The position of the first member of a small set that is not less than the slot. */
static uint32_t few_lower(const struct slotset *set, uint32_t slot)
{
    const uint32_t *slots = few_slots(set);
    uint32_t at;
    SEARCH_LOWER(at, 0, set->count, slots[at] < slot);
    return at;
}

static size_t page_bytes(uint32_t capacity)
{
    size_t body =
        capacity == 0 ? SLOTSET_PAGE_WORDS * sizeof(uint64_t) : capacity * sizeof(uint16_t);
    return offsetof(struct slotset_page, list) + (body < 8 ? 8 : body);
}

static const struct slotset_page *page_of(const struct slotset *set, uint32_t slot)
{
    return cow_array_leaf(&set->pages, slot / SLOTSET_PAGE_SLOTS);
}

static uint32_t list_lower(const struct slotset_page *page, uint32_t offset)
{
    uint32_t at;
    SEARCH_LOWER(at, 0, page->count, page->list[at] < offset);
    return at;
}

static bool page_has(const struct slotset_page *page, uint32_t offset)
{
    if (page->capacity == 0)
        return page->bits[offset / 64] >> (offset % 64) & 1;
    uint32_t at = list_lower(page, offset);
    return at < page->count && page->list[at] == offset;
}

bool slotset_has(const struct slotset *set, struct slot_no slot)
{
    if (set->count <= SLOTSET_FEW_MAX) {
        uint32_t at = few_lower(set, slot.v);
        return at < set->count && few_slots(set)[at] == slot.v;
    }
    const struct slotset_page *page = page_of(set, slot.v);
    return page != NULL && page_has(page, slot.v % SLOTSET_PAGE_SLOTS);
}

static uint32_t page_next(const struct slotset_page *page, uint32_t from)
{
    if (page->capacity != 0) {
        uint32_t at = list_lower(page, from);
        return at < page->count ? page->list[at] : NUMBER_NONE;
    }
    for (uint32_t word = from / 64; word < SLOTSET_PAGE_WORDS; word++) {
        uint64_t bits = page->bits[word];
        if (word == from / 64)
            bits &= ~(uint64_t)0 << (from % 64);
        if (bits != 0)
            return word * 64 + (uint32_t)__builtin_ctzll(bits);
    }
    return NUMBER_NONE;
}

static uint32_t pages_next(const struct cow_array *pages, uint32_t from)
{
    const struct cow_dir *root = pages->root;
    uint32_t page_no = from / SLOTSET_PAGE_SLOTS;
    uint32_t offset = from % SLOTSET_PAGE_SLOTS;
    while (page_no < COW_LEAVES_MAX) {
        const struct cow_dir *dir = root->at[page_no / COW_FAN];
        if (dir == NULL) {
            page_no = (page_no / COW_FAN + 1) * COW_FAN;
            offset = 0;
            continue;
        }
        const struct slotset_page *page = dir->at[page_no % COW_FAN];
        uint32_t found = page == NULL ? NUMBER_NONE : page_next(page, offset);
        if (found != NUMBER_NONE)
            return page_no * SLOTSET_PAGE_SLOTS + found;
        page_no++;
        offset = 0;
    }
    return NUMBER_NONE;
}

uint32_t slotset_next(const struct slotset *set, uint32_t from)
{
    if (set->count > SLOTSET_FEW_MAX)
        return pages_next(&set->pages, from);
    uint32_t at = few_lower(set, from);
    return at < set->count ? few_slots(set)[at] : NUMBER_NONE;
}

/* A page with the same members and a different capacity (0: a bitset); the old page is dropped. */
static struct slotset_page *page_convert(struct cow *cow, struct slotset_page *old,
                                         uint32_t capacity)
{
    struct slotset_page *page = cow_new(cow, page_bytes(capacity));
    page->count = old->count;
    page->capacity = capacity;
    if (old->capacity != 0 && capacity != 0) {
        memcpy(page->list, old->list, old->count * sizeof(page->list[0]));
    } else if (old->capacity != 0) {
        for (uint32_t i = 0; i < old->count; i++)
            page->bits[old->list[i] / 64] |= (uint64_t)1 << (old->list[i] % 64);
    } else {
        uint32_t n = 0;
        for (uint32_t offset = 0; offset < SLOTSET_PAGE_SLOTS; offset++)
            if (page_has(old, offset))
                page->list[n++] = (uint16_t)offset;
    }
    cow_drop(cow, old);
    return page;
}

static void pages_add(struct cow *cow, struct cow_array *pages, uint32_t slot)
{
    uint32_t offset = slot % SLOTSET_PAGE_SLOTS;
    void **at = cow_array_own_leaf(cow, pages, slot / SLOTSET_PAGE_SLOTS);
    struct slotset_page *page = *at;
    if (page == NULL) {
        page = cow_new(cow, page_bytes(LIST_FIRST));
        page->capacity = LIST_FIRST;
    } else if (page->capacity != 0 && page->count == page->capacity) {
        page = page_convert(cow, page, page->capacity < LIST_MAX ? page->capacity * 2 : 0);
    } else {
        page = cow_own(cow, page, page_bytes(page->capacity));
    }
    if (page->capacity == 0) {
        page->bits[offset / 64] |= (uint64_t)1 << (offset % 64);
    } else {
        uint32_t i = list_lower(page, offset);
        memmove(&page->list[i + 1], &page->list[i], (page->count - i) * sizeof(page->list[0]));
        page->list[i] = (uint16_t)offset;
    }
    page->count++;
    *at = page;
}

static void pages_remove(struct cow *cow, struct cow_array *pages, uint32_t slot)
{
    uint32_t offset = slot % SLOTSET_PAGE_SLOTS;
    void **at = cow_array_own_leaf(cow, pages, slot / SLOTSET_PAGE_SLOTS);
    struct slotset_page *page = *at;
    if (page->count == 1) {
        cow_drop(cow, page);
        *at = NULL;
        return;
    }
    page = cow_own(cow, page, page_bytes(page->capacity));
    page->count--;
    if (page->capacity == 0) {
        page->bits[offset / 64] &= ~((uint64_t)1 << (offset % 64));
        if (page->count < LIST_BACK)
            page = page_convert(cow, page, LIST_MAX);
    } else {
        uint32_t i = list_lower(page, offset);
        memmove(&page->list[i], &page->list[i + 1], (page->count - i) * sizeof(page->list[0]));
    }
    *at = page;
}

/* The owned list of a small set, with room for a different number of members; those that fit are
 * kept. The caller sets the count. */
static uint32_t *few_own(struct cow *cow, struct slotset *set, uint32_t room)
{
    size_t bytes = few_bytes(room);
    struct slotset_few *old = set->count < 2 ? NULL : set->few;
    if (bytes == 0) {
        uint32_t first = few_slots(set)[0];
        if (old != NULL)
            cow_drop(cow, old);
        set->few = NULL;
        set->only = first;
        return &set->only;
    }
    if (few_bytes(set->count) == bytes) {
        set->few = cow_own(cow, old, bytes);
        return set->few->slots;
    }
    struct slotset_few *few = cow_new(cow, bytes);
    memcpy(few->slots, few_slots(set),
           (set->count < room ? set->count : room) * sizeof(few->slots[0]));
    if (old != NULL)
        cow_drop(cow, old);
    set->few = few;
    return few->slots;
}

static void few_add(struct cow *cow, struct slotset *set, uint32_t slot)
{
    uint32_t at = few_lower(set, slot);
    uint32_t *slots = few_own(cow, set, set->count + 1);
    memmove(&slots[at + 1], &slots[at], (set->count - at) * sizeof(*slots));
    slots[at] = slot;
    set->count++;
}

static void few_remove(struct cow *cow, struct slotset *set, uint32_t slot)
{
    uint32_t at = few_lower(set, slot);
    uint32_t *slots = few_own(cow, set, set->count);
    memmove(&slots[at], &slots[at + 1], (set->count - 1 - at) * sizeof(*slots));
    few_own(cow, set, set->count - 1);
    set->count--;
    if (set->count == 0)
        set->few = NULL;
}

static void few_to_pages(struct cow *cow, struct slotset *set)
{
    struct slotset_few *few = set->few;
    set->pages = (struct cow_array){0};
    for (uint32_t i = 0; i < set->count; i++)
        pages_add(cow, &set->pages, few->slots[i]);
    cow_drop(cow, few);
}

/* Called after the removal that left SLOTSET_FEW_MAX members in pages. */
static void pages_to_few(struct cow *cow, struct slotset *set)
{
    struct slotset_few *few = cow_new(cow, few_bytes(SLOTSET_FEW_MAX));
    uint32_t from = 0;
    for (uint32_t i = 0; i < SLOTSET_FEW_MAX; i++) {
        few->slots[i] = pages_next(&set->pages, from);
        from = few->slots[i] + 1;
    }
    cow_array_drop(cow, &set->pages);
    set->few = few;
}

void slotset_add(struct cow *cow, struct slotset *set, struct slot_no slot)
{
    if (slotset_has(set, slot))
        return;
    if (set->count < SLOTSET_FEW_MAX) {
        few_add(cow, set, slot.v);
        return;
    }
    if (set->count == SLOTSET_FEW_MAX)
        few_to_pages(cow, set);
    pages_add(cow, &set->pages, slot.v);
    set->count++;
}

void slotset_remove(struct cow *cow, struct slotset *set, struct slot_no slot)
{
    if (!slotset_has(set, slot))
        return;
    if (set->count <= SLOTSET_FEW_MAX) {
        few_remove(cow, set, slot.v);
        return;
    }
    pages_remove(cow, &set->pages, slot.v);
    set->count--;
    if (set->count == SLOTSET_FEW_MAX)
        pages_to_few(cow, set);
}

static void few_page_or(const struct slotset *set, uint32_t page_no,
                        uint64_t words[SLOTSET_PAGE_WORDS])
{
    const uint32_t *slots = few_slots(set);
    for (uint32_t i = few_lower(set, page_no * SLOTSET_PAGE_SLOTS); i < set->count; i++) {
        if (slots[i] / SLOTSET_PAGE_SLOTS != page_no)
            return;
        uint32_t offset = slots[i] % SLOTSET_PAGE_SLOTS;
        words[offset / 64] |= (uint64_t)1 << (offset % 64);
    }
}

/* Without overlap (restrict), the compiler can process several words at once. */
static void bits_or(const uint64_t *restrict bits, uint64_t *restrict words)
{
    for (uint32_t i = 0; i < SLOTSET_PAGE_WORDS; i++)
        words[i] |= bits[i];
}

void slotset_page_or(const struct slotset *set, uint32_t page_no,
                     uint64_t words[SLOTSET_PAGE_WORDS])
{
    if (set->count <= SLOTSET_FEW_MAX) {
        few_page_or(set, page_no, words);
        return;
    }
    const struct slotset_page *page = cow_array_leaf(&set->pages, page_no);
    if (page == NULL)
        return;
    if (page->capacity == 0) {
        bits_or(page->bits, words);
        return;
    }
    for (uint32_t i = 0; i < page->count; i++)
        words[page->list[i] / 64] |= (uint64_t)1 << (page->list[i] % 64);
}

const uint64_t *slotset_page_bits(const struct slotset *set, uint32_t page_no)
{
    if (set->count <= SLOTSET_FEW_MAX)
        return NULL;
    const struct slotset_page *page = cow_array_leaf(&set->pages, page_no);
    return page != NULL && page->capacity == 0 ? page->bits : NULL;
}

void slotset_free(struct slotset *set, uint64_t birth)
{
    if (set->count > SLOTSET_FEW_MAX)
        cow_array_free(&set->pages, birth, NULL, NULL);
    else if (set->count > 1 && set->few->node.birth >= birth)
        free(set->few);
    *set = (struct slotset){.count = 0};
}

static bool page_is_sound(const struct slotset_page *page)
{
    uint32_t n = 0;
    if (page->capacity == 0) {
        for (uint32_t i = 0; i < SLOTSET_PAGE_WORDS; i++)
            n += (uint32_t)__builtin_popcountll(page->bits[i]);
        return n == page->count && n >= LIST_BACK;
    }
    for (uint32_t i = 1; i < page->count; i++)
        if (page->list[i - 1] >= page->list[i])
            return false;
    return page->count > 0 && page->count <= page->capacity && page->capacity <= LIST_MAX;
}

bool slotset_is_sound(const struct slotset *set)
{
    if (set->count <= SLOTSET_FEW_MAX) {
        const uint32_t *slots = few_slots(set);
        for (uint32_t i = 1; i < set->count; i++)
            if (slots[i - 1] >= slots[i])
                return false;
        return true;
    }
    uint32_t members = 0;
    const struct cow_dir *root = set->pages.root;
    for (uint32_t i = 0; i < COW_FAN; i++) {
        const struct cow_dir *dir = root->at[i];
        for (uint32_t j = 0; dir != NULL && j < COW_FAN; j++) {
            const struct slotset_page *page = dir->at[j];
            if (page != NULL && !page_is_sound(page))
                return false;
            members += page == NULL ? 0 : page->count;
        }
    }
    return members == set->count;
}
