/* Which processes are known to have ended (baremetal-allocations spec, 10). */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "baremetal/write/instance.h"
#include "unit.h"

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static const struct slice HOST = SLICE_LIT("rack-1");

static bool is_gone(struct slice name)
{
    return instance_is_gone(name, HOST, false);
}

static void ourselves(void **state)
{
    (void)state;
    struct slice name = instance_name(HOST, arena);
    struct slice rest = name;
    assert_true(slice_equal(slice_cut(&rest, ' '), HOST));
    assert_int_equal(slice_cut(&rest, ' ').len, 36); /* the boot */
    assert_true(slice_starts_with(slice_cut(&rest, ' '), SLICE_LIT("pid:[")));
    assert_true(slice_cut(&rest, ' ').len > 0);
    assert_true(rest.len > 0);
    assert_false(is_gone(name));
    assert_true(slice_equal(name, instance_name(HOST, arena)));
}

/* The name of this process with one word replaced. */
static struct slice with_word(unsigned number, const char *word)
{
    struct slice rest = instance_name(HOST, arena);
    struct slice name = SLICE_LIT("");
    for (unsigned i = 0; i < 5; i++) {
        struct slice at = slice_cut(&rest, ' ');
        if (i == number)
            at = slice_of(word);
        name = arena_printf(arena, "%.*s%s%.*s", SLICE_ARG(name), i == 0 ? "" : " ", SLICE_ARG(at));
    }
    return name;
}

static void others(void **state)
{
    (void)state;
    assert_false(is_gone(with_word(0, "rack-2")));
    assert_false(is_gone(with_word(0, "rack-11")));
    assert_true(is_gone(with_word(1, "11111111-2222-3333-4444-555555555555")));
    assert_false(is_gone(with_word(2, "pid:[1]"))); /* a container of its own */
    assert_true(is_gone(with_word(3, "4194305")));  /* above any */
    assert_true(is_gone(with_word(4, "1")));        /* the id was reused */
    assert_true(is_gone(with_word(3, "")));
    assert_true(is_gone(with_word(3, "111111111111111111111111111111")));
    assert_false(is_gone(SLICE_LIT("")));
    /* another machine may have been given the same name */
    assert_false(instance_is_gone(with_word(1, "1"), HOST, true));
    assert_true(instance_is_gone(with_word(4, "1"), HOST, true));
    assert_true(is_gone(SLICE_LIT("rack-1")));
    assert_true(is_gone(SLICE_LIT("rack-1 x")));
}

static void a_process_and_its_end(void **state)
{
    (void)state;
    int ends[2];
    char text[256];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct slice name = instance_name(HOST, arena);
        ssize_t ignored = write(ends[1], name.data, name.len);
        (void)ignored;
        pause();
        _exit(0);
    }
    ssize_t len = read(ends[0], text, sizeof(text));
    assert_true(len > 0);
    struct slice name = {text, (size_t)len};
    assert_false(slice_equal(name, instance_name(HOST, arena)));
    assert_false(is_gone(name));
    assert_int_equal(kill(child, SIGKILL), 0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_true(is_gone(name)); /* although it has not been waited for */
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(is_gone(name));
    close(ends[0]);
    close(ends[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ourselves),
        TEST(others),
        TEST(a_process_and_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
