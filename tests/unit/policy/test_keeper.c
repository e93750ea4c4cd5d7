/* Reload: what changes the policy in force, what does not, and concurrent readers. */
#include "policy/keeper.h"

#include <pthread.h>

#include "log/log.h"
#include "log/settings.h"
#include "policy/rules_placement.h"
#include "policy/set.h"
#include "policy_directory.h"

static const struct policy_options OPTIONS = {0};

static bool allows(struct policy_keeper *keeper, struct slice role)
{
    const struct identity identity = {.roles = {&role, 1}};
    const struct policy_target target = {NULL, 0};
    return policy_placement_check(keeper, POLICY_TRAITS_LIST, &identity, &target) == POLICY_ALLOWED;
}

static struct policy_keeper *open_keeper(struct directory *d, const struct policy_places *places)
{
    struct err err = {.arena = d->arena};
    struct policy_keeper *keeper = policy_keeper_open(places, &OPTIONS, &err);
    if (keeper == NULL)
        fail_msg("%.*s", SLICE_ARG(err.message));
    return keeper;
}

static struct policy_places places_of(struct directory *d)
{
    static struct conf_inputs inputs;
    static const char *const dirs[] = {"policy.d"};
    inputs = (struct conf_inputs){.sources = {{d->path, true}}, .sources_n = 1};
    return (struct policy_places){"policy.yaml", "policy.json", {dirs, 1}, &inputs};
}

static void life(void **state)
{
    struct directory *d = *state;
    struct policy_places places = places_of(d);
    struct policy_keeper *keeper = open_keeper(d, &places);
    assert_true(allows(keeper, SLICE_LIT("admin")));
    assert_false(allows(keeper, SLICE_LIT("x")));
    const struct policy *before = policy_keeper_current(keeper);
    policy_keeper_look(keeper, false);
    assert_ptr_equal(policy_keeper_current(keeper), before);

    directory_write(d, "policy.yaml", "'placement:traits:list': role:x\n");
    assert_false(allows(keeper, SLICE_LIT("x")));
    policy_keeper_look(keeper, false);
    assert_true(allows(keeper, SLICE_LIT("x")));
    assert_false(allows(keeper, SLICE_LIT("admin")));

    directory_sub(d, "policy.d");
    directory_write(d, "policy.d/1.yaml", "'placement:traits:list': role:y\n");
    policy_keeper_look(keeper, false);
    assert_true(allows(keeper, SLICE_LIT("y")));
    assert_false(allows(keeper, SLICE_LIT("x")));

    assert_int_equal(unlink(directory_path(d, "policy.d/1.yaml")), 0);
    policy_keeper_look(keeper, false);
    assert_true(allows(keeper, SLICE_LIT("x")));

    assert_int_equal(unlink(directory_path(d, "policy.yaml")), 0);
    policy_keeper_look(keeper, true);
    assert_true(allows(keeper, SLICE_LIT("admin")));
    policy_keeper_close(keeper);
}

/* The number of log lines with this text. */
static unsigned count_lines(struct directory *d, const char *words)
{
    char line[4096];
    unsigned count = 0;
    FILE *log = fopen(directory_path(d, "log"), "r");
    assert_non_null(log);
    while (fgets(line, sizeof(line), log) != NULL)
        count += strstr(line, words) != NULL;
    fclose(log);
    return count;
}

