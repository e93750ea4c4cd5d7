/* The table itself. */
#include "conf/option_details.h"
#include "conf/options.h"
#include "conf/value.h"
#include "unit.h"

/* Every row is well-formed and its default is one of its own values. */
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

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Every option whose name suggests a secret is one. */
static void secrets(void **state)
{
    (void)state;
    static const char *const words[] = {"password", "secret", "hmac", "connection"};
    static const char *const harmless[] = {"connection_recycle_time", "connection_debug",
                                           "connection_trace", "connection_memory"};
    for (size_t i = 0; i < option_count; i++)
        for (size_t j = 0; j < sizeof(words) / sizeof(words[0]); j++)
            if (strstr(option_table[i].name, words[j]) != NULL &&
                strstr(option_table[i].name, "max_connections") == NULL &&
                !is_one_of(option_table[i].name, harmless, sizeof(harmless) / sizeof(harmless[0])))
                assert_true(option_table[i].is_secret);
}

static void old_names(void **state)
{
    (void)state;
    const struct option *option = option_named("DEFAULT", "log_config_append");
    assert_ptr_equal(option_find_any(SLICE_LIT("DEFAULT"), SLICE_LIT("log_config")), option);
    assert_ptr_equal(option_find_any(SLICE_LIT("DEFAULT"), SLICE_LIT("log-config")), option);
    assert_null(option_find(SLICE_LIT("DEFAULT"), SLICE_LIT("log_config")));
    assert_null(option_find_any(SLICE_LIT("api"), SLICE_LIT("log_config")));
}

/* Each text belongs to an existing option and ends with a full stop; each section has one. */
static void details(void **state)
{
    (void)state;
    size_t n = 0;
    for (size_t i = 0; i < option_count; i++) {
        const char *text = option_details(&option_table[i]);
        const char *about = section_details(option_table[i].section);
        const char *help = option_table[i].help;
        assert_int_equal(help[strlen(help) - 1], '.');
        n += text != NULL;
        assert_true(text == NULL || text[strlen(text) - 1] == '.');
        if (about == NULL)
            fail_msg("section %s has no details", option_table[i].section);
    }
    assert_int_equal(n, option_details_count());
    assert_null(section_details("cache"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),
        cmocka_unit_test(secrets),
        cmocka_unit_test(old_names),
        cmocka_unit_test(details),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
