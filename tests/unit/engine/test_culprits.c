/* A store that refuses one request among many: only that one is answered 409, the others are
 * written, and neither is memory loaded again nor an outage reported. Then what the batch does with
 * its rules, and what it keeps apart from one request to the next. The store does as the requests'
 * names say, and keeps what is committed. */
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "engine/pipeline.h"
#include "engine/rules.h"
#include "fake_clock.h"
#include "memory_store/memory_store.h"
#include "unit.h"

/* However many are refused, a request is planned that often on average; if the store does not name
 * them, a few times more. */
enum { BATCH_MAX = 256, RUNS_MOST = 4, UNNAMED_RUNS_MOST = 8 };

struct ask {
    struct pipeline_request request; /* first */
    const char *trait;
    unsigned runs;
    unsigned answers;
    unsigned applied;
};

/* A rule that sees everything, and has to make up for what somebody else wrote. */
struct watch {
    const char *makes_up; /* the trait that is due, "": none is after all; NULL: nothing is due */
    bool has_followed;
    unsigned checked;
    unsigned made_up;
    const char *said; /* whose planner said that it records what is */
};

struct bench {
    struct memory_database database;
    struct store *store;
    unsigned fails_in;     /* the commit of that number fails, and all later ones; 0: none */
    bool memory_is_wrong;  /* what a refusal shows */
    bool is_locked;        /* the same; each takes a second */
    unsigned locked_times; /* how often at most; 0: always */
    unsigned refused;      /* how often it has refused something */
    void (*refuses)(struct bench *bench); /* called each of those times; NULL: nothing is */
    struct arena *arena;
    struct replica *replica;
    struct pipeline *pipeline;
    struct watch watch;
    struct rules rules;
    struct ask asks[BATCH_MAX];
    struct ask late; /* in no batch of run() */
};

/* memory_database.constraint: no trait's name begins with BAD, and commits fail from that number
 * on. */
static enum store_result check_trait(void *cls, const struct change *change, const char **broken)
{
    struct bench *bench = cls;
    if (bench->fails_in != 0 && bench->store->commits >= bench->fails_in)
        return STORE_FAILED;
    if (!slice_starts_with(change->catalog.name, SLICE_LIT("BAD")))
        return STORE_OK;
    if (bench->locked_times != 0 && bench->refused >= bench->locked_times)
        return STORE_OK;
    bench->refused++;
    if (bench->refuses != NULL)
        bench->refuses(bench);
    if (bench->is_locked)
        fake_clock_add_us(1000000);
    *broken = bench->is_locked         ? TABLES_LOCKED "BAD"
              : bench->memory_is_wrong ? TABLES_STALE "BAD"
                                       : TABLES_UNIQUE "BAD";
    return STORE_REFUSED;
}

static void append_trait(const struct plan *plan, const char *name)
{
    int64_t id = store_next_id(plan->store, STORE_TRAITS);
    change_append(plan->changes, CHANGE_TRAIT_INSERT)->catalog =
        (struct change_catalog){id, slice_of(name)};
}

static bool watch_check(void *context, const struct effects *effects, const struct plan *plan,
                        struct err *err)
{
    struct watch *watch = context;
    (void)err;
    watch->checked++;
    if (plan->said->records_what_is && effects->changes->count > 0)
        watch->said = effects->changes->items[0].catalog.name.data;
    return true;
}

static void *watch_make_up(void *context, const struct plan *plan)
{
    struct watch *watch = context;
    (void)plan;
    watch->has_followed = false;
    return watch->makes_up == NULL ? NULL : watch;
}

static bool watch_follow(void *noted, const struct plan *plan)
{
    struct watch *watch = noted;
    if (watch->has_followed || *watch->makes_up == '\0')
        return false;
    watch->has_followed = true;
    append_trait(plan, watch->makes_up);
    return true;
}

static void watch_made_up(void *context)
{
    struct watch *watch = context;
    watch->made_up += watch->makes_up != NULL;
    watch->makes_up = NULL;
}

static const struct rule watch_rule = {
    .name = "watch",
    .check_effects = watch_check,
    .make_up = watch_make_up,
    .follow = watch_follow,
    .made_up = watch_made_up,
};

