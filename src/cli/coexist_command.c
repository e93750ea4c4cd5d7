/* See coexist_command.h. One thread. */
#include "cli/coexist_command.h"

#include <string.h>

#include "cli/output.h"
#include "conf/suggest.h"
#include "store/coexist.h"

static const char *const actions[] = {"enable", "disable", "status"};
enum { ENABLE, DISABLE, STATUS, ACTIONS };

static int print_status(struct slice connection, FILE *out, struct err *err)
{
    struct coexist_status status;
    if (!coexist_read_status(connection, &status, err))
        return 1;
    if (status.triggers == 0)
        fputs("disabled", out);
    else if (status.triggers == status.all)
        fputs("enabled", out);
    else
        fprintf(out, "incomplete: %lld of %lld triggers are there", (long long)status.triggers,
                (long long)status.all);
    fprintf(out, ", changes waiting: %lld\n", (long long)status.waiting);
    return status.triggers == 0 || status.triggers == status.all ? 0 : 1;
}

static int wrong_action(const char *action, FILE *errors)
{
    fprintf(errors,
            "placement-manage: error: argument ACTION: invalid choice: '%s' (choose from 'enable', "
            "'disable', 'status')",
            action);
    output_suggestion(errors, suggest_name(action, actions, sizeof(actions[0]), ACTIONS));
    return 2;
}

int coexist_command_run(struct slice connection, const char *action, FILE *out, FILE *errors,
                        struct err *err)
{
    if (strcmp(action, actions[ENABLE]) == 0)
        return coexist_enable(connection, err) ? 0 : 1;
    if (strcmp(action, actions[DISABLE]) == 0)
        return coexist_disable(connection, err) ? 0 : 1;
    if (strcmp(action, actions[STATUS]) == 0)
        return print_status(connection, out, err);
    return wrong_action(action, errors);
}
