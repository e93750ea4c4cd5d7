/* From values to typed fields: defaults, every field, invalid values. */
#include <stdio.h>
#include <stdlib.h>

#include "loading.h"
#include "unit.h"

static void parameters_of_the_database(void **state)
{
    (void)state;
    static const struct {
        const char *url;
        const char *parameters;
        const char *joined;
    } cases[] = {
        {"postgresql://u:p@h/d", "a=b&c=d", "postgresql://u:p@h/d?a=b&c=d"},
        {"postgresql://u:p@h/d?x=y", "a=b", "postgresql://u:p@h/d?x=y&a=b"},
        {"postgresql://u:p@h/d?x=y", "", "postgresql://u:p@h/d?x=y"},
        {"sqlite:////x.db", "a=b", "sqlite:////x.db"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text),
                 "[placement_database]\nconnection = %s\nconnection_parameters = %s\n",
                 cases[i].url, cases[i].parameters);
        use_file("a.conf", text);
        load_ok();
        assert_string_equal(conf->connection, cases[i].joined);
    }
}

static void defaults_with_a_file(void **state)
{
    (void)state;
    use_file("a.conf", BASE);
    load_ok();
    assert_false(conf->embedded);
    assert_null(conf->state_directory);
    assert_string_equal(conf->connection, "sqlite:////x.db");
    assert_int_equal(conf->auth_strategy, CONF_AUTH_KEYSTONE);
    assert_false(conf->sync_on_startup);
    assert_false(conf->debug);
    assert_true(conf->enforce_scope);
    assert_false(conf->enforce_new_defaults);
    assert_false(conf->proxy_headers);
    assert_false(conf->randomize_allocation_candidates);
    assert_int_equal(conf->max_allocation_candidates, -1);
    assert_int_equal(conf->generation_strategy, CONF_STRATEGY_UNSET);
    assert_string_equal(conf->incomplete_consumer_user_id, "00000000-0000-0000-0000-000000000000");
    assert_string_equal(conf->incomplete_consumer_project_id, conf->incomplete_consumer_user_id);
    assert_true(conf->worker_threads >= 2);
    assert_int_equal(conf->max_body_bytes, 16 << 20);
    assert_int_equal(conf->body_memory_bytes, 512 << 20);
    assert_int_equal(conf->connection_memory_bytes, 64 << 10);
    assert_int_equal(conf->header_deadline_s, 30);
    assert_int_equal(conf->body_deadline_s, 30);
    assert_int_equal(conf->slow_request_us, 1000000);
    assert_int_equal(conf->idle_timeout_s, 60);
    assert_int_equal(conf->stop_grace_s, 10);
    assert_int_equal(conf->socket_mode, 0660);
    assert_true(conf->listen_is_default);
    assert_null(conf->tls_cert_file);
    assert_null(conf->tls_key_file);
    assert_null(conf->tls_ca_file);
    assert_non_null(strstr(conf->tls_priorities, "+VERS-TLS1.3"));
    assert_int_equal(conf->max_connections, 4096);
    assert_int_equal(conf->max_connections_per_address, 2048);
    assert_true(conf->access_log);
    assert_int_equal(conf->mount_prefix_count, 1);
    assert_string_equal(conf->mount_prefixes[0].data, "/placement");
    assert_int_equal(conf->admin_listen_count, 0);
    assert_true(conf->healthcheck.is_enabled);
    assert_string_equal(conf->healthcheck.path.data, "/healthcheck");
    assert_false(conf->healthcheck.is_detailed || conf->healthcheck.ignores_proxied);
    assert_int_equal(conf->healthcheck.backend_count, 0);
    assert_int_equal(conf->healthcheck.source_range_count, 0);
    assert_null(conf->healthcheck.disable_by_file_path);
    assert_int_equal(conf->unknown_n + conf->no_effect.n + conf->deprecated.n, 0);
}

static void reads(void **state)
{
    static const struct {
        const char *lines;
        uint64_t staleness_us;
    } cases[] = {
        {"", 0},
        {"staleness = 30\n", 0},
        {"reads = strict\nstaleness = 30\n", 0},
        {"reads = bounded\n", 100000},
        {"reads = bounded\nstaleness = 0\n", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text), BASE "[berth]\n%s", cases[i].lines);
        use_file("a.conf", text);
        load_ok();
        assert_int_equal(conf->staleness_us, cases[i].staleness_us);
    }
}