static void prepare(void **state, bool names_no_culprit)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    bench->arena = arena_create();
    bench->replica = replica_create();
    struct err err = {.arena = bench->arena};
    bench->rules.count = 1;
    bench->rules.rows[0].rule = &watch_rule;
    bench->rules.rows[0].context = &bench->watch;
    memory_database_init(&bench->database);
    bench->database.constraint = check_trait;
    bench->database.cls = bench;
    bench->database.names_no_culprit = names_no_culprit;
    bench->store = memory_store_open(&bench->database);
    bench->pipeline = pipeline_create(bench->store, bench->replica, &bench->rules, &err);
    assert_non_null(bench->pipeline);
    *state = bench;
}

static int setup(void **state)
{
    prepare(state, false);
    return 0;
}

/* A store that does not name whom it refuses. */
static int setup_unnamed(void **state)
{
    prepare(state, true);
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    pipeline_destroy(bench->pipeline);
    replica_destroy(bench->replica);
    store_close(bench->store);
    memory_database_free(&bench->database);
    arena_destroy(bench->arena);
    free(bench);
    return 0;
}

/* "NO" is refused by its planner, "ONCE" by its first run. "SAYS" records what is, "TWO" brings a
 * row more. */
static bool plan_trait(struct pipeline_request *request, const struct plan *plan)
{
    struct ask *ask = (struct ask *)request;
    ask->runs++;
    if (strcmp(ask->trait, "NO") == 0)
        return err_set(&request->err, 404, NULL, "no");
    if (catalog_find(&plan->version->traits, slice_of(ask->trait)) != NULL)
        return err_set(&request->err, 400, NULL, "twice");
    if (strcmp(ask->trait, "ONCE") == 0 && ask->runs == 1)
        return err_set(&request->err, 400, NULL, "not yet");
    plan->said->records_what_is |= strcmp(ask->trait, "SAYS") == 0;
    append_trait(plan, ask->trait);
    if (strcmp(ask->trait, "TWO") == 0)
        append_trait(plan, "THREE");
    return true;
}

static void applied(struct pipeline_request *request, const struct plan *plan)
{
    struct ask *ask = (struct ask *)request;
    ask->applied++;
    assert_non_null(catalog_find(&plan->version->traits, slice_of(ask->trait)));
}

static void answered(struct pipeline_request *request)
{
    ((struct ask *)request)->answers++;
}

static void submit(struct bench *bench, struct ask *ask, const char *trait)
{
    *ask = (struct ask){
        .request = {.plan = plan_trait,
                    .applied = applied,
                    .done = answered,
                    .max_rows = 1,
                    .err = {.arena = bench->arena}},
        .trait = trait,
    };
    pipeline_submit(bench->pipeline, &ask->request);
}

/* One batch of these; returns how many. */
static size_t run(struct bench *bench, const char *const *traits)
{
    size_t count = 0;
    for (; traits[count] != NULL; count++) {
        assert_true(count < BATCH_MAX);
        submit(bench, &bench->asks[count], traits[count]);
    }
    assert_true(pipeline_run_once(bench->pipeline));
    return count;
}

static const struct rows *written(const struct bench *bench)
{
    return &bench->database.tables.rows[TABLE_TRAITS];
}

static bool is_written(const struct bench *bench, const char *name)
{
    for (uint32_t i = 0; i < written(bench)->count; i++)
        if (slice_equal(written(bench)->row[i].image.catalog.name, slice_of(name)))
            return true;
    return false;
}

static bool is_known(const struct bench *bench, const char *name)
{
    return catalog_find(&replica_newest(bench->replica)->traits, slice_of(name)) != NULL;
}

static void check_answer(const struct bench *bench, const struct ask *ask)
{
    bool is_bad = strncmp(ask->trait, "BAD", 3) == 0;
    int wanted = is_bad ? 409 : strcmp(ask->trait, "NO") == 0 ? 404 : 0;
    assert_int_equal(ask->answers, 1);
    assert_int_equal(ask->request.err.status, wanted);
    assert_int_equal(ask->request.err.kind, is_bad ? REFUSED_BY_DATABASE : REFUSED_OTHERWISE);
    assert_int_equal(is_written(bench, ask->trait), wanted == 0);
    assert_int_equal(is_known(bench, ask->trait), wanted == 0);
}

