/* The rows of instances, and which rows of the log are deleted, on a real server. */
#include "store/server/housekeeping.h"

#include <sys/mman.h>
#include <unistd.h>

#include "await.h"
#include "peer.h"

#include "base/arena.h"
#include "log/log.h"
#include "log/settings.h"
#include "store/server/instance_row.h"
#include "store/server/prune.h"

/* A database without a store: nobody else writes these rows. */
struct world {
    struct fixture *fixture;
    struct server_session *session;
};

static struct world begin(void **state)
{
    struct fixture *fixture = *state;
    store_close(fixture_open(fixture));
    (void)peer_execute(fixture, "DELETE FROM berth_instances");
    (void)peer_execute(fixture, "DELETE FROM berth_log");
    return (struct world){fixture, peer_connect(fixture)};
}

static void end(struct world *world)
{
    server_session_destroy(world->session);
}

/* ---- instances ---- */

static void write_row(struct world *world, const struct instance_row *row, int64_t followed)
{
    struct server_session *session = world->session;
    assert_int_equal(
        session->dialect->instance_write(session, row, followed, peer_soon(), &world->fixture->err),
        SERVER_OK);
}

static void test_row_of_an_instance(void **state)
{
    struct world world = begin(state);
    struct fixture *fixture = world.fixture;
    struct instance_row row, other;
    assert_true(instance_row_init(&row));
    assert_true(instance_row_init(&other));
    assert_string_not_equal(row.name, other.name);
    write_row(&world, &row, 5);
    peer_expect(fixture, "SELECT instance, followed, pid, version FROM berth_instances",
                arena_printf(fixture->arena, "%s|5|%d|" BERTH_VERSION, row.name, row.pid).data);
    const char *is_now =
        peer_sql("SELECT count(*) FROM berth_instances WHERE first_seen = last_seen"
                 " AND abs(extract(epoch FROM now() AT TIME ZONE 'UTC' - last_seen)) < 60",
                 "SELECT count(*) FROM berth_instances WHERE first_seen = last_seen"
                 " AND abs(timestampdiff(SECOND, last_seen, utc_timestamp())) < 60");
    assert_int_equal(peer_execute(fixture, is_now), 1);
    (void)peer_execute(fixture, "UPDATE berth_instances SET first_seen = '2000-01-01',"
                                " last_seen = '2000-01-01'");
    write_row(&world, &row, 7);
    assert_int_equal(peer_execute(fixture, "SELECT count(*) FROM berth_instances WHERE followed = 7"
                                           " AND first_seen = '2000-01-01'"
                                           " AND last_seen > '2001-01-01'"),
                     1);
    write_row(&world, &other, 1);
    assert_int_equal(peer_execute(fixture, "SELECT count(*) FROM berth_instances"), 2);
    assert_int_equal(
        world.session->dialect->instance_delete(world.session, &row, peer_soon(), &fixture->err),
        SERVER_OK);
    peer_expect(fixture, "SELECT instance FROM berth_instances", other.name);
    end(&world);
}

static void insert_instance(struct fixture *fixture, int age_h)
{
    const struct slice age =
        fixture_is_mariadb()
            ? arena_printf(fixture->arena, "UTC_TIMESTAMP(6) - INTERVAL %d HOUR", age_h)
            : arena_printf(fixture->arena, "now() AT TIME ZONE 'UTC' - interval '%d hours'", age_h);
    (void)peer_execute(fixture,
                       arena_printf(fixture->arena,
                                    "INSERT INTO berth_instances (instance, host, pid, version,"
                                    " first_seen, last_seen, followed)"
                                    " VALUES ('%d hours', '', 1, '', '2000-01-01', %.*s, 1)",
                                    age_h, SLICE_ARG(age))
                           .data);
}

static void test_rows_are_deleted_after_a_day(void **state)
{
    struct world world = begin(state);
    struct instance_row row;
    assert_true(instance_row_init(&row));
    insert_instance(world.fixture, 23);
    insert_instance(world.fixture, 25);
    write_row(&world, &row, 0);
    assert_int_equal(peer_execute(world.fixture, "SELECT count(*) FROM berth_instances"), 2);
    peer_expect(world.fixture, "SELECT instance FROM berth_instances WHERE host = ''", "23 hours");
    end(&world);
}

/* ---- the log ---- */

