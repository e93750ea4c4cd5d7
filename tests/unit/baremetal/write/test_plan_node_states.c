/* Verbs and power, their transient states and ends, and the effect of a restart
 * (baremetal-allocations spec, 8.4 to 8.6 and 10). The tables here follow the spec, not the code.
 */
#include <stdio.h>

#include "baremetal/write/metal_world.h"
#include "unit.h"

static struct metal_world metal;

static int set_up(void **state)
{
    (void)state;
    metal_open(&metal);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    metal_close(&metal);
    return 0;
}

static const struct {
    const char *verb, *from, *passes, *then, *ends;
} VERBS[] = {
    {"manage", "enroll", "verifying", NULL, "manageable"},
    {"manage", "available", NULL, NULL, "manageable"},
    {"manage", "clean failed", NULL, NULL, "manageable"},
    {"manage", "inspect failed", NULL, NULL, "manageable"},
    {"manage", "adopt failed", NULL, NULL, "manageable"},
    {"provide", "manageable", "cleaning", NULL, "available"},
    {"active", "available", "deploying", NULL, "active"},
    {"active", "deploy failed", "deploying", NULL, "active"},
    {"rebuild", "active", "deploying", NULL, "active"},
    {"rebuild", "deploy failed", "deploying", NULL, "active"},
    {"rebuild", "error", "deploying", NULL, "active"},
    {"deleted", "active", "deleting", "cleaning", "available"},
    {"deleted", "deploy failed", "deleting", "cleaning", "available"},
    {"deleted", "error", "deleting", "cleaning", "available"},
    {"deleted", "rescue", "deleting", "cleaning", "available"},
    {"adopt", "manageable", "adopting", NULL, "active"},
    {"adopt", "adopt failed", "adopting", NULL, "active"},
    {"inspect", "manageable", "inspecting", NULL, "manageable"},
    {"inspect", "inspect failed", "inspecting", NULL, "manageable"},
    {"clean", "manageable", "cleaning", NULL, "manageable"},
    {"rescue", "active", "rescuing", NULL, "rescue"},
    {"rescue", "rescue", "rescuing", NULL, "rescue"},
    {"rescue", "rescue failed", "rescuing", NULL, "rescue"},
    {"rescue", "unrescue failed", "rescuing", NULL, "rescue"},
    {"unrescue", "rescue", "unrescuing", NULL, "active"},
    {"unrescue", "rescue failed", "unrescuing", NULL, "active"},
    {"unrescue", "unrescue failed", "unrescuing", NULL, "active"},
};

static const char *const NAMES[] = {"manage",  "provide", "active", "rebuild",  "deleted", "adopt",
                                    "inspect", "clean",   "rescue", "unrescue", "abort"};

static const char *const STATES[] = {
    "enroll",       "verifying",     "manageable",    "available",      "active",
    "deploying",    "cleaning",      "deploy failed", "deleting",       "clean failed",
    "error",        "inspecting",    "adopting",      "inspect failed", "rescue",
    "adopt failed", "rescue failed", "rescuing",      "unrescuing",     "unrescue failed"};

