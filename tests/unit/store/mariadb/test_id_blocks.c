/* Blocks of ids that sessions reserve on one server, or on the nodes of a cluster: nobody gets an
 * id twice. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "sessions.h"
#include "store/mariadb/exchange/exchanges.h"
#include "store/mariadb/session/session_state.h"
#include "store/server/dialect.h"
#include "store/server/id_tables.h"

enum { SESSIONS = 3, ROUNDS = 40, ROOM_MOST = 256, IDS_MOST = SESSIONS * ROUNDS * ROOM_MOST * 8 };

static struct mariadb_session *sessions[SESSIONS];
static bool *is_given; /* by id */

static int setup(void **state)
{
    (void)state;
    struct mariadb_session *made = open_upstream("utf8mb4");
    mariadb_session_destroy(made);
    for (int i = 0; i < SESSIONS; i++)
        sessions[i] = open_session();
    is_given = calloc(IDS_MOST, sizeof(*is_given));
    assert_non_null(is_given);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < SESSIONS; i++)
        mariadb_session_destroy(sessions[i]);
    free(is_given);
    return 0;
}

static size_t reserve(struct mariadb_session *session, size_t room, int64_t *ids)
{
    struct attempt attempt = begin_attempt();
    struct id_range range = {.most = INT32_MAX, .room = room, .at = ids};
    expect_outcome(
        &attempt, session,
        mariadb_ids_reserve(&session->base, STORE_ALLOCATIONS, &range, soon(), &attempt.err),
        SERVER_OK, NULL);
    return range.count;
}

static void give(const int64_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_in_range(ids[i], 1, IDS_MOST - 1);
        assert_false(is_given[ids[i]]);
        is_given[ids[i]] = true;
    }
}

/* As another program does it. */
static void give_to_program(struct mariadb_session *session)
{
    struct arena *arena = arena_create();
    run(session, "INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id,"
                 " used) VALUES (1, 'c', 1, 1)");
    const char *text = value_of(arena, session, "SELECT LAST_INSERT_ID()");
    const int64_t id = strtoll(text, NULL, 10);
    give(&id, 1);
    arena_destroy(arena);
}

/* Blocks of different sizes. */
static void test_in_turn(void **state)
{
    static const size_t rooms[] = {32, 256, 64, 1, 128};
    int64_t ids[ROOM_MOST];
    (void)state;
    for (size_t i = 0; i < ROUNDS; i++) {
        const size_t room = rooms[i % (sizeof(rooms) / sizeof(rooms[0]))];
        assert_int_equal(reserve(sessions[i % SESSIONS], room, ids), room);
        give(ids, room);
        give_to_program(sessions[(i + 1) % SESSIONS]);
    }
}

struct reserver {
    pthread_t thread;
    struct mariadb_session *session;
    int64_t ids[ROUNDS * ROOM_MOST];
    size_t count;
};

static void *reserve_many(void *cls)
{
    struct reserver *reserver = cls;
    for (int i = 0; i < ROUNDS; i++)
        reserver->count += reserve(reserver->session, ROOM_MOST, reserver->ids + reserver->count);
    return NULL;
}

static void test_at_once(void **state)
{
    static struct reserver reservers[SESSIONS];
    (void)state;
    for (int i = 0; i < SESSIONS; i++) {
        reservers[i].session = sessions[i];
        assert_int_equal(pthread_create(&reservers[i].thread, NULL, reserve_many, &reservers[i]),
                         0);
    }
    for (int i = 0; i < SESSIONS; i++) {
        pthread_join(reservers[i].thread, NULL);
        assert_int_equal(reservers[i].count, ROUNDS * ROOM_MOST);
        give(reservers[i].ids, reservers[i].count);
    }
}

/* Another node knows nothing of what was reserved. */
static void test_on_two_nodes(void **state)
{
    const char *url = getenv("BERTH_TEST_MARIADB_2");
    int64_t ids[ROOM_MOST];
    (void)state;
    if (url == NULL)
        skip();
    struct mariadb_session *other = open_on_node(url);
    for (int i = 0; i < ROUNDS; i++) {
        give(ids, reserve(sessions[0], ROOM_MOST, ids));
        give(ids, reserve(other, 32, ids));
    }
    mariadb_session_destroy(other);
}

struct changer {
    pthread_t thread;
    struct mariadb_session *session;
    atomic_bool is_over;
    unsigned done;
};

/* Each change ends transactions of other sessions that use the table, on a cluster. It may itself
 * find a table whose triggers could not be read. */
static void *change_schema(void *cls)
{
    static const char *const changes[] = {
        "CREATE OR REPLACE TRIGGER changing AFTER INSERT ON allocations FOR EACH ROW"
        " SET @changing = 1",
        "DROP TRIGGER IF EXISTS changing"};
    struct changer *changer = cls;
    for (unsigned i = 0; !atomic_load(&changer->is_over) || i % 2 == 1; i++) {
        struct attempt attempt = begin_attempt();
        enum server_outcome outcome =
            mariadb_session_run(changer->session, changes[i % 2], "changed", soon(), &attempt.err);
        if (outcome == SERVER_RETRY) {
            i--;
            attempt.err = (struct err){.arena = attempt.arena};
            outcome = SERVER_OK;
        } else {
            changer->done++;
        }
        expect_outcome(&attempt, changer->session, outcome, SERVER_OK, NULL);
    }
    return NULL;
}

static void test_schema_changes(void **state)
{
    enum { RESERVATIONS = 400 };
    struct changer changer = {.session = sessions[1]};
    int64_t ids[ROOM_MOST];
    (void)state;
    if (getenv("BERTH_TEST_MARIADB_2") == NULL)
        skip(); /* there, changes wait for transactions */
    assert_int_equal(pthread_create(&changer.thread, NULL, change_schema, &changer), 0);
    for (int i = 0; i < RESERVATIONS; i++) {
        struct attempt attempt = begin_attempt();
        struct server_session *session = &sessions[0]->base;
        give(ids, reserve(sessions[0], 1, ids));
        /* a new connection reads of the tables' indexes */
        expect_outcome(&attempt, sessions[0],
                       session->dialect->make_ready(session, soon(), &attempt.err), SERVER_OK,
                       NULL);
    }
    atomic_store(&changer.is_over, true);
    pthread_join(changer.thread, NULL);
    assert_true(changer.done > RESERVATIONS / 20);
}

/* The last ids are given out, whatever the size of the blocks is, and then none. What lies between
 * the counter and the first block is lost. */
static void test_the_end(void **state)
{
    enum { LEFT = 50 };
    int64_t ids[ROOM_MOST];
    int64_t last = 0;
    size_t total = 0;
    (void)state;
    run(sessions[0], "INSERT INTO allocations (id, resource_provider_id, consumer_id,"
                     " resource_class_id, used) VALUES (2147483597, 1, 'c', 1, 1)");
    for (int i = 0; i < LEFT; i++) {
        if (!server_session_is_open(&sessions[0]->base)) {
            mariadb_session_destroy(sessions[0]);
            sessions[0] = open_session();
        }
        size_t count = reserve(sessions[0], i < 1 ? 8 : 1, ids);
        for (size_t k = 0; k < count; k++, total++) {
            assert_true(ids[k] > last && ids[k] > INT32_MAX - LEFT && ids[k] <= INT32_MAX);
            last = ids[k];
        }
    }
    assert_in_range(total, LEFT / 3 - 8, LEFT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_in_turn, setup, teardown),
        cmocka_unit_test_setup_teardown(test_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_on_two_nodes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_schema_changes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_end, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
