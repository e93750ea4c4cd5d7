/* Verbs, paths through states, and interruptions. The differential (tests/baremetal) compares every
 * pair with the service that the table comes from; here it is compared with the specification,
 * along whole paths. */
#include "model/node_machine.h"
#include "unit.h"

static const struct node_circumstances PLAIN;

static enum node_verb verb_of(const char *name)
{
    const struct node_verb_name *verb = node_verb_find(slice_of(name));
    assert_non_null(verb);
    return verb->verb;
}

/* "state>target>to" of a course, with the names of the API. */
static void assert_course(const struct node_course *course, const char *state, const char *target,
                          const char *to)
{
    assert_true(slice_equal(node_state_text(course->state), slice_of(state)));
    assert_true(slice_equal(node_state_text(course->target), slice_of(target)));
    assert_true(slice_equal(node_state_text(course->to), slice_of(to)));
}

static void verbs_and_versions(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned since;
    } CASES[] = {
        {"manage", 4},  {"provide", 4}, {"inspect", 6},   {"abort", 13},  {"clean", 15},
        {"adopt", 17},  {"rescue", 38}, {"unrescue", 38}, {"deploy", 73}, {"active", 1},
        {"rebuild", 1}, {"deleted", 1}, {"undeploy", 1},
    };
    for (unsigned i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        assert_int_equal(node_verb_find(slice_of(CASES[i].name))->since, CASES[i].since);
    assert_int_equal(verb_of("deploy"), verb_of("active"));
    assert_int_equal(verb_of("undeploy"), verb_of("deleted"));
    static const char *const UNKNOWN[] = {"", "delete", "done", "Active", "service", "enroll"};
    for (unsigned i = 0; i < sizeof(UNKNOWN) / sizeof(UNKNOWN[0]); i++)
        assert_null(node_verb_find(slice_of(UNKNOWN[i])));
}

/* A verb from a state to the end, with each transient state on the way. */
static void ways(void **state)
{
    (void)state;
    static const struct {
        const char *from, *verb, *passes[3], *target, *ends;
    } CASES[] = {
        {"enroll", "manage", {"verifying"}, "manageable", "manageable"},
        {"available", "manage", {NULL}, NULL, "manageable"},
        {"clean failed", "manage", {NULL}, NULL, "manageable"},
        {"inspect failed", "manage", {NULL}, NULL, "manageable"},
        {"adopt failed", "manage", {NULL}, NULL, "manageable"},
        {"manageable", "provide", {"cleaning"}, "available", "available"},
        {"available", "active", {"deploying"}, "active", "active"},
        {"deploy failed", "active", {"deploying"}, "active", "active"},
        {"active", "rebuild", {"deploying"}, "active", "active"},
        {"deploy failed", "rebuild", {"deploying"}, "active", "active"},
        {"error", "rebuild", {"deploying"}, "active", "active"},
        {"active", "deleted", {"deleting", "cleaning"}, "available", "available"},
        {"deploy failed", "deleted", {"deleting", "cleaning"}, "available", "available"},
        {"error", "deleted", {"deleting", "cleaning"}, "available", "available"},
        {"rescue", "deleted", {"deleting", "cleaning"}, "available", "available"},
        {"manageable", "adopt", {"adopting"}, "active", "active"},
        {"adopt failed", "adopt", {"adopting"}, "active", "active"},
        {"manageable", "inspect", {"inspecting"}, "manageable", "manageable"},
        {"inspect failed", "inspect", {"inspecting"}, "manageable", "manageable"},
        {"manageable", "clean", {"cleaning"}, "manageable", "manageable"},
        {"active", "rescue", {"rescuing"}, "rescue", "rescue"},
        {"rescue", "rescue", {"rescuing"}, "rescue", "rescue"},
        {"rescue failed", "rescue", {"rescuing"}, "rescue", "rescue"},
        {"unrescue failed", "rescue", {"rescuing"}, "rescue", "rescue"},
        {"rescue", "unrescue", {"unrescuing"}, "active", "active"},
        {"rescue failed", "unrescue", {"unrescuing"}, "active", "active"},
        {"unrescue failed", "unrescue", {"unrescuing"}, "active", "active"},
    };
    unsigned count = sizeof(CASES) / sizeof(CASES[0]);
    for (unsigned i = 0; i < count; i++) {
        struct node_course course;
        enum node_answer answer = node_machine_begin(node_state_find(slice_of(CASES[i].from)),
                                                     verb_of(CASES[i].verb), &PLAIN, &course);
        assert_int_equal(answer, CASES[i].passes[0] == NULL ? NODE_AT_ONCE : NODE_PASSES);
        for (unsigned p = 0; CASES[i].passes[p] != NULL; p++) {
            assert_course(&course, CASES[i].passes[p], CASES[i].target, CASES[i].ends);
            assert_true(node_machine_is_transient(course.state));
            course = node_machine_next(&course);
        }
        assert_course(&course, CASES[i].ends, "", "");
        assert_false(node_machine_is_transient(course.state));
    }
    unsigned allowed = 0;
    for (unsigned verb = NODE_MANAGE; verb <= NODE_ABORT; verb++)
        for (unsigned from = NODE_NO_STATE; from < NODE_STATE_COUNT; from++) {
            struct node_course course;
            allowed += node_machine_begin((enum node_state)from, (enum node_verb)verb, &PLAIN,
                                          &course) != NODE_REFUSED_STATE;
        }
    assert_int_equal(allowed, count);
}

