/* A store that is one batch of claims behind takes it from the answer to the query that has found
 * it; anything else is left to an ordinary read. */
#include "new_server.h"
#include "peer.h"

enum { CLAIM = 60 };

struct pair {
    struct store *one;   /* claims */
    struct store *other; /* is behind */
    int64_t claims;
};

static struct pair begin(struct fixture *fixture)
{
    struct pair pair = {.one = open_seeded(fixture, NULL),
                        .other = fixture_open_elsewhere(fixture)};
    expect_news(fixture, pair.other, STORE_NEWS_RELOAD);
    return pair;
}

static void end(struct pair *pair)
{
    store_close(pair->one);
    store_close(pair->other);
}

/* A batch whose changes the log has with their values. */
static void claim(struct fixture *fixture, struct pair *pair)
{
    struct change_list list = changes_of(fixture);
    add_generation(&list, 1, pair->claims, pair->claims + 1);
    if (pair->claims++ == 0)
        add_consumer(&list, CHANGE_CONSUMER_INSERT, CLAIM, UUID_D, 1);
    else
        add_consumer(&list, CHANGE_CONSUMER_UPDATE, CLAIM, UUID_D, pair->claims);
    if (pair->claims == 1)
        add_allocation(&list, CLAIM, CLAIM, UUID_D, 1, 0, 5);
    commit_changes(fixture, pair->one, &list);
}

static void count(void *cls, const struct change *change)
{
    unsigned *counts = cls;
    counts[0] += change->kind == CHANGE_PROVIDER_GENERATION;
    counts[1] += change->kind == CHANGE_CONSUMER_INSERT;
    counts[2] += change->kind == CHANGE_ALLOCATION_INSERT && change->allocation.used == 5;
    counts[3]++;
}

static bool follows(struct pair *pair, const struct store_stamp *head)
{
    unsigned counts[4] = {0};
    bool does = store_follow_head(pair->other, head, count, counts);
    if (!does)
        assert_int_equal(counts[3], 0);
    return does;
}

static void test_one_claim(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair = begin(fixture);
    unsigned counts[4] = {0};
    claim(fixture, &pair);
    const struct store_stamp head = ask_newest(pair.other);
    assert_true(store_follow_head(pair.other, &head, count, counts));
    assert_int_equal(counts[0] * 100 + counts[1] * 10 + counts[2], 111);
    assert_int_equal(counts[3], 3);
    assert_true(store_take_head(pair.other));
    assert_true(is_newest(pair.other, &head));
    assert_true(store_covers(pair.other, &head, &head));
    assert_int_equal(store_figures(pair.other).log_head, store_figures(pair.one).log_head);
    expect_news(fixture, pair.other, STORE_NEWS_NONE);
    claim(fixture, &pair);
    const struct store_stamp next = ask_newest(pair.other);
    assert_true(follows(&pair, &next));
    assert_true(store_take_head(pair.other));
    assert_true(store_covers(pair.other, &next, &head));
    assert_false(store_covers(pair.other, &head, &next));
    expect_news(fixture, pair.other, STORE_NEWS_NONE);
    end(&pair);
}

/* What memory does not take is read as usual. An answer is used once. */
static void test_left(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair = begin(fixture);
    claim(fixture, &pair);
    const struct store_stamp head = ask_newest(pair.other);
    assert_true(follows(&pair, &head));
    assert_false(follows(&pair, &head));
    expect_news(fixture, pair.other, STORE_NEWS_FOLLOW);
    expect_news(fixture, pair.other, STORE_NEWS_NONE);
    end(&pair);
}

static void test_two_batches(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair = begin(fixture);
    claim(fixture, &pair);
    claim(fixture, &pair);
    const struct store_stamp head = ask_newest(pair.other);
    assert_false(follows(&pair, &head));
    expect_news(fixture, pair.other, STORE_NEWS_FOLLOW);
    end(&pair);
}

/* Memory has become newer than the answer, or has another state. */
static void test_old_answers(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair = begin(fixture);
    const struct store_stamp before = ask_newest(pair.other);
    claim(fixture, &pair);
    const struct store_stamp head = ask_newest(pair.other);
    assert_false(follows(&pair, &before));
    expect_news(fixture, pair.other, STORE_NEWS_FOLLOW);
    assert_false(follows(&pair, &head));
    end(&pair);
}