/* Rows first to last, so many seconds old. */
static void log_rows(struct fixture *fixture, int first, int last, int age_s)
{
    const struct slice sql =
        fixture_is_mariadb()
            ? arena_printf(fixture->arena,
                           "INSERT INTO berth_log SELECT seq, x'00', x'00',"
                           " UTC_TIMESTAMP(6) - INTERVAL %d SECOND, '' FROM %s",
                           age_s, peer_numbers(fixture, first, last - first + 1))
            : arena_printf(fixture->arena,
                           "INSERT INTO berth_log SELECT n, decode('00', 'hex'),"
                           " decode('00', 'hex'), now() AT TIME ZONE 'UTC'"
                           " - interval '%d seconds', '' FROM generate_series(%d, %d) n",
                           age_s, first, last);
    (void)peer_execute(fixture, sql.data);
}

static uint64_t deleted_by(struct world *world, struct prune *prune, int64_t newest)
{
    uint64_t deleted = 0;
    assert_int_equal(
        prune_log(prune, world->session, newest, &deleted, peer_soon(), &world->fixture->err),
        SERVER_OK);
    return deleted;
}

static void expect_log(struct world *world, const char *row)
{
    peer_expect(world->fixture, "SELECT min(number), max(number), count(*) FROM berth_log", row);
}

static void test_young_rows_are_kept(void **state)
{
    struct world world = begin(state);
    struct prune prune = {0};
    log_rows(world.fixture, 1, 5000, PRUNE_KEPT_S - 600);
    assert_int_equal(deleted_by(&world, &prune, 5000), 0);
    expect_log(&world, "1|5000|5000");
    end(&world);
}

static void test_old_rows_are_deleted(void **state)
{
    struct world world = begin(state);
    struct prune prune = {0};
    log_rows(world.fixture, 1, 2500, PRUNE_KEPT_S + 600);
    log_rows(world.fixture, 2501, 5000, PRUNE_KEPT_S - 600);
    assert_int_equal(deleted_by(&world, &prune, 5000), 2000);
    expect_log(&world, "2001|5000|3000");
    (void)peer_execute(world.fixture, "UPDATE berth_log SET written_at = '2000-01-01'");
    assert_int_equal(deleted_by(&world, &prune, 5000), 2000); /* PRUNE_KEPT_LEAST at any age */
    expect_log(&world, "4001|5000|1000");
    end(&world);
}

static void test_two_instances(void **state)
{
    struct world world = begin(state);
    struct prune one = {0};
    struct prune two = {0};
    log_rows(world.fixture, 1, 5000, PRUNE_KEPT_S + 600);
    assert_int_equal(deleted_by(&world, &one, 5000), 4000);
    assert_int_equal(deleted_by(&world, &two, 5000), 0);
    log_rows(world.fixture, 5001, 7000, PRUNE_KEPT_S + 600);
    assert_int_equal(deleted_by(&world, &two, 7000), 2000);
    log_rows(world.fixture, 7001, 8000, PRUNE_KEPT_S + 600);
    assert_int_equal(deleted_by(&world, &one, 8000), 1000);
    expect_log(&world, "7001|8000|1000");
    end(&world);
}

/* More rows than an hour may have. */
static void test_too_many_rows(void **state)
{
    struct world world = begin(state);
    struct prune prune = {0};
    log_rows(world.fixture, 1, PRUNE_KEPT_MOST + 2500, 0);
    assert_int_equal(deleted_by(&world, &prune, PRUNE_KEPT_MOST + 2500), 2000);
    assert_int_equal(peer_execute(world.fixture, "SELECT min(number) FROM berth_log"), 2001);
    end(&world);
}

static void test_log_of_a_restored_backup(void **state)
{
    struct world world = begin(state);
    struct prune prune = {.until = 1000000};
    log_rows(world.fixture, 1, 3000, PRUNE_KEPT_S + 600);
    assert_int_equal(deleted_by(&world, &prune, 3000), 2000);
    assert_int_equal(deleted_by(&world, &prune, 0), 0);
    end(&world);
}

/* Rows that were deleted are there again, below those that may be deleted next. */
static void test_log_with_old_rows_again(void **state)
{
    struct world world = begin(state);
    struct prune prune = {0};
    log_rows(world.fixture, 1, 3000, PRUNE_KEPT_S + 600);
    assert_int_equal(deleted_by(&world, &prune, 3000), 2000);
    (void)peer_execute(world.fixture, "DELETE FROM berth_log");
    log_rows(world.fixture, 1, 2900, PRUNE_KEPT_S + 600);
    assert_int_equal(deleted_by(&world, &prune, 2900), 1000);
    expect_log(&world, "1001|2900|1900");
    end(&world);
}

/* An instance that has not noticed it yet keeps the newest rows all the same: a log without rows
 * would begin anew. */
static void test_log_that_has_gone_back(void **state)
{
    struct world world = begin(state);
    struct prune prune = {0};
    log_rows(world.fixture, 1, 3000, PRUNE_KEPT_S + 600);
    assert_int_equal(deleted_by(&world, &prune, 1000000), 2000);
    expect_log(&world, "2001|3000|1000");
    end(&world);
}

