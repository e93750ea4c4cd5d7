/* Switches may appear before and after the action and its rules, in any order. The main thread. */
#include "cli/policy_arguments.h"

#include <string.h>

#include "cli/output.h"
#include "conf/suggest.h"
#include "policy/tables.h"

static const struct action {
    const char *name;
    const char *words; /* names of its arguments in the help */
    const char *help;
    enum policy_action action;
} actions[] = {
    {"list", "", "Print every rule in force and its source, as a policy file.", POLICY_ACTION_LIST},
    {"check", " [RULE]...",
     "Check rules against a token, and explain why they pass or fail; without RULE, check all "
     "rules.",
     POLICY_ACTION_CHECK},
    {"sample", "", "Print a policy file with every rule, commented out.", POLICY_ACTION_SAMPLE},
    {"validate", "",
     "Read the policy files and report everything that is wrong or unusual in them.",
     POLICY_ACTION_VALIDATE},
    {"reference", "", "Print the table of rules, in Markdown.", POLICY_ACTION_REFERENCE},
};

enum { ACTION_COUNT = sizeof(actions) / sizeof(actions[0]) };

static const struct command_line_switch switches[] = {
    {"--help", "-h", NULL, "Show this help and exit.", SWITCH_HELP, NULL, NULL, NULL},
    {"--config-file", NULL, "FILE", "Read this file instead of the first placement.conf found.",
     SWITCH_CONFIG_FILE, NULL, NULL, NULL},
    {"--config-dir", NULL, "DIR", "Also read the *.conf files in this directory.",
     SWITCH_CONFIG_DIR, NULL, NULL, NULL},
    {"--policy-file", NULL, "FILE", "Read this instead of [oslo_policy] policy_file.", SWITCH_OWN,
     NULL, NULL, NULL},
    {"--redundant", NULL, NULL, "list: only rules in files that are equal to the default.",
     SWITCH_OWN, NULL, NULL, NULL},
    {"--service", NULL, "NAME", "Only the rules of this service: placement, baremetal, valet.",
     SWITCH_OWN, NULL, NULL, NULL},
    {"--token-file", NULL, "FILE",
     "check: file with the token, as returned by Keystone's GET /v3/auth/tokens; -: standard "
     "input.",
     SWITCH_OWN, NULL, NULL, NULL},
    {"--target", NULL, "KEY=VALUE",
     "check: attribute of the request's target, in addition to or instead of the token's own "
     "project_id and user_id (placement:usages: project_id only). May be repeated.",
     SWITCH_OWN, NULL, NULL, NULL},
    {.name = NULL},
};

static void policy_arguments_print_help(FILE *out)
{
    fputs("usage: berth policy ACTION [SWITCH]...\n\nShows and checks the policies that berthd "
          "would use.\n\nactions:\n",
          out);
    for (size_t i = 0; i < ACTION_COUNT; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%s%s", actions[i].name, actions[i].words);
        command_line_print_entry(name, actions[i].help, out);
    }
    fputs("\nswitches:\n", out);
    command_line_print_switches(switches, out);
    fputs("\nExit code 0: success; 1: a checked rule fails, or validate has something to report;\n"
          "2: the check could not be made.\n",
          out);
}

static bool wrong(struct policy_arguments *arguments, FILE *errors, const char *what,
                  const char *argument)
{
    fprintf(errors, "berth policy: %s%s\nsee 'berth policy --help'\n", what, argument);
    arguments->exit_code = POLICY_EXIT_WRONG;
    return false;
}

static bool take_targets(const struct command_line *line, struct policy_arguments *arguments,
                         FILE *errors)
{
    for (unsigned i = 0; i < line->own_n; i++) {
        if (strcmp(line->own[i].name, "--target") != 0)
            continue;
        struct slice value = slice_of(line->own[i].value);
        struct slice key = slice_cut(&value, '=');
        if (key.len == strlen(line->own[i].value))
            return wrong(arguments, errors, "not KEY=VALUE: ", line->own[i].value);
        arguments->targets[arguments->target_count++] = (struct policy_attribute){key, value};
    }
    return true;
}

static bool take_service(const struct command_line *line, struct policy_arguments *arguments,
                         FILE *errors)
{
    const char *name = command_line_own(line, "--service");
    for (unsigned i = 0; i < POLICY_SERVICE_COUNT; i++)
        if (name == NULL || strcmp(name, policy_table_of(i)->service) == 0)
            arguments->services |= 1u << i;
    return arguments->services != 0 || wrong(arguments, errors, "no such service: ", name);
}

static bool take_sources(const struct command_line *line, struct conf_inputs *inputs,
                         struct policy_arguments *arguments, FILE *errors)
{
    for (size_t i = 0; i < line->inputs.sources_n; i++) {
        if (inputs->sources_n == CONF_INPUTS_MAX)
            return wrong(arguments, errors, "too many switches at ", line->inputs.sources[i].path);
        inputs->sources[inputs->sources_n++] = line->inputs.sources[i];
    }
    return true;
}

static bool wrong_action(struct policy_arguments *arguments, FILE *errors)
{
    const char *word = arguments->words[0];
    fprintf(errors, "berth policy: no such action: %s", word);
    output_suggestion(errors, suggest_name(word, actions, sizeof(actions[0]), ACTION_COUNT));
    fputs("see 'berth policy --help'\n", errors);
    arguments->exit_code = POLICY_EXIT_WRONG;
    return false;
}

static bool take_action(struct policy_arguments *arguments, FILE *errors)
{
    if (arguments->word_count == 0)
        return wrong(arguments, errors, "an action is missing", "");
    for (size_t i = 0; i < ACTION_COUNT; i++) {
        if (strcmp(arguments->words[0], actions[i].name) != 0)
            continue;
        arguments->action = actions[i].action;
        if (arguments->action != POLICY_ACTION_CHECK && arguments->word_count > 1)
            return wrong(arguments, errors, "unexpected argument: ", arguments->words[1]);
        if (arguments->action == POLICY_ACTION_CHECK && arguments->token_file == NULL)
            return wrong(arguments, errors, "check needs --token-file", "");
        return true;
    }
    return wrong_action(arguments, errors);
}

bool policy_arguments_parse(int argc, char *const *argv, struct conf_inputs *inputs, FILE *out,
                            FILE *errors, struct policy_arguments *arguments)
{
    struct command_line line;
    *arguments = (struct policy_arguments){.exit_code = POLICY_EXIT_OK};
    command_line_parse_words(switches, argc, argv, arguments->words, 1 + POLICY_ASKED_MAX,
                             &arguments->word_count, &line);
    if (line.action == COMMAND_LINE_HELP) {
        policy_arguments_print_help(out);
        return false;
    }
    if (line.action == COMMAND_LINE_WRONG)
        return wrong(arguments, errors, line.error, "");
    arguments->redundant = command_line_own(&line, "--redundant") != NULL;
    arguments->policy_file = command_line_own(&line, "--policy-file");
    arguments->token_file = command_line_own(&line, "--token-file");
    return take_targets(&line, arguments, errors) && take_service(&line, arguments, errors) &&
           take_sources(&line, inputs, arguments, errors) && take_action(arguments, errors);
}