static void all_fields(void **state)
{
    (void)state;
    use_file("a.conf",
             BASE "sync_on_startup = yes\n[DEFAULT]\ndebug = on\n[api]\nauth_strategy = noauth2\n"
                  "[oslo_policy]\nenforce_new_defaults = 1\nenforce_scope = false\n"
                  "[oslo_middleware]\nenable_proxy_headers_parsing = true\n"
                  "[placement]\nrandomize_allocation_candidates = true\n"
                  "max_allocation_candidates = 500\n"
                  "allocation_candidates_generation_strategy = breadth-first\n"
                  "incomplete_consumer_project_id = p\nincomplete_consumer_user_id = u\n"
                  "[berth]\nlisten = 0.0.0.0:1\nlisten = [::1]:2\nworker_threads = 3\n"
                  "max_body = 2048\nbody_memory = 65536\nmax_connections = "
                  "7\nmax_connections_per_address = 6\n"
                  "idle_timeout = 5\nheader_deadline = 4\nbody_deadline = 86400\n"
                  "connection_memory = 8192\nmount_prefix = /a/\nmount_prefix =\n"
                  "mount_prefix = /b/c\n"
                  "listen = https://[::1]:3\nlisten = unix:/x\nsocket_mode = 600\n"
                  "tls_cert_file = c\ntls_key_file = k\ntls_ca_file = a\ntls_priorities = p\n"
                  "stop_grace = 0\naccess_log = no\nslow_request_ms = 20\n"
                  "reads = bounded\nstaleness = 30\nstalled_instance_timeout = 700\n");
    load_ok();
    assert_true(conf->sync_on_startup && conf->debug && conf->enforce_new_defaults);
    assert_true(!conf->enforce_scope && conf->proxy_headers);
    assert_true(conf->randomize_allocation_candidates);
    assert_int_equal(conf->auth_strategy, CONF_AUTH_NOAUTH2);
    assert_int_equal(conf->max_allocation_candidates, 500);
    assert_int_equal(conf->generation_strategy, CONF_STRATEGY_BREADTH_FIRST);
    assert_string_equal(conf->incomplete_consumer_project_id, "p");
    assert_string_equal(conf->incomplete_consumer_user_id, "u");
    assert_int_equal(conf->listen_count, 4);
    assert_false(conf->listen_is_default);
    assert_true(conf->listen[2].tls);
    assert_string_equal(conf->listen[3].path, "/x");
    assert_int_equal(conf->socket_mode, 0600);
    assert_string_equal(conf->tls_cert_file, "c");
    assert_string_equal(conf->tls_key_file, "k");
    assert_string_equal(conf->tls_ca_file, "a");
    assert_string_equal(conf->tls_priorities, "p");
    assert_int_equal(conf->stop_grace_s, 0);
    assert_string_equal(conf->listen[0].host, "0.0.0.0");
    assert_string_equal(conf->listen[1].host, "::1");
    assert_int_equal(conf->worker_threads, 3);
    assert_int_equal(conf->max_body_bytes, 2048);
    assert_int_equal(conf->body_memory_bytes, 65536);
    assert_int_equal(conf->max_connections, 7);
    assert_int_equal(conf->max_connections_per_address, 6);
    assert_int_equal(conf->idle_timeout_s, 5);
    assert_int_equal(conf->header_deadline_s, 4);
    assert_int_equal(conf->body_deadline_s, 86400);
    assert_int_equal(conf->connection_memory_bytes, 8192);
    assert_int_equal(conf->mount_prefix_count, 2);
    assert_string_equal(conf->mount_prefixes[0].data, "/a");
    assert_string_equal(conf->mount_prefixes[1].data, "/b/c");
    assert_false(conf->access_log);
    assert_int_equal(conf->slow_request_us, 20000);
    assert_int_equal(conf->staleness_us, 30000);
    assert_int_equal(conf->stalled_ms, 700);
}

