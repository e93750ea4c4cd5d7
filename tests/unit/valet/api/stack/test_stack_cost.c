/* Bodies of the greatest length, made to be expensive to read: the cost of reading grows with their
 * length and no faster. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "steps.h"
#include "unit.h"
#include "valet/api/body.h"
#include "valet/api/stack/stack_body.h"
#include "valet/api/stack/stack_text.h"

enum { BODY_BYTES = 4 << 20, SERVERS = 400 };

static void add_servers(struct buf *body)
{
    for (int s = 0; s < SERVERS; s++) {
        char text[200];
        snprintf(text, sizeof(text),
                 "\"s%d\":{\"type\":\"OS::Nova::Server\",\"properties\":{\"flavor\":"
                 "{\"vcpus\":1,\"ram\":1,\"disk\":%d}}},",
                 s, s);
        buf_append_slice(body, slice_of(text));
    }
}

static void begin_group(struct buf *body, unsigned group, const char *type, const char *level)
{
    char text[200];
    snprintf(text, sizeof(text),
             "\"g%u\":{\"type\":\"OS::Valet::GroupAssignment\",\"properties\":{\"group_type\":"
             "\"%s\",\"level\":\"%s\",\"resources\":[",
             group, type, level);
    buf_append_slice(body, slice_of(text));
}

static void end_group(struct buf *body)
{
    body->len--;
    buf_append_lit(body, "]}},");
}

static void list(struct buf *body, char kind, unsigned number)
{
    char text[24];
    snprintf(text, sizeof(text), "\"%c%u\",", kind, number);
    buf_append_slice(body, slice_of(text));
}

/* Every group lists every server. */
static void large_groups(struct buf *body, unsigned bytes)
{
    for (unsigned g = 0; body->len < bytes; g++) {
        begin_group(body, g, "diversity", "host");
        for (unsigned s = 0; s < SERVERS && body->len < bytes; s++)
            list(body, 's', s);
        end_group(body);
    }
}

/* Every group lists the next one, and the last one a server. */
static void a_chain(struct buf *body, unsigned bytes)
{
    unsigned g = 0;
    for (; body->len < bytes; g++) {
        begin_group(body, g, "affinity", "host");
        list(body, 'g', g + 1);
        end_group(body);
    }
    begin_group(body, g, "affinity", "host");
    list(body, 's', 0);
    end_group(body);
}

/* Every group lists dozens of those after it. */
static void a_mesh(struct buf *body, unsigned bytes)
{
    const unsigned groups = bytes / 430;
    for (unsigned g = 0; g < groups; g++) {
        begin_group(body, g, "affinity", "rack");
        list(body, 's', g % SERVERS);
        for (unsigned i = 1; i < 40 && g + i < groups; i++)
            list(body, 'g', g + i);
        end_group(body);
    }
}

/* One group lists one server, again and again. */
static void a_repetition(struct buf *body, unsigned bytes)
{
    begin_group(body, 0, "affinity", "host");
    while (body->len < bytes)
        list(body, 's', 7);
    end_group(body);
}

/* Names of neither servers nor groups. */
static void others(struct buf *body, unsigned bytes)
{
    for (unsigned i = 0; body->len < bytes; i++) {
        char text[60];
        snprintf(text, sizeof(text), "\"o%u\":{\"type\":\"X\",\"name\":\"o\"},", i);
        buf_append_slice(body, slice_of(text));
    }
    begin_group(body, 0, "affinity", "host");
    list(body, 's', 7);
    end_group(body);
}

static void locations(struct buf *body, unsigned bytes)
{
    buf_append_lit(body, "\"x\":{\"type\":\"OS::Nova::Server\",\"properties\":{\"flavor\":"
                         "{\"vcpus\":1,\"ram\":1,\"disk\":1}},\"locations\":[");
    for (unsigned i = 0; body->len < bytes; i++)
        list(body, 'h', i);
    body->len--;
    buf_append_lit(body, "]},");
}

typedef void write_body(struct buf *body, unsigned bytes);

/* The work of a slow handler on a body before it calls the planner, and on the stack afterwards. */
static struct steps_cost read_body(write_body *write, unsigned bytes)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct buf body = {0};
    buf_append_lit(&body, "{");
    add_servers(&body);
    write(&body, bytes);
    body.len--;
    buf_append_lit(&body, "}");
    struct flavors *flavors = flavors_parse(SLICE_LIT("{}"), SLICE_LIT("test"), &err);
    struct stack_body input = {flavors, SERVERS + 1, arena};
    struct stack stack;
    uint64_t before = steps_now();
    json_t *document = body_parse(buf_slice(&body), NULL, &err);
    assert_non_null(document);
    char fingerprint[STACK_FINGERPRINT_LEN];
    stack_fingerprint(SLICE_LIT("plan"), document, NULL, fingerprint);
    if (!stack_body_read(&input, document, NULL, &stack, &err))
        fail_msg("%.*s", SLICE_ARG(err.message));
    struct buf text = {0};
    stack_text_write(&stack, &text);
    struct steps_cost cost = {body.len, steps_since(before)};
    buf_free(&text);
    json_decref(document);
    flavors_give_back(flavors);
    buf_free(&body);
    arena_destroy(arena);
    return cost;
}

static void costs_grow_with_bodies(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        write_body *write;
    } BODIES[] = {{"large groups", large_groups}, {"a chain", a_chain}, {"a mesh", a_mesh},
                  {"a repetition", a_repetition}, {"others", others},   {"locations", locations}};
    for (size_t i = 0; i < sizeof(BODIES) / sizeof(BODIES[0]); i++) {
        struct steps_cost small = read_body(BODIES[i].write, BODY_BYTES / 8);
        struct steps_cost large = read_body(BODIES[i].write, BODY_BYTES - (64 << 10));
        steps_assert_linear(BODIES[i].name, small, large);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_grow_with_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