static enum node_answer begin(const char *from, const char *verb,
                              struct node_circumstances circumstances, struct node_course *course)
{
    return node_machine_begin(node_state_find(slice_of(from)), verb_of(verb), &circumstances,
                              course);
}

static void circumstances(void **state)
{
    (void)state;
    struct node_course course;
    struct node_circumstances maintenance = {.maintenance = true};
    assert_int_equal(begin("available", "active", maintenance, &course), NODE_REFUSED_MAINTENANCE);
    assert_int_equal(begin("enroll", "rebuild", maintenance, &course), NODE_REFUSED_MAINTENANCE);
    assert_int_equal(begin("manageable", "provide", maintenance, &course), NODE_PASSES);
    assert_int_equal(begin("active", "deleted", maintenance, &course), NODE_PASSES);

    struct node_circumstances guarded = {.is_protected = true};
    assert_int_equal(begin("active", "deleted", guarded, &course), NODE_REFUSED_PROTECTED);
    assert_int_equal(begin("active", "rebuild", guarded, &course), NODE_REFUSED_PROTECTED);
    assert_int_equal(begin("active", "rescue", guarded, &course), NODE_PASSES);
    assert_int_equal(begin("available", "deleted", guarded, &course), NODE_REFUSED_STATE);

    struct node_circumstances retired = {.retired = true};
    assert_int_equal(begin("manageable", "provide", retired, &course), NODE_REFUSED_RETIRED);
    assert_int_equal(begin("enroll", "provide", retired, &course), NODE_REFUSED_STATE);
    assert_int_equal(begin("active", "undeploy", retired, &course), NODE_PASSES);
    assert_course(&course, "deleting", "available", "manageable");
    course = node_machine_next(&course);
    assert_course(&course, "cleaning", "available", "manageable");
    course = node_machine_next(&course);
    assert_course(&course, "manageable", "", "");

    struct node_circumstances steps = {.has_steps = true};
    assert_int_equal(begin("manageable", "clean", steps, &course), NODE_PASSES);
    assert_course(&course, "cleaning", "manageable", "clean failed");
    course = node_machine_next(&course);
    assert_course(&course, "clean failed", "manageable", "");
    assert_int_equal(begin("manageable", "provide", steps, &course), NODE_PASSES);
    assert_course(&course, "cleaning", "available", "available");
}

/* A row whose end was lost ends in the state that its target names. */
static void without_an_end(void **state)
{
    (void)state;
    struct node_course course = {NODE_DELETING, NODE_AVAILABLE, NODE_NO_STATE};
    course = node_machine_next(&course);
    assert_course(&course, "cleaning", "available", "available");
}

static void interrupted(void **state)
{
    (void)state;
    static const struct {
        const char *transient, *failed, *target;
    } CASES[] = {
        {"deploying", "deploy failed", "active"},
        {"cleaning", "clean failed", "available"},
        {"verifying", "enroll", ""},
        {"deleting", "error", ""},
        {"inspecting", "inspect failed", "manageable"},
        {"adopting", "adopt failed", "active"},
        {"rescuing", "rescue failed", "rescue"},
        {"unrescuing", "unrescue failed", "active"},
    };
    unsigned transient = 0;
    for (unsigned i = 0; i < NODE_STATE_COUNT; i++)
        transient += node_machine_is_transient((enum node_state)i);
    assert_int_equal(transient, sizeof(CASES) / sizeof(CASES[0]));
    for (unsigned i = 0; i < transient; i++) {
        struct node_course course =
            node_machine_interrupted(node_state_find(slice_of(CASES[i].transient)));
        assert_course(&course, CASES[i].failed, CASES[i].target, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verbs_and_versions), cmocka_unit_test(ways),
        cmocka_unit_test(circumstances),      cmocka_unit_test(without_an_end),
        cmocka_unit_test(interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
