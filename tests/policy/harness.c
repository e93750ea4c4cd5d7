/* Answers for the differential: each line of standard input is one JSON object, answered by a line.
 *
 *     {"table": SERVICE}   ->  the table of its rules
 *     {"service": SERVICE, "file": PATH or "", "dirs": [PATH…], "new_defaults": BOOL, "scope":
 * BOOL, "default": NAME, "identities": [{…}…], "targets": [{KEY: TEXT or null}…], "names": [NAME…]}
 *                       ->  {"error": TEXT}, or {"verdicts": {NAME: LETTERS}, "texts": {NAME:
 * TEXT}}
 *
 * with a letter for each identity and target: T allowed, F denied, E denied by a fault, S of the
 * wrong scope. One thread. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "people.h"
#include "policy/evaluate.h"
#include "policy/keeper.h"
#include "policy/tables.h"

static struct policy_target read_target(json_t *object, struct policy_attribute items[LIST_MAX])
{
    struct policy_target target = {items, 0};
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        check(target.count < LIST_MAX);
        items[target.count++] = (struct policy_attribute){slice_of(key), people_text(object, key)};
    }
    return target;
}

static char letter(const struct policy *policy, const struct policy_entry *entry,
                   const struct policy_input *input)
{
    if (entry == NULL)
        return 'F';
    if (policy->enforce_scope && entry->known != NULL &&
        !policy_scope_fits(entry->known->scopes, input->identity))
        return 'S';
    switch (policy_evaluate(entry->root, input)) {
    case POLICY_TRUE:
        return 'T';
    case POLICY_FALSE:
        return 'F';
    case POLICY_FAULT:
        break;
    }
    return 'E';
}

/* The way of a request must come to the same as the way by name. */
static void check_decide(const struct policy *policy, enum policy_service service,
                         const struct policy_entry *entry, char printed,
                         const struct policy_input *input)
{
    const struct policy_table *table = policy_table_of(service);
    if (entry == NULL || entry->known == NULL || entry->known - table->rows >= table->checked)
        return;
    enum policy_verdict verdict =
        policy_decide(policy, service, 1 + (unsigned)(entry->known - table->rows), input->identity,
                      input->target);
    check(verdict == (printed == 'T'   ? POLICY_ALLOWED
                      : printed == 'S' ? POLICY_DENIED_SCOPE
                                       : POLICY_DENIED));
}

static enum policy_service service_of(const json_t *name)
{
    for (unsigned i = 0; i < POLICY_SERVICE_COUNT; i++)
        if (strcmp(json_string_value(name), policy_table_of(i)->service) == 0)
            return i;
    check(false);
    return POLICY_OF_PLACEMENT;
}

static void ask_all(const struct policy *policy, const json_t *job, struct slice name,
                    struct buf *out)
{
    enum policy_service service = service_of(json_object_get(job, "service"));
    const struct policy_entry *entry = policy_find(&policy->sets[service], name);
    const json_t *people = json_object_get(job, "identities");
    const json_t *targets = json_object_get(job, "targets");
    for (size_t p = 0; p < json_array_size(people); p++)
        for (size_t t = 0; t < json_array_size(targets); t++) {
            struct person person;
            struct policy_attribute items[LIST_MAX];
            people_read(json_array_get(people, p), &person);
            struct policy_target target = read_target(json_array_get(targets, t), items);
            struct policy_input input = {&person.identity, &target};
            char printed = letter(policy, entry, &input);
            check_decide(policy, service, entry, printed, &input);
            buf_append_char(out, printed);
        }
}

