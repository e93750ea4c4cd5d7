/* Pages of slot sets.
 *
 * Invariants: 1. a page is present only if it has members; 2. a list is in ascending order and at
 * most LIST_MAX long; 3. a bitset that shrinks below LIST_BACK becomes a list again (far below
 * LIST_MAX, so that a member that comes and goes does not convert each time). Writers own an edit;
 * readers see published pages. */
#include "replica/slotset.h"

#include <stdlib.h>
#include <string.h>

enum { LIST_FIRST = 4, LIST_MAX = 128, LIST_BACK = 64 };

struct slotset_page {
    struct cow_node node;
    uint32_t count;
    uint32_t capacity; /* of the list; 0: a bitset */
    union {
        uint16_t list[1];
        uint64_t bits[1];
    };
};

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
    uint32_t low = 0;
    uint32_t high = page->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (page->list[middle] < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
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
    const struct slotset_page *page = page_of(set, slot.v);
    return page != NULL && page_has(page, slot.v % SLOTSET_PAGE_SLOTS);
}

/* A page with the same members and another capacity (0: a bitset); the old one is dropped. */
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

void slotset_add(struct cow *cow, struct slotset *set, struct slot_no slot)
{
    if (slotset_has(set, slot))
        return;
    uint32_t offset = slot.v % SLOTSET_PAGE_SLOTS;
    void **at = cow_array_own_leaf(cow, &set->pages, slot.v / SLOTSET_PAGE_SLOTS);
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
    set->count++;
    *at = page;
}

void slotset_remove(struct cow *cow, struct slotset *set, struct slot_no slot)
{
    if (!slotset_has(set, slot))
        return;
    uint32_t offset = slot.v % SLOTSET_PAGE_SLOTS;
    void **at = cow_array_own_leaf(cow, &set->pages, slot.v / SLOTSET_PAGE_SLOTS);
    struct slotset_page *page = *at;
    set->count--;
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

void slotset_page_or(const struct slotset *set, uint32_t page_no,
                     uint64_t words[SLOTSET_PAGE_WORDS])
{
    const struct slotset_page *page = cow_array_leaf(&set->pages, page_no);
    if (page == NULL)
        return;
    if (page->capacity == 0) {
        for (uint32_t i = 0; i < SLOTSET_PAGE_WORDS; i++)
            words[i] |= page->bits[i];
        return;
    }
    for (uint32_t i = 0; i < page->count; i++)
        words[page->list[i] / 64] |= (uint64_t)1 << (page->list[i] % 64);
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

uint32_t slotset_next(const struct slotset *set, uint32_t from)
{
    const struct cow_dir *root = set->pages.root;
    if (root == NULL)
        return NUMBER_NONE;
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

void slotset_free(struct slotset *set, uint64_t birth)
{
    cow_array_free(&set->pages, birth, NULL, NULL);
    set->count = 0;
}
