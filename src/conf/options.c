/* The table. Sources: operators.md (Configuration) for upstream's options; sections, names, types,
 * bounds and defaults are those of the Python service. [berth] is our own section. An option moves
 * from NO_EFFECT to IN_EFFECT in the commit that makes it work. Constant data: any thread. */
#include "conf/options.h"

#include "conf/ini.h"

/* connection_memory: as much as the servers take that the Python service runs under (uwsgi's buffer
 * and wsgiref's line end at 64 KiB). The library touches all of it, and zeroes it one and a half
 * times for each request: at 128 KiB that was a third of a small request's time outside the kernel.
 */

/* One row a line: the columns that every option has, then what only some have. */
#define ROW(kind, does, sec, nam, def, hlp, ...)                                                   \
    {                                                                                              \
        .type = (kind), .effect = (does), .section = (sec), .name = (nam), .fallback = (def),      \
        .help = (hlp), ##__VA_ARGS__                                                               \
    }
#define OLD(sec, nam)       .deprecated = {{(sec), (nam)}}
#define OLD2(sec, nam, too) .deprecated = {{(sec), (nam)}, {(sec), (too)}}
#define CHOICES(list)       .choices = (list)
#define ANY_CASE(list)      .choices = (list), .choices_any_case = true
#define BOUNDS(low, top)    .min = (low), .max = (top)
#define MUTABLE             .is_mutable = true
#define SECRET              .is_secret = true
#define OF_PLUGIN           .of_auth_plugin = true

#define STR  OPTION_STRING
#define INT  OPTION_INTEGER
#define REAL OPTION_FLOAT
#define BOOL OPTION_BOOLEAN
#define LIST OPTION_LIST
#define MULT OPTION_MULTI
#define USED OPTION_IN_EFFECT
#define NONE OPTION_NO_EFFECT

#define ZERO_UUID "00000000-0000-0000-0000-000000000000"
#define DAY_S     86400
/* TLS 1.2 and 1.3 with forward secrecy and authenticated encryption. */
#define TLS_PRIORITIES                                                                             \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-DHE-RSA:-SHA1:-AES-128-CBC:-AES-256-CBC:"    \
    "%SERVER_PRECEDENCE"
#define GIB (1024 * 1024 * 1024)

#define LOG_PREFIX "%(asctime)s.%(msecs)03d %(process)d %(levelname)s %(name)s "

/* oslo.log's list and the placement service's addition. */
#define LOG_LEVELS                                                                                 \
    "amqp=WARN,amqplib=WARN,boto=WARN,qpid=WARN,sqlalchemy=WARN,suds=INFO,oslo.messaging=INFO,"    \
    "oslo_messaging=INFO,iso8601=WARN,requests.packages.urllib3.connectionpool=WARN,"              \
    "urllib3.connectionpool=WARN,websocket=WARN,requests.packages.urllib3.util.retry=WARN,"        \
    "urllib3.util.retry=WARN,keystonemiddleware=WARN,routes.middleware=WARN,stevedore=WARN,"       \
    "taskflow=WARN,keystoneauth=WARN,oslo.cache=INFO,oslo_policy=INFO,dogpile.core.dogpile=INFO,"  \
    "routes=INFO"

