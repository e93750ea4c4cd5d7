/* See loading.h. */
#include "loading.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit.h"

char home[64];
struct conf_inputs inputs;
struct err err;
struct conf *conf;

void put(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fputs(text, out) < 0, 0);
    assert_int_equal(fclose(out), 0);
}

void use_file(const char *path, const char *text)
{
    put(path, text);
    inputs.sources[inputs.sources_n++] = (struct conf_source){path, false};
}

void override(const char *section, const char *name, const char *value)
{
    inputs.overrides[inputs.overrides_n++] =
        (struct conf_override){section, name, value, "--switch"};
}

static void load(void)
{
    conf_destroy(conf);
    err.status = 0;
    conf = conf_load(&inputs, &err);
}

void load_ok(void)
{
    load();
    if (conf == NULL)
        fail_msg("%.*s", SLICE_ARG(err.message));
}

void expect_error(const char *message)
{
    load();
    assert_null(conf);
    assert_int_equal(err.status, 500);
    assert_string_equal(err.message.data, message);
}

void expect_refused(const char *text, const char *message)
{
    char whole[1024];
    snprintf(whole, sizeof(whole), BASE "%s", text);
    inputs.sources_n = 0;
    use_file("a.conf", whole);
    expect_error(message);
}

int loading_setup(void **state)
{
    (void)state;
    clearenv();
    snprintf(home, sizeof(home), "/tmp/berth-test-XXXXXX");
    inputs = (struct conf_inputs){.sources_n = 0};
    err = (struct err){.arena = arena_create()};
    conf = NULL;
    return mkdtemp(home) == NULL || chdir(home) != 0 || setenv("HOME", home, 1) != 0;
}

int loading_teardown(void **state)
{
    (void)state;
    char command[96];
    conf_destroy(conf);
    arena_destroy(err.arena);
    snprintf(command, sizeof(command), "exec /bin/rm -rf '%s'", home);
    return chdir("/") != 0 || system(command) != 0;
}