static void decide(struct bench *bench, const char *const *traits)
{
    size_t before = written(bench)->count;
    size_t count = run(bench, traits);
    size_t good = 0;
    size_t runs = 0;
    for (size_t i = 0; i < count; i++) {
        runs += bench->asks[i].runs;
        check_answer(bench, &bench->asks[i]);
        good += bench->asks[i].request.err.status == 0;
    }
    assert_true(runs <= (bench->database.names_no_culprit ? UNNAMED_RUNS_MOST : RUNS_MOST) * count);
    assert_int_equal(written(bench)->count, before + good); /* each once */
    assert_false(bench->store->is_locked || bench->store->is_reading);
    struct pipeline_figures figures = pipeline_figures(bench->pipeline);
    assert_int_equal(figures.outage, OUTAGE_NONE);
    assert_int_equal(figures.outages[OUTAGE_WRITES] + figures.outages[OUTAGE_ALL], 0);
    assert_int_equal(figures.reloads, 1); /* at the start */
}

static void test_one(void **state)
{
    struct bench *bench = *state;
    decide(bench, (const char *const[]){"A1", "BAD", "A2", NULL});
    decide(bench, (const char *const[]){"BAD", "B1", "B2", NULL});
    decide(bench, (const char *const[]){"C1", "C2", "BAD", NULL});
    decide(bench, (const char *const[]){"BAD", NULL});
    decide(bench, (const char *const[]){"D1", NULL});
}

static void test_several(void **state)
{
    struct bench *bench = *state;
    decide(bench, (const char *const[]){"BAD1", "BAD2", "BAD3", NULL});
    decide(bench, (const char *const[]){"BAD1", "A1", "BAD2", "A2", "BAD3", NULL});
    decide(bench,
           (const char *const[]){"B1", "B2", "BAD2", "BAD3", "B3", "NO", "BAD4", "B4", NULL});
    decide(bench, (const char *const[]){"NO", "BAD", "NO", NULL});
}

/* Every choice of culprits among eight. */
static void test_any(void **state)
{
    for (unsigned set = 0; set < 256; set += 5) {
        struct bench *bench = *state;
        char names[8][16];
        const char *traits[9] = {NULL};
        for (unsigned i = 0; i < 8; i++) {
            snprintf(names[i], sizeof(names[i]), "%s%u", (set >> i & 1) != 0 ? "BAD" : "GOOD", i);
            traits[i] = names[i];
        }
        bool is_unnamed = bench->database.names_no_culprit;
        decide(bench, traits);
        teardown(state);
        prepare(state, is_unnamed);
    }
}

/* Many requests, of which every n-th is a culprit, or those of one half. */
static void test_many(void **state)
{
    for (unsigned every = 1; every <= 16; every++) {
        struct bench *bench = *state;
        char names[BATCH_MAX][16];
        const char *traits[BATCH_MAX + 1] = {NULL};
        for (unsigned i = 0; i < BATCH_MAX; i++) {
            bool is_bad = every == 16 ? i >= BATCH_MAX / 2 : i % every == every - 1;
            snprintf(names[i], sizeof(names[i]), "%s%u", is_bad ? "BAD" : "GOOD", i);
            traits[i] = names[i];
        }
        bool is_unnamed = bench->database.names_no_culprit;
        decide(bench, traits);
        teardown(state);
        prepare(state, is_unnamed);
    }
}

/* What depends on a refused request's row is planned again without it. */
static void test_order_stays(void **state)
{
    struct bench *bench = *state;
    const char *const traits[] = {"A", "A", "BAD", "BAD", "A", "B", NULL};
    run(bench, traits);
    const int wanted[] = {0, 400, 409, 409, 400, 0};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(bench->asks[i].request.err.status, wanted[i]);
    assert_int_equal(written(bench)->count, 2);
}

/* Those decided before it fails are written, the others are answered with an error, and it is an
 * outage. */
