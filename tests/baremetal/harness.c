/* Answers for the differential: each line of standard input is one JSON object {"ask": WHAT, …},
 * answered by a line: {"value": …}, or {"status": N, "text": TEXT} for what is refused. One thread.
 */
#include <stdio.h>
#include <stdlib.h>

#include "baremetal/api/input/arguments.h"
#include "baremetal/api/input/body_checks.h"
#include "baremetal/api/input/json_patch.h"
#include "baremetal/api/mask.h"
#include "baremetal/api/negotiate.h"
#include "baremetal/api/nodes/action_bodies.h"
#include "base/arena.h"

enum { FIELDS_MAX = 64 };

struct question {
    json_t *job;
    struct err err;
};

static json_t *member(const struct question *q, const char *name)
{
    return json_object_get(q->job, name);
}

static struct slice text_of(const json_t *value)
{
    return (struct slice){json_string_value(value), json_string_length(value)};
}

static struct slice text_member(const struct question *q, const char *name)
{
    return text_of(member(q, name));
}

static unsigned minor_of(const struct question *q)
{
    return (unsigned)json_integer_value(member(q, "minor"));
}

static json_t *string_of(struct slice text)
{
    return text.data == NULL ? json_null() : json_stringn(text.data, text.len);
}

static json_t *ask_allocation(struct question *q)
{
    json_t *body = member(q, "body");
    if (!body_checks_allocation(body, "allocation", &q->err) ||
        !ident_check_allocation_name(json_object_get(body, "name"), false, &q->err))
        return NULL;
    return json_incref(body);
}

static json_t *ask_node(struct question *q)
{
    json_t *body = member(q, "body");
    if (!body_checks_node(body, "node", json_is_true(member(q, "patched")), &q->err) ||
        !ident_check_node_name(json_object_get(body, "name"), text_member(q, "node"), &q->err))
        return NULL;
    return json_incref(body);
}

static json_t *ask_traits(struct question *q)
{
    return body_checks_traits(member(q, "body"), &q->err) ? json_true() : NULL;
}

static json_t *ask_trait(struct question *q)
{
    return body_checks_trait(text_member(q, "trait"), &q->err) ? json_true() : NULL;
}

/* As a handler goes: shape, fields, names, application. */
static json_t *ask_patch(struct question *q)
{
    json_t *patch = member(q, "patch");
    const char *fields[FIELDS_MAX + 1] = {NULL};
    for (size_t i = 0; i < json_array_size(member(q, "fields")) && i < FIELDS_MAX; i++)
        fields[i] = json_string_value(json_array_get(member(q, "fields"), i));
    if (!json_patch_check(patch, &q->err) || !json_patch_check_fields(patch, fields, &q->err))
        return NULL;
    for (size_t i = 0; i < json_array_size(patch); i++)
        if (!ident_check_allocation_name(json_patch_value(json_array_get(patch, i), "/name"), true,
                                         &q->err))
            return NULL;
    return json_patch_apply(member(q, "document"), patch, &q->err);
}

static json_t *ask_mask(struct question *q)
{
    return mask_copy(member(q, "body"),
                     json_is_true(member(q, "instance")) ? MASK_INSTANCE_INFO : MASK_DRIVER_INFO);
}

static json_t *ask_negotiate(struct question *q)
{
    unsigned minor;
    if (!negotiate_version(text_member(q, "own"), text_member(q, "general"), &minor, &q->err))
        return NULL;
    return json_integer(minor);
}

static bool is_listed(const void *with, struct slice name)
{
    const json_t *names = (const json_t *)with;
    for (size_t i = 0; i < json_array_size(names); i++)
        if (slice_equal(text_of(json_array_get(names, i)), name))
            return true;
    return false;
}

static json_t *words_of(const struct argument_words *words)
{
    json_t *list = json_array();
    for (size_t i = 0; i < words->count; i++)
        json_array_append_new(list, string_of(words->words[i]));
    return list;
}

static json_t *ask_fields(struct question *q, const struct argument *argument)
{
    struct argument_words words = {0};
    if (!argument_words(argument, &words, &q->err) ||
        !argument_check_fields(&words, is_listed, member(q, "known"), &q->err))
        return NULL;
    return words_of(&words);
}

static json_t *ask_argument(struct question *q)
{
    struct query_string query = query_string_parse(q->err.arena, text_member(q, "query"));
    struct argument argument =
        argument_find(q->err.arena, &query, json_string_value(member(q, "name")));
    struct slice kind = text_member(q, "kind");
    struct slice text = {0};
    struct ident ident = {0};
    bool truth = false;
    size_t limit = 1000;
    if (slice_equal(kind, SLICE_LIT("string")))
        return argument_text(&argument, &text, &q->err) ? string_of(text) : NULL;
    if (slice_equal(kind, SLICE_LIT("uuid")))
        return argument_uuid(&argument, &text, &q->err) ? string_of(text) : NULL;
    if (slice_equal(kind, SLICE_LIT("uuid_or_name")))
        return argument_ident(&argument, &ident, &q->err) ? string_of(ident.text) : NULL;
    if (slice_equal(kind, SLICE_LIT("boolean")))
        return argument_boolean(&argument, &truth, &q->err) ? json_boolean(truth) : NULL;
    if (slice_equal(kind, SLICE_LIT("limit")))
        return argument_limit(&argument, &limit, &q->err) ? json_integer((json_int_t)limit) : NULL;
    if (slice_equal(kind, SLICE_LIT("sort_dir")))
        return argument_sort_dir(&argument, &truth, &q->err) ? json_boolean(truth) : NULL;
    check(slice_equal(kind, SLICE_LIT("fields")));
    return ask_fields(q, &argument);
}

