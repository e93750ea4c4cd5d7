/* Which files are read, in which order, and which errors they have. */
#include "conf/load.h"
#include "policy/files.h"
#include "policy_directory.h"

static const struct conf_inputs NONE = {.sources_n = 0};

/* The names of the files relative to the directory, one after the other. */
static const char *listed(struct directory *d, const struct policy_places *places)
{
    struct policy_inventory inventory;
    struct err err = {.arena = d->arena};
    struct buf out = {0};
    if (!policy_files_list(places, d->arena, &inventory, &err))
        return arena_copy(d->arena, err.message).data;
    for (size_t i = 0; i < inventory.count; i++)
        buf_printf(&out, "%s%s", i == 0 ? "" : " ", inventory.files[i].path + strlen(d->path) + 1);
    const char *text = arena_copy(d->arena, buf_slice(&out)).data;
    buf_free(&out);
    return text;
}

static void order(void **state)
{
    struct directory *d = *state;
    const struct conf_inputs inputs = {
        .sources = {{directory_sub(d, "one"), true}, {directory_sub(d, "two"), true}},
        .sources_n = 2};
    const char *const dirs[] = {"policy.d", "/nowhere", "", directory_sub(d, "last")};
    const struct policy_places places = {"policy.yaml", "policy.json", {dirs, 4}, &inputs};
    assert_string_equal(listed(d, &places), "");
    directory_write(d, "two/policy.json", "{}");
    assert_string_equal(listed(d, &places), "two/policy.json");
    directory_write(d, "two/policy.yaml", "");
    assert_string_equal(listed(d, &places), "two/policy.yaml");
    directory_write(d, "one/policy.yaml", "");
    assert_string_equal(listed(d, &places), "one/policy.yaml");
    directory_sub(d, "two/policy.d");
    directory_sub(d, "two/policy.d/inner");
    directory_write(d, "two/policy.d/b.yaml", "");
    directory_write(d, "two/policy.d/A.json", "");
    directory_write(d, "two/policy.d/a", "");
    directory_write(d, "two/policy.d/.hidden.yaml", "");
    directory_write(d, "last/0.yaml", "");
    assert_int_equal(symlink("../one/policy.yaml", directory_path(d, "last/9")), 0);
    assert_string_equal(listed(d, &places), "one/policy.yaml two/policy.d/A.json two/policy.d/a "
                                            "two/policy.d/b.yaml last/0.yaml last/9");
    const struct policy_places absolute = {
        directory_path(d, "two/policy.json"), NULL, {dirs, 0}, &inputs};
    assert_string_equal(listed(d, &absolute), "two/policy.json");
}

static const char *missing(struct directory *d, const char *file, const char *fallback_file)
{
    struct policy_inventory inventory;
    struct err err = {.arena = d->arena};
    const struct policy_places places = {.file = file, fallback_file, .inputs = &NONE};
    assert_true(policy_files_list(&places, d->arena, &inventory, &err));
    return inventory.missing;
}

/* The default file may be missing if another one is named. */
static void named_and_missing(void **state)
{
    struct directory *d = *state;
    const char *there = directory_write(d, "there.yaml", "");
    assert_string_equal(missing(d, "/nowhere.yaml", NULL), "/nowhere.yaml");
    assert_null(missing(d, "/nowhere.yaml", "policy.json"));
    assert_null(missing(d, there, NULL));
    assert_null(missing(d, "", NULL));
}

static void unlistable(void **state)
{
    struct directory *d = *state;
    const char *file = directory_write(d, "file", "");
    const char *const dirs[] = {file};
    const struct policy_places places = {.directories_of_files = {dirs, 1}, .inputs = &NONE};
    assert_string_equal(listed(d, &places),
                        arena_printf(d->arena, "%s: is not a directory", file).data);
    const struct policy_places no_file = {.file = directory_sub(d, "sub"), .inputs = &NONE};
    assert_non_null(strstr(listed(d, &no_file), "/sub: is not a file"));
    const struct policy_places pipe = {.file = directory_path(d, "pipe"), .inputs = &NONE};
    assert_int_equal(mkfifo(pipe.file, 0600), 0);
    assert_non_null(strstr(listed(d, &pipe), "/pipe: is not a file"));
    const char *const broken[] = {directory_sub(d, "broken")};
    assert_int_equal(symlink("nothing", directory_path(d, "broken/link")), 0);
    const struct policy_places dangling = {.directories_of_files = {broken, 1}, .inputs = &NONE};
    assert_non_null(strstr(listed(d, &dangling), "/broken/link: No such file or directory"));
}

