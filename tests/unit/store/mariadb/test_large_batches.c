/* Batches whose text is larger than the server accepts, which is started with
 * max_allowed_packet=1M; more of them in the log than one answer may have; and large rows. */
#include "store/server/peer.h"

#include "base/arena.h"
#include "model/node.h"
#include "store/mariadb/session/session.h"
#include "store/mariadb/session/session_state.h"

enum { REQUESTS = 4 };

static void put_node(struct change_list *list, int64_t id, size_t bytes, bool is_new)
{
    struct buf name = {0};
    struct node_draft draft = node_draft_new(id);
    node_set_text(&draft, NODE_UUID,
                  arena_printf(list->arena, "aaaaaaaa-0000-4000-8000-%012lld", (long long)id));
    for (size_t i = 0; i < bytes; i++)
        buf_append_char(&name, 'x');
    node_set_text(&draft, NODE_LAST_ERROR, arena_copy(list->arena, buf_slice(&name)));
    change_put_node(list, node_pack(&draft, list->arena));
    list->items[list->count - 1].is_new = is_new;
    buf_free(&name);
}

/* Each request puts a node with so long a text. */
static enum store_result commit_nodes(struct fixture *fixture, struct store *store,
                                      const size_t bytes[static REQUESTS], bool are_new)
{
    static const size_t ends[REQUESTS] = {1, 2, 3, 4};
    struct change_list list = changes_of(fixture);
    struct store_stamp stamp;
    bool foreign;
    for (size_t i = 0; i < REQUESTS; i++)
        put_node(&list, (int64_t)i + 1, bytes[i], are_new);
    const struct store_batch batch = {.changes = list.items, .ends = ends, .requests = REQUESTS};
    fixture->err = (struct err){.arena = fixture->arena};
    expect_news(fixture, store, STORE_NEWS_NONE);
    return decide_batch(store, &batch, &stamp, &foreign, &fixture->err);
}

static void expect_unfit(struct fixture *fixture, struct store *store,
                         const size_t bytes[static REQUESTS], size_t request)
{
    assert_int_equal(commit_nodes(fixture, store, bytes, false), STORE_REFUSED);
    const struct store_refusal *why = store_why_refused(store);
    assert_true(why->cannot_hold);
    assert_false(why->memory_is_wrong);
    assert_true(why->request == request);
}

/* Nodes that are there are updated one by one. */
static struct store *open_with_nodes(struct fixture *fixture)
{
    static const size_t small[REQUESTS] = {1, 1, 1, 1};
    struct store *store = open_seeded(fixture, NULL);
    assert_int_equal(commit_nodes(fixture, store, small, true), STORE_OK);
    return store;
}

/* The longest text that a session sends is one that the server accepts. */
static void test_limit(void **state)
{
    struct fixture *fixture = *state;
    store_close(fixture_open(fixture));
    struct server_session *session = peer_connect(fixture);
    struct mariadb_session *mariadb = mariadb_session_of(session);
    size_t most = (size_t)mariadb_session_server(mariadb)->text_bytes_most;
    char *sql = arena_alloc(fixture->arena, most + 1);
    memset(sql, ' ', most + 1);
    memcpy(sql, "SELECT 1", 8);
    struct mariadb_text text = {.sql = {sql, most}};
    assert_int_equal(
        mariadb_session_execute(mariadb, &text, NULL, 0, NULL, peer_soon(), &fixture->err),
        SERVER_OK);
    text.sql.len++;
    assert_int_equal(
        mariadb_session_execute(mariadb, &text, NULL, 0, NULL, peer_soon(), &fixture->err),
        SERVER_REFUSED);
    server_session_destroy(session);
}

static void test_sum(void **state)
{
    static const size_t large[REQUESTS] = {300000, 300000, 300000, 300000};
    static const size_t others[REQUESTS] = {300000, 300000, 300000, 1};
    struct fixture *fixture = *state;
    struct store *store = open_with_nodes(fixture);
    expect_unfit(fixture, store, large, STORE_UNNAMED);
    assert_int_equal(commit_nodes(fixture, store, others, false), STORE_OK);
    store_close(store);
}

static void test_one(void **state)
{
    static const size_t large[REQUESTS] = {1, 300000, 1100000, 1};
    struct fixture *fixture = *state;
    struct store *store = open_with_nodes(fixture);
    expect_unfit(fixture, store, large, 2);
    store_close(store);
}

/* Batches of another instance, larger together than an answer may be. */
static void write_much(struct fixture *fixture)
{
    (void)peer_execute(
        fixture, arena_printf(fixture->arena,
                              "INSERT INTO berth_log (number, mark, digest, written_at, entries)"
                              " SELECT seq, UNHEX(LPAD(seq, 32, '0')), UNHEX(LPAD(seq, 32, '1')),"
                              " UTC_TIMESTAMP(6), REPEAT('x', 65536) FROM %s",
                              peer_numbers(fixture, 2, 1099))
                     .data);
}

static void test_far_behind(void **state)
{
    struct fixture *fixture = *state;
    struct store_stamp stamp;
    struct store *store = open_seeded(fixture, NULL);
    struct store *other = fixture_open(fixture);
    expect_news(fixture, store, STORE_NEWS_NONE);
    expect_news(fixture, other, STORE_NEWS_RELOAD);
    write_much(fixture);
    expect_news(fixture, store, STORE_NEWS_RELOAD);
    expect_news(fixture, store, STORE_NEWS_NONE);
    assert_int_equal(lock_and_read(other, &fixture->err), STORE_NEWS_RELOAD);
    (void)end_news(other, &stamp);
    store_close(other);
    store_close(store);
}

static void count_row(void *cls, size_t set, struct cell *cells)
{
    size_t *count = cls;
    (void)set;
    assert_false(cells[0].is_null);
    ++*count;
}

/* As many bare metal nodes are read at once as providers, and each may have a configuration drive.
 */
static void test_large_rows(void **state)
{
    enum { NODES = 90 };
    struct fixture *fixture = *state;
    struct store *store = open_seeded(fixture, NULL);
    (void)peer_execute(fixture,
                       arena_printf(fixture->arena,
                                    "INSERT INTO berth_nodes (id, uuid, last_error) SELECT seq,"
                                    " UUID(), REPEAT('x', 900000) FROM %s",
                                    peer_numbers(fixture, 1, NODES))
                           .data);
    struct server_session *session = peer_connect(fixture);
    int64_t ids[NODES];
    size_t count = 0;
    for (int i = 0; i < NODES; i++)
        ids[i] = i + 1;
    const struct row_set set = {.table = ROWS_RECORDS, .ids = ids, .count = NODES};
    assert_int_equal(
        session->dialect->rows_find(session, &set, 1, count_row, &count, 30000000, &fixture->err),
        SERVER_OK);
    assert_int_equal(count, NODES);
    server_session_destroy(session);
    store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_limit),      TEST(test_sum),        TEST(test_one),
        TEST(test_far_behind), TEST(test_large_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
