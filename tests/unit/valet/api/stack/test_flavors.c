/* The catalogue of flavors: the built-in ones, what a file may contain, what a reload keeps. */
#include "valet/api/stack/flavors.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit.h"

static struct arena *arena;
static struct err err;

static int setup(void **state)
{
    (void)state;
    arena = arena_create();
    err = (struct err){.arena = arena};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static int64_t amount(const struct flavor *flavor, const char *class_name)
{
    for (uint32_t i = 0; i < flavor->amount_count; i++)
        if (slice_equal(flavor->amounts[i].class_name, slice_of(class_name)))
            return flavor->amounts[i].amount;
    return 0;
}

static void assert_flavor(const struct flavor *flavor, int64_t vcpu, int64_t ram, int64_t disk)
{
    assert_non_null(flavor);
    assert_int_equal(amount(flavor, "VCPU"), vcpu);
    assert_int_equal(amount(flavor, "MEMORY_MB"), ram);
    assert_int_equal(amount(flavor, "DISK_GB"), disk);
}

static void test_built_in(void **state)
{
    (void)state;
    struct flavors_keeper *keeper = flavors_open((struct slice){0}, &err);
    assert_non_null(keeper);
    struct flavors *flavors = flavors_take(keeper);
    assert_int_equal(flavors_count(flavors), 5);
    assert_flavor(flavors_find(flavors, SLICE_LIT("m1.tiny")), 1, 512, 1);
    assert_flavor(flavors_find(flavors, SLICE_LIT("m1.small")), 1, 2048, 20);
    assert_flavor(flavors_find(flavors, SLICE_LIT("3")), 2, 4096, 40);
    assert_flavor(flavors_find(flavors, SLICE_LIT("4")), 4, 8192, 80);
    assert_flavor(flavors_find(flavors, SLICE_LIT("m1.xlarge")), 8, 16384, 160);
    assert_null(flavors_find(flavors, SLICE_LIT("m1.huge")));
    assert_null(flavors_find(flavors, SLICE_LIT("")));
    flavors_give_back(flavors);
    flavors_close(keeper);
}

static struct flavors *parse(const char *text)
{
    err = (struct err){.arena = arena};
    return flavors_parse(slice_of(text), SLICE_LIT("FILE"), &err);
}

static void assert_refused(const char *text, const char *why)
{
    assert_null(parse(text));
    assert_int_equal(err.status, 500);
    char *message = slice_dup(err.message);
    if (strstr(message, why) == NULL || strstr(message, "The flavors of FILE") != message)
        fail_msg("'%s' instead of '%s'", message, why);
    free(message);
}

static void test_amounts(void **state)
{
    (void)state;
    struct flavors *flavors =
        parse("{\"a\": {\"id\": \"b\", \"vcpus\": 2, \"ram\": 0, \"disk\": 3, \"ephemeral\": 4,"
              " \"swap\": 1025, \"extra_specs\": {\"resources:VCPU\": \"0\","
              " \"resources:CUSTOM_GOLD\": \"7\", \"trait:HW_A\": \"required\","
              " \"trait:HW_B\": \"forbidden\", \"hw:numa\": \"whatever\"}},"
              " \"b\": {\"vcpus\": 1, \"ram\": 1, \"disk\": 0, \"extra_specs\": {}}}");
    assert_non_null(flavors);
    const struct flavor *a = flavors_find(flavors, SLICE_LIT("a"));
    assert_flavor(a, 0, 0, 9);
    assert_int_equal(a->amount_count, 2);
    assert_int_equal(amount(a, "CUSTOM_GOLD"), 7);
    assert_int_equal(a->required.count, 1);
    assert_true(slice_equal(a->required.names[0], SLICE_LIT("HW_A")));
    assert_int_equal(a->forbidden.count, 1);
    assert_true(slice_equal(a->forbidden.names[0], SLICE_LIT("HW_B")));
    /* a name takes precedence over an id */
    assert_flavor(flavors_find(flavors, SLICE_LIT("b")), 1, 1, 0);
    struct flavor copy = flavor_copy(a, arena);
    flavors_give_back(flavors);
    assert_flavor(&copy, 0, 0, 9);
    assert_int_equal(amount(&copy, "CUSTOM_GOLD"), 7);
    assert_true(slice_equal(copy.required.names[0], SLICE_LIT("HW_A")));
}

static void test_broken_files(void **state)
{
    (void)state;
    assert_refused("", "line 1");
    assert_refused("{", "line 1");
    assert_refused("[]", "not an object of flavors");
    assert_refused("{\"a\": 1}", "'a': is not an object");
    assert_refused("{\"a\": {}, \"a\": {}}", "duplicate");
    assert_refused("{\"a\": {\"ram\": 1, \"disk\": 1}}", "'a': vcpus is missing");
    assert_refused("{\"a\": {\"vcpus\": 1.5, \"ram\": 1, \"disk\": 1}}", "vcpus is not a whole");
    assert_refused("{\"a\": {\"vcpus\": 1e300, \"ram\": 1, \"disk\": 1}}", "vcpus is not a number");
    assert_refused("{\"a\": {\"vcpus\": -1.0, \"ram\": 1, \"disk\": 1}}", "vcpus is not a number");
    assert_refused("{\"a\": {\"vcpus\": true, \"ram\": 1, \"disk\": 1}}", "vcpus is not a whole");
    assert_refused("{\"a\": {\"vcpus\": 1, \"ram\": -1, \"disk\": 1}}", "ram is not a number from");
    assert_refused("{\"a\": {\"vcpus\": 1, \"ram\": 1, \"disk\": 2147483648}}", "disk is not");
    assert_refused("{\"a\": {\"vcpus\": 1, \"ram\": 1, \"disk\": 2147483647, \"swap\": 1}}",
                   "disk with ephemeral and swap");
    assert_refused("{\"a\": {\"vcpus\": 0, \"ram\": 0, \"disk\": 0}}", "asks for nothing");
    assert_refused("{\"a\": {\"vcpus\": 1, \"ram\": 1, \"disk\": 1, \"id\": 1}}",
                   "id is not a str");
    assert_refused("{\"a\": {\"id\": \"x\", \"vcpus\": 1, \"ram\": 1, \"disk\": 1},"
                   " \"b\": {\"id\": \"x\", \"vcpus\": 1, \"ram\": 1, \"disk\": 1}}",
                   "'x': two flavors");
    static const char *const specs[][2] = {
        {"[]", "extra_specs is not an object"},
        {"{\"trait:A\": true}", "extra spec 'trait:A' is not a string"},
        {"{\"trait:A\": \"wanted\"}", "neither 'required' nor"},
        {"{\"trait:\": \"required\"}", "names no trait"},
        {"{\"resources:\": \"1\"}", "names no resource class"},
        {"{\"resources:A\": \"-1\"}", "is not a number"},
        {"{\"resources:A\": \"\"}", "is not a number"},
        {"{\"resources:A\": \"99999999999999999999999\"}", "is not a number"},
    };
    for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
        struct slice text = arena_printf(
            arena, "{\"a\": {\"vcpus\": 1, \"ram\": 1, \"disk\": 1, \"extra_specs\": %s}}",
            specs[i][0]);
        assert_refused(text.data, specs[i][1]);
    }
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_reload(void **state)
{
    (void)state;
    char path[] = "/tmp/berth-flavors-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    put(path, "{\"one\": {\"vcpus\": 1, \"ram\": 1, \"disk\": 1}}");
    struct flavors_keeper *keeper = flavors_open(slice_of(path), &err);
    assert_non_null(keeper);
    struct flavors *old = flavors_take(keeper);
    put(path, "{\"two\": {\"vcpus\": 2, \"ram\": 2, \"disk\": 2}}");
    assert_true(flavors_reload(keeper, slice_of(path), &err));
    put(path, "{\"three\"");
    assert_false(flavors_reload(keeper, slice_of(path), &err));
    assert_int_equal(err.status, 500);
    struct flavors *newer = flavors_take(keeper);
    assert_flavor(flavors_find(old, SLICE_LIT("one")), 1, 1, 1);
    assert_null(flavors_find(old, SLICE_LIT("two")));
    assert_null(flavors_find(newer, SLICE_LIT("one")));
    assert_flavor(flavors_find(newer, SLICE_LIT("two")), 2, 2, 2);
    flavors_give_back(old);
    unlink(path);
    err = (struct err){.arena = arena};
    assert_false(flavors_reload(keeper, slice_of(path), &err));
    assert_null(flavors_open(slice_of(path), &err));
    flavors_close(keeper);
    assert_flavor(flavors_find(newer, SLICE_LIT("two")), 2, 2, 2);
    flavors_give_back(newer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_built_in, setup, teardown),
        cmocka_unit_test_setup_teardown(test_amounts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_broken_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reload, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
