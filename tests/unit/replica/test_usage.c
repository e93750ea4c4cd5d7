/* The sums by project, user, type and class, compared with a plain table. */
#include <stdlib.h>

#include "replica/usage.h"
#include "replica/version.h"
#include "unit.h"

enum { OWNERS = 3, TYPES = 3, CLASSES = 4, CONSUMERS = 12 };

/* Type 0 is "unknown"; class CLASSES counts consumers. */
struct model {
    int64_t sum[OWNERS][OWNERS][TYPES][CLASSES + 1];
};

static struct consumer *make_consumer(void)
{
    unsigned count = (unsigned)random() % 5;
    struct consumer *consumer =
        calloc(1, sizeof(*consumer) + count * sizeof(struct consumer_allocation));
    consumer->project = (uint32_t)random() % OWNERS;
    consumer->user = (uint32_t)random() % OWNERS;
    consumer->type = (uint32_t)random() % TYPES - 1; /* -1: NUMBER_NONE */
    consumer->allocation_count = count;
    for (unsigned i = 0; i < count; i++)
        consumer->allocation[i] =
            (struct consumer_allocation){{0}, {(uint32_t)random() % CLASSES}, 1 + random() % 3};
    return consumer;
}

static void count(struct model *model, const struct consumer *consumer, int sign)
{
    int64_t *sums = model->sum[consumer->project][consumer->user][consumer->type + 1];
    sums[CLASSES] += consumer->allocation_count > 0 ? sign : 0;
    for (uint32_t i = 0; i < consumer->allocation_count; i++)
        sums[consumer->allocation[i].class_no.v] += sign * consumer->allocation[i].used;
}

struct seen {
    uint32_t project;
    struct model *left;
};

static bool take(void *cls, const struct usage_row *row)
{
    struct seen *seen = cls;
    uint32_t class_no = row->class_no.v == NUMBER_NONE ? CLASSES : row->class_no.v;
    int64_t *sum = &seen->left->sum[seen->project][row->user][row->type + 1][class_no];
    assert_true(row->amount != 0);
    assert_int_equal(*sum, row->amount);
    *sum = 0; /* a second row of the same kind would differ */
    return true;
}

static void check_same(const struct version *version, const struct model *model)
{
    static const struct model nothing;
    for (unsigned by_user = 0; by_user < 2; by_user++) {
        struct model left = *model;
        for (uint32_t project = 0; project < OWNERS; project++) {
            struct seen seen = {project, &left};
            for (uint32_t user = 0; by_user && user < OWNERS; user++)
                usage_of_project(version, project, user, take, &seen);
            if (!by_user)
                usage_of_project(version, project, NUMBER_NONE, take, &seen);
        }
        assert_memory_equal(&left, &nothing, sizeof(left));
    }
}

static void sums(void **state)
{
    (void)state;
    struct version version = {.slot_limit = 0};
    struct cow cow = {.birth = 1};
    struct model model = {0};
    struct consumer *consumers[CONSUMERS] = {NULL};
    srandom(9);
    for (unsigned step = 0; step < 500; step++) {
        struct consumer **at = &consumers[random() % CONSUMERS];
        if (*at != NULL) {
            usage_account(&cow, &version, *at, -1);
            count(&model, *at, -1);
            free(*at);
            *at = NULL;
        } else {
            *at = make_consumer();
            count(&model, *at, 1);
            if (step % 2 == 0)
                usage_account(&cow, &version, *at, 1);
            for (uint32_t i = 0; step % 2 != 0 && i < (*at)->allocation_count; i++)
                usage_account_allocation(&cow, &version, *at, &(*at)->allocation[i], i == 0);
        }
        check_same(&version, &model);
    }
    for (unsigned i = 0; i < CONSUMERS; i++) {
        if (consumers[i] != NULL)
            usage_account(&cow, &version, consumers[i], -1);
        free(consumers[i]);
    }
    assert_int_equal(version.usages.count, 0); /* zero sums are absent */
    cow_retired_free(&cow.retired);
    ptree_free(&version.usages, 0, NULL, NULL);
}

/* Counts down the rows that are wanted. */
static bool take_few(void *cls, const struct usage_row *row)
{
    unsigned *wanted = cls;
    assert_true(row->user < OWNERS);
    assert_true(*wanted > 0);
    return --*wanted > 0;
}

static void a_visitor_may_stop(void **state)
{
    (void)state;
    struct version version = {.slot_limit = 0};
    struct cow cow = {.birth = 1};
    for (uint32_t user = 0; user < OWNERS; user++) {
        struct consumer *consumer =
            calloc(1, sizeof(*consumer) + sizeof(struct consumer_allocation));
        consumer->user = user;
        consumer->allocation_count = 1;
        consumer->allocation[0] = (struct consumer_allocation){{0}, {0}, 5};
        usage_account(&cow, &version, consumer, 1);
        free(consumer);
    }
    for (unsigned wanted = 1; wanted <= 2 * OWNERS; wanted++) { /* a user has two rows */
        unsigned left = wanted;
        usage_of_project(&version, 0, NUMBER_NONE, take_few, &left);
        assert_int_equal(left, 0);
    }
    cow_retired_free(&cow.retired);
    ptree_free(&version.usages, 0, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),
        cmocka_unit_test(a_visitor_may_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