static void test_fails_in_a_later_run(void **state)
{
    const char *const traits[] = {"A1", "BAD1", "A2", "BAD2", "A3", NULL};
    for (unsigned fails_in = 1; fails_in < 6; fails_in++) {
        struct bench *bench = *state;
        bench->fails_in = fails_in;
        size_t count = run(bench, traits);
        unsigned lost = 0;
        for (size_t i = 0; i < count; i++) {
            const struct ask *ask = &bench->asks[i];
            int status = ask->request.err.status;
            assert_int_equal(ask->answers, 1);
            assert_true(status == 0 || status == 409 || status == 503);
            assert_int_equal(status == 0, is_written(bench, ask->trait));
            assert_int_equal(status == 0, is_known(bench, ask->trait));
            lost += status == 503;
        }
        assert_false(bench->store->is_locked || bench->store->is_reading);
        assert_true(lost > 0);
        assert_int_equal(pipeline_figures(bench->pipeline).outage, OUTAGE_WRITES);
        bench->fails_in = 0;
        run(bench, (const char *const[]){"AFTER", NULL});
        assert_int_equal(bench->asks[0].request.err.status, 0);
        teardown(state);
        setup(state);
    }
}

/* Memory that is wrong is loaded again once, and not for ever. */
static void test_memory_is_wrong(void **state)
{
    struct bench *bench = *state;
    bench->memory_is_wrong = true;
    run(bench, (const char *const[]){"A", "BAD1", "B", "BAD2", NULL});
    const int wanted[] = {0, 409, 0, 409};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(bench->asks[i].request.err.status, wanted[i]);
    assert_int_equal(written(bench)->count, 2);
}

/* What a planner says, and why it refuses, counts for that run only. */
static void test_runs_are_apart(void **state)
{
    struct bench *bench = *state;
    run(bench, (const char *const[]){"SAYS", "A", NULL});
    assert_string_equal(bench->watch.said, "SAYS");
    run(bench, (const char *const[]){"ONCE", "BAD", NULL});
    assert_int_equal(bench->asks[0].runs, 2);
    assert_int_equal(bench->asks[0].request.err.status, 0);
    assert_true(is_written(bench, "ONCE"));
}

/* `applied` sees what the request has become, and no request that is refused. */
static void test_applied(void **state)
{
    struct bench *bench = *state;
    run(bench, (const char *const[]){"A", "NO", "A", "B", NULL});
    const unsigned wanted[] = {1, 0, 0, 1};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(bench->asks[i].applied, wanted[i]);
}

/* What is too large by the number of its changes costs no rule anything. */
static void test_too_large(void **state)
{
    struct bench *bench = *state;
    run(bench, (const char *const[]){"A", "TWO", NULL});
    assert_int_equal(bench->watch.checked, 1);
    assert_int_equal(bench->asks[0].request.err.status, 0);
    assert_int_equal(bench->asks[1].request.err.status, 413);
    assert_int_equal(bench->asks[1].request.err.kind, REFUSED_TOO_MANY_ROWS);
    assert_false(is_known(bench, "THREE"));
}

/* It is due until it is committed, also with a batch in which nothing else is written. */
static void test_make_up(void **state)
{
    struct bench *bench = *state;
    bench->watch.makes_up = "DUE";
    bench->fails_in = 1;
    run(bench, (const char *const[]){"A", NULL});
    assert_int_equal(bench->watch.made_up, 0);
    bench->fails_in = 0;
    run(bench, (const char *const[]){"NO", NULL});
    assert_int_equal(bench->watch.made_up, 1);
    assert_true(is_written(bench, "DUE") && is_known(bench, "DUE"));
    run(bench, (const char *const[]){"A", NULL});
    assert_int_equal(bench->watch.made_up, 1);
    bench->watch.makes_up = "";
    run(bench, (const char *const[]){"NO", NULL});
    assert_int_equal(bench->watch.made_up, 2);
    assert_int_equal(written(bench)->count, 2);
}

/* What the store refuses of it would be refused for ever. */
static void test_make_up_is_refused(void **state)
{
    struct bench *bench = *state;
    bench->watch.makes_up = "BADDUE";
    run(bench, (const char *const[]){"A", "B", NULL});
    assert_int_equal(bench->watch.made_up, 1);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(bench->asks[i].request.err.status, 0);
    assert_int_equal(written(bench)->count, 2);
}