/* After a restart (10). */
static const struct {
    const char *state, *failed, *target;
} INTERRUPTED[] = {
    {"verifying", "enroll", "null"},        {"deploying", "deploy failed", "active"},
    {"cleaning", "clean failed", NULL},     {"deleting", "error", NULL},
    {"inspecting", "inspect failed", NULL}, {"adopting", "adopt failed", NULL},
    {"rescuing", "rescue failed", NULL},    {"unrescuing", "unrescue failed", NULL},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct node *node(void)
{
    return metal_node(&metal, "n1");
}

static const char *text(enum node_field field)
{
    struct slice value = node_text(node(), field);
    return value.data == NULL ? "null" : arena_copy(metal.world.arena, value).data;
}

/* The one node, in that state and unlocked. */
static void make(const char *state)
{
    struct node_draft draft = metal_new_node("n1", "gold");
    node_set_text(&draft, NODE_PROVISION_STATE, slice_of(state));
    assert_true(metal_create_drafted(&metal, &draft));
}

static void unmake(void)
{
    if (!node_is_null(node(), NODE_RESERVATION)) {
        metal_pass(&metal, "n1");
        if (!node_is_null(node(), NODE_RESERVATION))
            metal_pass(&metal, "n1");
    }
    if (!node_bool(node(), NODE_MAINTENANCE))
        assert_true(metal_maintain(&metal, "n1", true));
    assert_true(metal_delete(&metal, "n1"));
}

static void assert_locked(void)
{
    assert_string_equal(text(NODE_RESERVATION), "host");
    assert_string_equal(text(NODE_OWNER_INSTANCE), "host boot 1 2");
    assert_int_equal(node_time(node(), NODE_DUE_AT),
                     metal.world.now_us + metal.metal.fake_delay_us);
}

static void assert_unlocked(void)
{
    static const enum node_field none[] = {NODE_RESERVATION,   NODE_OWNER_INSTANCE,
                                           NODE_DUE_AT,        NODE_PASSING_TO,
                                           NODE_PASSING_POWER, NODE_PASSING_ERROR};
    for (size_t i = 0; i < COUNT(none); i++)
        assert_true(node_is_null(node(), none[i]));
}

static void assert_passes(const char *state, const char *ends)
{
    metal_assert_state(&metal, "n1", state);
    assert_string_equal(text(NODE_TARGET_PROVISION_STATE), ends);
    assert_int_equal(node_time(node(), NODE_PROVISION_UPDATED_AT), metal.world.now_us);
    assert_locked();
}

static void every_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(VERBS); i++) {
        make(VERBS[i].from);
        assert_true(metal_verb(&metal, "n1", VERBS[i].verb));
        if (VERBS[i].passes != NULL) {
            assert_passes(VERBS[i].passes, VERBS[i].ends);
            metal_pass(&metal, "n1");
        }
        if (VERBS[i].then != NULL) {
            assert_passes(VERBS[i].then, VERBS[i].ends);
            metal_pass(&metal, "n1");
        }
        metal_assert_state(&metal, "n1", VERBS[i].ends);
        assert_string_equal(text(NODE_TARGET_PROVISION_STATE), "null");
        assert_string_equal(text(NODE_LAST_ERROR), "null");
        assert_string_equal(text(NODE_POWER_STATE), "power on");
        assert_int_equal(node_time(node(), NODE_PROVISION_UPDATED_AT), metal.world.now_us);
        assert_unlocked();
        unmake();
    }
}

static bool is_row(const char *verb, const char *from)
{
    for (size_t i = 0; i < COUNT(VERBS); i++)
        if (slice_equal(slice_of(VERBS[i].verb), slice_of(verb)) &&
            slice_equal(slice_of(VERBS[i].from), slice_of(from)))
            return true;
    return false;
}

static void every_other_pair(void **state)
{
    (void)state;
    char refusal[200];
    for (size_t s = 0; s < COUNT(STATES); s++) {
        make(STATES[s]);
        for (size_t v = 0; v < COUNT(NAMES); v++) {
            if (is_row(NAMES[v], STATES[s]))
                continue;
            snprintf(refusal, sizeof(refusal),
                     "The requested action \"%s\" can not be performed on node \"n1\" while it is "
                     "in state \"%s\".",
                     NAMES[v], STATES[s]);
            assert_false(metal_verb(&metal, "n1", NAMES[v]));
            metal_assert_refused(&metal, 400, refusal);
        }
        unmake();
    }
}

static const char LOCKED[] = "Node n1 is locked by host host, please retry after the current "
                             "operation is completed.";

/* What is never possible is refused at once; what may become possible soon is worth waiting for. */
static void locked(void **state)
{
    (void)state;
    make("available");
    assert_true(metal_power(&metal, "n1", "power off"));
    assert_false(metal_verb(&metal, "n1", "provide"));
    metal_assert_refused(&metal, 409, LOCKED);
    assert_int_equal(metal.world.err.kind, REFUSED_OTHERWISE);
    assert_false(metal_verb(&metal, "n1", "active"));
    metal_assert_refused(&metal, 409, LOCKED);
    assert_int_equal(metal.world.err.kind, REFUSED_LOCKED);
    assert_false(metal_power(&metal, "n1", "power on"));
    metal_assert_refused(&metal, 409, LOCKED);
    assert_int_equal(metal.world.err.kind, REFUSED_LOCKED);
    metal_pass(&metal, "n1");
    assert_true(metal_verb(&metal, "n1", "active"));
}

