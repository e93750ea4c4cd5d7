/* Decides requests one after the other, from the API's rules alone (placement spec). One thread. */
#include "oracle.h"

#include "clients.h"

int64_t oracle_used(const struct oracle *oracle, int provider, int class)
{
    int64_t sum = 0;
    for (int c = 0; c < CONSUMERS; c++)
        sum += oracle->consumer[c].amount[provider][class];
    return sum;
}

static bool holds_anything(const struct oracle_consumer *consumer)
{
    for (int p = 0; p < PROVIDERS; p++)
        for (int c = 0; c < CLASSES; c++)
            if (consumer->amount[p][c] != 0)
                return true;
    return false;
}

static bool has_capacity(const struct inventory_figures *figures, bool all_can_be_reserved)
{
    int64_t capacity = capacity_of(figures);
    return capacity > 0 || (capacity == 0 && all_can_be_reserved);
}

static bool generations_fit(const struct oracle *oracle, const struct client_request *request)
{
    for (int i = 0; i < request->claim_count; i++) {
        const struct client_claim *claim = &request->claim[i];
        const struct oracle_consumer *consumer = &oracle->consumer[claim->consumer];
        if (claim->rule == CLAIM_GENERATION_NULL && consumer->exists)
            return false;
        if (claim->rule == CLAIM_GENERATION_GIVEN &&
            (!consumer->exists || consumer->generation != claim->generation))
            return false;
    }
    return true;
}

/* Replaces what the claims' consumers hold; false if something cannot be held. */
static bool replace(struct oracle *oracle, const struct client_request *request)
{
    int64_t before[PROVIDERS][CLASSES];
    for (int p = 0; p < PROVIDERS; p++)
        for (int c = 0; c < CLASSES; c++)
            before[p][c] = oracle_used(oracle, p, c);
    bool named[PROVIDERS] = {false};
    for (int i = 0; i < request->claim_count; i++) {
        const struct client_claim *claim = &request->claim[i];
        struct oracle_consumer *consumer = &oracle->consumer[claim->consumer];
        for (int p = 0; p < PROVIDERS; p++)
            for (int c = 0; c < CLASSES; c++) {
                named[p] |= claim->row_count == 0 && consumer->amount[p][c] != 0;
                consumer->amount[p][c] = 0;
            }
        for (int r = 0; r < claim->row_count; r++) {
            int provider = claim->row[r].provider;
            int class = claim->row[r].class;
            const struct oracle_provider *from = &oracle->provider[provider];
            if (!from->exists || !oracle->classes[class] || !from->has[class] ||
                !capacity_unit_fits(&from->figures[class], claim->row[r].amount))
                return false;
            consumer->amount[provider][class] += claim->row[r].amount;
            named[provider] = true;
        }
    }
    for (int i = 0; i < request->claim_count; i++)
        for (int r = 0; r < request->claim[i].row_count; r++) {
            int provider = request->claim[i].row[r].provider;
            int class = request->claim[i].row[r].class;
            int64_t after = oracle_used(oracle, provider, class);
            if (after > capacity_of(&oracle->provider[provider].figures[class]) &&
                after > before[provider][class])
                return false;
        }
    for (int p = 0; p < PROVIDERS; p++)
        oracle->provider[p].generation += named[p];
    return true;
}

/* The consumers' own rows, before their holdings are replaced. */
static void own(struct oracle *oracle, const struct client_request *request)
{
    for (int i = 0; i < request->claim_count; i++) {
        const struct client_claim *claim = &request->claim[i];
        struct oracle_consumer *consumer = &oracle->consumer[claim->consumer];
        bool goes = claim->row_count == 0 && (!consumer->exists || holds_anything(consumer));
        bool is_new = !consumer->exists;
        consumer->exists = !goes;
        if (goes)
            continue;
        consumer->project = claim->project;
        consumer->user = claim->user;
        if (is_new || claim->type != NOBODY)
            consumer->type = claim->type;
        if (is_new)
            consumer->generation = 1;
        else
            consumer->generation += claim->row_count > 0;
    }
}

static bool claim(struct oracle *oracle, const struct client_request *request)
{
    if (!generations_fit(oracle, request))
        return false;
    own(oracle, request);
    return replace(oracle, request);
}

static bool release(struct oracle *oracle, int number)
{
    struct oracle_consumer *consumer = &oracle->consumer[number];
    if (!consumer->exists || !holds_anything(consumer))
        return false;
    *consumer = (struct oracle_consumer){.exists = false};
    return true;
}

/* New inventories are added to the old ones, the claims are made, then what is not listed is
 * removed. */