/* ---- the thread ---- */

/* What the thread is started with. */
struct thread_world {
    struct world world;
    struct server_dialect dialect;
    struct server_address address;
    struct server_connection_counts counts;
    struct server_lineage *lineage;
    struct server_head *head;
};

static void begin_thread(struct thread_world *t, void **state)
{
    *t = (struct thread_world){.world = begin(state)};
    struct fixture *fixture = t->world.fixture;
    t->dialect = *t->world.session->dialect;
    t->address.dialect = &t->dialect;
    t->address.url = t->dialect.url_parse(slice_of(fixture->url), fixture->arena,
                                          &t->address.target, &fixture->err);
    t->lineage = server_lineage_create();
    t->head = server_head_create(&t->address, t->lineage, &t->counts, 10000000, 0);
    const struct log_state state_5000 = {.number = 5000};
    const struct server_id unnamed = {0}; /* valid: no session has joined */
    assert_true(server_head_note(t->head, &state_5000, NULL, &unnamed, true));
}

static void end_thread(struct thread_world *t)
{
    server_head_destroy(t->head);
    server_lineage_destroy(t->lineage);
    end(&t->world);
}

static void test_thread(void **state)
{
    struct thread_world t;
    begin_thread(&t, state);
    struct fixture *fixture = t.world.fixture;
    log_rows(fixture, 1, 5000, PRUNE_KEPT_S + 600);
    struct housekeeping *housekeeping = housekeeping_start(&t.address, NULL, &t.counts, 0, t.head);
    assert_non_null(housekeeping);
    AWAIT(peer_execute(fixture, "SELECT count(*) FROM berth_instances") == 1);
    assert_int_equal(peer_execute(fixture, "SELECT followed FROM berth_instances"), 5000);
    AWAIT(housekeeping_figures(housekeeping).pruned == 4000);
    AWAIT(t.counts.made >= 2); /* the head's thread may be late */
    expect_log(&t.world, "4001|5000|1000");
    housekeeping_stop(housekeeping);
    assert_int_equal(peer_execute(fixture, "SELECT count(*) FROM berth_instances"), 0);
    end_thread(&t);
    /* a stop during the report makes another one for the row */
    assert_in_range(t.counts.made, 2, 3);
    assert_int_equal(t.counts.failed, 0);
}

static const struct server_dialect *whole;
static _Atomic int conflicts, passes;

static enum server_outcome write_in_conflict(struct server_session *session,
                                             const struct instance_row *row, int64_t followed,
                                             uint64_t deadline_us, struct err *err)
{
    if (passes++ >= conflicts)
        return whole->instance_write(session, row, followed, deadline_us, err);
    err_set(err, 503, NULL, "another transaction has won");
    return SERVER_RETRY;
}

static enum server_reason reason_of_conflict(const struct server_session *session)
{
    (void)session;
    return SERVER_REASON_CONFLICT;
}

/* Lets as many passes in a row fail, and returns how often that is in the log. */
static int told_conflicts(struct thread_world *t, int count)
{
    char logged[4096] = "";
    int log = memfd_create("log", MFD_CLOEXEC);
    conflicts = count;
    passes = 0;
    log_start(dup(log), false);
    struct housekeeping *housekeeping =
        housekeeping_start(&t->address, NULL, &t->counts, 0, t->head);
    assert_non_null(housekeeping);
    AWAIT(passes >= count);
    housekeeping_stop(housekeeping);
    log_stop();
    assert_true(pread(log, logged, sizeof(logged) - 1, 0) >= 0);
    close(log);
    int told = 0;
    for (const char *at = logged; (at = strstr(at, "another transaction has won")) != NULL; at++)
        told++;
    return told;
}

/* The same is tried again soon; only what goes on is logged, once. */
static void test_conflicts(void **state)
{
    struct thread_world t;
    begin_thread(&t, state);
    whole = t.world.session->dialect;
    t.dialect.instance_write = write_in_conflict;
    t.dialect.reason = reason_of_conflict;
    assert_int_equal(told_conflicts(&t, 3), 0);
    assert_int_equal(told_conflicts(&t, 4), 1);
    end_thread(&t);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_row_of_an_instance),
        TEST(test_rows_are_deleted_after_a_day),
        TEST(test_young_rows_are_kept),
        TEST(test_old_rows_are_deleted),
        TEST(test_two_instances),
        TEST(test_too_many_rows),
        TEST(test_log_of_a_restored_backup),
        TEST(test_log_with_old_rows_again),
        TEST(test_log_that_has_gone_back),
        TEST(test_thread),
        TEST(test_conflicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