static void circumstances(void **state)
{
    (void)state;
    make("available");
    assert_true(metal_maintain(&metal, "n1", true));
    assert_false(metal_verb(&metal, "n1", "active"));
    metal_assert_refused(&metal, 400,
                         "The provisioning operation can't be performed on node n1 because it's "
                         "in maintenance mode.");
    assert_false(metal_verb(&metal, "n1", "rebuild"));
    assert_false(metal_verb(&metal, "n1", "deploy"));
    metal_assert_refused(&metal, 400,
                         "The provisioning operation can't be performed on node n1 because it's "
                         "in maintenance mode.");
    assert_true(metal_verb(&metal, "n1", "manage"));
    assert_false(metal_verb(&metal, "n1", "active"));
    metal_assert_refused(&metal, 400,
                         "The provisioning operation can't be performed on node n1 because it's "
                         "in maintenance mode.");
    assert_false(metal_verb(&metal, "n1", "deploy")); /* the name of a verb, so its state counts */
    metal_assert_refused(&metal, 400,
                         "The requested action \"deploy\" can not be performed on node \"n1\" "
                         "while it is in state \"manageable\".");
    unmake();
    struct node_draft draft = metal_new_node("n1", "gold");
    node_set_text(&draft, NODE_PROVISION_STATE, SLICE_LIT("active"));
    node_set_bool(&draft, NODE_PROTECTED, true);
    assert_true(metal_create_drafted(&metal, &draft));
    assert_false(metal_verb(&metal, "n1", "deleted"));
    metal_assert_refused(&metal, 403,
                         "Node n1 is protected and cannot be undeployed, rebuilt or deleted");
    assert_false(metal_verb(&metal, "n1", "rebuild"));
    assert_true(metal_verb(&metal, "n1", "rescue"));
}

static void retired(void **state)
{
    (void)state;
    struct node_draft draft = metal_new_node("n1", "gold");
    node_set_text(&draft, NODE_PROVISION_STATE, SLICE_LIT("active"));
    node_set_bool(&draft, NODE_RETIRED, true);
    assert_true(metal_create_drafted(&metal, &draft));
    assert_true(metal_verb(&metal, "n1", "deleted"));
    metal_pass(&metal, "n1");
    metal_assert_state(&metal, "n1", "cleaning");
    metal_pass(&metal, "n1");
    metal_assert_state(&metal, "n1", "manageable");
    assert_false(metal_verb(&metal, "n1", "provide"));
    metal_assert_refused(
        &metal, 400,
        "The providing operation can't be performed on node n1 because it is retired.");
}

static void cleaning_with_steps(void **state)
{
    (void)state;
    make("manageable");
    assert_true(metal_run_verb(&metal, "n1", "clean", SLICE_LIT("no such step")));
    assert_passes("cleaning", "manageable");
    assert_string_equal(text(NODE_LAST_ERROR), "null");
    metal_pass(&metal, "n1");
    metal_assert_state(&metal, "n1", "clean failed");
    assert_string_equal(text(NODE_LAST_ERROR), "no such step");
    assert_unlocked();
    assert_true(metal_verb(&metal, "n1", "manage")); /* verbs that end at once clear nothing */
    assert_string_equal(text(NODE_LAST_ERROR), "no such step");
}

static void inspecting(void **state)
{
    (void)state;
    make("manageable");
    assert_true(metal_verb(&metal, "n1", "inspect"));
    int64_t began_us = metal.world.now_us;
    assert_int_equal(node_time(node(), NODE_INSPECTION_STARTED_AT), began_us);
    assert_true(node_is_null(node(), NODE_INSPECTION_FINISHED_AT));
    metal_pass(&metal, "n1");
    assert_true(node_is_null(node(), NODE_INSPECTION_STARTED_AT));
    assert_int_equal(node_time(node(), NODE_INSPECTION_FINISHED_AT), metal.world.now_us);
}

