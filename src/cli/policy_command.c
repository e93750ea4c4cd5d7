/* berth policy: builds the policies that berthd would use, according to the command line. The main
 * thread. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/policy_arguments.h"
#include "cli/policy_command.h"
#include "cli/policy_explain.h"
#include "cli/policy_print.h"
#include "cli/token_file.h"
#include "conf/load.h"
#include "policy/caller.h"
#include "policy/keeper.h"
#include "policy/tables.h"

struct look {
    struct arena *arena;
    struct conf *conf;
    struct policy *policy;
    struct err err;
};

/* A policy file on the command line is relative to the current directory, and must exist. */
static bool take_file(struct look *look, struct policy_places *places, const char *file)
{
    if (file == NULL)
        return true;
    char *path = realpath(file, NULL);
    if (path == NULL)
        return err_set(&look->err, 500, NULL, "%s: %s", file, strerror(errno));
    places->file = arena_copy(look->arena, slice_of(path)).data;
    places->fallback_file = NULL;
    free(path);
    return true;
}

static bool look_begin(struct look *look, const struct conf_inputs *inputs, const char *policy_file)
{
    *look = (struct look){.arena = arena_create()};
    look->err.arena = look->arena;
    look->conf = conf_load(inputs, &look->err);
    if (look->conf == NULL)
        return false;
    struct policy_places places = policy_places_of(look->conf, inputs);
    struct policy_options options = policy_options_of(look->conf);
    if (take_file(look, &places, policy_file))
        look->policy = policy_load(&places, &options, &look->err);
    return look->policy != NULL;
}

static int look_end(struct look *look, int code)
{
    if (err_is_set(&look->err))
        fprintf(stderr, "berth policy: %.*s\n", SLICE_ARG(look->err.message));
    if (look->policy != NULL)
        policy_release(look->policy);
    conf_destroy(look->conf);
    arena_destroy(look->arena);
    return code;
}

static void policy_command_put(struct buf *out)
{
    fwrite(out->data, 1, out->len, stdout);
    buf_free(out);
}

/* The service's own file, unless the command line names another. */
static struct policy_target target_of(const struct policy_arguments *arguments,
                                      const struct identity *identity, enum policy_service service,
                                      struct arena *arena)
{
    unsigned count = arguments->target_count;
    struct policy_attribute *items =
        arena_array(arena, count + POLICY_CALLER_ATTRIBUTES, sizeof(*items));
    /* The first value of an attribute is used. */
    for (unsigned i = 0; i < count; i++)
        items[i] = arguments->targets[i];
    count += policy_caller_attributes(service, identity, items + count);
    return (struct policy_target){items, count};
}

/* The same for GET /usages, whose target is a project: the caller's other attributes are not part
 * of it (upstream's handlers/usage.py). */
static struct policy_target usages_target_of(const struct policy_arguments *arguments,
                                             const struct policy_target *whole, struct arena *arena)
{
    struct policy_attribute *items = arena_array(arena, whole->count, sizeof(*items));
    unsigned count = 0;
    for (unsigned i = 0; i < whole->count; i++)
        if (i < arguments->target_count ||
            slice_equal(whole->attributes[i].key, SLICE_LIT("project_id")))
            items[count++] = whole->attributes[i];
    return (struct policy_target){items, count};
}

/* The caller, and for each service the target, for which rules are checked. */
struct policy_case {
    const struct policy *policy;
    struct identity identity;
    struct policy_target targets[POLICY_SERVICE_COUNT];
    struct policy_target usages_target;
    unsigned services;
};

static const struct policy_target *target_for(const struct policy_case *given,
                                              enum policy_service service, struct slice rule)
{
    bool is_usages =
        service == POLICY_OF_PLACEMENT && slice_equal(rule, SLICE_LIT("placement:usages"));
    return is_usages ? &given->usages_target : &given->targets[service];
}

/* Whether the rule passes. `of`: the service, if more than one has a rule of this name. */
static bool policy_command_check(const struct policy_case *given, enum policy_service service,
                                 struct slice name, const char *of, bool explained)
{
    const struct policy *policy = given->policy;
    const struct policy_input input = {&given->identity, target_for(given, service, name)};
    const struct policy_entry *entry = policy_find(&policy->sets[service], name);
    const struct policy_default *known = entry == NULL ? NULL : entry->known;
    struct buf why = {0};
    bool fits =
        known == NULL || !policy->enforce_scope || policy_scope_fits(known->scopes, input.identity);
    bool passed = entry != NULL && fits && policy_evaluate(entry->root, &input) == POLICY_TRUE;
    if (entry == NULL)
        buf_append_lit(&why, "  there is no rule of this name\n");
    else if (!fits)
        buf_append_lit(&why, "  the rule does not allow the token's scope\n");
    else
        policy_explain(&why, entry, &input);
    printf("%s: %.*s", passed ? "passed" : "failed", SLICE_ARG(name));
    if (of != NULL)
        printf("  (of %s)", of);
    if (entry != NULL && !slice_equal(entry->name, name))
        printf("  (not defined: %.*s is used instead)", SLICE_ARG(entry->name));
    else if (entry != NULL && entry->where != NULL)
        printf("  (%s)", entry->where);
    putchar('\n');
    if (explained || entry == NULL)
        policy_command_put(&why);
    buf_free(&why);
    return passed;
}

