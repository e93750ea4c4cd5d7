/* What a request may write at most: counted with what follows from it, and refused alone. */
#include "base/arena.h"
#include "engine/pipeline.h"
#include "engine/rules.h"
#include "model/node.h"
#include "placement/write/plan_allocations.h"
#include "store/store.h"
#include "unit.h"

#include <stdlib.h>

enum { BATCH_MAX = 8 };

struct ask {
    struct pipeline_request request; /* first */
    unsigned traits;                 /* that it inserts */
    unsigned follows;                /* that follow from it, one by one */
    unsigned runs;
    bool is_answered;
};

struct bench {
    struct arena *arena;
    struct store *store;
    struct replica *replica;
    struct pipeline *pipeline;
    struct rules rules;
    struct ask *planned; /* the last */
    unsigned to_follow;
    unsigned names;
    struct ask asks[BATCH_MAX];
};

static void append_trait(struct bench *bench, const struct plan *plan)
{
    struct slice name = arena_printf(bench->arena, "CUSTOM_%u", bench->names++);
    change_append(plan->changes, CHANGE_TRAIT_INSERT)->catalog =
        (struct change_catalog){store_next_id(plan->store, STORE_TRAITS), name};
}

static bool plan_traits(struct pipeline_request *request, const struct plan *plan)
{
    struct ask *ask = (struct ask *)request;
    struct bench *bench = request->submitter;
    bench->planned = ask;
    ask->runs++;
    for (unsigned i = 0; i < ask->traits; i++)
        append_trait(bench, plan);
    return true;
}

static void *note(void *context, const struct effects *effects, const struct plan *plan)
{
    struct bench *bench = context;
    (void)effects;
    (void)plan;
    bench->to_follow = bench->planned == NULL ? 0 : bench->planned->follows;
    return bench;
}

static bool follow(void *noted, const struct plan *plan)
{
    struct bench *bench = noted;
    if (bench->to_follow == 0)
        return false;
    bench->to_follow--;
    append_trait(bench, plan);
    return true;
}

static const struct rule following = {.name = "test", .note = note, .follow = follow};

static int setup(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    struct store_options options = {.connection = SLICE_LIT("sqlite://"), .sync_schema = true};
    bench->arena = arena_create();
    struct err err = {.arena = bench->arena};
    bench->store = store_open(&options, &err);
    assert_non_null(bench->store);
    bench->replica = replica_create();
    bench->rules = (struct rules){.count = 1, .rows = {{&following, bench}}};
    bench->pipeline = pipeline_create(bench->store, bench->replica, &bench->rules, &err);
    assert_non_null(bench->pipeline);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    pipeline_destroy(bench->pipeline);
    replica_destroy(bench->replica);
    store_close(bench->store);
    arena_destroy(bench->arena);
    free(bench);
    return 0;
}

static void answered(struct pipeline_request *request)
{
    ((struct ask *)request)->is_answered = true;
}

static struct ask *submit(struct bench *bench, unsigned at, pipeline_plan *plan, uint64_t max_rows)
{
    bench->asks[at] = (struct ask){.request = {
                                       .plan = plan,
                                       .done = answered,
                                       .submitter = bench,
                                       .max_rows = max_rows,
                                       .err = {.arena = bench->arena},
                                   }};
    pipeline_submit(bench->pipeline, &bench->asks[at].request);
    return &bench->asks[at];
}

static uint64_t trait_count(const struct bench *bench)
{
    return replica_newest(bench->replica)->traits.by_id.count;
}

/* Three requests in one batch, the second of which writes so much under a limit of ten rows. */
static void expect_second(struct bench *bench, unsigned traits, unsigned follows, bool is_refused)
{
    uint64_t before = trait_count(bench);
    uint64_t reloads = pipeline_figures(bench->pipeline).reloads;
    uint64_t refused = pipeline_figures(bench->pipeline).refused[REFUSED_TOO_MANY_ROWS];
    for (unsigned i = 0; i < 3; i++) {
        struct ask *ask = submit(bench, i, plan_traits, 10);
        ask->traits = i == 1 ? traits : 2;
        ask->follows = i == 1 ? follows : 1;
    }
    assert_true(pipeline_run_once(bench->pipeline));
    for (unsigned i = 0; i < 3; i++) {
        const struct err *err = &bench->asks[i].request.err;
        assert_true(bench->asks[i].is_answered);
        assert_true(bench->asks[i].runs <= 3);
        assert_int_equal(err->status, i == 1 && is_refused ? 413 : 0);
    }
    if (is_refused) {
        const struct err *err = &bench->asks[1].request.err;
        assert_string_equal(err->code, "placement.write.too_many_rows");
        assert_int_equal(err->kind, REFUSED_TOO_MANY_ROWS);
        assert_non_null(memmem(err->message.data, err->message.len, "may write 10 ", 13));
        assert_non_null(memmem(err->message.data, err->message.len, "max_write_rows", 14));
    }
    assert_int_equal(trait_count(bench), before + 6 + (is_refused ? 0 : traits + follows));
    struct pipeline_figures figures = pipeline_figures(bench->pipeline);
    assert_int_equal(figures.refused[REFUSED_TOO_MANY_ROWS], refused + is_refused);
    assert_int_equal(figures.refused[REFUSED_BY_DATABASE], 0);
    assert_int_equal(figures.reloads, reloads);
    assert_int_equal(figures.outage, OUTAGE_NONE);
}

