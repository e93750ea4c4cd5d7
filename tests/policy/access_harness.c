/* Answers for tests/policy/access.py: each line of standard input is one JSON object, answered by a
 * line.
 *
 *     {"file": PATH or "", "new_defaults": BOOL, "scope": BOOL, "identities": [{…}…], "asks":
 * [{"what": WORD, …}…]}
 *                       ->  [[TEXT for each ask] for each identity]
 *
 * A text is "ok VALUE", "403 RULE", "404" or "400". One thread. */
#include <stdio.h>
#include <stdlib.h>

#include "baremetal/api/access.h"
#include "people.h"
#include "policy/keeper.h"
#include "policy/rules.h"

enum { PATCH_MAX = 16 };

struct asking {
    struct access access;
    const json_t *ask;
    struct access_node node;
    struct err err;
    struct buf out;
};

static enum policy_baremetal_rule rule_of(const json_t *ask)
{
    struct slice name = people_text(ask, "rule");
    for (unsigned i = POLICY_BAREMETAL_NONE + 1; i < POLICY_BAREMETAL_COUNT; i++)
        if (slice_equal(slice_of(policy_baremetal_name(i)), name))
            return i;
    check(false);
    return POLICY_BAREMETAL_NONE;
}

static struct slice or_dash(struct slice text)
{
    return text.data == NULL ? SLICE_LIT("-") : text;
}

/* What a 403 says is the rule. */
static void log_store_refusal(struct asking *a)
{
    static const struct slice WORDS = SLICE_LIT("Access was denied to the following resource: ");
    struct slice text = a->err.message;
    check(err_is_set(&a->err));
    if (a->err.status == 403) {
        check(slice_starts_with(text, WORDS));
        text = slice_skip(text, WORDS.len);
        buf_printf(&a->out, "403 %.*s", SLICE_ARG(text));
    } else {
        buf_printf(&a->out, "%d", a->err.status);
    }
}

static void tell_verdict(struct asking *a, enum access_verdict verdict)
{
    check(err_is_set(&a->err) == (verdict == ACCESS_REFUSED));
    if (verdict == ACCESS_ALLOWED)
        buf_append_lit(&a->out, "ok ");
    else if (verdict == ACCESS_HIDDEN)
        buf_append_lit(&a->out, "404");
    else
        log_store_refusal(a);
}

static void ask_check(struct asking *a)
{
    bool allowed = access_check(&a->access, rule_of(a->ask), &a->err);
    tell_verdict(a, allowed ? ACCESS_ALLOWED : ACCESS_REFUSED);
}

static void ask_list(struct asking *a)
{
    static const char *const LISTS[ACCESS_LISTS] = {"node", "allocation", "port", "portgroup",
                                                    "volume"};
    struct slice project;
    unsigned list = 0;
    while (!slice_equal(slice_of(LISTS[list]), people_text(a->ask, "list")))
        check(++list < ACCESS_LISTS);
    if (access_list(&a->access, list, people_text(a->ask, "wanted"), &project, &a->err))
        buf_printf(&a->out, "ok %.*s", SLICE_ARG(or_dash(project)));
    else
        log_store_refusal(a);
}

static void ask_node(struct asking *a)
{
    tell_verdict(a, access_node(&a->access, rule_of(a->ask), &a->node, &a->err));
}

static void ask_allocation(struct asking *a)
{
    tell_verdict(
        a, access_allocation(&a->access, rule_of(a->ask), people_text(a->ask, "owner"), &a->err));
}

static void ask_delete(struct asking *a)
{
    tell_verdict(a, access_node_delete(&a->access, &a->node, &a->err));
}

static void ask_patch(struct asking *a)
{
    const json_t *patch = json_object_get(a->ask, "patch");
    enum policy_baremetal_rule rules[PATCH_MAX];
    unsigned count = (unsigned)json_array_size(patch);
    check(count <= PATCH_MAX);
    for (unsigned i = 0; i < count; i++) {
        const json_t *operation = json_array_get(patch, i);
        rules[i] = access_rule_of_patch(people_text(operation, "path"),
                                        json_is_false(json_object_get(operation, "value")));
    }
    tell_verdict(a, access_node_patch(&a->access, &a->node, rules, count, &a->err));
}

static void ask_create_node(struct asking *a)
{
    struct slice owner;
    if (access_node_create(&a->access, people_text(a->ask, "owner"), &owner, &a->err))
        buf_printf(&a->out, "ok %.*s", SLICE_ARG(or_dash(owner)));
    else
        log_store_refusal(a);
}

