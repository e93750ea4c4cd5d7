/* All hosts at once compared with the same queries for one host (valet/state/hosts.h), on random
 * clouds. */
#include <stdio.h>
#include <stdlib.h>

#include "cloud.h"
#include "unit.h"
#include "valet/solve/hosts.h"

static int below(int n)
{
    return (int)(random() % n);
}

static struct cloud *random_cloud(unsigned seed)
{
    srandom(seed);
    struct cloud *cloud = cloud_create();
    char name[24];
    cloud->no_groups = below(5) == 0;
    for (int i = 0; i < 12 + below(12); i++) {
        static const char *const words[] = {"n", "name", "name", "long-name-"};
        snprintf(name, sizeof(name), "%s%d", words[below(4)], below(1000) * 100 + i);
        int parent = i > 0 && below(3) == 0 ? below(i) : -1;
        int at = cloud_add(cloud, name, parent);
        struct cloud_provider *provider = &cloud->providers[at];
        for (int trait = TRAIT_DISABLED; trait < CLOUD_TRAITS; trait++)
            if (below(6) == 0)
                provider->traits |= 1u << trait;
        for (int aggregate = 0; aggregate < CLOUD_AGGREGATES; aggregate++)
            if ((aggregate < 5 || aggregate >= GROUP_AGGREGATE) && below(5) == 0)
                provider->aggregates |= CLOUD_BIT(aggregate);
        if (below(3) > 0)
            cloud_give(cloud, at, 0, 4);
        if (below(3) == 0) /* also of providers without inventory */
            cloud_use(cloud, below(CLOUD_PROJECTS), at, below(2), 1);
        if (below(12) == 0)
            cloud->rack_claims[below(CLOUD_GROUPS)] = at + 1;
        if (below(12) == 0)
            cloud->host_claims[below(CLOUD_GROUPS)] = at + 1;
    }
    cloud_publish(cloud);
    return cloud;
}

static bool is_in_zone(const struct version *version, const struct host_marks *marks,
                       const struct provider *host, const struct provider *zone)
{
    if (!host_mark_stands(version, zone, marks->zone))
        return false;
    for (uint32_t i = 0; i < host->aggregates->count; i++)
        if (name_set_has(zone->aggregates, host->aggregates->numbers[i]) &&
            host_group_of_aggregate(version, host->aggregates->numbers[i]) == NULL)
            return true;
    return false;
}

static void check_zones(const struct cloud *cloud, const struct hosts *hosts, uint32_t host)
{
    struct host_marks marks = host_marks_of(cloud->version);
    bool in_any = false;
    for (int i = 0; i < cloud->provider_count; i++) {
        const struct provider *zone = cloud_provider_at(cloud, i);
        bool is_in = is_in_zone(cloud->version, &marks, hosts->providers[host], zone);
        bool is_listed = false;
        for (uint32_t z = 0; z < hosts->zone_count; z++)
            for (uint32_t j = 0; j < hosts->zone[z].host_count; j++)
                is_listed = is_listed ||
                            (hosts->zone[z].provider == zone && hosts->zone[z].hosts[j] == host);
        assert_int_equal(is_listed, is_in);
        in_any = in_any || is_in;
    }
    assert_int_equal(bits_has(hosts->zoned, host), in_any);
}

static void check_host(const struct cloud *cloud, const struct hosts *hosts, uint32_t host)
{
    const struct version *version = cloud->version;
    const struct provider *provider = hosts->providers[host];
    struct host_marks marks = host_marks_of(version);
    bool several;
    const struct provider *rack = host_rack(version, &marks, provider, &several);
    assert_int_equal(hosts->racks[host] == HOSTS_MANY_RACKS, several);
    if (rack == NULL)
        assert_true(hosts->racks[host] >= HOSTS_MANY_RACKS);
    else
        assert_ptr_equal(hosts->rack[hosts->racks[host]].provider, rack);
    struct host_claim claim = host_claim_of(version, provider);
    const struct hosts_claim none = {NULL, false};
    const struct hosts_claim *got = hosts->claims == NULL ? &none : &hosts->claims[host];
    assert_int_equal(got->group != NULL, claim.group != NULL);
    assert_int_equal(got->several, claim.several);
    if (!claim.several)
        assert_ptr_equal(got->group, claim.group);
    assert_int_equal(bits_has(hosts->used, host), !host_is_empty(version, provider));
    assert_int_equal(bits_has(hosts->disabled, host),
                     marks.disabled != NUMBER_NONE &&
                         name_set_has(provider->traits, marks.disabled));
    assert_int_equal(hosts_find(hosts, provider_name(provider)), host);
    assert_int_equal(hosts_index(version, hosts, provider), host);
    check_zones(cloud, hosts, host);
}

static void agrees_with_single_questions(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 500; seed++) {
        struct cloud *cloud = random_cloud(seed);
        struct hosts hosts = hosts_read(cloud->version, cloud->arena);
        struct host_marks marks = host_marks_of(cloud->version);
        uint32_t count = 0;
        for (int i = 0; i < cloud->provider_count; i++) {
            bool is_host = host_is(&marks, cloud_provider_at(cloud, i));
            count += is_host;
            if (!is_host)
                assert_int_equal(hosts_index(cloud->version, &hosts, cloud_provider_at(cloud, i)),
                                 BITS_NONE);
        }
        assert_int_equal(hosts.count, count);
        for (uint32_t host = 0; host < hosts.count; host++) {
            check_host(cloud, &hosts, host);
            struct slice name = provider_name(hosts.providers[host]);
            struct slice before =
                host > 0 ? provider_name(hosts.providers[host - 1]) : SLICE_LIT("");
            assert_true(slice_compare(&before, &name) < 0);
        }
        assert_int_equal(hosts_find(&hosts, SLICE_LIT("nowhere")), BITS_NONE);
        cloud_destroy(cloud);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_single_questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