static void baremetal(void **state)
{
    (void)state;
    use_file("a.conf", BASE);
    load_ok();
    assert_int_equal(conf->baremetal.listen_count, 0);
    assert_true(conf->baremetal.mirror);
    assert_false(conf->baremetal.provider_has_node_name);
    assert_int_equal(conf->baremetal.mount_prefix_count, 0);
    assert_int_equal(conf->baremetal.public_endpoint.len, 0);
    assert_int_equal(conf->baremetal.max_limit, 1000);
    assert_int_equal(conf->baremetal.locked_retry_attempts, 3);
    assert_int_equal(conf->baremetal.locked_retry_interval_us, 1000000);
    assert_int_equal(conf->baremetal.fake_delay_us, 100000);
    assert_true(conf->baremetal.host.len > 0);
    put("a.conf", BASE "[baremetal]\nenabled = true\n");
    load_ok();
    assert_int_equal(conf->baremetal.listen_count, 1);
    assert_int_equal(conf->baremetal.listen[0].port, 6385);
    put("a.conf", BASE "[baremetal]\nenabled = true\nlisten = unix:/x\nlisten = [::1]:1\n"
                       "prefix = /baremetal/\nmirror = no\nprovider_name = name\n"
                       "public_endpoint = https://x/y/\nmax_limit = 5\n"
                       "node_locked_retry_attempts = 7\nnode_locked_retry_interval = 0\n"
                       "host = me\nfake_delay_ms = 0\n");
    load_ok();
    assert_int_equal(conf->baremetal.listen_count, 2);
    assert_string_equal(conf->baremetal.listen[0].path, "/x");
    assert_string_equal(conf->baremetal.mount_prefixes[0].data, "/baremetal");
    assert_false(conf->baremetal.mirror);
    assert_true(conf->baremetal.provider_has_node_name);
    assert_true(slice_equal(conf->baremetal.public_endpoint, SLICE_LIT("https://x/y")));
    assert_int_equal(conf->baremetal.max_limit, 5);
    assert_int_equal(conf->baremetal.locked_retry_attempts, 7);
    assert_int_equal(conf->baremetal.locked_retry_interval_us, 0);
    assert_true(slice_equal(conf->baremetal.host, SLICE_LIT("me")));
    assert_int_equal(conf->baremetal.fake_delay_us, 0);
}

/* The numbers have no bounds, as in oslo.db. BASE ends in the section. */
static void connecting(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t attempts;
        uint64_t interval_us, recycle_us;
    } cases[] = {
        {BASE, 10, 10000000, 3600000000},
        {BASE "max_retries = -1\nretry_interval = 0\nconnection_recycle_time = -1\n", -1, 0, 0},
        {BASE "max_retries = 0\nretry_interval = -3\nconnection_recycle_time = 0\n", 1, 0, 1000000},
        {BASE "max_retries = -7\nretry_interval = 9223372036854775807\n"
              "connection_recycle_time = -9223372036854775807\n",
         1, INT32_MAX * UINT64_C(1000000), 0},
    };
    use_file("a.conf", BASE);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        put("a.conf", cases[i].text);
        load_ok();
        assert_int_equal(conf->connect_attempts, cases[i].attempts);
        assert_int_equal(conf->connect_interval_us, cases[i].interval_us);
        assert_int_equal(conf->connection_recycle_us, cases[i].recycle_us);
    }
}

static void valet(void **state)
{
    (void)state;
    use_file("a.conf", BASE);
    load_ok();
    assert_int_equal(conf->valet.listen_count, 0);
    assert_int_equal(conf->valet.mount_prefix_count, 0);
    assert_null(conf->valet.flavors);
    assert_true(slice_equal(conf->valet.default_zone, SLICE_LIT("nova")));
    assert_int_equal(conf->valet.step_limit, 200000);
    assert_int_equal(conf->valet.max_servers, 1000);
    put("a.conf", BASE "[valet]\nenabled = true\nflavors =\n");
    load_ok();
    assert_int_equal(conf->valet.listen_count, 1);
    assert_int_equal(conf->valet.listen[0].port, 8090);
    assert_true(conf->valet.listen_is_default);
    assert_null(conf->valet.flavors);
    put("a.conf", BASE "[valet]\nenabled = true\nlisten = unix:/x\nlisten = [::1]:1\n"
                       "prefix = /valet/\nprefix = /v\nflavors = /f.json\ndefault_zone = z\n"
                       "step_limit = 5\nmax_servers = 10000\n");
    load_ok();
    assert_int_equal(conf->valet.listen_count, 2);
    assert_false(conf->valet.listen_is_default);
    assert_int_equal(conf->valet.mount_prefix_count, 2);
    assert_string_equal(conf->valet.mount_prefixes[0].data, "/valet");
    assert_string_equal(conf->valet.flavors, "/f.json");
    assert_true(slice_equal(conf->valet.default_zone, SLICE_LIT("z")));
    assert_int_equal(conf->valet.step_limit, 5);
    assert_int_equal(conf->valet.max_servers, 10000);
    put("a.conf", BASE "[valet]\nlisten = 127.0.0.1:1\n");
    load_ok();
    assert_int_equal(conf->valet.listen_count, 0);
}

