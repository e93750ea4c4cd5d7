/* Draws requests, most of them such as a client sends that knows a recent state; the others name
 * missing things or old generations. One thread. */
#include "clients.h"

/* Of WEIGHTS requests. */
static const int weight[OP_COUNT] = {
    [OP_ALLOCATIONS_PUT] = 20, [OP_ALLOCATIONS_POST] = 10, [OP_ALLOCATIONS_DELETE] = 7,
    [OP_RESHAPE] = 5,          [OP_INVENTORY_CREATE] = 4,  [OP_INVENTORY_UPDATE] = 5,
    [OP_INVENTORIES_SET] = 5,  [OP_INVENTORY_DELETE] = 2,  [OP_INVENTORIES_DELETE] = 1,
    [OP_TRAITS_SET] = 6,       [OP_AGGREGATES_SET] = 5,    [OP_PROVIDER_CREATE] = 7,
    [OP_PROVIDER_UPDATE] = 5,  [OP_PROVIDER_DELETE] = 2,   [OP_CLASS_CREATE] = 1,
    [OP_CLASS_ENSURE] = 1,     [OP_CLASS_RENAME] = 1,      [OP_CLASS_DELETE] = 1,
    [OP_TRAIT_PUT] = 2,        [OP_TRAIT_DELETE] = 1,      [OP_WAIT] = 3,
    [OP_NODE_CREATE] = 3,      [OP_NODE_DELETE] = 1,       [OP_NODE_VERB] = 3,
    [OP_NODE_POWER] = 1,       [OP_NODE_MAINTENANCE] = 2,  [OP_NODE_CHANGE] = 2,
    [OP_NODE_ALLOCATE] = 3,    [OP_NODE_RELEASE] = 2,
};

enum { WEIGHTS = 111, WRONG_PERMILLE = 60 };

static int existing_provider(const struct oracle *view, struct rng *rng)
{
    int at = rng_below(rng, PROVIDERS);
    for (int i = 0; i < PROVIDERS; i++)
        if (view->provider[(at + i) % PROVIDERS].exists)
            return (at + i) % PROVIDERS;
    return at;
}

static int some_provider(const struct oracle *view, struct rng *rng)
{
    return rng_permille(rng, WRONG_PERMILLE) ? rng_below(rng, PROVIDERS)
                                             : existing_provider(view, rng);
}

static int64_t nearly(int64_t generation, struct rng *rng)
{
    return rng_permille(rng, WRONG_PERMILLE) ? generation + rng_below(rng, 3) - 1 : generation;
}

/* Usually a class that the provider has. */
static int class_on(const struct oracle *view, int provider, struct rng *rng)
{
    int at = rng_below(rng, CLASSES);
    for (int i = 0; i < CLASSES && !rng_permille(rng, WRONG_PERMILLE / 2); i++)
        if (view->provider[provider].has[(at + i) % CLASSES])
            return (at + i) % CLASSES;
    return at;
}

static void add_row(struct client_claim *claim, int provider, int class, int64_t amount)
{
    for (int r = 0; r < claim->row_count; r++)
        if (claim->row[r].provider == provider && claim->row[r].class == class)
            return;
    int at = claim->row_count++;
    for (; at > 0 && claim->row[at - 1].provider > provider; at--)
        claim->row[at] = claim->row[at - 1];
    claim->row[at].provider = provider;
    claim->row[at].class = class;
    claim->row[at].amount = amount;
}

static void draw_claim(struct client_claim *claim, int consumer, const struct oracle *view,
                       struct rng *rng)
{
    const struct oracle_consumer *seen = &view->consumer[consumer];
    *claim = (struct client_claim){
        .consumer = consumer,
        .project = rng_below(rng, OWNERS),
        .user = rng_below(rng, OWNERS),
        .type = rng_below(rng, OWNERS + 1) - 1,
        .rule = CLAIM_GENERATION_ANY,
    };
    if (rng_below(rng, 3) > 0) {
        claim->rule = seen->exists ? CLAIM_GENERATION_GIVEN : CLAIM_GENERATION_NULL;
        claim->generation = nearly(seen->generation, rng);
    }
    if (rng_below(rng, 8) == 0)
        return; /* releases everything */
    for (int left = 1 + rng_below(rng, CLAIM_ROWS); left > 0;) {
        int provider = some_provider(view, rng);
        for (int here = 1 + rng_below(rng, left); here > 0; here--, left--)
            add_row(claim, provider, class_on(view, provider, rng), 1 + rng_below(rng, 6));
    }
}

