/* The table; tests/tidy.py compares it with docs/monitoring.md. Names follow Prometheus's
 * conventions; those of the inventory are openstack-exporter's. Constant data. */
#include "api/admin/metric_table.h"

#define COUNTER   METRIC_COUNTER
#define GAUGE     METRIC_GAUGE
#define HISTOGRAM METRIC_HISTOGRAM

#define ROW(id, kind, nam, lab, hlp)                                                               \
    [id] = {.type = (kind), .name = (nam), .labels = (lab), .help = (hlp)}

/* clang-format off */
const struct metric metric_table[METRIC_COUNT] = {
    ROW(METRIC_REQUESTS, COUNTER, "berth_http_requests_total", "api route method status", "Answers to requests, by API."),
    ROW(METRIC_REQUEST_DURATION, HISTOGRAM, "berth_http_request_duration_seconds", "api route method", "Time from the request line to the answer being ready."),
    ROW(METRIC_RESPONSE_BYTES, COUNTER, "berth_http_response_bytes_total", "api route method", "Bytes of response bodies."),
    ROW(METRIC_MICROVERSIONS, COUNTER, "berth_http_requests_by_microversion_total", "api microversion", "Answers by negotiated microversion."),
    ROW(METRIC_IN_FLIGHT, GAUGE, "berth_http_requests_in_flight", "listener", "Requests in progress, from the request line to the end of the answer."),
    ROW(METRIC_CONNECTIONS, GAUGE, "berth_http_connections_open", "listener", "Open connections."),
    ROW(METRIC_CONNECTIONS_ACCEPTED, COUNTER, "berth_http_connections_accepted_total", "listener", "Connections accepted."),
    ROW(METRIC_LARGE_RESPONSES, GAUGE, "berth_http_large_response_bytes", "listener", "Bytes of bodies over 1 MiB that clients are reading."),
    ROW(METRIC_LARGE_BODIES, GAUGE, "berth_http_request_body_bytes", "", "Memory of large request bodies and of the documents they are parsed into."),
    ROW(METRIC_ARENA_MAX, GAUGE, "berth_http_request_arena_max_bytes", "", "Most memory that one request took in addition to its body."),
    ROW(METRIC_SLOW_LANE, GAUGE, "berth_slow_lane_jobs", "state", "Expensive requests that take turns."),
    ROW(METRIC_SLOW_LANE_JOBS, COUNTER, "berth_slow_lane_jobs_begun_total", "", "Requests that were too expensive for a worker."),
    ROW(METRIC_SLOW_LANE_REFUSED, COUNTER, "berth_slow_lane_jobs_refused_total", "reason", "Expensive requests answered 503 before they began."),
    ROW(METRIC_CANDIDATES, HISTOGRAM, "berth_allocation_candidates_returned", "", "Allocation candidates found by a request."),
    ROW(METRIC_CANDIDATES_NONE, COUNTER, "berth_allocation_candidates_none_total", "reason", "Requests that found no allocation candidate, by the condition that emptied the result."),
    ROW(METRIC_WRITER_REQUESTS, COUNTER, "berth_writer_requests_total", "", "Requests that the writer has answered, including those that only waited for it to read the database."),
    ROW(METRIC_WRITER_QUEUED, GAUGE, "berth_writer_queued_requests", "", "Requests waiting for the writer."),
    ROW(METRIC_WRITER_BATCH, HISTOGRAM, "berth_writer_batch_requests", "", "Write requests planned in one batch."),
    ROW(METRIC_WRITER_COMMIT, HISTOGRAM, "berth_writer_commit_duration_seconds", "", "Time of a commit, including its sync."),
    ROW(METRIC_WRITER_REFUSED, COUNTER, "berth_writer_refused_requests_total", "reason", "Write requests that were refused."),
    ROW(METRIC_WRITER_FOLLOWS, COUNTER, "berth_writer_follows_total", "", "Times that memory followed another berthd's log."),
    ROW(METRIC_WRITER_LOADS, COUNTER, "berth_writer_loads_total", "", "Times that the whole database was read."),
    ROW(METRIC_WRITER_MERGES, COUNTER, "berth_writer_merges_total", "", "Of these reads, those after which only the differences were applied to memory."),
    ROW(METRIC_WRITER_ARENA, GAUGE, "berth_writer_arena_bytes", "", "Memory used by the last batch."),
    ROW(METRIC_WRITER_SILENCE, GAUGE, "berth_writer_silence_seconds", "", "Time since the writer's last sign of life."),
    ROW(METRIC_DATABASE_OUTAGE, GAUGE, "berth_database_outage", "extent", "1 while requests of this kind are answered 503."),
    ROW(METRIC_DATABASE_OUTAGES, COUNTER, "berth_database_outages_total", "extent", "Outages that began."),
    ROW(METRIC_DATABASE_READ_ONLY, GAUGE, "berth_database_read_only", "", "1 if the file cannot be written."),
    ROW(METRIC_DATABASE_CHECKPOINTS, COUNTER, "berth_database_checkpoints_total", "", "Times that the WAL was copied into the file."),
    ROW(METRIC_DATABASE_WAL, GAUGE, "berth_database_wal_bytes", "", "Bytes of the frames in the WAL."),
    ROW(METRIC_DATABASE_SKIPPED, GAUGE, "berth_database_skipped_rows", "", "Rows that could not be loaded; each is named in the log once."),
    ROW(METRIC_DATABASE_LOG_HEAD, GAUGE, "berth_database_log_head", "", "Number of the newest batch in the log of changes."),
    ROW(METRIC_REPLICA_VERSION, GAUGE, "berth_replica_version", "", "Number of the newest version in memory."),
    ROW(METRIC_REPLICA_AGE, GAUGE, "berth_replica_age_seconds", "", "0 if memory is as new as the database at this moment, else the time since it was."),
    ROW(METRIC_REPLICA_ROWS, GAUGE, "berth_replica_rows", "table", "Rows in memory."),
    ROW(METRIC_REPLICA_MEMORY, GAUGE, "berth_replica_memory_bytes", "", "Memory of the newest version."),
    ROW(METRIC_REPLICA_RETAINED, GAUGE, "berth_replica_versions_retained", "", "Older versions that are kept, at least in part, for readers."),
    ROW(METRIC_REPLICA_RETAINED_MEMORY, GAUGE, "berth_replica_retained_bytes", "", "Memory used only by those versions."),
    ROW(METRIC_LOG_LOST, COUNTER, "berth_log_lost_bytes_total", "", "Bytes of the log that could not be written."),
    ROW(METRIC_CONFIG_RELOADS, COUNTER, "berth_config_reloads_total", "result", "Times that the configuration was read again."),
    ROW(METRIC_POLICY_RELOADS, COUNTER, "berth_policy_reloads_total", "", "Policies that have come into force after the first one."),
    ROW(METRIC_POLICY_FAILURES, COUNTER, "berth_policy_reload_failures_total", "", "Errors in policy files because of which the policy in force was kept."),
    ROW(METRIC_POLICY_STALE, GAUGE, "berth_policy_stale", "", "1 while the policy files are invalid and an older policy is in force."),
    ROW(METRIC_AUTHENTICATIONS, COUNTER, "berth_authentications_total", "result", "Requests by the result of their token's validation."),
    ROW(METRIC_TOKENS_CACHED, GAUGE, "berth_tokens_cached", "", "Tokens whose validation result is cached."),
    ROW(METRIC_TOKENS_CACHED_BYTES, GAUGE, "berth_tokens_cached_bytes", "", "Memory of the cached tokens."),
    ROW(METRIC_TOKEN_LOOKUPS, COUNTER, "berth_token_lookups_total", "result", "Lookups of tokens in the cache."),
    ROW(METRIC_TOKEN_EVICTIONS, COUNTER, "berth_token_evictions_total", "", "Tokens removed from the cache because it was full."),
    ROW(METRIC_KEYSTONE_QUERIES, COUNTER, "berth_keystone_queries_total", "", "Queries to Keystone about tokens, counting each attempt."),
    ROW(METRIC_KEYSTONE_SHARED, COUNTER, "berth_keystone_queries_shared_total", "", "Requests that waited for a query of another request."),
    ROW(METRIC_KEYSTONE_FAILED, COUNTER, "berth_keystone_queries_failed_total", "", "Queries that ended without a result."),
    ROW(METRIC_KEYSTONE_DROPPED, COUNTER, "berth_keystone_queries_dropped_total", "", "Queries that were not made because too many were pending."),
    ROW(METRIC_KEYSTONE_PENDING, GAUGE, "berth_keystone_queries_pending", "", "Queries in progress or waiting."),
    ROW(METRIC_KEYSTONE_LOGINS, COUNTER, "berth_keystone_logins_total", "", "Login attempts of the service itself."),
    ROW(METRIC_KEYSTONE_UNAVAILABLE, GAUGE, "berth_keystone_unavailable", "", "1 if the last query was not answered."),
    ROW(METRIC_CERTIFICATE_EXPIRY, GAUGE, "berth_tls_certificate_expiry_timestamp_seconds", "", "When the certificate for https, or the first of its chain, expires, in seconds since 1970."),
    ROW(METRIC_STOPPING, GAUGE, "berth_stopping", "", "1 while the process drains before it exits."),
    ROW(METRIC_BUILD_INFO, GAUGE, "berth_build_info", "version compiler", "1; the build is in the labels."),

    ROW(METRIC_PROCESS_CPU, COUNTER, "process_cpu_seconds_total", "", "User and system time of the process."),
    ROW(METRIC_PROCESS_START, GAUGE, "process_start_time_seconds", "", "Start of the process, in seconds since 1970."),
    ROW(METRIC_PROCESS_RESIDENT, GAUGE, "process_resident_memory_bytes", "", "Resident memory."),
    ROW(METRIC_PROCESS_VIRTUAL, GAUGE, "process_virtual_memory_bytes", "", "Virtual memory."),
    ROW(METRIC_PROCESS_OPEN_FDS, GAUGE, "process_open_fds", "", "Open file descriptors."),
    ROW(METRIC_PROCESS_MAX_FDS, GAUGE, "process_max_fds", "", "Most file descriptors that may be open."),
    ROW(METRIC_PROCESS_THREADS, GAUGE, "process_threads", "", "Threads of the process."),

    ROW(METRIC_RESOURCE_TOTAL, GAUGE, "openstack_placement_resource_total", "hostname resourcetype", "resource_total"),
    ROW(METRIC_RESOURCE_RESERVED, GAUGE, "openstack_placement_resource_reserved", "hostname resourcetype", "resource_reserved"),
    ROW(METRIC_RESOURCE_RATIO, GAUGE, "openstack_placement_resource_allocation_ratio", "hostname resourcetype", "resource_allocation_ratio"),
    ROW(METRIC_RESOURCE_USAGE, GAUGE, "openstack_placement_resource_usage", "hostname resourcetype", "resource_usage"),
    ROW(METRIC_RESOURCE_GENERATION, GAUGE, "openstack_placement_resource_generation", "hostname resourcetype", "resource_generation"),
    ROW(METRIC_PROVIDER_ALLOCATIONS, GAUGE, "openstack_placement_resource_provider_allocations", "hostname uuid resourcetype", "resource_provider_allocations"),

    ROW(METRIC_NODES, GAUGE, "berth_baremetal_nodes", "state", "Bare metal nodes by provision state."),
    ROW(METRIC_NODES_MAINTENANCE, GAUGE, "berth_baremetal_nodes_in_maintenance", "", "Bare metal nodes in maintenance, in any state."),
    ROW(METRIC_NODES_FREE, GAUGE, "berth_baremetal_nodes_free", "", "Bare metal nodes that are free to be allocated, according to their own rows only."),
    ROW(METRIC_NODE_ALLOCATIONS, GAUGE, "berth_baremetal_allocations", "state", "Allocations of bare metal nodes by state."),
};
/* clang-format on */