/* The same if the store does not say that it was this: no request is blamed. */
static void test_make_up_is_refused_unnamed(void **state)
{
    static const char *const batches[][4] = {
        {"A", NULL}, {"B", "C", "D", NULL}, {"BAD", NULL}, {"E", "BAD", NULL}};
    struct bench *bench = *state;
    for (unsigned i = 0; i < 4; i++) {
        bench->watch.makes_up = "BADDUE";
        decide(bench, batches[i]);
        assert_int_equal(bench->watch.made_up, i + 1);
    }
}

/* What is due is written although a request of its batch is refused. */
static void test_make_up_beside_a_culprit(void **state)
{
    struct bench *bench = *state;
    bench->watch.makes_up = "DUE";
    run(bench, (const char *const[]){"BAD", NULL});
    assert_int_equal(bench->asks[0].request.err.status, 409);
    run(bench, (const char *const[]){"A", NULL});
    assert_int_equal(bench->asks[0].request.err.status, 0);
    assert_int_equal(bench->watch.made_up, 1);
    assert_true(is_written(bench, "DUE") && is_known(bench, "DUE"));
}

/* Without an id for its row, a request is refused and the others are written. */
static void test_no_ids(void **state)
{
    struct bench *bench = *state;
    bench->database.most_id = 2;
    run(bench, (const char *const[]){"A", "NO", "B", "C", "A", NULL});
    const int wanted[] = {0, 404, 0, 503, 400};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(bench->asks[i].request.err.status, wanted[i]);
    assert_int_equal(bench->asks[3].request.err.kind, REFUSED_BY_DATABASE);
    assert_int_equal(written(bench)->count, 2);
    assert_false(is_known(bench, "C"));
    assert_int_equal(pipeline_figures(bench->pipeline).outage, OUTAGE_NONE);
    bench->database.most_id = 3;
    decide(bench, (const char *const[]){"C", NULL});
}

/* What other processes' writes require stays due. */
static void test_no_ids_for_what_is_due(void **state)
{
    struct bench *bench = *state;
    bench->watch.makes_up = "DUE";
    bench->database.most_id = -1;
    run(bench, (const char *const[]){"A", NULL});
    assert_int_equal(bench->asks[0].request.err.status, 503);
    assert_int_equal(bench->watch.made_up, 0);
    bench->database.most_id = 0;
    run(bench, (const char *const[]){"A", NULL});
    assert_int_equal(bench->asks[0].request.err.status, 0);
    assert_int_equal(bench->watch.made_up, 1);
    assert_true(is_known(bench, "DUE") && is_known(bench, "A"));
}

/* What the database cannot hold fails no other request of the batch. */
static void test_cannot_hold(void **state)
{
    struct bench *bench = *state;
    bench->database.cannot_hold = "WIDE";
    bench->watch.makes_up = "WIDE";
    run(bench, (const char *const[]){"A", "WIDE", "B", NULL});
    const int wanted[] = {0, 400, 0};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(bench->asks[i].request.err.status, wanted[i]);
    assert_int_equal(bench->asks[1].request.err.kind, REFUSED_BY_DATABASE);
    assert_int_equal(bench->watch.made_up, 1); /* it would not fit the next time either */
    assert_int_equal(written(bench)->count, 2);
    assert_false(is_known(bench, "WIDE"));
}

/* A row that another program's session has locked fails no other request of the batch, and is no
 * outage. */
static void test_locked_row(void **state)
{
    struct bench *bench = *state;
    bench->is_locked = true;
    run(bench, (const char *const[]){"A", "B", "BAD", "C", "D", "E", NULL});
    const int wanted[] = {0, 0, 503, 0, 0, 0};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(bench->asks[i].request.err.status, wanted[i]);
    assert_int_equal(bench->asks[2].request.err.kind, REFUSED_BY_DATABASE);
    assert_int_equal(bench->asks[2].answers, 1);
    assert_int_equal(written(bench)->count, 5);
    assert_int_equal(pipeline_figures(bench->pipeline).outage, OUTAGE_NONE);
}