/* An empty value is the default: TLS without priorities would accept old versions. */
static void empty_priorities(void **state)
{
    (void)state;
    use_file("a.conf", BASE "[berth]\ntls_priorities =\n");
    load_ok();
    assert_non_null(strstr(conf->tls_priorities, "+VERS-TLS1.3"));
}

static void healthcheck(void **state)
{
    (void)state;
    use_file("a.conf", BASE "[berth]\nadmin_listen = 127.0.0.1:9\nadmin_listen = [::1]:10\n"
                            "[healthcheck]\nenabled = no\npath = /alive\ndetailed = yes\n"
                            "backends = disable_by_files_ports, nonsense ,disable_by_file,"
                            "enable_by_files\n"
                            "enable_by_file_paths = /a,,/b\n"
                            "disable_by_file_path = /run/off\n"
                            "disable_by_file_paths = 1:/a,,65535:/b:c,\n"
                            "allowed_source_ranges = 10.0.0.0/8,::1\n"
                            "ignore_proxied_requests = true\n");
    load_ok();
    assert_int_equal(conf->admin_listen_count, 2);
    assert_string_equal(conf->admin_listen[1].host, "::1");
    assert_int_equal(conf->admin_listen[1].port, 10);
    const struct conf_healthcheck *got = &conf->healthcheck;
    assert_false(got->is_enabled);
    assert_true(got->is_detailed && got->ignores_proxied);
    assert_string_equal(got->path.data, "/alive");
    assert_int_equal(got->backend_count, 3);
    assert_int_equal(got->backends[0], CONF_DISABLE_BY_FILES_PORTS);
    assert_int_equal(got->backends[1], CONF_DISABLE_BY_FILE);
    assert_int_equal(got->backends[2], CONF_ENABLE_BY_FILES);
    assert_int_equal(got->enable_path_count, 2);
    assert_string_equal(got->enable_by_file_paths[1], "/b");
    assert_string_equal(got->unknown_backend, "nonsense");
    assert_string_equal(got->disable_by_file_path, "/run/off");
    assert_int_equal(got->port_path_count, 2);
    assert_int_equal(got->port_paths[1].port, 65535);
    assert_string_equal(got->port_paths[1].path, "/b:c");
    assert_int_equal(got->source_range_count, 2);
    assert_true(got->source_ranges[1].is_v6);
}

/* The beginning of links and of the header Location. */
static void bad_endpoints(void **state)
{
    (void)state;
    static const char *const WRONG[] = {
        "ftp://x",       "x",          "http://",     "https:///v1",    "http://a b", "http://a\"",
        "https://a?q=1", "http://a#b", "http://{a}/", "http://\xc3\xa4"};
    for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++) {
        char lines[128], words[160];
        snprintf(lines, sizeof(lines), "[baremetal]\npublic_endpoint = %s\n", WRONG[i]);
        snprintf(words, sizeof(words),
                 "a.conf:4: [baremetal] public_endpoint: '%s' is not a URL such as "
                 "https://baremetal.example.org",
                 WRONG[i]);
        expect_refused(lines, words);
    }
}