/* 6.2: the instance is removed before the teardown begins, and the node is not free during it. */
static void undeploying(void **state)
{
    (void)state;
    metal_create_available(&metal, "n1", "gold");
    assert_true(metal_allocate(&metal, "a1", "gold"));
    assert_true(metal_decide(&metal, "a1", NULL));
    assert_true(metal_verb(&metal, "n1", "active"));
    metal_pass(&metal, "n1");
    assert_string_equal(text(NODE_INSTANCE_UUID), "a1");
    assert_true(metal_verb(&metal, "n1", "deleted"));
    metal_assert_state(&metal, "n1", "deleting");
    assert_null(metal_allocation(&metal, "a1"));
    assert_string_equal(text(NODE_INSTANCE_UUID), "null");
    assert_string_equal(text(NODE_INSTANCE_INFO), "{}");
    assert_null(version_consumer(metal.world.edit->version, SLICE_LIT("a1")));
    assert_false(metal_claim(&metal, "c1", "n1", "CUSTOM_GOLD", 1));
    metal_pass(&metal, "n1");
    assert_false(metal_claim(&metal, "c1", "n1", "CUSTOM_GOLD", 1));
    metal_pass(&metal, "n1");
    assert_true(metal_claim(&metal, "c1", "n1", "CUSTOM_GOLD", 1));
}

static bool advance(int64_t now_us)
{
    metal.world.now_us = now_us - 1;
    struct plan plan = metal_plan(&metal);
    assert_true(
        metal_conclude(&metal, plan_node_advance(node()->record.id, &plan, &metal.world.err)));
    return metal.world.changes.count > 0;
}

/* An end that is too early, too late, repeated, or from another process has no effect. */
static void stale_ends(void **state)
{
    (void)state;
    make("manageable");
    assert_false(advance(metal.world.now_us + 1));
    assert_true(metal_verb(&metal, "n1", "provide"));
    int64_t due_us = node_time(node(), NODE_DUE_AT);
    assert_false(advance(due_us - 1));
    metal.metal.instance = SLICE_LIT("host boot 1 3");
    assert_false(advance(due_us + 1));
    metal.metal.instance = SLICE_LIT("host boot 1 2");
    assert_true(advance(due_us));
    metal_assert_state(&metal, "n1", "available");
    assert_false(advance(due_us));
    struct plan plan = metal_plan(&metal);
    assert_true(plan_node_advance(12345, &plan, &metal.world.err));
    assert_true(plan_node_recover(12345, due_us, &plan, &metal.world.err));
    assert_int_equal(metal.world.changes.count, 0);
    /* an owner ends its own, however late */
    assert_true(metal_verb(&metal, "n1", "active"));
    assert_true(advance(node_time(node(), NODE_DUE_AT) + 3600000000));
    metal_assert_state(&metal, "n1", "active");
}

/* A transient state does not last an hour longer because the clock is set back by an hour. */
static void clock_set_back(void **state)
{
    (void)state;
    metal.world.now_us = 10000000000;
    make("manageable");
    assert_true(metal_verb(&metal, "n1", "provide"));
    assert_false(advance(9999000000)); /* one second is not noticed */
    assert_true(advance(6400000000));
    metal_assert_state(&metal, "n1", "available");
}

static bool recover(int64_t due_us)
{
    struct slice dead = metal.metal.instance;
    metal.metal.instance = SLICE_LIT("host boot 9 9");
    struct plan plan = metal_plan(&metal);
    assert_true(metal_conclude(
        &metal, plan_node_recover(node()->record.id, due_us, &plan, &metal.world.err)));
    metal.metal.instance = dead;
    return metal.world.changes.count > 0;
}

static void interrupted(void **state)
{
    (void)state;
    char last_error[128];
    for (size_t i = 0; i < COUNT(VERBS); i++) {
        for (unsigned passed = 0; passed < 2; passed++) {
            const char *transient = passed == 0 ? VERBS[i].passes : VERBS[i].then;
            if (transient == NULL)
                continue;
            make(VERBS[i].from);
            assert_true(metal_verb(&metal, "n1", VERBS[i].verb));
            if (passed == 1)
                metal_pass(&metal, "n1");
            metal_assert_state(&metal, "n1", transient);
            size_t row = 0;
            while (!slice_equal(slice_of(INTERRUPTED[row].state), slice_of(transient)))
                row++;
            assert_true(recover(node_time(node(), NODE_DUE_AT)));
            metal_assert_state(&metal, "n1", INTERRUPTED[row].failed);
            snprintf(last_error, sizeof(last_error),
                     "The %s state can't be resumed by conductor host. Moving to fail state.",
                     transient);
            assert_string_equal(text(NODE_LAST_ERROR), last_error);
            if (INTERRUPTED[row].target != NULL)
                assert_string_equal(text(NODE_TARGET_PROVISION_STATE), INTERRUPTED[row].target);
            assert_unlocked();
            assert_int_equal(node_time(node(), NODE_PROVISION_UPDATED_AT), metal.world.now_us);
            assert_false(recover(0));
            unmake();
        }
    }
}