static bool reshape(struct oracle *oracle, const struct client_request *request)
{
    for (int i = 0; i < request->inventories_count; i++) {
        const struct client_inventories *wanted = &request->inventories[i];
        struct oracle_provider *provider = &oracle->provider[wanted->provider];
        if (!provider->exists || provider->generation != wanted->generation)
            return false;
        bool any = false;
        for (int c = 0; c < CLASSES; c++) {
            if (!wanted->wanted[c])
                continue;
            if (!oracle->classes[c])
                return false;
            any = provider->has[c] = true;
            provider->figures[c] = wanted->figures[c];
        }
        provider->generation += any ? 2 : 1;
    }
    if (!claim(oracle, request))
        return false;
    for (int i = 0; i < request->inventories_count; i++) {
        const struct client_inventories *wanted = &request->inventories[i];
        for (int c = 0; c < CLASSES; c++) {
            if (wanted->wanted[c] || !oracle->provider[wanted->provider].has[c])
                continue;
            if (oracle_used(oracle, wanted->provider, c) > 0)
                return false;
            oracle->provider[wanted->provider].has[c] = false;
        }
    }
    return true;
}

static bool inventory_one(struct oracle *oracle, const struct client_request *request, bool create)
{
    const struct client_inventories *wanted = &request->inventories[0];
    struct oracle_provider *provider = &oracle->provider[wanted->provider];
    int class = request->class;
    if (!provider->exists || (!create && provider->generation != wanted->generation) ||
        !has_capacity(&wanted->figures[class], true) || !oracle->classes[class] ||
        provider->has[class] == create)
        return false;
    provider->has[class] = true;
    provider->figures[class] = wanted->figures[class];
    provider->generation++;
    return true;
}

static bool inventories_set(struct oracle *oracle, const struct client_inventories *wanted)
{
    struct oracle_provider *provider = &oracle->provider[wanted->provider];
    if (!provider->exists || provider->generation != wanted->generation)
        return false;
    for (int c = 0; c < CLASSES; c++) {
        if (wanted->wanted[c] && (!oracle->classes[c] || !has_capacity(&wanted->figures[c], true)))
            return false;
        if (provider->has[c] && !wanted->wanted[c] && oracle_used(oracle, wanted->provider, c) > 0)
            return false;
        provider->has[c] = wanted->wanted[c];
        provider->figures[c] = wanted->figures[c];
    }
    provider->generation++;
    return true;
}

/* class NOBODY: all. */
static bool inventory_delete(struct oracle *oracle, int number, int class)
{
    struct oracle_provider *provider = &oracle->provider[number];
    if (!provider->exists || (class != NOBODY && !provider->has[class]))
        return false;
    for (int c = 0; c < CLASSES; c++) {
        if (class != NOBODY && class != c)
            continue;
        if (provider->has[c] && oracle_used(oracle, number, c) > 0)
            return false;
        provider->has[c] = false;
    }
    provider->generation++;
    return true;
}

static bool traits_set(struct oracle *oracle, const struct client_request *request)
{
    struct oracle_provider *provider = &oracle->provider[request->provider];
    if (!provider->exists ||
        (request->has_generation && provider->generation != request->generation))
        return false;
    bool changes = false;
    for (int t = 0; t < TRAITS; t++) {
        if (request->wanted[t] && !oracle->traits[t])
            return false;
        changes |= provider->traits[t] != request->wanted[t];
        provider->traits[t] = request->wanted[t];
    }
    provider->generation += changes;
    return true;
}

static bool aggregates_set(struct oracle *oracle, const struct client_request *request)
{
    struct oracle_provider *provider = &oracle->provider[request->provider];
    if (!provider->exists ||
        (request->has_generation && provider->generation != request->generation))
        return false;
    memcpy(provider->aggregates, request->wanted, sizeof(provider->aggregates));
    provider->generation += request->has_generation;
    return true;
}

static bool is_name_taken(const struct oracle *oracle, int name, int by_other_than)
{
    for (int p = 0; p < PROVIDERS; p++)
        if (p != by_other_than && oracle->provider[p].exists && oracle->provider[p].name == name)
            return true;
    return false;
}

static bool provider_create(struct oracle *oracle, const struct client_request *request)
{
    struct oracle_provider *provider = &oracle->provider[request->provider];
    int parent = request->has_parent ? request->parent : NOBODY;
    if (provider->exists || is_name_taken(oracle, request->name, NOBODY) ||
        (parent != NOBODY && !oracle->provider[parent].exists))
        return false;
    *provider = (struct oracle_provider){.exists = true, .name = request->name, .parent = parent};
    return true;
}

static bool provider_update(struct oracle *oracle, const struct client_request *request)
{
    struct oracle_provider *provider = &oracle->provider[request->provider];
    if (!provider->exists || is_name_taken(oracle, request->name, request->provider))
        return false;
    if (request->has_parent) {
        if (request->parent != NOBODY && !oracle->provider[request->parent].exists)
            return false;
        if (provider->parent != NOBODY && provider->parent != request->parent && !request->may_move)
            return false;
        for (int p = request->parent; p != NOBODY; p = oracle->provider[p].parent)
            if (p == request->provider)
                return false;
        provider->parent = request->parent;
    }
    provider->name = request->name;
    return true;
}