static void too_many(void **state)
{
    struct directory *d = *state;
    const char *const dirs[] = {directory_sub(d, "d")};
    const struct policy_places places = {.directories_of_files = {dirs, 1}, .inputs = &NONE};
    struct policy_inventory inventory;
    struct err err = {.arena = d->arena};
    for (unsigned i = 0; i < POLICY_FILES_MAX; i++)
        directory_write(d, arena_printf(d->arena, "d/%03u", i).data, "");
    assert_true(policy_files_list(&places, d->arena, &inventory, &err));
    assert_int_equal(inventory.count, POLICY_FILES_MAX);
    const char *last = directory_write(d, "d/last", "");
    assert_string_equal(listed(d, &places),
                        arena_printf(d->arena, "%s: more than 256 policy files", last).data);
}

static bool same(struct directory *d, const struct policy_places *places,
                 const struct policy_inventory *before)
{
    struct policy_inventory now;
    struct err err = {.arena = d->arena};
    assert_true(policy_files_list(places, d->arena, &now, &err));
    return policy_inventory_equal(before, &now);
}

static void changes(void **state)
{
    struct directory *d = *state;
    const char *const dirs[] = {directory_sub(d, "d")};
    const char *file = directory_write(d, "policy.yaml", "a: x");
    const struct policy_places places = {file, NULL, {dirs, 1}, &NONE};
    struct policy_inventory before;
    struct err err = {.arena = d->arena};
    assert_true(policy_files_list(&places, d->arena, &before, &err));
    assert_true(same(d, &places, &before));
    directory_write(d, "policy.yaml", "a: y"); /* of the same size */
    assert_false(same(d, &places, &before));
    assert_true(policy_files_list(&places, d->arena, &before, &err));
    directory_write(d, "d/1", "");
    assert_false(same(d, &places, &before));
    assert_true(policy_files_list(&places, d->arena, &before, &err));
    assert_int_equal(rename(directory_path(d, "d/1"), directory_path(d, "d/2")), 0);
    assert_false(same(d, &places, &before));
    assert_true(policy_files_list(&places, d->arena, &before, &err));
    assert_int_equal(unlink(file), 0);
    assert_false(same(d, &places, &before));
}

/* "NAME=RULE" for each in the order of reading, or the error. */
static const char *taken(struct directory *d, const char *text)
{
    struct policy_overrides overrides = {0};
    struct policy_notes notes = {.arena = d->arena};
    struct err err = {.arena = d->arena};
    struct buf out = {0};
    if (!policy_file_take("f", slice_of(text), d->arena, &overrides, &notes, &err))
        return arena_copy(d->arena, err.message).data;
    for (size_t i = 0; i < overrides.count; i++)
        buf_printf(&out, "%s%.*s=%.*s", i == 0 ? "" : " ", SLICE_ARG(overrides.items[i].name),
                   SLICE_ARG(overrides.items[i].value->text));
    const char *shown = arena_copy(d->arena, buf_slice(&out)).data;
    buf_free(&out);
    return shown;
}

static void merges(void **state)
{
    struct directory *d = *state;
    assert_string_equal(taken(d, ""), "");
    assert_string_equal(taken(d, "a: x\n<<: {a: y, b: z}\n"), "a=y b=z a=x");
    assert_string_equal(taken(d, "<<: [{a: 'x'}, {a: y}]"), "a=y a=x");
    assert_string_equal(taken(d, "<<: {<<: {a: x}, b: y}"), "a=x b=y");
    assert_string_equal(taken(d, "'<<': x"), "<<=x");
    assert_string_equal(taken(d, "<<: x"), "f:1: << needs a mapping or a list of them");
    assert_string_equal(taken(d, "<<: [x]"), "f:1: << needs a mapping or a list of them");
    assert_string_equal(taken(d, "[a]: x"), "f:1: the name of a rule must be text");
    assert_string_equal(taken(d, "- a"), "f:1: must be a mapping from names to rules");
    assert_string_equal(taken(d, "~: x\n1: y\na: z"), "a=z");
}

