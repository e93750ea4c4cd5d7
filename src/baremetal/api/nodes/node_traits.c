/* GET, PUT and DELETE /v1/nodes/{ident}/traits and …/traits/{trait} (bare metal spec 8.3). Planners
 * run on the writer's thread. */
#include "api/write.h"
#include "baremetal/api/handlers.h"
#include "baremetal/api/input/body_checks.h"
#include "baremetal/api/input/intake.h"
#include "baremetal/api/nodes/node_find.h"
#include "baremetal/api/nodes/node_outcome.h"
#include "baremetal/api/record_json.h"
#include "baremetal/write/plan_nodes.h"
#include "base/arena.h"

/* The traits in a PUT: one in the path, or all in the body. That not both are given is checked
 * after the node was found. */
struct traits_set {
    struct slice trait;   /* data == NULL: the path has none */
    const json_t *traits; /* NULL: the body has none */
};

enum { MINOR_OF_TRAITS = 37 };

/* In versions without traits, Ironic takes "traits" for the name of a field. */
enum api_step handle_baremetal_node_traits_list(struct api_request *request)
{
    if (!intake_no_query(request))
        return API_DONE;
    const struct node *node = node_find(request, request->version, request->args[0],
                                        POLICY_NODE_TRAITS_LIST, &request->err);
    if (node != NULL && request->minor < MINOR_OF_TRAITS)
        err_set(&request->err, 406, NULL, "Request not acceptable.");
    if (err_is_set(&request->err))
        return API_DONE;
    struct buf *out = api_out(request);
    buf_append_lit(out, "{\"traits\": ");
    record_write_words(out, node_text(node, NODE_TRAITS));
    buf_append_char(out, '}');
    api_answer_json(request, 0);
    return API_DONE;
}

static size_t count_words(struct slice words)
{
    size_t count = 0;
    struct slice word;
    while (record_next_word(&words, &word))
        count++;
    return count;
}

static bool check_count(const struct node *node, size_t count, struct err *err)
{
    return count <= NODE_TRAITS_MAX ||
           err_set(err, 400, NULL,
                   "Could not modify traits for node %.*s as it would exceed the maximum number "
                   "of traits per node (%zu vs. %d)",
                   SLICE_ARG(node_text(node, NODE_UUID)), count, NODE_TRAITS_MAX);
}

/* The node's traits and one more. */
static struct slice with_trait(const struct node *node, struct slice trait, struct arena *arena)
{
    struct slice rest = node_text(node, NODE_TRAITS);
    size_t count = 0;
    struct slice *words = arena_array(arena, count_words(rest) + 1, sizeof(*words));
    while (record_next_word(&rest, &words[count]))
        count++;
    words[count++] = trait;
    return record_join_words(arena, words, count, true);
}

static struct slice words_of(const json_t *traits, struct arena *arena)
{
    size_t count = json_array_size(traits);
    struct slice *words = arena_array(arena, count + 1, sizeof(*words));
    for (size_t i = 0; i < count; i++) {
        const json_t *trait = json_array_get(traits, i);
        words[i] = (struct slice){json_string_value(trait), json_string_length(trait)};
    }
    return record_join_words(arena, words, count, true);
}

static bool node_traits_plan_set(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    const struct traits_set *wanted = request->state;
    struct err *err = &write->err;
    const struct node *node =
        node_find(request, plan->version, request->args[0], POLICY_NODE_TRAITS_SET, err);
    if (node == NULL)
        return false;
    if ((wanted->trait.data != NULL) == (wanted->traits != NULL))
        return err_set(err, 400, NULL,
                       "A single node trait may be added via PUT /v1/nodes/<node "
                       "identifier>/traits/<trait> with no body, or all node traits may be "
                       "replaced via PUT /v1/nodes/<node identifier>/traits with the list of "
                       "traits specified in the request body.");
    struct slice traits = wanted->traits != NULL ? words_of(wanted->traits, plan->arena)
                                                 : with_trait(node, wanted->trait, plan->arena);
    return plan_node_is_unlocked(node, plan, err) && check_count(node, count_words(traits), err) &&
           plan_node_traits(node, traits, plan, err);
}

static enum api_step set(struct api_request *request, struct slice trait)
{
    struct traits_set *state = arena_zalloc(request->arena, sizeof(*state));
    if (!intake_no_query(request) ||
        (trait.data != NULL && !body_checks_trait(trait, &request->err)))
        return API_DONE;
    const json_t *body = intake_body(request);
    if (body == NULL || !body_checks_traits(body, &request->err))
        return API_DONE;
    state->trait = trait;
    state->traits = json_object_get(body, "traits");
    request->state = state;
    request->write->plan = node_traits_plan_set;
    return API_WRITE;
}

enum api_step handle_baremetal_node_traits_set(struct api_request *request)
{
    return set(request, (struct slice){0});
}

enum api_step handle_baremetal_node_trait_add(struct api_request *request)
{
    return set(request, request->args[1]);
}

void finish_baremetal_node_trait_add(struct api_request *request)
{
    if (err_is_set(&request->err))
        return;
    api_answer_empty(request, 204);
    struct slice below = arena_printf(request->arena, "/traits/%.*s", SLICE_ARG(request->args[1]));
    node_outcome_locate(request, request->args[0], below.data);
}

static bool plan_clear(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    const struct node *node =
        node_find(request, plan->version, request->args[0], POLICY_NODE_TRAITS_DELETE, &write->err);
    return node != NULL && plan_node_traits(node, SLICE_LIT(""), plan, &write->err);
}

enum api_step handle_baremetal_node_traits_clear(struct api_request *request)
{
    if (!intake_no_query(request))
        return API_DONE;
    request->write->plan = plan_clear;
    return API_WRITE;
}

static struct slice without_trait(const struct node *node, struct slice trait, struct arena *arena)
{
    struct slice rest = node_text(node, NODE_TRAITS);
    size_t count = 0;
    struct slice *words = arena_array(arena, count_words(rest) + 1, sizeof(*words));
    struct slice word;
    while (record_next_word(&rest, &word))
        if (!slice_equal(word, trait))
            words[count++] = word;
    return record_join_words(arena, words, count, true);
}

static bool plan_remove(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    struct slice trait = request->args[1];
    struct err *err = &write->err;
    const struct node *node =
        node_find(request, plan->version, request->args[0], POLICY_NODE_TRAITS_DELETE, err);
    if (node == NULL || !plan_node_is_unlocked(node, plan, err))
        return false;
    if (!record_has_word(node_text(node, NODE_TRAITS), trait))
        return err_set_join(err, 404, NULL, SLICE_LIT("Node "), node_text(node, NODE_UUID),
                            SLICE_LIT(" doesn't have a trait '"), trait, SLICE_LIT("'"));
    return plan_node_traits(node, without_trait(node, trait, plan->arena), plan, err);
}

enum api_step handle_baremetal_node_trait_remove(struct api_request *request)
{
    if (!intake_no_query(request))
        return API_DONE;
    request->write->plan = plan_remove;
    return API_WRITE;
}
