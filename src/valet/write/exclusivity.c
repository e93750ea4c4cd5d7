/* What a request adds to the sums of (project, tree, class), and takes from them.
 *
 * Only what it names can grow, and only by what its own consumers held before and are to hold: so
 * a server that is rewritten, shrunk, moved away or handed to another consumer of its project adds
 * nothing, whoever was there first. The sums are made by sorting, so that a request of any size
 * costs little more than its rows. Writer thread only. */
#include "valet/write/exclusivity.h"

#include <stdlib.h>

#include "base/arena.h"
#include "replica/hosts.h"

struct share {
    const struct provider *host;
    struct slice project;
    uint64_t project_key; /* equal for equal projects */
    uint32_t class_number;
    int64_t amount; /* what comes, less what goes */
};

struct shares {
    const struct version *version;
    struct share *items;
    size_t count;
};

static int compare_shares(const void *a, const void *b)
{
    const struct share *one = a;
    const struct share *other = b;
    if (one->host->no.v != other->host->no.v)
        return one->host->no.v < other->host->no.v ? -1 : 1;
    if (one->project_key != other->project_key)
        return one->project_key < other->project_key ? -1 : 1;
    return (one->class_number > other->class_number) - (one->class_number < other->class_number);
}

static void add(struct shares *shares, struct provider_no provider, struct slice project,
                uint32_t class_number, int64_t amount)
{
    const struct provider *root =
        version_provider(shares->version, version_provider(shares->version, provider)->root);
    shares->items[shares->count++] = (struct share){
        .host = root,
        .project = project,
        .project_key = project_hash(project),
        .class_number = class_number,
        .amount = amount,
    };
}

static void add_old(struct shares *shares, const struct consumer *consumer)
{
    if (consumer == NULL)
        return;
    struct slice project =
        catalog_name(catalog_row_at(&shares->version->projects, consumer->project));
    for (uint32_t i = 0; i < consumer->allocation_count; i++) {
        const struct consumer_allocation *old = &consumer->allocation[i];
        add(shares, old->provider, project, old->class_no.v, -old->used);
    }
}

static const struct claim_row *add_new(struct shares *shares, const struct claim *claim,
                                       const struct claim_row *row)
{
    for (size_t p = 0; p < claim->provider_count; p++)
        for (size_t a = 0; a < claim->providers[p].amount_count; a++, row++)
            add(shares, row->target->provider->no, claim->project, row->class_row->number,
                row->amount);
    return row;
}

/* Whether the request names a host that anybody claims: mostly it does not. */
static bool meets_claims(const struct claim_set *set)
{
    const struct version *version = set->plan->version;
    const struct provider *last = NULL;
    for (size_t i = 0; i < set->row_count; i++) {
        const struct provider *root =
            version_provider(version, set->rows[i].target->provider->root);
        if (root != last && host_claim_of(version, root).group != NULL)
            return true;
        last = root;
    }
    return false;
}

static struct shares shares_of(const struct claim_set *set)
{
    size_t most = set->row_count;
    for (size_t i = 0; i < set->claim_count; i++)
        if (set->consumers[i] != NULL)
            most += set->consumers[i]->allocation_count;
    struct shares shares = {
        .version = set->plan->version,
        .items = arena_array(set->plan->arena, most, sizeof(*shares.items)),
    };
    const struct claim_row *row = set->rows;
    for (size_t i = 0; i < set->claim_count; i++) {
        add_old(&shares, set->consumers[i]);
        row = add_new(&shares, &set->claims[i], row);
    }
    qsort(shares.items, shares.count, sizeof(*shares.items), compare_shares);
    return shares;
}

static bool refuse(const struct claim_set *set, const struct provider *host,
                   const struct valet_group *group)
{
    return err_set_join(set->err, 409, NULL, SLICE_LIT("Resource provider '"), provider_name(host),
                        SLICE_LIT("' is held by exclusivity group '"),
                        record_text(&group->record, VALET_GROUP_NAME), SLICE_LIT("'."));
}

bool exclusivity_check(const struct claim_set *set)
{
    const struct version *version = set->plan->version;
    if (!version_has_valet_groups(version) || !meets_claims(set))
        return true;
    struct shares shares = shares_of(set);
    int64_t sum = 0;
    for (size_t i = 0; i < shares.count; i++) {
        const struct share *share = &shares.items[i];
        sum += share->amount;
        if (i + 1 < shares.count && compare_shares(share, share + 1) == 0)
            continue;
        const struct valet_group *group =
            sum > 0 ? host_refuses(version, share->host, share->project) : NULL;
        if (group != NULL)
            return refuse(set, share->host, group);
        sum = 0;
    }
    return true;
}