/* The argument's members, and whether they fit the verb, where the verb is one. */
static json_t *ask_provision(struct question *q)
{
    struct provision_body body;
    if (!action_bodies_provision(member(q, "body"), &body, &q->err))
        return NULL;
    const struct node_verb_name *verb = node_verb_find(body.target);
    if (verb != NULL && minor_of(q) < verb->since) {
        err_set(&q->err, 406, NULL, "Request not acceptable.");
        return NULL;
    }
    if (verb != NULL && !action_bodies_check_provision(&body, verb->verb, minor_of(q), &q->err))
        return NULL;
    return string_of(body.target);
}

static json_t *ask_power(struct question *q)
{
    struct power_body body;
    if (!action_bodies_power(member(q, "body"), &body, &q->err) ||
        !action_bodies_check_power(&body, minor_of(q), &q->err))
        return NULL;
    return json_pack("[o, I]", string_of(body.target), (json_int_t)body.timeout_s);
}

static json_t *ask_maintenance(struct question *q)
{
    struct slice reason;
    return action_bodies_maintenance(member(q, "body"), &reason, &q->err) ? string_of(reason)
                                                                          : NULL;
}

static json_t *ask_clean_error(struct question *q)
{
    return string_of(
        action_bodies_clean_error(q->err.arena, SLICE_LIT("NODE"), member(q, "steps")));
}

/* Of each state: what the verb makes of it, what it is after a restart, and its sets. */
static json_t *ask_states(struct question *q)
{
    const struct node_verb_name *verb = node_verb_find(text_member(q, "verb"));
    static const struct node_circumstances PLAIN;
    json_t *states = json_object();
    for (unsigned i = NODE_NO_STATE + 1; i < NODE_STATE_COUNT; i++) {
        enum node_state at = (enum node_state)i;
        struct node_course course = {0};
        if (verb != NULL)
            node_machine_begin(at, verb->verb, &PLAIN, &course);
        bool transient = node_machine_is_transient(at);
        struct node_course broken = {0};
        if (transient)
            broken = node_machine_interrupted(at);
        json_t *row = json_pack("{s:o, s:o, s:b, s:o, s:o, s:b, s:b, s:b}", "state",
                                string_of(node_state_text(course.state)), "target",
                                string_of(node_state_text(course.target)), "transient", transient,
                                "failed", string_of(node_state_text(broken.state)), "failed_target",
                                string_of(node_state_text(broken.target)), "updatable",
                                node_state_is_updatable(at), "deletable",
                                node_state_lets_delete(at), "power", node_state_lets_power(at));
        struct slice name = node_state_text(at);
        json_object_setn_new(states, name.data, name.len, row);
    }
    return json_pack("{s:i, s:o}", "since", verb == NULL ? 0 : (int)verb->since, "states", states);
}

static const struct {
    const char *name;
    json_t *(*answer)(struct question *q);
} QUESTIONS[] = {
    {"allocation", ask_allocation},
    {"node", ask_node},
    {"traits", ask_traits},
    {"trait", ask_trait},
    {"patch", ask_patch},
    {"mask", ask_mask},
    {"negotiate", ask_negotiate},
    {"argument", ask_argument},
    {"provision", ask_provision},
    {"power", ask_power},
    {"maintenance", ask_maintenance},
    {"clean_error", ask_clean_error},
    {"states", ask_states},
};

static json_t *answer(struct question *q)
{
    for (size_t i = 0; i < sizeof(QUESTIONS) / sizeof(QUESTIONS[0]); i++)
        if (slice_equal(slice_of(QUESTIONS[i].name), text_member(q, "ask")))
            return QUESTIONS[i].answer(q);
    check(false);
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        struct question q = {json_loads(line, JSON_ALLOW_NUL, NULL), {.arena = arena_create()}};
        check(q.job != NULL);
        json_t *value = answer(&q);
        check((value == NULL) == err_is_set(&q.err));
        json_t *reply = value != NULL
                            ? json_pack("{s:o}", "value", value)
                            : json_pack("{s:i, s:o}", "status", q.err.status, "text",
                                        json_stringn(q.err.message.data, q.err.message.len));
        check(reply != NULL);
        json_dumpf(reply, stdout, JSON_COMPACT);
        putchar('\n');
        fflush(stdout);
        json_decref(reply);
        json_decref(q.job);
        arena_destroy(q.err.arena);
    }
    free(line);
    return 0;
}