static void bad_values(void **state)
{
    (void)state;
    expect_refused(
        "sync_on_startup = maybe\n",
        "a.conf:3: [placement_database] sync_on_startup must be true or false, not 'maybe'");
    expect_refused("[placement]\n\nallocation_candidates_generation_strategy = x\n",
                   "a.conf:5: [placement] allocation_candidates_generation_strategy must be one of "
                   "depth-first, breadth-first, not 'x'");
    expect_refused("[berth]\nmax_connections = 0\n",
                   "a.conf:4: [berth] max_connections must be between 1 and 1000000");
    expect_refused("[berth]\nheader_deadline = 0.5\n",
                   "a.conf:4: [berth] header_deadline must be a whole number, not '0.5'");
    expect_refused("[berth]\nbody_deadline = 0\n",
                   "a.conf:4: [berth] body_deadline must be between 1 and 86400");
    expect_refused("[berth]\nlisten = here\n",
                   "a.conf:4: [berth] listen: 'here' is not ADDRESS:PORT, "
                   "https://ADDRESS:PORT or unix:/PATH");
    expect_refused("[berth]\nsocket_mode = 668\n",
                   "a.conf:4: [berth] socket_mode: '668' is not a mode such as 0660");
    expect_refused("[berth]\nsocket_mode = 01777\n",
                   "a.conf:4: [berth] socket_mode: '01777' is not a mode such as 0660");
    expect_refused("[berth]\ntls_key_file = k\n",
                   "[berth] tls_cert_file and tls_key_file must be set together");
    expect_refused("[berth]\nlisten = https://127.0.0.1:1\n",
                   "[berth] listen = https://... needs tls_cert_file and tls_key_file");
    expect_refused("[berth]\nmount_prefix = x\n",
                   "a.conf:4: [berth] mount_prefix: 'x' is not a path such as /placement");
    expect_refused("[berth]\nmount_prefix = /a//b\n",
                   "a.conf:4: [berth] mount_prefix: '/a//b' is not a path such as /placement");
    expect_refused("[berth]\nmount_prefix = /%41\n",
                   "a.conf:4: [berth] mount_prefix: '/%41' is not a path such as /placement");
    expect_refused("[berth]\nadmin_listen = here\n",
                   "a.conf:4: [berth] admin_listen: 'here' is not " LISTEN_FORMS);
    expect_refused("[valet]\nenabled = yes\nlisten = x\n",
                   "a.conf:5: [valet] listen: 'x' is not " LISTEN_FORMS);
    expect_refused("[valet]\nenabled = yes\nlisten = https://[::1]:2\n",
                   "[valet] listen = https://... needs tls_cert_file and tls_key_file");
    expect_refused("[valet]\nprefix = x\n",
                   "a.conf:4: [valet] prefix: 'x' is not a path such as /placement");
    expect_refused("[valet]\ndefault_zone =\n",
                   "a.conf:4: [valet] default_zone: '' is not the name of an availability zone");
    expect_refused("[baremetal]\nenabled = yes\nlisten = x\n",
                   "a.conf:5: [baremetal] listen: 'x' is not " LISTEN_FORMS);
    expect_refused("[baremetal]\nenabled = yes\nlisten = https://[::1]:2\n",
                   "[baremetal] listen = https://... needs tls_cert_file and tls_key_file");
    expect_refused("[baremetal]\nprefix = x\n",
                   "a.conf:4: [baremetal] prefix: 'x' is not a path such as /placement");
    expect_refused("[baremetal]\npublic_endpoint = x\n",
                   "a.conf:4: [baremetal] public_endpoint: 'x' is not a URL such as "
                   "https://baremetal.example.org");
    expect_refused(
        "[baremetal]\nhost = a b\n",
        "a.conf:4: [baremetal] host: 'a b' is not a name of at most 255 characters without blanks");
    expect_refused("[healthcheck]\npath = x\n",
                   "a.conf:4: [healthcheck] path: 'x' is not a path such as /healthcheck");
    expect_refused("[healthcheck]\ndisable_by_file_paths = 65536:/a\n",
                   "a.conf:4: [healthcheck] disable_by_file_paths: '65536:/a' is not PORT:PATH");
    expect_refused("[healthcheck]\ndisable_by_file_paths = 1:/a,/b\n",
                   "a.conf:4: [healthcheck] disable_by_file_paths: '/b' is not PORT:PATH");
    expect_refused("[healthcheck]\nallowed_source_ranges = 10.0.0.1/8\n",
                   "a.conf:4: [healthcheck] allowed_source_ranges: '10.0.0.1/8' is not a range of "
                   "addresses such as 10.0.0.0/8");
    expect_refused("[x\n", "a.conf:3: the section's ] is missing, or is followed by something");
    expect_refused("connection =\n", "[placement_database] connection is not set in a.conf");
    setenv("OS_CORS__MAX_AGE", "x", 1);
    expect_refused("", "OS_CORS__MAX_AGE: [cors] max_age must be a whole number, not 'x'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOADING_TEST(defaults_with_a_file),
        LOADING_TEST(parameters_of_the_database),
        LOADING_TEST(reads),
        LOADING_TEST(all_fields),
        LOADING_TEST(baremetal),
        LOADING_TEST(connecting),
        LOADING_TEST(valet),
        LOADING_TEST(empty_priorities),
        LOADING_TEST(healthcheck),
        LOADING_TEST(bad_endpoints),
        LOADING_TEST(bad_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