static int log_to_file(struct directory *d)
{
    int fd = open(directory_path(d, "log"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    assert_true(fd >= 0);
    log_start(fd, false);
    return fd;
}

static void wrong_files(void **state)
{
    struct directory *d = *state;
    struct policy_places places = places_of(d);
    int fd = log_to_file(d);
    directory_write(d, "policy.yaml", "'placement:traits:list': role:x\n");
    struct policy_keeper *keeper = open_keeper(d, &places);

    directory_write(d, "policy.yaml", "'placement:traits:list': [\n");
    for (unsigned i = 0; i < 3; i++)
        policy_keeper_look(keeper, false);
    assert_int_equal(count_lines(d, "policies stay as they were"), 1);
    policy_keeper_look(keeper, true);
    policy_keeper_look(keeper, false);
    assert_true(allows(keeper, SLICE_LIT("x")));
    assert_int_equal(count_lines(d, "policies stay as they were"), 2);
    assert_int_equal(count_lines(d, "policy.yaml:2: "), 2);

    directory_write(d, "policy.yaml", "a: yes\n");
    policy_keeper_look(keeper, false);
    assert_int_equal(count_lines(d, "policy.yaml:1: rule a: must be text"), 1);
    assert_true(allows(keeper, SLICE_LIT("x")));

    directory_write(d, "policy.d", "no directory");
    policy_keeper_look(keeper, false);
    policy_keeper_look(keeper, false);
    assert_int_equal(count_lines(d, "policy.d: is not a directory"), 1);
    directory_write(d, "policy.yaml", "'placement:traits:list': role:y\n");
    policy_keeper_look(keeper, false);
    assert_true(allows(keeper, SLICE_LIT("x")));
    assert_int_equal(unlink(directory_path(d, "policy.d")), 0);
    policy_keeper_look(keeper, false);
    assert_true(allows(keeper, SLICE_LIT("y")));
    assert_int_equal(count_lines(d, "changed by"), 2);
    policy_keeper_close(keeper);
    log_stop();
    close(fd);
}

/* Of many notes the first are logged, and the number of the others. */
static void many_notes(void **state)
{
    struct directory *d = *state;
    struct policy_places places = places_of(d);
    struct buf text = {0};
    int fd = log_to_file(d);
    for (unsigned i = 0; i < POLICY_NOTES_MAX + 3; i++)
        buf_printf(&text, "a%u: wrong\n", i);
    buf_append_char(&text, '\0');
    directory_write(d, "policy.yaml", text.data);
    policy_keeper_close(open_keeper(d, &places));
    assert_int_equal(count_lines(d, "\"wrong\" is not a check"), POLICY_NOTES_MAX);
    assert_int_equal(count_lines(d, "and 3 more about policies"), 1);
    buf_free(&text);
    log_stop();
    close(fd);
}

static void move(struct directory *d, const char *from, const char *to)
{
    assert_int_equal(rename(directory_path(d, from), directory_path(d, to)), 0);
}

/* A removed file keeps its rules in force: it may be about to be renamed, or its disk may be
 * unavailable. */
static void gone(void **state)
{
    struct directory *d = *state;
    struct policy_places places = places_of(d);
    int fd = log_to_file(d);
    directory_sub(d, "policy.d");
    directory_write(d, "policy.yaml", "'placement:traits:list': role:x\n");
    struct policy_keeper *keeper = open_keeper(d, &places);

    move(d, "policy.yaml", "policy.yaml~");
    policy_keeper_look(keeper, false);
    assert_int_equal(count_lines(d, "policies stay"), 0); /* as editors do */
    assert_true(allows(keeper, SLICE_LIT("x")));
    for (unsigned i = 0; i < 3; i++)
        policy_keeper_look(keeper, false);
    assert_int_equal(count_lines(d, "policies stay"), 1);
    assert_int_equal(count_lines(d, "policy.yaml is missing"), 1);
    assert_true(allows(keeper, SLICE_LIT("x")) && !allows(keeper, SLICE_LIT("admin")));
    assert_true(policy_keeper_figures(keeper).is_stale);
    move(d, "policy.yaml~", "policy.yaml"); /* the same file */
    policy_keeper_look(keeper, false);
    assert_false(policy_keeper_figures(keeper).is_stale);
    assert_true(allows(keeper, SLICE_LIT("x")));

    directory_write(d, "policy.d/1.yaml", "'placement:traits:list': role:y\n");
    policy_keeper_look(keeper, false);
    assert_true(allows(keeper, SLICE_LIT("y")));
    move(d, "policy.d", "policy.off");
    for (unsigned i = 0; i < 2; i++)
        policy_keeper_look(keeper, false);
    assert_int_equal(count_lines(d, "policy.d is missing"), 1);
    assert_true(allows(keeper, SLICE_LIT("y")));

    policy_keeper_look(keeper, true); /* on SIGHUP it counts as removed */
    assert_true(allows(keeper, SLICE_LIT("x")));
    assert_false(policy_keeper_figures(keeper).is_stale);
    policy_keeper_close(keeper);
    log_stop();
    close(fd);
}

/* A file that reappears may be incomplete, like any new one. */
static void gone_and_back(void **state)
{
    struct directory *d = *state;
    struct policy_places places = places_of(d);
    const char *path = directory_write(d, "policy.yaml", "'placement:traits:list': role:x\n");
    struct policy_keeper *keeper = open_keeper(d, &places);
    assert_int_equal(unlink(path), 0);
    policy_keeper_look(keeper, false);
    directory_write(d, "policy.yaml", "'placement:traits:list': role:y\n");
    assert_int_equal(utimensat(AT_FDCWD, path, NULL, 0), 0);
    policy_keeper_look(keeper, false);
    assert_true(allows(keeper, SLICE_LIT("x")));
    policy_keeper_look(keeper, false);
    assert_true(allows(keeper, SLICE_LIT("y")));
    policy_keeper_close(keeper);
}

/* The same problem is logged again after it was fixed once. */
static void problems_again(void **state)
{
    struct directory *d = *state;
    struct policy_places places = places_of(d);
    int fd = log_to_file(d);
    struct policy_keeper *keeper = open_keeper(d, &places);
    for (unsigned i = 1; i <= 2; i++) {
        directory_write(d, "policy.yaml", "[");
        policy_keeper_look(keeper, false);
        assert_int_equal(count_lines(d, "policies stay as they were"), i);
        directory_write(d, "policy.yaml", "a: role:x");
        policy_keeper_look(keeper, false);
    }
    policy_keeper_close(keeper);
    log_stop();
    close(fd);
}

static void wrong_at_start(void **state)
{
    struct directory *d = *state;
    struct policy_places places = places_of(d);
    struct err err = {.arena = d->arena};
    const char *path = directory_write(d, "policy.yaml", "a: b\na: {}\n");
    assert_null(policy_keeper_open(&places, &OPTIONS, &err));
    assert_string_equal(
        arena_copy(d->arena, err.message).data,
        arena_printf(d->arena, "%s:2: rule a: must be text (in quotes) or a list, not a mapping",
                     path)
            .data);
}

/* The configured file does not exist: the defaults hold, which is not what the operator wants. */
static void nowhere(void **state)
{
    struct directory *d = *state;
    struct policy_places places = places_of(d);
    struct err err = {.arena = d->arena};
    places.file = "policies.yaml";
    places.fallback_file = NULL;
    struct policy *policy = policy_load(&places, &OPTIONS, &err);
    assert_non_null(policy);
    assert_int_equal(policy->notes.count, 1);
    assert_int_equal(policy->notes.items[0].level, LOG_LEVEL_WARNING);
    assert_string_equal(policy->notes.items[0].text.data,
                        "[oslo_policy] policy_file: there is no policies.yaml in the directories "
                        "that are searched");
    policy_release(policy);
    places.fallback_file = "policy.json"; /* none is configured */
    policy = policy_load(&places, &OPTIONS, &err);
    assert_non_null(policy);
    assert_int_equal(policy->notes.count, 0);
    policy_release(policy);
}

/* A file written just now is checked twice, one with a time in the future at once. */
static void fresh_files(void **state)
{
    struct directory *d = *state;
    struct policy_places places = places_of(d);
    struct policy_keeper *keeper = open_keeper(d, &places);
    const char *path = directory_write(d, "policy.yaml", "'placement:traits:list': role:x\n");
    assert_int_equal(utimensat(AT_FDCWD, path, NULL, 0), 0);
    policy_keeper_look(keeper, false);
    assert_false(allows(keeper, SLICE_LIT("x")));
    policy_keeper_look(keeper, false);
    assert_true(allows(keeper, SLICE_LIT("x")));
    directory_write(d, "policy.yaml", "'placement:traits:list': role:y\n");
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec += 3600;
    times[1] = times[0];
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    policy_keeper_look(keeper, false);
    assert_true(allows(keeper, SLICE_LIT("y")));
    policy_keeper_close(keeper);
}

/* One thread may use several keepers. */
static void two_keepers(void **state)
{
    struct directory *d = *state;
    struct policy_places places = places_of(d);
    struct policy_keeper *defaults = open_keeper(d, &places);
    directory_write(d, "policy.yaml", "'placement:traits:list': role:x\n");
    struct policy_keeper *changed = open_keeper(d, &places);
    for (unsigned i = 0; i < 3; i++) {
        assert_false(allows(defaults, SLICE_LIT("x")));
        assert_true(allows(changed, SLICE_LIT("x")));
    }
    policy_keeper_close(defaults);
    assert_true(allows(changed, SLICE_LIT("x")));
    policy_keeper_close(changed);
}

struct crowd {
    struct policy_keeper *keeper;
    atomic_bool stop;
    atomic_uint asked;
};

/* In every policy of the test exactly one of x and y passes. */
static void *ask(void *cls)
{
    struct crowd *crowd = cls;
    while (!atomic_load(&crowd->stop)) {
        const struct policy *policy = policy_keeper_current(crowd->keeper);
        const struct policy_target target = {NULL, 0};
        unsigned passed = 0;
        for (unsigned i = 0; i < 2; i++) {
            struct slice role = {i == 0 ? "x" : "y", 1};
            const struct identity identity = {.roles = {&role, 1}};
            passed += policy_decide(policy, POLICY_OF_PLACEMENT, POLICY_TRAITS_LIST, &identity,
                                    &target) == POLICY_ALLOWED;
        }
        check(passed == 1);
        atomic_fetch_add(&crowd->asked, 1);
    }
    return NULL;
}

static void a_crowd(void **state)
{
    enum { THREADS = 4, RELOADS = 200 };
    struct directory *d = *state;
    struct policy_places places = places_of(d);
    int fd = log_to_file(d);
    directory_write(d, "policy.yaml", "'placement:traits:list': role:x\n");
    struct crowd crowd = {.keeper = open_keeper(d, &places)};
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &crowd), 0);
    for (unsigned i = 0; i < RELOADS; i++) {
        unsigned before = atomic_load(&crowd.asked);
        directory_write(d, "policy.yaml",
                        i % 2 == 0 ? "'placement:traits:list': role:y\n"
                                   : "'placement:traits:list': role:x\n");
        policy_keeper_look(crowd.keeper, false);
        assert_int_equal(allows(crowd.keeper, SLICE_LIT("y")), i % 2 == 0);
        while (atomic_load(&crowd.asked) == before)
            sched_yield();
    }
    atomic_store(&crowd.stop, true);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    policy_keeper_close(crowd.keeper);
    log_stop();
    close(fd);
}

#define WITH_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, directory_make, directory_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DIRECTORY(life),           WITH_DIRECTORY(wrong_files),    WITH_DIRECTORY(gone),
        WITH_DIRECTORY(gone_and_back),  WITH_DIRECTORY(problems_again), WITH_DIRECTORY(nowhere),
        WITH_DIRECTORY(wrong_at_start), WITH_DIRECTORY(fresh_files),    WITH_DIRECTORY(two_keepers),
        WITH_DIRECTORY(a_crowd),        WITH_DIRECTORY(many_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
