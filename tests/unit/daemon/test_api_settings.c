/* Options in the form in which the API gets them. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/services/expensive.h"
#include "api/services/slow_lane.h"
#include "base/memory_budget.h"
#include "conf/load.h"
#include "daemon/daemon.h"
#include "unit.h"

static void settings(void **state)
{
    (void)state;
    char path[] = "/tmp/berth-settings-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_true(dprintf(fd, "[DEFAULT]\n[api]\nauth_strategy = noauth2\n"
                            "[placement_database]\nconnection = sqlite://\n"
                            "[placement]\nmax_allocation_candidates = 7\n"
                            "allocation_candidates_generation_strategy = depth-first\n"
                            "[berth]\nmount_prefix = /a\nmount_prefix = /b\naccess_log = no\n"
                            "slow_request_ms = 3\nreads = bounded\nstaleness = 4\n"
                            "[oslo_middleware]\nenable_proxy_headers_parsing = yes\n"
                            "[cors]\nallowed_origin = http://x,http://y\nexpose_headers = A,B\n"
                            "max_age = 9\nallow_credentials = no\n") > 0);
    close(fd);
    struct conf_inputs inputs = {.sources = {{path, false}}, .sources_n = 1};
    struct daemon daemon = {.arena = arena_create(), .inputs = &inputs};
    daemon.err.arena = daemon.arena;
    daemon.conf = conf_load(&inputs, &daemon.err);
    assert_non_null(daemon.conf);
    assert_true(api_settings_fill(&daemon));
    const struct api *api = &daemon.api;
    assert_int_equal(daemon.placement.max_candidates, 7);
    assert_false(daemon.placement.spread_candidates);
    assert_int_equal(api->endpoints[API_PLACEMENT].mount_prefix_count, 2);
    assert_true(slice_equal(api->endpoints[API_PLACEMENT].mount_prefixes[1], SLICE_LIT("/b")));
    assert_false(api->access_log);
    assert_int_equal(api->slow_request_us, 3000);
    assert_int_equal(api->staleness_us, 4000);
    assert_true(api->trust_proxies);
    assert_int_equal(api->cors.allowed_origins.count, 2);
    assert_true(slice_equal(api->cors.allowed_origins.names[1], SLICE_LIT("http://y")));
    assert_true(slice_equal(api->cors.expose_headers, SLICE_LIT("A,B")));
    assert_int_equal(api->cors.max_age_s, 9);
    assert_false(api->cors.allow_credentials);
    slow_lane_stop(daemon.api.slow_lane);
    expensive_destroy(daemon.api.expensive);
    memory_budget_destroy(daemon.api.bodies);
    conf_destroy(daemon.conf);
    arena_destroy(daemon.arena);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