/* A deadlock ends with the attempt: then the request is made after all. */
static void test_deadlock(void **state)
{
    struct bench *bench = *state;
    bench->is_locked = true;
    bench->locked_times = 1;
    run(bench, (const char *const[]){"BAD", NULL});
    assert_int_equal(bench->asks[0].request.err.status, 0);
    assert_true(is_known(bench, "BAD"));
}

/* After both attempts with all requests, and before all are refused. */
static void submit_late(struct bench *bench)
{
    if (bench->refused == 15)
        submit(bench, &bench->late, "LATE");
}

/* If it is all rows, as when a table is locked, the requests do not wait one after the other. One
 * that arrives meanwhile is not among them. */
static void test_locked_table(void **state)
{
    struct bench *bench = *state;
    char names[BATCH_MAX][16];
    const char *traits[BATCH_MAX + 1] = {NULL};
    for (unsigned i = 0; i < BATCH_MAX; i++) {
        snprintf(names[i], sizeof(names[i]), "BAD%u", i);
        traits[i] = names[i];
    }
    bench->is_locked = true;
    bench->refuses = submit_late;
    size_t count = run(bench, traits);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(bench->asks[i].answers, 1);
        assert_int_equal(bench->asks[i].request.err.status, 503);
    }
    assert_in_range(bench->refused, 20, 22); /* seconds */
    assert_int_equal(pipeline_figures(bench->pipeline).outage, OUTAGE_WRITES);
    assert_int_equal(bench->late.answers, 0);
    assert_true(pipeline_run_once(bench->pipeline));
    assert_int_equal(bench->late.answers, 1);
    assert_int_equal(bench->late.request.err.status, 0);
}

/* What other processes' writes require stays due. */
static void test_locked_row_of_what_is_due(void **state)
{
    struct bench *bench = *state;
    bench->is_locked = true;
    bench->watch.makes_up = "BADDUE";
    run(bench, (const char *const[]){"A", NULL});
    assert_int_equal(bench->asks[0].request.err.status, 503);
    assert_int_equal(bench->watch.made_up, 0);
    bench->database.constraint = NULL;
    run(bench, (const char *const[]){"A", NULL});
    assert_int_equal(bench->asks[0].request.err.status, 0);
    assert_int_equal(bench->watch.made_up, 1);
    assert_true(is_known(bench, "BADDUE") && is_known(bench, "A"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one, setup, teardown),
        cmocka_unit_test_setup_teardown(test_several, setup, teardown),
        cmocka_unit_test_setup_teardown(test_any, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many, setup, teardown),
        cmocka_unit_test_setup_teardown(test_order_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fails_in_a_later_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory_is_wrong, setup, teardown),
        cmocka_unit_test_setup_teardown(test_runs_are_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(test_applied, setup, teardown),
        cmocka_unit_test_setup_teardown(test_too_large, setup, teardown),
        cmocka_unit_test_setup_teardown(test_make_up, setup, teardown),
        cmocka_unit_test_setup_teardown(test_make_up_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_make_up_beside_a_culprit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_ids, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cannot_hold, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_ids_for_what_is_due, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one, setup_unnamed, teardown),
        cmocka_unit_test_setup_teardown(test_several, setup_unnamed, teardown),
        cmocka_unit_test_setup_teardown(test_any, setup_unnamed, teardown),
        cmocka_unit_test_setup_teardown(test_many, setup_unnamed, teardown),
        cmocka_unit_test_setup_teardown(test_order_stays, setup_unnamed, teardown),
        cmocka_unit_test_setup_teardown(test_memory_is_wrong, setup_unnamed, teardown),
        cmocka_unit_test_setup_teardown(test_make_up, setup_unnamed, teardown),
        cmocka_unit_test_setup_teardown(test_make_up_is_refused_unnamed, setup_unnamed, teardown),
        cmocka_unit_test_setup_teardown(test_make_up_beside_a_culprit, setup_unnamed, teardown),
        cmocka_unit_test_setup_teardown(test_locked_row, setup_unnamed, teardown),
        cmocka_unit_test_setup_teardown(test_deadlock, setup_unnamed, teardown),
        cmocka_unit_test_setup_teardown(test_locked_table, setup_unnamed, teardown),
        cmocka_unit_test_setup_teardown(test_locked_row_of_what_is_due, setup_unnamed, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
