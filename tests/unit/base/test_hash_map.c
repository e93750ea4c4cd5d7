/* Compared with a plain array: every number of items, colliding keys, and full maps. */
#include "base/hash_map.h"

#include <stdlib.h>

#include "base/arena.h"
#include "unit.h"

enum { ITEMS_MAX = 300 };

/* Few different hashes, so that most keys collide and only the comparison distinguishes them. */
static uint64_t bad_hash(uint32_t key)
{
    return key % 7;
}

static uint64_t good_hash(uint32_t key)
{
    return hash_number(key);
}

static struct hash_slot *find(const struct hash_map *map, const uint32_t *keys, uint64_t hash,
                              uint32_t key)
{
    struct hash_slot *slot;
    HASH_MAP_FIND(slot, map, hash, keys[hash_slot_item(slot)] == key);
    return slot;
}

static void check_against_an_array(struct arena *arena, uint32_t most, bool grows,
                                   uint64_t (*hash)(uint32_t))
{
    struct hash_map map = {0};
    uint32_t count = 0;
    if (!grows)
        map = hash_map_create(arena, most);
    uint32_t keys[ITEMS_MAX];
    for (uint32_t i = 0; i < most; i++) {
        keys[i] = (uint32_t)random() % (4 * most);
        uint32_t first = 0;
        while (keys[first] != keys[i])
            first++;
        if (grows)
            hash_map_make_room(&map, arena, count);
        assert_true(2 * count <= map.mask);
        struct hash_slot *slot = find(&map, keys, hash(keys[i]), keys[i]);
        assert_int_equal(hash_slot_is_free(slot), first == i);
        if (first == i) {
            hash_slot_put(slot, hash(keys[i]), i);
            count++;
        }
        assert_int_equal(hash_slot_item(find(&map, keys, hash(keys[i]), keys[i])), first);
    }
    for (uint32_t key = 4 * most; map.slots != NULL && key < 4 * most + 50; key++)
        assert_true(hash_slot_is_free(find(&map, keys, hash(key), key)));
}

static void as_an_array(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    srandom(5);
    for (uint32_t most = 0; most <= ITEMS_MAX; most++) {
        for (int grows = 0; grows < 2; grows++) {
            check_against_an_array(arena, most, grows, good_hash);
            check_against_an_array(arena, most, grows, bad_hash);
        }
        arena_reset(arena);
    }
    arena_destroy(arena);
}

/* It can be inverted, so two numbers never share a hash. */
static void hashes_of_numbers_differ(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 100000; i++) {
        uint32_t number = (uint32_t)random() ^ i << 16;
        uint32_t hash = hash_number(number);
        hash ^= hash >> 16;
        assert_int_equal(number * 0x9e3779b1u, hash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_an_array),
        cmocka_unit_test(hashes_of_numbers_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
