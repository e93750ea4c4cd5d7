/* The tables of states, compared with those of the service that they come from. */
#include "model/node_states.h"
#include "unit.h"

static bool is_among(enum node_state state, const enum node_state *list)
{
    for (; *list != NODE_NO_STATE; list++)
        if (*list == state)
            return true;
    return false;
}

static void names_lead_back(void **state)
{
    (void)state;
    for (unsigned i = NODE_NO_STATE + 1; i < NODE_STATE_COUNT; i++)
        assert_int_equal(node_state_find(node_state_text((enum node_state)i)), i);
    assert_null(node_state_text(NODE_NO_STATE).data);
    assert_int_equal(node_state_find(SLICE_LIT("wait call-back")), NODE_DEPLOY_WAIT);
    static const char *const UNKNOWN[] = {"",          "Active",  "active ",
                                          "servicing", "deleted", "power on"};
    for (unsigned i = 0; i < sizeof(UNKNOWN) / sizeof(UNKNOWN[0]); i++)
        assert_int_equal(node_state_find(slice_of(UNKNOWN[i])), NODE_NO_STATE);
}

static void sets(void **state)
{
    (void)state;
    static const enum node_state UPDATABLE[] = {
        NODE_DEPLOY_FAILED, NODE_INSPECTING,      NODE_INSPECT_FAILED, NODE_INSPECT_WAIT,
        NODE_CLEAN_FAILED,  NODE_ERROR,           NODE_VERIFYING,      NODE_ADOPT_FAILED,
        NODE_RESCUE_FAILED, NODE_UNRESCUE_FAILED, NODE_NO_STATE};
    static const enum node_state DELETABLE[] = {NODE_ENROLL, NODE_MANAGEABLE, NODE_ADOPT_FAILED,
                                                NODE_AVAILABLE, NODE_NO_STATE};
    static const enum node_state REASSIGNABLE[] = {NODE_ENROLL,       NODE_INSPECTING,
                                                   NODE_INSPECT_WAIT, NODE_MANAGEABLE,
                                                   NODE_AVAILABLE,    NODE_NO_STATE};
    for (unsigned i = NODE_NO_STATE; i < NODE_STATE_COUNT; i++) {
        enum node_state at = (enum node_state)i;
        assert_int_equal(node_state_is_updatable(at), is_among(at, UPDATABLE));
        assert_int_equal(node_state_lets_delete(at), is_among(at, DELETABLE));
        assert_int_equal(node_state_lets_reassign(at), is_among(at, REASSIGNABLE));
        assert_int_equal(node_state_lets_protect(at), at == NODE_ACTIVE || at == NODE_RESCUE);
        assert_int_equal(node_state_lets_retire(at), at != NODE_AVAILABLE);
        assert_int_equal(node_state_lets_power(at), at != NODE_CLEANING && at != NODE_CLEAN_WAIT);
    }
}

static void power(void **state)
{
    (void)state;
    static const struct {
        const char *verb;
        unsigned since;
        const char *ends;
    } CASES[] = {
        {"power on", 1, "power on"},        {"power off", 1, "power off"},
        {"rebooting", 1, "power on"},       {"soft power off", 27, "power off"},
        {"soft rebooting", 27, "power on"},
    };
    for (unsigned i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        const struct node_power_verb *verb = node_power_verb_find(slice_of(CASES[i].verb));
        assert_non_null(verb);
        assert_int_equal(verb->since, CASES[i].since);
        assert_true(slice_equal(node_power_text(verb->ends), slice_of(CASES[i].ends)));
        assert_int_equal(node_power_find(slice_of(CASES[i].ends)), verb->ends);
    }
    assert_null(node_power_verb_find(SLICE_LIT("reboot")));
    assert_null(node_power_verb_find(SLICE_LIT("error")));
    assert_null(node_power_verb_find((struct slice){0}));
    assert_int_equal(node_power_find(SLICE_LIT("error")), NODE_POWER_ERROR);
    assert_int_equal(node_power_find(SLICE_LIT("rebooting")), NODE_POWER_NONE);
    assert_null(node_power_text(NODE_POWER_NONE).data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_lead_back),
        cmocka_unit_test(sets),
        cmocka_unit_test(power),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
