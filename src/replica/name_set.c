/* Interning. Invariant: two sets of one catalog with the same members have the same address. Called
 * by the writer only, except for reading. */
#include "replica/name_set.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/json_write.h"

bool name_set_has(const struct name_set *set, uint32_t number)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->numbers[i] == number)
            return true;
    return false;
}

struct member {
    int64_t id;
    uint32_t number;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a;
    const struct member *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static void sort_many(const struct catalog *catalog, uint32_t *numbers, uint32_t count)
{
    struct member *members = calloc(count, sizeof(*members));
    check(members != NULL);
    for (uint32_t i = 0; i < count; i++)
        members[i] = (struct member){catalog_row_at(catalog, numbers[i])->id, numbers[i]};
    qsort(members, count, sizeof(*members), compare_members);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = members[i].number;
    free(members);
}

static void sort_by_id(const struct catalog *catalog, uint32_t *numbers, uint32_t count)
{
    /* insertion sort as long as it is cheap: sets are short, and mostly sorted already */
    uint64_t moves = 0;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t number = numbers[i];
        int64_t id = catalog_row_at(catalog, number)->id;
        uint32_t at = i;
        while (at > 0 && catalog_row_at(catalog, numbers[at - 1])->id > id) {
            numbers[at] = numbers[at - 1];
            at--;
        }
        numbers[at] = number;
        moves += i - at;
        if (moves > 16 * (uint64_t)count) {
            sort_many(catalog, numbers, count);
            return;
        }
    }
}

static struct name_set *make(struct cow *cow, const struct catalog *catalog,
                             const uint32_t *numbers, uint32_t count)
{
    struct buf json = {0};
    buf_append_char(&json, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            buf_append_lit(&json, ", ");
        json_write_string(&json, catalog_name(catalog_row_at(catalog, numbers[i])));
    }
    buf_append_char(&json, ']');
    size_t numbers_bytes = count * sizeof(*numbers);
    struct name_set *set = cow_new(cow, sizeof(*set) + numbers_bytes + json.len);
    set->count = count;
    set->json_len = (uint32_t)json.len;
    set->json_at = (uint32_t)numbers_bytes;
    if (count > 0)
        memcpy(set->numbers, numbers, numbers_bytes);
    memcpy((char *)set->numbers + numbers_bytes, json.data, json.len);
    buf_free(&json);
    return set;
}

static uint64_t hash_numbers(const uint32_t *numbers, uint32_t count)
{
    return hash_text((struct slice){(const char *)numbers, count * sizeof(*numbers)});
}

const struct name_set *name_sets_take(struct cow *cow, struct name_sets *sets,
                                      const struct catalog *catalog, uint32_t *numbers,
                                      uint32_t count)
{
    sort_by_id(catalog, numbers, count);
    size_t bytes = count * sizeof(*numbers);
    uint64_t hash = hash_numbers(numbers, count);
    struct ptree_iter iter;
    ptree_seek(&sets->tree, hash, 0, &iter);
    const struct ptree_entry *entry;
    while ((entry = ptree_iter_get(&iter)) != NULL && entry->k1 == hash) {
        const struct name_set *set = (const struct name_set *)(uintptr_t)entry->k2;
        if (set->count == count && (count == 0 || memcmp(set->numbers, numbers, bytes) == 0)) {
            ptree_set(cow, &sets->tree, hash, entry->k2, entry->value + 1);
            return set;
        }
        ptree_iter_next(&iter);
    }
    struct name_set *set = make(cow, catalog, numbers, count);
    ptree_set(cow, &sets->tree, hash, (uintptr_t)set, 1);
    return set;
}

void name_sets_release(struct cow *cow, struct name_sets *sets, const struct name_set *set)
{
    uint64_t hash = hash_numbers(set->numbers, set->count);
    uint64_t users;
    check(ptree_find(&sets->tree, hash, (uintptr_t)set, &users) && users > 0);
    if (users > 1) {
        ptree_set(cow, &sets->tree, hash, (uintptr_t)set, users - 1);
        return;
    }
    ptree_remove(cow, &sets->tree, hash, (uintptr_t)set);
    cow_drop(cow, set);
}

static void free_set(void *cls, const struct ptree_entry *entry)
{
    struct name_set *set = (struct name_set *)(uintptr_t)entry->k2;
    if (set->node.birth >= *(const uint64_t *)cls)
        free(set);
}

void name_sets_free(struct name_sets *sets, uint64_t birth)
{
    ptree_free(&sets->tree, birth, free_set, &birth);
}