/* The database went back. */
static void lose(struct fixture *fixture, int64_t number)
{
    (void)peer_execute(fixture,
                       arena_printf(fixture->arena, "DELETE FROM berth_log WHERE number = %lld%c",
                                    (long long)number, '\0')
                           .data);
}

static void lose_newest(struct fixture *fixture, const struct pair *pair)
{
    lose(fixture, server_store_of(pair->one)->followed.number);
}

/* Until memory has been read again, the answer is none that memory covers. */
static void expect_gone(struct pair *pair, const struct store_stamp *had)
{
    const struct store_stamp none = log_stamp_of_none();
    const struct store_stamp head = ask_newest(pair->other);
    assert_memory_equal(&head, &none, sizeof(head));
    assert_false(store_covers(pair->other, had, &head));
}

/* A read that begins now finds that memory has everything. */
static void expect_had(struct fixture *fixture, struct pair *pair, const struct store_stamp *had)
{
    struct store_stamp stamp;
    assert_int_equal(store_begin_read(pair->other, &fixture->err), STORE_NEWS_NONE);
    assert_true(store_end_read(pair->other, &stamp));
    assert_memory_equal(&stamp, had, sizeof(stamp));
    assert_true(is_newest(pair->other, had));
}

/* A batch that was read, and is lost before memory has it. An older answer, to a query that was
 * sent afterwards, must not pass for an earlier state: otherwise a read that was sent after the
 * loss would get the batch, as soon as memory has it. */
static void test_lost_before_it_is_taken(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair = begin(fixture);
    const struct store_stamp had = ask_newest(pair.other);
    claim(fixture, &pair);
    const struct store_stamp lost = ask_newest(pair.other);
    lose_newest(fixture, &pair);
    expect_gone(&pair, &had);
    expect_gone(&pair, &had);
    expect_had(fixture, &pair, &had);
    assert_false(follows(&pair, &lost));
    end(&pair);
}

/* The same of rows that were read with the lock. */
static void test_lost_under_the_lock(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair = begin(fixture);
    const struct store_stamp had = ask_newest(pair.other);
    claim(fixture, &pair);
    assert_int_equal(lock_store(pair.other, &fixture->err), STORE_LOCKED);
    lose_newest(fixture, &pair);
    expect_gone(&pair, &had);
    store_unlock(pair.other);
    expect_had(fixture, &pair, &had);
    end(&pair);
}

/* The same of a snapshot that is being read. */
static void test_lost_while_it_is_read(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair = begin(fixture);
    struct store_stamp stamp;
    const struct store_stamp had = ask_newest(pair.other);
    claim(fixture, &pair);
    assert_int_equal(store_begin_read(pair.other, &fixture->err), STORE_NEWS_FOLLOW);
    lose_newest(fixture, &pair);
    expect_gone(&pair, &had);
    assert_false(store_end_read(pair.other, &stamp));
    expect_had(fixture, &pair, &had);
    end(&pair);
}

/* The same of one that an observer has seen. */
static void test_lost_after_a_look(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair = begin(fixture);
    struct store_observer *observer = store_observe(pair.other, &fixture->err);
    struct store_stamp stamp;
    const struct store_stamp had = ask_newest(pair.other);
    claim(fixture, &pair);
    assert_true(store_observer_begin(observer, &stamp, &fixture->err));
    store_observer_end(observer);
    lose_newest(fixture, &pair);
    expect_gone(&pair, &had);
    expect_had(fixture, &pair, &had);
    store_observer_free(observer);
    end(&pair);
}

/* A batch of the store's own that is there, though its answer is unread. */
static struct store_stamp write_unread(struct fixture *fixture, struct pair *pair)
{
    const struct store_stamp had = ask_newest(pair->other);
    struct store_stamp head = had;
    assert_int_equal(lock_and_read(pair->other, &fixture->err), STORE_NEWS_NONE);
    assert_true(store_end_read(pair->other, &head));
    assert_int_equal(peer_commit_project(fixture, pair->other, 101, "unread"), STORE_PENDING);
    while (memcmp(&head, &had, sizeof(had)) == 0)
        head = ask_newest(pair->other);
    return had;
}