static void test_planned_rows(void **state)
{
    expect_second(*state, 10, 0, false);
    expect_second(*state, 11, 0, true);
    expect_second(*state, 1000, 0, true);
}

static void test_rows_that_follow(void **state)
{
    expect_second(*state, 1, 9, false);
    expect_second(*state, 1, 10, true);
    expect_second(*state, 10, 1, true);
    expect_second(*state, 1, 1000, true);
}

static void test_no_limit(void **state)
{
    struct bench *bench = *state;
    submit(bench, 0, plan_traits, 0)->traits = 1000;
    assert_true(pipeline_run_once(bench->pipeline));
    assert_int_equal(bench->asks[0].request.err.status, 0);
}

enum { CLASSES = 5 };

static bool plan_provider(struct pipeline_request *request, const struct plan *plan)
{
    (void)request;
    change_append(plan->changes, CHANGE_PROVIDER_INSERT)->provider = (struct change_provider){
        .id = 1, .root_id = 1, .uuid = SLICE_LIT("p"), .name = SLICE_LIT("p")};
    for (int64_t i = 0; i < CLASSES; i++)
        change_append(plan->changes, CHANGE_INVENTORY_INSERT)->inventory =
            (struct change_inventory){.provider_id = 1,
                                      .class_id = i,
                                      .total = 10,
                                      .min_unit = 1,
                                      .max_unit = 10,
                                      .step_size = 1,
                                      .allocation_ratio = 1.0};
    return true;
}

/* A project's consumer that gets the first `classes` of the provider. */
static bool claim(struct pipeline_request *request, const struct plan *plan, size_t classes,
                  struct slice project)
{
    static const struct claim_amount AMOUNTS[CLASSES] = {{SLICE_LIT("VCPU"), 1},
                                                         {SLICE_LIT("MEMORY_MB"), 1},
                                                         {SLICE_LIT("DISK_GB"), 1},
                                                         {SLICE_LIT("PCI_DEVICE"), 1},
                                                         {SLICE_LIT("SRIOV_NET_VF"), 1}};
    struct claim_provider provider = {SLICE_LIT("p"), AMOUNTS, classes};
    struct claim one = {
        .consumer = SLICE_LIT("c"),
        .project = project,
        .user = SLICE_LIT("user"),
        .providers = &provider,
        .provider_count = classes > 0 ? 1 : 0,
    };
    return plan_allocations(&one, 1, CLAIM_BY_PUT, plan, &request->err);
}

static bool plan_all(struct pipeline_request *request, const struct plan *plan)
{
    return claim(request, plan, CLASSES, SLICE_LIT("project"));
}

static bool plan_one(struct pipeline_request *request, const struct plan *plan)
{
    return claim(request, plan, 1, SLICE_LIT("project"));
}

static bool plan_another(struct pipeline_request *request, const struct plan *plan)
{
    return claim(request, plan, 1, SLICE_LIT("another"));
}

static bool plan_none(struct pipeline_request *request, const struct plan *plan)
{
    return claim(request, plan, 0, SLICE_LIT("another"));
}

static int status_of(struct bench *bench, pipeline_plan *plan, uint64_t max_rows)
{
    bench->planned = NULL;
    submit(bench, 0, plan, max_rows);
    assert_true(pipeline_run_once(bench->pipeline));
    return bench->asks[0].request.err.status;
}

static void expect_rows(struct bench *bench, pipeline_plan *plan, uint64_t rows)
{
    assert_int_equal(status_of(bench, plan, rows - 1), 413);
    assert_int_equal(status_of(bench, plan, rows), 0);
}

/* Rows that go count as those that come, and consumers as their indexes cost. */
static void test_rows_of_claims(void **state)
{
    struct bench *bench = *state;
    assert_int_equal(status_of(bench, plan_provider, 0), 0);
    enum {
        NAMES = 2,
        NAME = 1,
        PROVIDER = 1,
        NEW_CONSUMER = 15,
        CONSUMER = 7,
        CONSUMER_RAISED = 4
    };
    expect_rows(bench, plan_all, NAMES + NEW_CONSUMER + CLASSES + PROVIDER);
    expect_rows(bench, plan_one, CONSUMER_RAISED + CLASSES + 1 + PROVIDER);
    expect_rows(bench, plan_another, NAME + CONSUMER + 1 + 1 + PROVIDER);
    expect_rows(bench, plan_one, CONSUMER + 1 + 1 + PROVIDER);
    expect_rows(bench, plan_none, CONSUMER + 1 + PROVIDER);
}

enum { OBJECT_BYTES = 100 * 1024 };

static bool plan_node(struct pipeline_request *request, const struct plan *plan)
{
    (void)request;
    struct node_draft draft = node_draft_new(1);
    struct slice text = arena_printf(plan->arena, "{\"a\": \"%0*d\"}", OBJECT_BYTES, 0);
    node_set_text(&draft, NODE_UUID, SLICE_LIT("11111111-1111-4111-8111-111111111111"));
    node_set_text(&draft, NODE_EXTRA, text);
    change_put_node(plan->changes, node_pack(&draft, plan->arena));
    return true;
}

/* What fills many pages of the database costs as much as rows that do. */
static void test_rows_of_texts(void **state)
{
    struct bench *bench = *state;
    assert_int_equal(status_of(bench, plan_node, OBJECT_BYTES / 1024), 413);
    assert_int_equal(status_of(bench, plan_node, OBJECT_BYTES / 1024 + 5), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_planned_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rows_that_follow, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rows_of_claims, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rows_of_texts, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