static void ask_create_allocation(struct asking *a)
{
    struct access_creation creation;
    if (access_allocation_create(&a->access, people_text(a->ask, "owner"), &creation, &a->err))
        buf_printf(&a->out, "ok %.*s of %.*s", SLICE_ARG(or_dash(creation.owner)),
                   SLICE_ARG(or_dash(creation.candidates_of)));
    else
        log_store_refusal(a);
}

static void ask_masks(struct asking *a)
{
    static const struct {
        const char *name;
        enum access_mask mask;
    } MASKS[] = {{"driver_secrets", ACCESS_DRIVER_SECRETS},
                 {"instance_secrets", ACCESS_INSTANCE_SECRETS},
                 {"last_error", ACCESS_LAST_ERROR},
                 {"reservation", ACCESS_RESERVATION},
                 {"driver_internal_info", ACCESS_DRIVER_INTERNAL_INFO},
                 {"driver_info", ACCESS_DRIVER_INFO}};
    bool is_list = json_is_true(json_object_get(a->ask, "in_list"));
    unsigned masks = access_masks(&a->access, is_list ? NULL : &a->node);
    masks = access_node_masks(&a->access, masks, &a->node);
    buf_append_lit(&a->out, "ok");
    for (size_t i = 0; i < sizeof(MASKS) / sizeof(MASKS[0]); i++) {
        if ((masks & MASKS[i].mask) == 0)
            continue;
        buf_printf(&a->out, " %s", MASKS[i].name);
        if (MASKS[i].mask > ACCESS_FILTERED)
            buf_printf(&a->out, "=%.*s", SLICE_ARG(access_mask_text(MASKS[i].mask)));
    }
}

static void ask(struct asking *a)
{
    static const struct {
        const char *what;
        void (*ask)(struct asking *a);
    } KINDS[] = {
        {"check", ask_check},
        {"list", ask_list},
        {"node", ask_node},
        {"allocation", ask_allocation},
        {"delete", ask_delete},
        {"patch", ask_patch},
        {"create_node", ask_create_node},
        {"create_allocation", ask_create_allocation},
        {"masks", ask_masks},
    };
    struct slice what = people_text(a->ask, "what");
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++)
        if (slice_equal(slice_of(KINDS[i].what), what)) {
            KINDS[i].ask(a);
            return;
        }
    check(false);
}

static json_t *answer_one(struct policy_keeper *keeper, const struct identity *identity,
                          const json_t *question)
{
    struct asking a = {.ask = question, .err.arena = arena_create()};
    a.node = (struct access_node){people_text(question, "owner"), people_text(question, "lessee")};
    access_begin(&a.access, keeper, identity, json_is_true(json_object_get(question, "open")));
    ask(&a);
    json_t *text = json_stringn(a.out.data, a.out.len);
    buf_free(&a.out);
    arena_destroy(a.err.arena);
    return text;
}

static json_t *answer(const json_t *job)
{
    static const struct conf_inputs none = {.sources_n = 0};
    struct err err = {.arena = arena_create()};
    const struct policy_places places = {.inputs = &none,
                                         .file = json_string_value(json_object_get(job, "file"))};
    const struct policy_options options = {
        .enforce_new_defaults = json_is_true(json_object_get(job, "new_defaults")),
        .enforce_scope = json_is_true(json_object_get(job, "scope")),
        .default_rule = SLICE_LIT("default"),
    };
    const json_t *people = json_object_get(job, "identities");
    const json_t *asks = json_object_get(job, "asks");
    json_t *all = json_array();
    struct policy *policy = policy_load(&places, &options, &err);
    check(policy != NULL);
    struct policy_keeper *keeper = policy_keeper_of(policy);
    for (size_t p = 0; p < json_array_size(people); p++) {
        struct person person;
        json_t *own = json_array();
        people_read(json_array_get(people, p), &person);
        for (size_t i = 0; i < json_array_size(asks); i++)
            json_array_append_new(own,
                                  answer_one(keeper, &person.identity, json_array_get(asks, i)));
        json_array_append_new(all, own);
    }
    policy_keeper_close(keeper);
    arena_destroy(err.arena);
    return all;
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        json_error_t wrong;
        json_t *job = json_loads(line, 0, &wrong);
        check(job != NULL);
        json_t *answers = answer(job);
        check(json_dumpf(answers, stdout, JSON_COMPACT) == 0);
        putchar('\n');
        fflush(stdout);
        json_decref(answers);
        json_decref(job);
    }
    free(line);
    return 0;
}