static void draw_claims(struct client_request *request, int most, const struct oracle *view,
                        struct rng *rng)
{
    int first = rng_below(rng, CONSUMERS);
    int count = 1 + rng_below(rng, most);
    for (int i = 0; i < count; i++)
        draw_claim(&request->claim[request->claim_count++], (first + i) % CONSUMERS, view, rng);
}

static struct inventory_figures draw_figures(struct rng *rng)
{
    struct inventory_figures figures = {
        .total = 1 + rng_below(rng, 24),
        .min_unit = rng_below(rng, 8) == 0 ? 2 : 1,
        .max_unit = 1 + rng_below(rng, 12),
        .step_size = rng_below(rng, 8) == 0 ? 2 : 1,
        .allocation_ratio = 0.5 + 0.5 * rng_below(rng, 4),
    };
    figures.reserved = rng_below(rng, 4) == 0 ? rng_below(rng, figures.total + 2) : 0;
    return figures;
}

/* What the provider has, with something altered, added or removed. */
static void draw_inventories(struct client_inventories *inventories, int provider,
                             const struct oracle *view, struct rng *rng)
{
    const struct oracle_provider *seen = &view->provider[provider];
    inventories->provider = provider;
    inventories->generation = nearly(seen->generation, rng);
    for (int c = 0; c < CLASSES; c++) {
        inventories->wanted[c] = rng_below(rng, 5) == 0 ? !seen->has[c] : seen->has[c];
        inventories->figures[c] =
            seen->has[c] && rng_below(rng, 2) == 0 ? seen->figures[c] : draw_figures(rng);
        if (!view->classes[c] && !rng_permille(rng, WRONG_PERMILLE))
            inventories->wanted[c] = false;
    }
}

/* Moves what a consumer holds from one provider to another, with the inventory; or anything. */
static void draw_reshape(struct client_request *request, const struct oracle *view, struct rng *rng)
{
    int from = some_provider(view, rng);
    int to = (from + 1 + rng_below(rng, PROVIDERS - 1)) % PROVIDERS;
    draw_inventories(&request->inventories[request->inventories_count++], from, view, rng);
    if (view->provider[to].exists)
        draw_inventories(&request->inventories[request->inventories_count++], to, view, rng);
    for (int i = 0; i < CONSUMERS && request->claim_count < REQUEST_CLAIMS; i++) {
        const struct oracle_consumer *seen = &view->consumer[i];
        struct client_claim *claim = &request->claim[request->claim_count];
        *claim = (struct client_claim){.consumer = i,
                                       .project = seen->project,
                                       .user = seen->user,
                                       .type = seen->type,
                                       .rule = CLAIM_GENERATION_GIVEN,
                                       .generation = nearly(seen->generation, rng)};
        bool moves = false;
        for (int p = 0; p < PROVIDERS && seen->exists; p++)
            for (int c = 0; c < CLASSES && claim->row_count < CLAIM_ROWS; c++) {
                if (seen->amount[p][c] == 0)
                    continue;
                moves |= p == from;
                add_row(claim, p == from ? to : p, c, seen->amount[p][c]);
            }
        request->claim_count += moves;
    }
}

/* The first from `at` on that does not exist. */
static int missing(const bool *there, int count, int at)
{
    for (int i = 0; i < count; i++)
        if (!there[(at + i) % count])
            return (at + i) % count;
    return at;
}