/* If several services have a rule of this name, each is checked. */
static bool check_by_name(const struct policy_case *given, struct slice name)
{
    unsigned known = 0;
    bool all = true;
    for (unsigned i = 0; i < POLICY_SERVICE_COUNT; i++)
        if (policy_table_find(policy_table_of(i), name) != NULL)
            known |= (1u << i) & given->services;
    if (known == 0) /* only in files, or of a service that was not requested */
        return policy_command_check(given, policy_service_of(given->policy, name), name, NULL,
                                    true);
    bool many = (known & (known - 1)) != 0;
    for (unsigned i = 0; i < POLICY_SERVICE_COUNT; i++)
        if ((known & 1u << i) != 0)
            all &= policy_command_check(given, i, name, many ? policy_table_of(i)->service : NULL,
                                        true);
    return all;
}

static bool check_table(const struct policy_case *given, enum policy_service service)
{
    const struct policy_table *table = policy_table_of(service);
    bool all = true;
    for (unsigned i = 0; i < table->checked; i++)
        all &= policy_command_check(given, service, slice_of(table->rows[i].name), NULL, false);
    return all;
}

static int check_rules(struct look *look, const struct policy_arguments *arguments)
{
    struct policy_case given = {.policy = look->policy, .services = arguments->services};
    bool all = true;
    if (!token_file_read(arguments->token_file, look->arena, &given.identity, &look->err))
        return POLICY_EXIT_WRONG;
    for (unsigned i = 0; i < POLICY_SERVICE_COUNT; i++)
        given.targets[i] = target_of(arguments, &given.identity, i, look->arena);
    given.usages_target =
        usages_target_of(arguments, &given.targets[POLICY_OF_PLACEMENT], look->arena);
    for (unsigned i = 1; i < arguments->word_count; i++)
        all &= check_by_name(&given, slice_of(arguments->words[i]));
    for (unsigned i = 0; arguments->word_count == 1 && i < POLICY_SERVICE_COUNT; i++)
        if ((arguments->services & 1u << i) != 0)
            all &= check_table(&given, i);
    return all ? POLICY_EXIT_OK : POLICY_EXIT_NO;
}

static int validate(const struct policy *policy)
{
    const struct policy_notes *notes = &policy->notes;
    unsigned warnings = notes->more_warnings;
    for (unsigned i = 0; i < notes->count; i++) {
        warnings += notes->items[i].level == LOG_LEVEL_WARNING;
        printf("%.*s\n", SLICE_ARG(notes->items[i].text));
    }
    if (notes->more > 0)
        printf("and %u more\n", notes->more);
    return warnings == 0 ? POLICY_EXIT_OK : POLICY_EXIT_NO;
}

static int look_and_run(const struct policy_arguments *arguments, const struct conf_inputs *inputs)
{
    struct look look;
    struct buf out = {0};
    if (!look_begin(&look, inputs, arguments->policy_file)) {
        bool only_files = look.conf != NULL && arguments->action == POLICY_ACTION_VALIDATE;
        return look_end(&look, only_files ? POLICY_EXIT_NO : POLICY_EXIT_WRONG);
    }
    switch (arguments->action) {
    case POLICY_ACTION_CHECK:
        return look_end(&look, check_rules(&look, arguments));
    case POLICY_ACTION_VALIDATE:
        return look_end(&look, validate(look.policy));
    default:
        policy_print_list(&out, look.policy, arguments->services, arguments->redundant);
        policy_command_put(&out);
        return look_end(&look, POLICY_EXIT_OK);
    }
}

int policy_command(int argc, char **argv, struct conf_inputs *inputs)
{
    struct policy_arguments arguments;
    struct buf out = {0};
    if (!policy_arguments_parse(argc, argv, inputs, stdout, stderr, &arguments))
        return arguments.exit_code;
    switch (arguments.action) {
    case POLICY_ACTION_SAMPLE:
        policy_print_sample(&out, arguments.services);
        break;
    case POLICY_ACTION_REFERENCE:
        policy_print_reference(&out);
        break;
    default:
        return look_and_run(&arguments, inputs);
    }
    policy_command_put(&out);
    return POLICY_EXIT_OK;
}
