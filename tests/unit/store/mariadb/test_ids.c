/* Ids that several sessions reserve, and those that rows of other programs get: none is given out
 * twice. With a cluster, one of the sessions is on another node. */
#include <stdlib.h>

#include "sessions.h"
#include "store/mariadb/exchange/exchanges.h"
#include "store/mariadb/session/session_state.h"

enum { SESSIONS = 3, ROUNDS = 40, ROOM_LEAST = 32, ROOM_MOST = 4096 };
enum { ID_MOST = SESSIONS * ROUNDS * ROOM_MOST * 4 };

struct taker {
    struct mariadb_session *session;
    size_t room;
};

/* One bit for each id that was given out. */
static unsigned char *given;

static void note(int64_t id)
{
    assert_in_range(id, 1, ID_MOST - 1);
    if ((given[id / 8] >> id % 8 & 1) != 0)
        fail_msg("the id %lld is given out twice", (long long)id);
    given[id / 8] |= (unsigned char)(1u << id % 8);
}

/* Returns how many. */
static size_t reserve(struct arena *arena, struct taker *taker, enum store_table table)
{
    int64_t ids[ROOM_MOST];
    struct id_range range = {.most = INT32_MAX, .room = taker->room, .at = ids};
    struct err err = {.arena = arena};
    if (mariadb_ids_reserve(&taker->session->base, table, &range, soon(), &err) != SERVER_OK)
        fail_msg("%.*s", SLICE_ARG(err.message));
    for (size_t i = 0; i < range.count; i++)
        note(ids[i]);
    if (taker->room < ROOM_MOST)
        taker->room *= 2;
    return range.count;
}

/* As the Python service does. */
static void insert(struct arena *arena, struct mariadb_session *session)
{
    run(session, "INSERT INTO projects (external_id) VALUES (UUID())");
    note(atoll(value_of(arena, session, "SELECT LAST_INSERT_ID()")));
}

static void test_none_twice(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    const char *first = getenv("BERTH_TEST_MARIADB"), *second = getenv("BERTH_TEST_MARIADB_2");
    struct taker takers[SESSIONS] = {{.session = open_upstream("utf8mb3")}};
    takers[1].session = open_on_node(first);
    takers[2].session = open_on_node(second == NULL ? first : second);
    given = calloc(1, ID_MOST / 8 + 1);
    assert_non_null(given);
    size_t count = 0;
    srand(1);
    for (int i = 0; i < SESSIONS; i++)
        takers[i].room = ROOM_LEAST;
    for (int round = 0; round < ROUNDS; round++) {
        count += reserve(arena, &takers[rand() % SESSIONS], STORE_PROJECTS);
        if (rand() % 2 == 0)
            insert(arena, takers[rand() % SESSIONS].session);
    }
    assert_true(count >= ROUNDS * ROOM_LEAST * 2);
    for (int i = 0; i < SESSIONS; i++)
        mariadb_session_destroy(takers[i].session);
    free(given);
    arena_destroy(arena);
}

/* Each table's; ids of classes are not reserved. */
static void test_tables(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct taker taker = {.session = open_upstream("utf8mb3")};
    for (int table = 0; table < STORE_NODES; table++) {
        if (table == STORE_CLASSES)
            continue;
        given = calloc(1, ID_MOST / 8 + 1);
        assert_non_null(given);
        taker.room = ROOM_LEAST;
        for (int round = 0; round < 3; round++)
            assert_int_equal(reserve(arena, &taker, (enum store_table)table), ROOM_LEAST << round);
        free(given);
    }
    mariadb_session_destroy(taker.session);
    arena_destroy(arena);
}

/* Without ids, the answer is that there are none, and the session goes on. */
static void test_end(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct mariadb_session *session = open_upstream("utf8mb3");
    int64_t ids[ROOM_LEAST];
    struct id_range range = {.most = INT32_MAX, .room = ROOM_LEAST, .at = ids};
    struct err err = {.arena = arena};
    run(session, "ALTER TABLE projects AUTO_INCREMENT = 2147483647");
    for (int i = 0; i < 2; i++) {
        range.room = i == 0 ? ROOM_LEAST : 1;
        assert_int_equal(mariadb_ids_reserve(&session->base, STORE_PROJECTS, &range, soon(), &err),
                         SERVER_OK);
        assert_int_equal(range.count, 0);
    }
    run(session, "ALTER TABLE projects AUTO_INCREMENT = 1000");
    assert_int_equal(mariadb_ids_reserve(&session->base, STORE_PROJECTS, &range, soon(), &err),
                     SERVER_OK);
    assert_int_equal(range.count, 1);
    mariadb_session_destroy(session);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_none_twice),
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