/* `is_seen_again`: in an answer from before the loss, which is read after the snapshot. */
static void expect_not_published(struct fixture *fixture, bool is_seen_again)
{
    struct pair pair = begin(fixture);
    struct server_store *store = server_store_of(pair.other);
    const struct store_stamp had = write_unread(fixture, &pair);
    int64_t number = store->followed.number + 1;
    (void)peer_execute(fixture, "DELETE FROM projects WHERE id = 101");
    lose(fixture, number);
    expect_had(fixture, &pair, &had);
    if (is_seen_again)
        server_head_note_seen(store->head, number);
    assert_int_equal(peer_await_decision(fixture, pair.other), STORE_PENDING);
    assert_int_equal(peer_await_last(fixture, pair.other), STORE_TAKEN);
    assert_int_equal(store->unknown_undone, 1);
    end(&pair);
}

/* It is lost, as a snapshot shows, before the answer is read: whoever published it then would show
 * it to reads that have come after the loss. */
static void test_lost_before_the_answer_is_read(void **state)
{
    expect_not_published(*state, false);
}

static void test_old_answer_after_the_loss(void **state)
{
    expect_not_published(*state, true);
}

/* As long as no snapshot shows that it is gone, the answer counts. */
static void test_seen_before_the_answer_is_read(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair = begin(fixture);
    struct server_store *store = server_store_of(pair.other);
    (void)write_unread(fixture, &pair);
    assert_int_equal(peer_await_last(fixture, pair.other), STORE_OK);
    assert_int_equal(store->unknown_done, 0);
    end(&pair);
}

/* What was lost before a batch was sent has nothing to do with it, although it had that number. */
static void test_lost_before_the_batch(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair = begin(fixture);
    struct server_store *store = server_store_of(pair.other);
    const struct store_stamp had = ask_newest(pair.other);
    claim(fixture, &pair);
    (void)ask_newest(pair.other);
    lose_newest(fixture, &pair);
    expect_had(fixture, &pair, &had);
    assert_int_equal(peer_commit_project(fixture, pair.other, 101, "next"), STORE_PENDING);
    assert_int_equal(peer_await_last(fixture, pair.other), STORE_OK);
    assert_int_equal(store->unknown_done, 0);
    end(&pair);
}

/* The row of a batch that others have planned on another history has the next number as well. */
static void test_another_history(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair = begin(fixture);
    claim(fixture, &pair);
    const struct store_stamp head = ask_newest(pair.other);
    server_store_of(pair.other)->followed.digest[0] ^= 1;
    assert_false(follows(&pair, &head));
    end(&pair);
}

/* The log names providers; what they are is in their table. */
static void test_only_named(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair = begin(fixture);
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_PROJECT_INSERT, 101, "another");
    commit_changes(fixture, pair.one, &list);
    const struct store_stamp head = ask_newest(pair.other);
    assert_false(follows(&pair, &head));
    expect_news(fixture, pair.other, STORE_NEWS_FOLLOW);
    end(&pair);
}

static void test_suspected(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair = begin(fixture);
    claim(fixture, &pair);
    const struct store_stamp head = ask_newest(pair.other);
    assert_true(store_suspect(pair.other, ENTITY_PROVIDER, 2, (struct slice){0}));
    assert_false(follows(&pair, &head));
    expect_news(fixture, pair.other, STORE_NEWS_FOLLOW);
    end(&pair);
}

static void test_new_epoch(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair = begin(fixture);
    claim(fixture, &pair);
    server_store_of(pair.one)->epochs.is_due = true;
    claim(fixture, &pair);
    expect_news(fixture, pair.other, STORE_NEWS_FOLLOW);
    assert_int_equal(store_figures(pair.other).epoch, 1);
    server_store_of(pair.one)->epochs.is_due = true;
    claim(fixture, &pair);
    const struct store_stamp head = ask_newest(pair.other);
    assert_false(follows(&pair, &head));
    expect_news(fixture, pair.other, STORE_NEWS_FOLLOW);
    assert_int_equal(store_figures(pair.other).epoch, 2);
    claim(fixture, &pair);
    const struct store_stamp next = ask_newest(pair.other);
    assert_true(follows(&pair, &next));
    assert_true(store_take_head(pair.other));
    assert_int_equal(store_figures(pair.other).epoch, 2);
    /* one that it has begun itself stays known */
    struct change_list list = changes_of(fixture);
    add_catalog(&list, CHANGE_PROJECT_INSERT, 101, "another");
    server_store_of(pair.other)->epochs.is_due = true;
    commit_changes(fixture, pair.other, &list);
    expect_news(fixture, pair.one, STORE_NEWS_FOLLOW);
    claim(fixture, &pair);
    const struct store_stamp last = ask_newest(pair.other);
    assert_true(follows(&pair, &last));
    assert_true(store_take_head(pair.other));
    assert_int_equal(store_figures(pair.other).epoch, 3);
    end(&pair);
}