/* clang-format off */
const struct option option_table[] = {
    ROW(MULT, USED, "berth", "listen", "127.0.0.1:8778", "Where the Placement API is served: ADDRESS:PORT, https://ADDRESS:PORT or unix:/PATH."),
    ROW(MULT, USED, "berth", "admin_listen", NULL, "Where metrics and health are served, for operators only."),
    ROW(STR, USED, "berth", "socket_mode", "0660", "Permissions of unix sockets in listen, octal."),
    ROW(STR, USED, "berth", "tls_cert_file", NULL, "Certificate for https, followed by its chain (PEM).", MUTABLE),
    ROW(STR, USED, "berth", "tls_key_file", NULL, "Private key of that certificate (PEM).", MUTABLE),
    ROW(STR, USED, "berth", "tls_ca_file", NULL, "Clients must show a certificate that one of these issued (PEM).", MUTABLE),
    ROW(STR, USED, "berth", "tls_priorities", TLS_PRIORITIES, "Versions and ciphers, as GnuTLS writes them.", MUTABLE),
    ROW(INT, USED, "berth", "worker_threads", "0", "HTTP threads for each address; 0: one a core, at least 2.", BOUNDS(0, 1024)),
    ROW(INT, USED, "berth", "max_body", "16777216", "Largest request body in bytes.", BOUNDS(1024, GIB)),
    ROW(INT, USED, "berth", "body_memory", "536870912", "Bytes of memory for all large requests together.", BOUNDS(65536, 64L * GIB)),
    ROW(INT, USED, "berth", "max_connections", "4096", "Open connections to one address in all.", BOUNDS(1, 1000000)),
    ROW(INT, USED, "berth", "max_connections_per_address", "2048", "Open connections to one address from one address of clients.", BOUNDS(1, 1000000)),
    ROW(INT, USED, "berth", "idle_timeout", "60", "Seconds after which a silent connection is closed.", BOUNDS(1, DAY_S)),
    ROW(INT, USED, "berth", "header_deadline", "30", "Seconds from a request's first byte to the end of its line, from there to the end of its headers, and for a TLS handshake.", BOUNDS(1, DAY_S), MUTABLE),
    ROW(INT, USED, "berth", "body_deadline", "30", "Seconds for a body, beside the time it needs at 10 KB/s.", BOUNDS(1, DAY_S), MUTABLE),
    ROW(INT, USED, "berth", "stop_grace", "10", "Seconds that a stop leaves to what has begun.", BOUNDS(0, DAY_S)),
    ROW(INT, USED, "berth", "connection_memory", "65536", "Bytes for a connection's request line and headers.", BOUNDS(4096, GIB)),
    ROW(INT, USED, "berth", "answer_memory", "1073741824", "Bytes for all large answers that clients are reading.", BOUNDS(1048576, 1024L * GIB)),
    ROW(MULT, USED, "berth", "mount_prefix", "/placement", "Path below which the API is served too."),
    ROW(BOOL, USED, "berth", "access_log", "true", "One line for each request.", MUTABLE),
    ROW(INT, USED, "berth", "query_deadline", "60", "Seconds for a request that is too expensive for a worker.", BOUNDS(1, DAY_S), MUTABLE),
    /* 10 ms of the writer's thread; a reshape of a host with 290 servers of three classes: 2330 */
    ROW(INT, USED, "berth", "max_write_rows", "3000", "Rows of the database that one request may write.", BOUNDS(100, 1000000000), MUTABLE),
    ROW(INT, USED, "berth", "slow_request_ms", "1000", "A request that takes longer is logged; 0: none.", BOUNDS(0, DAY_S * 1000), MUTABLE),
    ROW(INT, NONE, "berth", "bounded_staleness_ms", "0", "How old an answer may be; 0: reads are strict.", BOUNDS(0, DAY_S * 1000)),

    ROW(BOOL, USED, "baremetal", "enabled", "false", "Serve the bare metal API: nodes and their allocations."),
    ROW(MULT, USED, "baremetal", "listen", "127.0.0.1:6385", "Where the bare metal API is served: ADDRESS:PORT, https://ADDRESS:PORT or unix:/PATH."),
    ROW(MULT, USED, "baremetal", "prefix", NULL, "Path below which the bare metal API is served too."),
    ROW(BOOL, USED, "baremetal", "mirror", "true", "Nodes are resource providers, and what is taken on one side is taken on the other."),
    ROW(STR, USED, "baremetal", "provider_name", "uuid", "What a node's resource provider is called.", CHOICES("uuid|name")),
    ROW(STR, USED, "baremetal", "public_endpoint", NULL, "URL that links in answers begin with, instead of the one that was asked."),
    ROW(INT, USED, "baremetal", "max_limit", "1000", "Items of a page of a list at most.", BOUNDS(1, 100000)),
    ROW(INT, USED, "baremetal", "node_locked_retry_attempts", "3", "How often an allocation tries nodes that are locked.", BOUNDS(1, 1000)),
    ROW(INT, USED, "baremetal", "node_locked_retry_interval", "1", "Seconds between these tries.", BOUNDS(0, 3600)),
    ROW(STR, USED, "baremetal", "service_type", "baremetal", "Type of the bare metal API in Keystone's catalog, for access rules."),
    ROW(STR, USED, "baremetal", "host", NULL, "Name that nodes show as their conductor and locks as their holder; not set: the machine's."),
    ROW(INT, USED, "baremetal", "fake_delay_ms", "100", "Milliseconds that each passing state of a node lasts.", BOUNDS(0, 60000)),

    ROW(BOOL, USED, "valet", "enabled", "false", "Serve the Valet API: groups, plans and placements."),
    ROW(MULT, USED, "valet", "listen", "127.0.0.1:8090", "Where the Valet API is served: ADDRESS:PORT, https://ADDRESS:PORT or unix:/PATH."),
    ROW(MULT, USED, "valet", "prefix", NULL, "Path below which the Valet API is served too."),
    ROW(STR, USED, "valet", "flavors", NULL, "File with the flavors that plans name (JSON)."),
    ROW(STR, USED, "valet", "default_zone", "nova", "Availability zone of hosts that are in none."),
    ROW(INT, USED, "valet", "step_limit", "200000", "Steps of the search for hosts of one request at most.", BOUNDS(1, 1000000000)),
    ROW(INT, USED, "valet", "max_servers", "1000", "Servers of one plan at most.", BOUNDS(1, 10000)),
    ROW(STR, USED, "valet", "service_type", "valet", "Type of the Valet API in Keystone's catalog, for access rules."),

    ROW(BOOL, USED, "DEFAULT", "debug", "false", "Log at level DEBUG.", MUTABLE),
    ROW(STR, NONE, "DEFAULT", "tempdir", NULL, "Directory for temporary files; berth makes none."),
    ROW(STR, NONE, "DEFAULT", "pybasedir", "/usr/share/berth", "Directory of the program's own files, for other options to refer to."),
    ROW(STR, NONE, "DEFAULT", "state_path", "$pybasedir", "Directory for state, for other options to refer to."),
    ROW(STR, USED, "DEFAULT", "log_file", NULL, "File that the log goes to.", OLD("DEFAULT", "logfile")),
    ROW(STR, USED, "DEFAULT", "log_dir", NULL, "Directory of log_file; alone: the file PROGRAM.log in it.", OLD("DEFAULT", "logdir")),
    ROW(STR, USED, "DEFAULT", "log_config_append", NULL, "A logging configuration in Python's form, instead of the options of the log.", OLD2("DEFAULT", "log-config", "log_config"), MUTABLE),
    ROW(STR, USED, "DEFAULT", "log_date_format", "%Y-%m-%d %H:%M:%S", "Form of %(asctime)s."),
    ROW(BOOL, USED, "DEFAULT", "log_options", "true", "Log all options at level DEBUG."),
    ROW(BOOL, USED, "DEFAULT", "use_syslog", "false", "Log to syslog, beside other destinations."),
    ROW(STR, USED, "DEFAULT", "syslog_log_facility", "LOG_USER", "Facility for syslog and the journal."),
    ROW(BOOL, USED, "DEFAULT", "use_journal", "false", "Log to systemd's journal, with fields."),
    ROW(BOOL, NONE, "DEFAULT", "use_eventlog", "false", "Log to the event log of Windows."),
    ROW(BOOL, USED, "DEFAULT", "use_json", "false", "Log lines as JSON objects."),
    ROW(BOOL, USED, "DEFAULT", "use_stderr", "false", "Log to standard error beside a file or the journal; without those it is done anyway."),
    ROW(BOOL, USED, "DEFAULT", "log_color", "false", "Set %(color)s on standard error."),
    ROW(BOOL, USED, "DEFAULT", "watch_log_file", "false", "Open the log file anew as soon as it is moved or removed."),
    ROW(STR, USED, "DEFAULT", "log_rotation_type", "none", "When the log file is rotated.", ANY_CASE("interval|size|none")),
    ROW(INT, USED, "DEFAULT", "log_rotate_interval", "1", "Rotate after so many units."),
    ROW(STR, USED, "DEFAULT", "log_rotate_interval_type", "days", "Unit of log_rotate_interval.", ANY_CASE("Seconds|Minutes|Hours|Days|Weekday|Midnight")),
    ROW(INT, USED, "DEFAULT", "max_logfile_count", "30", "Rotated files kept."),
    ROW(INT, USED, "DEFAULT", "max_logfile_size_mb", "200", "Rotate at this size."),
    ROW(LIST, USED, "DEFAULT", "default_log_levels", LOG_LEVELS, "Levels of single loggers.", MUTABLE),
    ROW(STR, USED, "DEFAULT", "logging_context_format_string", LOG_PREFIX "[%(global_request_id)s %(request_id)s %(user_identity)s] %(instance)s%(message)s", "Form of lines with a request."),
    ROW(STR, USED, "DEFAULT", "logging_default_format_string", LOG_PREFIX "[-] %(instance)s%(message)s", "Form of lines without a request."),
    ROW(STR, USED, "DEFAULT", "logging_debug_format_suffix", "%(funcName)s %(pathname)s:%(lineno)d", "What lines of level DEBUG end with."),
    ROW(STR, NONE, "DEFAULT", "logging_exception_prefix", "%(asctime)s.%(msecs)03d %(process)d ERROR %(name)s %(instance)s", "Beginning of the lines of a traceback; berth has none."),
    ROW(STR, USED, "DEFAULT", "logging_user_identity_format", "%(user)s %(project)s %(domain)s %(system_scope)s %(user_domain)s %(project_domain)s", "Form of %(user_identity)s."),
    ROW(STR, NONE, "DEFAULT", "instance_format", "[instance: %(uuid)s] ", "Form of an instance in a log line; no line of Placement has one."),
    ROW(STR, NONE, "DEFAULT", "instance_uuid_format", "[instance: %(uuid)s] ", "Form of an instance's uuid in a log line; no line of Placement has one."),
    ROW(INT, USED, "DEFAULT", "rate_limit_interval", "0", "Seconds in which rate_limit_burst lines are logged."),
    ROW(INT, USED, "DEFAULT", "rate_limit_burst", "0", "Lines logged in one rate_limit_interval."),
    ROW(STR, USED, "DEFAULT", "rate_limit_except_level", "CRITICAL", "Level that is never limited."),
    ROW(BOOL, NONE, "DEFAULT", "publish_errors", "false", "Send notifications of errors to a message bus, which berth does not have."),
    ROW(BOOL, NONE, "DEFAULT", "fatal_deprecations", "false", "End at a use of what is deprecated; berth only warns."),

    ROW(STR, USED, "api", "auth_strategy", "keystone", "How it is found out who calls: by tokens of Keystone, or by their word.", CHOICES("keystone|noauth2"), OLD("DEFAULT", "auth_strategy")),

    ROW(BOOL, USED, "placement", "randomize_allocation_candidates", "false", "Answer a random sample of the allocation candidates where a limit cuts them off.", MUTABLE),
    ROW(STR, USED, "placement", "incomplete_consumer_project_id", ZERO_UUID, "Project of allocations written with microversions below 1.8."),
    ROW(STR, USED, "placement", "incomplete_consumer_user_id", ZERO_UUID, "User of allocations written with microversions below 1.8."),
    ROW(INT, USED, "placement", "max_allocation_candidates", "-1", "Allocation candidates generated for one request at most; -1: all.", BOUNDS(-1, INT32_MAX), MUTABLE),
    ROW(STR, USED, "placement", "allocation_candidates_generation_strategy", NULL, "Order in which candidates of several trees are generated; unset: spread over them when there is a limit.", CHOICES("depth-first|breadth-first"), MUTABLE),
    ROW(INT, NONE, "placement", "allocation_conflict_retry_count", "10", "How often a write is tried again after a conflict of generations."),
    ROW(BOOL, NONE, "workarounds", "optimize_for_wide_provider_trees", "false", "Search trees with many alike children in another order."),

    ROW(STR, USED, "placement_database", "connection", NULL, "URL of the database.", SECRET),
    ROW(BOOL, USED, "placement_database", "sync_on_startup", "false", "Bring the schema of the database to the newest revision at start."),
    ROW(STR, NONE, "placement_database", "connection_parameters", "", "Parameters that are added to the URL, as name=value&name=value.", SECRET),
    ROW(STR, NONE, "placement_database", "slave_connection", NULL, "URL of a replica of the database, for reads.", SECRET),
    ROW(BOOL, NONE, "placement_database", "sqlite_synchronous", "true", "Have SQLite wait for the disk at each commit; berth always does."),
    ROW(STR, NONE, "placement_database", "mysql_sql_mode", "TRADITIONAL", "SQL mode of sessions with MySQL; empty: the server's own."),
    ROW(INT, NONE, "placement_database", "connection_recycle_time", "3600", "Seconds after which a connection to the database is replaced by a new one."),
    ROW(INT, NONE, "placement_database", "max_pool_size", NULL, "Connections to the database that are kept open; 0: any number."),
    ROW(INT, NONE, "placement_database", "max_overflow", NULL, "Connections to the database that may be open beside those that are kept."),
    ROW(INT, NONE, "placement_database", "pool_timeout", NULL, "Seconds to wait for a connection when all are in use."),
    ROW(INT, NONE, "placement_database", "max_retries", "10", "Attempts to connect to the database at start; -1: for ever."),
    ROW(INT, NONE, "placement_database", "retry_interval", "10", "Seconds between two attempts to connect to the database."),
    ROW(INT, NONE, "placement_database", "connection_debug", "0", "How much of SQL is logged; 0: nothing, 100: everything."),
    ROW(BOOL, NONE, "placement_database", "connection_trace", "false", "Write the calling Python code into SQL as comments."),
    ROW(BOOL, NONE, "placement_database", "mysql_enable_ndb", "false", "Make tables for MySQL Cluster (NDB)."),

    ROW(BOOL, USED, "oslo_policy", "enforce_new_defaults", "false", "Leave the deprecated rules out."),
    ROW(BOOL, USED, "oslo_policy", "enforce_scope", "true", "Refuse tokens of another scope than a rule's."),
    ROW(STR, USED, "oslo_policy", "policy_file", "policy.yaml", "File with changed rules.", OLD("DEFAULT", "policy_file")),
    ROW(STR, USED, "oslo_policy", "policy_default_rule", "default", "Rule that stands for undefined ones.", OLD("DEFAULT", "policy_default_rule")),
    ROW(MULT, USED, "oslo_policy", "policy_dirs", "policy.d", "Directories with changed rules.", OLD("DEFAULT", "policy_dirs")),
    ROW(STR, NONE, "oslo_policy", "remote_content_type", "application/x-www-form-urlencoded", "Type of a remote check's body.", CHOICES("application/x-www-form-urlencoded|application/json")),
    ROW(BOOL, NONE, "oslo_policy", "remote_ssl_verify_server_crt", "false", "Verify a remote check's server."),
    ROW(STR, NONE, "oslo_policy", "remote_ssl_ca_crt_file", NULL, "CA of a remote check."),
    ROW(STR, NONE, "oslo_policy", "remote_ssl_client_crt_file", NULL, "Certificate for a remote check."),
    ROW(STR, NONE, "oslo_policy", "remote_ssl_client_key_file", NULL, "Key for a remote check."),
    ROW(REAL, NONE, "oslo_policy", "remote_timeout", "60", "Seconds for a remote check."),

    ROW(BOOL, USED, "oslo_middleware", "enable_proxy_headers_parsing", "false", "Believe the headers Forwarded and X-Forwarded-* of a proxy in front."),

    ROW(BOOL, USED, "healthcheck", "enabled", "true", "Answer the health check at all."),
    ROW(STR, USED, "healthcheck", "path", "/healthcheck", "Path of the health check, below every mount prefix too."),
    ROW(BOOL, USED, "healthcheck", "detailed", "false", "Tell callers more, as JSON and HTML."),
    ROW(LIST, USED, "healthcheck", "backends", NULL, "Further checks: disable_by_file, disable_by_files_ports, enable_by_files."),
    ROW(STR, USED, "healthcheck", "disable_by_file_path", NULL, "While this file is there, disable_by_file fails."),
    ROW(LIST, USED, "healthcheck", "disable_by_file_paths", NULL, "PORT:PATH of such files, for disable_by_files_ports."),
    ROW(LIST, USED, "healthcheck", "enable_by_file_paths", NULL, "Files of which enable_by_files misses none while all is well."),
    ROW(LIST, USED, "healthcheck", "allowed_source_ranges", NULL, "Callers from elsewhere do not find the health check; none: any."),
    ROW(BOOL, USED, "healthcheck", "ignore_proxied_requests", "false", "Requests with a proxy's headers do not find it."),

    ROW(LIST, USED, "cors", "allowed_origin", NULL, "Origins of web pages that may call the API."),
    ROW(BOOL, USED, "cors", "allow_credentials", "true", "Let browsers send credentials with such calls."),
    ROW(LIST, USED, "cors", "expose_headers", "X-Auth-Token,X-Openstack-Request-Id,X-Subject-Token,X-Service-Token,OpenStack-API-Version", "Headers of answers that scripts may read."),
    ROW(INT, USED, "cors", "max_age", "3600", "Seconds for which browsers keep the answer to a preflight."),
    ROW(LIST, USED, "cors", "allow_methods", "GET,PUT,POST,DELETE,PATCH", "Methods that scripts may use."),
    ROW(LIST, USED, "cors", "allow_headers", "X-Auth-Token,X-Openstack-Request-Id,X-Identity-Status,X-Roles,X-Service-Catalog,X-User-Id,X-Tenant-Id,OpenStack-API-Version", "Headers of requests that scripts may set."),

    ROW(STR, USED, "keystone_authtoken", "www_authenticate_uri", NULL, "Keystone's URL as told to callers.", OLD("keystone_authtoken", "auth_uri")),
    ROW(STR, USED, "keystone_authtoken", "auth_type", NULL, "How the service itself logs in: password, v3password, v3applicationcredential, token, v3token or admin_token.", OLD("keystone_authtoken", "auth_plugin"), OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "auth_section", NULL, "Section with auth_type and what it needs, if it is not this one."),
    ROW(STR, NONE, "keystone_authtoken", "auth_version", NULL, "Version of Keystone's API; it is 3."),
    ROW(STR, USED, "keystone_authtoken", "auth_url", NULL, "Keystone's URL, with or without /v3.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "username", NULL, "Name of the service user.", OLD2("keystone_authtoken", "user-name", "user_name"), OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "user_id", NULL, "Id of the service user.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "password", NULL, "Password of the service user.", SECRET, OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "user_domain_id", NULL, "Domain of the service user, by id.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "user_domain_name", NULL, "Domain of the service user, by name.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "project_id", NULL, "Project of the service, by id.", OLD2("keystone_authtoken", "tenant-id", "tenant_id"), OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "project_name", NULL, "Project of the service, by name.", OLD2("keystone_authtoken", "tenant-name", "tenant_name"), OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "project_domain_id", NULL, "Domain of the project, by id.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "project_domain_name", NULL, "Domain of the project, by name.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "default_domain_id", NULL, "Domain of user and project where none is named, by id.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "default_domain_name", NULL, "Domain of user and project where none is named, by name.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "domain_id", NULL, "Domain scope, by id.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "domain_name", NULL, "Domain scope, by name.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "system_scope", NULL, "System scope.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "trust_id", NULL, "Trust.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "application_credential_id", NULL, "Application credential, by id.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "application_credential_name", NULL, "Application credential, by name.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "application_credential_secret", NULL, "Secret of the application credential.", SECRET, OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "token", NULL, "Token to log in with, or, with admin_token, to ask with.", SECRET, OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "endpoint", NULL, "With admin_token: Keystone's versioned URL.", OLD("keystone_authtoken", "url"), OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "interface", "internal", "Interface of Keystone's endpoint in the catalog."),
    ROW(STR, USED, "keystone_authtoken", "region_name", NULL, "Region of Keystone's endpoint in the catalog."),
    ROW(STR, USED, "keystone_authtoken", "cafile", NULL, "CA of Keystone."),
    ROW(STR, USED, "keystone_authtoken", "certfile", NULL, "Certificate for Keystone."),
    ROW(STR, USED, "keystone_authtoken", "keyfile", NULL, "Key for Keystone."),
    ROW(BOOL, USED, "keystone_authtoken", "insecure", "false", "Do not verify Keystone."),
    ROW(INT, USED, "keystone_authtoken", "http_connect_timeout", NULL, "Seconds for one question to Keystone; unset: 30."),
    ROW(INT, USED, "keystone_authtoken", "http_request_max_retries", "3", "Further attempts when Keystone cannot be reached."),
    ROW(BOOL, USED, "keystone_authtoken", "delay_auth_decision", "false", "Leave it to the service to refuse who has no good token."),
    ROW(STR, NONE, "keystone_authtoken", "cache", NULL, "Name of a WSGI server's cache."),
    ROW(INT, USED, "keystone_authtoken", "token_cache_time", "300", "Seconds a token is cached; 0 or less: never."),
    ROW(LIST, NONE, "keystone_authtoken", "memcached_servers", NULL, "Shared token caches.", OLD("keystone_authtoken", "memcache_servers")),
    ROW(STR, NONE, "keystone_authtoken", "memcache_security_strategy", "None", "Protection of cached tokens.", ANY_CASE("None|MAC|ENCRYPT")),
    ROW(STR, NONE, "keystone_authtoken", "memcache_secret_key", NULL, "Key of that protection.", SECRET),
    ROW(BOOL, NONE, "keystone_authtoken", "memcache_use_advanced_pool", "true", "Which pool of connections."),
    ROW(INT, NONE, "keystone_authtoken", "memcache_pool_dead_retry", "300", "Seconds until a dead server is tried again."),
    ROW(INT, NONE, "keystone_authtoken", "memcache_pool_maxsize", "10", "Connections to a server."),
    ROW(INT, NONE, "keystone_authtoken", "memcache_pool_socket_timeout", "3", "Seconds for an answer."),
    ROW(INT, NONE, "keystone_authtoken", "memcache_pool_unused_timeout", "60", "Seconds an unused connection is kept."),
    ROW(INT, NONE, "keystone_authtoken", "memcache_pool_conn_get_timeout", "10", "Seconds to wait for a connection."),
    ROW(BOOL, NONE, "keystone_authtoken", "memcache_tls_enabled", "false", "TLS to memcached."),
    ROW(STR, NONE, "keystone_authtoken", "memcache_tls_cafile", NULL, "CA of memcached."),
    ROW(STR, NONE, "keystone_authtoken", "memcache_tls_certfile", NULL, "Certificate for memcached."),
    ROW(STR, NONE, "keystone_authtoken", "memcache_tls_keyfile", NULL, "Key for memcached."),
    ROW(STR, NONE, "keystone_authtoken", "memcache_tls_allowed_ciphers", NULL, "Ciphers to memcached."),
    ROW(BOOL, NONE, "keystone_authtoken", "include_service_catalog", "true", "Ask for the catalog with a token; it is asked for where it matters."),
    ROW(STR, USED, "keystone_authtoken", "enforce_token_bind", "permissive", "What becomes of tokens that are bound to something else."),
    ROW(LIST, USED, "keystone_authtoken", "service_token_roles", "service", "Roles that make a service token, which lets expired tokens pass."),
    ROW(BOOL, USED, "keystone_authtoken", "service_token_roles_required", "false", "Refuse service tokens without such a role."),
    ROW(STR, USED, "keystone_authtoken", "service_type", NULL, "Type of the Placement API in the catalog, for access rules."),

    ROW(BOOL, NONE, "audit", "enabled", "false", "Emit an audit event for each request."),
    ROW(STR, NONE, "audit", "audit_map_file", "/etc/placement/api_audit_map.conf", "File that says what requests are called in audit events."),
    ROW(STR, NONE, "audit", "ignore_req_list", "", "HTTP methods, separated by commas, that get no audit events."),

    ROW(BOOL, NONE, "profiler", "enabled", "false", "Trace requests with osprofiler.", OLD("profiler", "profiler_enabled")),
    ROW(BOOL, NONE, "profiler", "trace_sqlalchemy", "false", "Trace the SQL of requests, too."),
    ROW(STR, NONE, "profiler", "hmac_keys", "SECRET_KEY", "Keys, separated by commas, of which a client must know one to start a trace.", SECRET),
    ROW(STR, NONE, "profiler", "connection_string", "messaging://", "URL of what traces are sent to.", SECRET),
    ROW(STR, NONE, "profiler", "es_doc_type", "notification", "Type of the documents of traces in Elasticsearch."),
    ROW(STR, NONE, "profiler", "es_scroll_time", "2m", "How long Elasticsearch keeps the state of a search, such as 2m."),
    ROW(INT, NONE, "profiler", "es_scroll_size", "10000", "Largest batch of a search in Elasticsearch."),
    ROW(REAL, NONE, "profiler", "socket_timeout", "0.1", "Seconds to wait for Redis Sentinel."),
    ROW(STR, NONE, "profiler", "sentinel_service_name", "mymaster", "Name of the Redis service in Redis Sentinel."),
    ROW(BOOL, NONE, "profiler", "filter_error_trace", "false", "Keep traces of requests that failed in a place of their own."),
};
/* clang-format on */

const size_t option_count = sizeof(option_table) / sizeof(option_table[0]);

static bool name_is(struct slice section, struct slice name, const char *wanted_section,
                    const char *wanted)
{
    return slice_equal(name, slice_of(wanted)) && ini_section_is(section, wanted_section);
}

const struct option *option_find(struct slice section, struct slice name)
{
    for (size_t i = 0; i < option_count; i++)
        if (name_is(section, name, option_table[i].section, option_table[i].name))
            return &option_table[i];
    return NULL;
}

const struct option *option_find_any(struct slice section, struct slice name)
{
    const struct option *option = option_find(section, name);
    for (size_t i = 0; option == NULL && i < option_count * OPTION_OLD_NAMES; i++) {
        const struct option *row = &option_table[i / OPTION_OLD_NAMES];
        const struct option_name *old = &row->deprecated[i % OPTION_OLD_NAMES];
        if (old->section != NULL && name_is(section, name, old->section, old->name))
            option = row;
    }
    return option;
}

const struct option *option_named(const char *section, const char *name)
{
    const struct option *option = option_find(slice_of(section), slice_of(name));
    check(option != NULL);
    return option;
}
