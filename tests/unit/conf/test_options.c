/* The table itself. */
#include "conf/options.h"
#include "conf/value.h"
#include "unit.h"

/* Every row is well-formed and its default one of its own values. */
static void table(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    for (size_t i = 0; i < option_count; i++) {
        const struct option *option = &option_table[i];
        struct conf_value value = {.option = option};
        struct slice why;
        struct slice fallback = slice_of(option->fallback == NULL ? "" : option->fallback);
        assert_ptr_equal(option_find(slice_of(option->section), slice_of(option->name)), option);
        assert_true(strlen(option->help) > 0 && strchr(option->name, '-') == NULL);
        assert_true(option->choices == NULL || option->type == OPTION_STRING);
        if (option->fallback != NULL && !value_convert(&value, &fallback, 1, arena, &why))
            fail_msg("%s: %.*s", option->name, SLICE_ARG(why));
        for (const char *at = option->section; *at != '\0'; at++)
            assert_true(strcmp(option->section, "DEFAULT") == 0 || *at < 'A' || *at > 'Z');
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