/* Another server has taken the place of the one that has answered. */
static void test_replaced(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair = begin(fixture);
    struct server_store *other = server_store_of(pair.other);
    claim(fixture, &pair);
    const struct store_stamp head = ask_newest(pair.other);
    assert_true(follows(&pair, &head));
    replace_server(pair.other);
    assert_false(store_take_head(pair.other));
    assert_int_not_equal(other->followed.number, other->head_read.state.number);
    end(&pair);
}

/* Other transactions' numbers, as after a promotion that memory has not looked at. */
static void test_other_timeline(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair = begin(fixture);
    claim(fixture, &pair);
    const struct store_stamp head = ask_newest(pair.other);
    server_store_of(pair.other)->examined_timeline++;
    assert_false(follows(&pair, &head));
    end(&pair);
}

static void test_locked(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair = begin(fixture);
    claim(fixture, &pair);
    const struct store_stamp head = ask_newest(pair.other);
    assert_int_equal(lock_store(pair.other, &fixture->err), STORE_LOCKED);
    assert_false(follows(&pair, &head));
    store_unlock(pair.other);
    end(&pair);
}

/* The database went back once, which was read and named, and then memory had a batch of its own. */
static void test_after_going_back(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair = begin(fixture);
    struct server_store *other = server_store_of(pair.other);
    other->read.went_back = true; /* of the last read */
    claim(fixture, &pair);
    const struct store_stamp head = ask_newest(pair.other);
    assert_true(follows(&pair, &head));
    assert_true(store_take_head(pair.other));
    assert_false(other->epochs.is_due);
    assert_false(other->must_remember);
    end(&pair);
}

/* An ordinary read would do more than follow the log. */
static void test_more_is_due(void **state)
{
    struct fixture *fixture = *state;
    struct pair pair = begin(fixture);
    struct server_store *other = server_store_of(pair.other);
    bool *const due[] = {&other->has_state, &other->must_remember};
    for (size_t i = 0; i < sizeof(due) / sizeof(due[0]); i++) {
        claim(fixture, &pair);
        const struct store_stamp head = ask_newest(pair.other);
        *due[i] = !*due[i];
        assert_false(follows(&pair, &head));
        *due[i] = !*due[i];
        assert_true(follows(&pair, &head));
        assert_true(store_take_head(pair.other));
    }
    claim(fixture, &pair);
    struct store_stamp head = ask_newest(pair.other);
    other->is_replaced = true;
    assert_false(follows(&pair, &head));
    other->is_replaced = false;
    server_head_set_coexists(other->head, true);
    assert_false(follows(&pair, &head));
    server_head_set_coexists(other->head, false);
    assert_true(follows(&pair, &head));
    end(&pair);
}

/* A store that has read nothing has no rows that the first batch could continue. */
static void test_nothing_read(void **state)
{
    struct fixture *fixture = *state;
    struct store *one = fixture_open(fixture);
    struct store *other = fixture_open_elsewhere(fixture);
    struct change_list list = changes_of(fixture);
    unsigned counts[4] = {0};
    expect_news(fixture, one, STORE_NEWS_RELOAD);
    add_catalog(&list, CHANGE_PROJECT_INSERT, 101, "first");
    commit_changes(fixture, one, &list);
    const struct store_stamp head = ask_newest(other);
    assert_false(store_follow_head(other, &head, count, counts));
    store_close(one);
    store_close(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_one_claim),
        TEST(test_left),
        TEST(test_two_batches),
        TEST(test_old_answers),
        TEST(test_another_history),
        TEST(test_only_named),
        TEST(test_suspected),
        TEST(test_new_epoch),
        TEST(test_replaced),
        TEST(test_other_timeline),
        TEST(test_locked),
        TEST(test_after_going_back),
        TEST(test_more_is_due),
        TEST(test_nothing_read),
        TEST(test_lost_before_it_is_taken),
        TEST(test_lost_under_the_lock),
        TEST(test_lost_while_it_is_read),
        TEST(test_lost_after_a_look),
        TEST(test_lost_before_the_answer_is_read),
        TEST(test_old_answer_after_the_loss),
        TEST(test_seen_before_the_answer_is_read),
        TEST(test_lost_before_the_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