static json_t *answer_of(const struct policy *policy, const json_t *job)
{
    const struct policy_set *set = &policy->sets[service_of(json_object_get(job, "service"))];
    json_t *verdicts = json_object();
    json_t *texts = json_object();
    json_t *names = json_object_get(job, "names");
    for (size_t i = 0; i < json_array_size(names); i++) {
        const json_t *name = json_array_get(names, i);
        struct slice key = {json_string_value(name), json_string_length(name)};
        const struct policy_entry *entry = policy_find(set, key);
        struct buf out = {0};
        ask_all(policy, job, key, &out);
        json_object_set_new(verdicts, key.data, json_stringn(out.data, out.len));
        out.len = 0;
        if (entry != NULL)
            policy_node_print(&out, entry->root);
        json_object_set_new(texts, key.data, json_stringn_nocheck(out.data, out.len));
        buf_free(&out);
    }
    json_t *notes = json_array();
    for (unsigned i = 0; i < policy->notes.count; i++)
        json_array_append_new(notes, json_stringn_nocheck(policy->notes.items[i].text.data,
                                                          policy->notes.items[i].text.len));
    return json_pack("{s:o, s:o, s:o}", "verdicts", verdicts, "texts", texts, "notes", notes);
}

static json_t *run(const json_t *job)
{
    struct err err = {.arena = arena_create()};
    const char *directories[LIST_MAX];
    const json_t *dirs = json_object_get(job, "dirs");
    for (size_t i = 0; i < json_array_size(dirs); i++)
        directories[i] = json_string_value(json_array_get(dirs, i));
    static const struct conf_inputs none = {.sources_n = 0};
    struct policy_places places = {
        .inputs = &none,
        .file = json_string_value(json_object_get(job, "file")),
        .directories_of_files = {directories, json_array_size(dirs)},
    };
    struct policy_options options = {
        .enforce_new_defaults = json_is_true(json_object_get(job, "new_defaults")),
        .enforce_scope = json_is_true(json_object_get(job, "scope")),
        .default_rule = people_text(job, "default"),
    };
    struct policy *policy = policy_load(&places, &options, &err);
    json_t *answer = NULL;
    if (policy == NULL)
        answer =
            json_pack("{s:o}", "error", json_stringn_nocheck(err.message.data, err.message.len));
    else
        answer = answer_of(policy, job);
    if (policy != NULL)
        policy_release(policy);
    arena_destroy(err.arena);
    return answer;
}

static json_t *table_of(enum policy_service service)
{
    const struct policy_table *table = policy_table_of(service);
    json_t *rows = json_array();
    for (unsigned i = 0; i < table->count; i++) {
        const struct policy_default *row = &table->rows[i];
        json_t *operations = json_array();
        for (unsigned o = 0; o < POLICY_OPERATIONS_MAX && row->operations[o].method != NULL; o++)
            json_array_append_new(operations, json_pack("[s, s]", row->operations[o].method,
                                                        row->operations[o].path));
        json_t *scopes = json_array();
        static const char *const NAMES[] = {"system", "domain", "project"};
        for (unsigned s = 0; s < 3; s++)
            if ((row->scopes & 1u << s) != 0)
                json_array_append_new(scopes, json_string(NAMES[s]));
        json_t *old = json_null();
        if (row->deprecated != NULL)
            old = json_pack("{s:s, s:s, s:s}", "name", row->deprecated->name, "check",
                            row->deprecated->check, "since", row->deprecated->since);
        json_array_append_new(
            rows, json_pack("{s:s, s:s, s:o, s:o, s:o, s:s?, s:b}", "name", row->name, "check",
                            row->check, "scopes", scopes, "operations", operations, "deprecated",
                            old, "leaving", row->leaving, "asked", i < table->checked));
    }
    return rows;
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        json_error_t wrong;
        json_t *job = json_loads(line, JSON_ALLOW_NUL, &wrong);
        check(job != NULL);
        json_t *table = json_object_get(job, "table");
        json_t *answer = table != NULL ? table_of(service_of(table)) : run(job);
        check(json_dumpf(answer, stdout, JSON_COMPACT) == 0);
        putchar('\n');
        fflush(stdout);
        json_decref(answer);
        json_decref(job);
    }
    free(line);
    return 0;
}