static bool provider_delete(struct oracle *oracle, int number)
{
    if (!oracle->provider[number].exists)
        return false;
    for (int p = 0; p < PROVIDERS; p++)
        if (oracle->provider[p].exists && oracle->provider[p].parent == number)
            return false;
    for (int c = 0; c < CLASSES; c++)
        if (oracle_used(oracle, number, c) > 0)
            return false;
    oracle->provider[number].exists = false;
    return true;
}

static bool class_create(struct oracle *oracle, int class, bool may_exist)
{
    if (oracle->classes[class])
        return may_exist;
    return oracle->classes[class] = true;
}

static bool class_in_use(const struct oracle *oracle, int class)
{
    for (int p = 0; p < PROVIDERS; p++)
        if (oracle->provider[p].exists && oracle->provider[p].has[class])
            return true;
    return false;
}

static bool class_rename(struct oracle *oracle, int class, int to)
{
    if (!oracle->classes[class] || class < STANDARD_CLASSES)
        return false;
    if (class == to)
        return true;
    if (oracle->classes[to])
        return false;
    oracle->classes[class] = false;
    oracle->classes[to] = true;
    for (int p = 0; p < PROVIDERS; p++) {
        struct oracle_provider *provider = &oracle->provider[p];
        provider->has[to] = provider->has[class];
        provider->has[class] = false;
        provider->figures[to] = provider->figures[class];
        for (int c = 0; c < CONSUMERS; c++) {
            oracle->consumer[c].amount[p][to] = oracle->consumer[c].amount[p][class];
            oracle->consumer[c].amount[p][class] = 0;
        }
    }
    return true;
}

static bool class_delete(struct oracle *oracle, int class)
{
    if (!oracle->classes[class] || class < STANDARD_CLASSES || class_in_use(oracle, class))
        return false;
    oracle->classes[class] = false;
    return true;
}

static bool trait_delete(struct oracle *oracle, int trait)
{
    if (!oracle->traits[trait] || trait < STANDARD_TRAITS)
        return false;
    for (int p = 0; p < PROVIDERS; p++)
        if (oracle->provider[p].exists && oracle->provider[p].traits[trait])
            return false;
    oracle->traits[trait] = false;
    return true;
}

static bool decide(struct oracle *oracle, const struct client_request *request)
{
    switch (request->op) {
    case OP_ALLOCATIONS_PUT:
    case OP_ALLOCATIONS_POST:
        return claim(oracle, request);
    case OP_ALLOCATIONS_DELETE:
        return release(oracle, request->claim[0].consumer);
    case OP_RESHAPE:
        return reshape(oracle, request);
    case OP_INVENTORY_CREATE:
    case OP_INVENTORY_UPDATE:
        return inventory_one(oracle, request, request->op == OP_INVENTORY_CREATE);
    case OP_INVENTORIES_SET:
        return inventories_set(oracle, &request->inventories[0]);
    case OP_INVENTORY_DELETE:
        return inventory_delete(oracle, request->provider, request->class);
    case OP_INVENTORIES_DELETE:
        return inventory_delete(oracle, request->provider, NOBODY);
    case OP_TRAITS_SET:
        return traits_set(oracle, request);
    case OP_AGGREGATES_SET:
        return aggregates_set(oracle, request);
    case OP_PROVIDER_CREATE:
        return provider_create(oracle, request);
    case OP_PROVIDER_UPDATE:
        return provider_update(oracle, request);
    case OP_PROVIDER_DELETE:
        return provider_delete(oracle, request->provider);
    case OP_CLASS_CREATE:
    case OP_CLASS_ENSURE:
        return class_create(oracle, request->class, request->op == OP_CLASS_ENSURE);
    case OP_CLASS_RENAME:
        return class_rename(oracle, request->class, request->other_class);
    case OP_CLASS_DELETE:
        return class_delete(oracle, request->class);
    case OP_TRAIT_PUT:
        return oracle->traits[request->trait] = true;
    case OP_TRAIT_DELETE:
        return trait_delete(oracle, request->trait);
    case OP_WAIT:
        return true;
    case OP_NODE_CREATE:
    case OP_NODE_DELETE:
    case OP_NODE_VERB:
    case OP_NODE_POWER:
    case OP_NODE_MAINTENANCE:
    case OP_NODE_CHANGE:
    case OP_NODE_ALLOCATE:
    case OP_NODE_RELEASE:
    case OP_COUNT:
        break;
    }
    check(false);
}

bool oracle_decide(struct oracle *oracle, const struct client_request *request)
{
    struct oracle after = *oracle;
    if (!decide(&after, request))
        return false;
    *oracle = after;
    return true;
}