static int unused_trait(const struct oracle *view, int at)
{
    bool used[TRAITS];
    for (int t = 0; t < TRAITS; t++) {
        used[t] = t < STANDARD_TRAITS || !view->traits[t];
        for (int p = 0; p < PROVIDERS; p++)
            used[t] |= view->provider[p].exists && view->provider[p].traits[t];
    }
    return missing(used, TRAITS, at);
}

static void draw_provider(struct client_request *request, const struct oracle *view,
                          struct rng *rng)
{
    bool creates = request->op == OP_PROVIDER_CREATE;
    request->provider = creates ? rng_below(rng, PROVIDERS) : some_provider(view, rng);
    request->name = creates || rng_below(rng, 3) == 0 ? rng_below(rng, NAMES)
                                                      : view->provider[request->provider].name;
    request->has_parent = rng_below(rng, 3) > 0;
    request->may_move = rng_below(rng, 4) > 0;
    request->parent = rng_below(rng, 5) == 0 ? NOBODY : some_provider(view, rng);
    if (creates && request->parent == request->provider)
        request->has_parent = false; /* refused with the body, before the database is read */
}

void client_draw(struct client_request *request, const struct oracle *view, struct rng *rng)
{
    *request = (struct client_request){.parent = NOBODY};
    int at = rng_below(rng, WEIGHTS);
    while (at >= weight[request->op])
        at -= weight[request->op++];
    request->provider = some_provider(view, rng);
    request->class = class_on(view, request->provider, rng);
    request->has_generation = rng_below(rng, 3) > 0;
    request->generation = nearly(view->provider[request->provider].generation, rng);
    switch (request->op) {
    case OP_ALLOCATIONS_PUT:
    case OP_ALLOCATIONS_DELETE:
        draw_claims(request, 1, view, rng);
        break;
    case OP_ALLOCATIONS_POST:
        draw_claims(request, REQUEST_CLAIMS, view, rng);
        break;
    case OP_RESHAPE:
        draw_reshape(request, view, rng);
        break;
    case OP_INVENTORY_CREATE:
        request->class = rng_below(rng, CLASSES);
        draw_inventories(&request->inventories[0], request->provider, view, rng);
        request->inventories[0].figures[request->class] = draw_figures(rng);
        break;
    case OP_INVENTORY_UPDATE:
    case OP_INVENTORIES_SET:
        draw_inventories(&request->inventories[0], request->provider, view, rng);
        break;
    case OP_PROVIDER_CREATE:
    case OP_PROVIDER_UPDATE:
        draw_provider(request, view, rng);
        break;
    default:
        break;
    }
    if (request->op >= OP_CLASS_CREATE && request->op <= OP_CLASS_DELETE) {
        int least = rng_below(rng, 6) == 0 ? 0 : STANDARD_CLASSES;
        request->class = least + rng_below(rng, CLASSES - least);
    }
    if (request->op == OP_CLASS_CREATE && rng_below(rng, 2) == 0)
        request->class = missing(view->classes, CLASSES, request->class);
    request->other_class = STANDARD_CLASSES + rng_below(rng, CLASSES - STANDARD_CLASSES);
    if (client_is_at_metal(request)) {
        request->node = rng_below(rng, NODES);
        request->other_node = rng_below(rng, NODES);
        request->name = rng_below(rng, NAMES);
        request->class = rng_below(rng, METALS);
        request->parent = rng_below(rng, NODES);
        request->is_busy = rng_below(rng, 2) == 0;
        request->is_allocated = rng_below(rng, 2) == 0;
    }
    request->trait = rng_below(rng, TRAITS);
    if (request->op == OP_TRAIT_DELETE && rng_below(rng, 3) > 0)
        request->trait = unused_trait(view, request->trait);
    if (request->op == OP_TRAIT_PUT && request->trait < STANDARD_TRAITS)
        request->trait += STANDARD_TRAITS;
    for (int t = 0; t < TRAITS; t++)
        request->wanted[t] =
            rng_below(rng, 2) == 0 &&
            (request->op != OP_TRAITS_SET || view->traits[t] || rng_permille(rng, WRONG_PERMILLE));
}