/* The process has acted after all: the row that was late has been replaced. */
static void not_interrupted(void **state)
{
    (void)state;
    make("active");
    assert_true(metal_verb(&metal, "n1", "deleted"));
    int64_t due_us = node_time(node(), NODE_DUE_AT);
    metal_pass(&metal, "n1");
    assert_false(recover(due_us));
    metal_assert_state(&metal, "n1", "cleaning");
    due_us = node_time(node(), NODE_DUE_AT);
    struct plan plan = metal_plan(&metal); /* it does not recover its own, but ends it */
    assert_true(metal_conclude(
        &metal, plan_node_recover(node()->record.id, due_us, &plan, &metal.world.err)));
    assert_int_equal(metal.world.changes.count, 0);
}

static const struct {
    const char *verb, *ends;
} POWERS[] = {
    {"power on", "power on"},        {"power off", "power off"},     {"rebooting", "power on"},
    {"soft power off", "power off"}, {"soft rebooting", "power on"},
};

static void power(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT(STATES); s++) {
        make(STATES[s]);
        bool is_cleaning = slice_equal(slice_of(STATES[s]), SLICE_LIT("cleaning"));
        for (size_t i = 0; i < COUNT(POWERS); i++) {
            assert_int_equal(metal_power(&metal, "n1", POWERS[i].verb), !is_cleaning);
            if (is_cleaning) {
                assert_int_equal(metal.world.err.status, 400);
                continue;
            }
            assert_string_equal(text(NODE_TARGET_POWER_STATE), POWERS[i].ends);
            assert_locked();
            metal_assert_state(&metal, "n1", STATES[s]);
            metal_pass(&metal, "n1");
            assert_string_equal(text(NODE_POWER_STATE), POWERS[i].ends);
            assert_string_equal(text(NODE_TARGET_POWER_STATE), "null");
            metal_assert_state(&metal, "n1", STATES[s]);
            assert_unlocked();
        }
        unmake();
    }
}

static void power_interrupted(void **state)
{
    (void)state;
    struct node_draft draft = metal_new_node("n1", "gold");
    node_set_null(&draft, NODE_POWER_STATE);
    assert_true(metal_create_drafted(&metal, &draft));
    assert_true(metal_power(&metal, "n1", "power on"));
    assert_true(recover(node_time(node(), NODE_DUE_AT)));
    assert_string_equal(text(NODE_POWER_STATE), "null");
    assert_string_equal(text(NODE_TARGET_POWER_STATE), "null");
    assert_string_equal(text(NODE_LAST_ERROR),
                        "Pending power operation was aborted due to conductor restart");
    metal_assert_state(&metal, "n1", "available");
    assert_unlocked();
    assert_true(metal_power(&metal, "n1", "power on"));
    assert_string_equal(text(NODE_LAST_ERROR), "null");
    metal_pass(&metal, "n1");
    assert_string_equal(text(NODE_POWER_STATE), "power on");
}

/* A lock without a transient state or power operation, as in a row that another program wrote. */
static void lock_of_nothing(void **state)
{
    (void)state;
    struct node_draft draft = metal_new_node("n1", "gold");
    node_set_text(&draft, NODE_RESERVATION, SLICE_LIT("host"));
    assert_true(metal_create_drafted(&metal, &draft));
    assert_true(recover(0));
    metal_assert_state(&metal, "n1", "available");
    assert_unlocked();
    assert_string_equal(text(NODE_LAST_ERROR), "null");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_row),  TEST(every_other_pair),    TEST(locked),          TEST(circumstances),
        TEST(retired),    TEST(cleaning_with_steps), TEST(inspecting),      TEST(undeploying),
        TEST(stale_ends), TEST(clock_set_back),      TEST(interrupted),     TEST(not_interrupted),
        TEST(power),      TEST(power_interrupted),   TEST(lock_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