/* Mappings that merge mappings that merge mappings. */
static void merge_bomb(void **state)
{
    struct directory *d = *state;
    struct buf text = {0};
    buf_printf(&text, "a0: &a0 {~: x}\n");
    for (unsigned i = 1; i < 10; i++)
        buf_printf(&text, "a%u: &a%u {<<: [*a%u,*a%u,*a%u,*a%u,*a%u,*a%u,*a%u,*a%u,*a%u]}\n", i, i,
                   i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    buf_append(&text, "<<: *a9\n", 9);
    assert_non_null(strstr(taken(d, text.data), "more than 50000 rules to merge"));
    buf_free(&text);
}

static const char *read_of(struct directory *d, const char *path)
{
    const struct policy_places places = {.file = path, .inputs = &NONE};
    struct policy_inventory inventory;
    struct policy_overrides overrides;
    struct policy_notes notes = {.arena = d->arena};
    struct err err = {.arena = d->arena};
    assert_true(policy_files_list(&places, d->arena, &inventory, &err));
    if (policy_files_read(&inventory, d->arena, &overrides, &notes, &err))
        return "";
    return arena_copy(d->arena, err.message).data;
}

static void unreadable(void **state)
{
    struct directory *d = *state;
    char *large = malloc(POLICY_FILE_BYTES_MAX + 2);
    assert_non_null(large);
    memset(large, '#', POLICY_FILE_BYTES_MAX + 1);
    large[POLICY_FILE_BYTES_MAX] = '\0';
    assert_string_equal(read_of(d, directory_write(d, "large", large)), "");
    large[POLICY_FILE_BYTES_MAX] = '#';
    large[POLICY_FILE_BYTES_MAX + 1] = '\0';
    assert_non_null(
        strstr(read_of(d, directory_write(d, "large", large)), "is larger than 1048576 bytes"));
    free(large);
    const char *path = directory_write(d, "wrong", "a: b\n  c: [\n");
    assert_string_equal(
        read_of(d, path),
        arena_printf(d->arena, "%s:2: mapping values are not allowed in this context", path).data);
}

static struct conf *conf_of(struct directory *d, const char *text, struct conf_inputs *inputs)
{
    struct err err = {.arena = d->arena};
    const char *file = directory_write(
        d, "placement.conf",
        arena_printf(d->arena, "[placement_database]\nconnection = sqlite://\n%s", text).data);
    *inputs = (struct conf_inputs){.sources = {{file, false}}, .sources_n = 1};
    struct conf *conf = conf_load(inputs, &err);
    assert_non_null(conf);
    return conf;
}

static void options(void **state)
{
    struct directory *d = *state;
    struct conf_inputs inputs;
    struct conf *conf = conf_of(d, "", &inputs);
    struct policy_places places = policy_places_of(conf, &inputs);
    struct policy_options settings = policy_options_of(conf);
    assert_string_equal(places.file, "policy.yaml");
    assert_string_equal(places.fallback_file, "policy.json");
    assert_int_equal(places.directories_of_files.n, 1);
    assert_string_equal(places.directories_of_files.items[0], "policy.d");
    assert_ptr_equal(places.inputs, &inputs);
    assert_true(slice_equal(settings.default_rule, SLICE_LIT("default")));
    assert_true(settings.enforce_scope && !settings.enforce_new_defaults);
    conf_destroy(conf);
    conf = conf_of(d,
                   "[oslo_policy]\npolicy_file = policy.yaml\npolicy_dirs = a\npolicy_dirs = b\n"
                   "policy_default_rule = x\nenforce_scope = 0\n",
                   &inputs);
    places = policy_places_of(conf, &inputs);
    settings = policy_options_of(conf);
    assert_null(places.fallback_file);
    assert_int_equal(places.directories_of_files.n, 2);
    assert_true(slice_equal(settings.default_rule, SLICE_LIT("x")));
    assert_false(settings.enforce_scope);
    conf_destroy(conf);
}

#define WITH_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, directory_make, directory_drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DIRECTORY(order),      WITH_DIRECTORY(named_and_missing),
        WITH_DIRECTORY(unlistable), WITH_DIRECTORY(changes),
        WITH_DIRECTORY(merges),     WITH_DIRECTORY(merge_bomb),
        WITH_DIRECTORY(unreadable), WITH_DIRECTORY(options),
        WITH_DIRECTORY(too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
