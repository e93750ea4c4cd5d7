/* The table of options. Source: operators.md (Configuration) for upstream's options; sections,
 * names, types, bounds and defaults are those of the Python service. [berth] is our own section. An
 * option moves from NO_EFFECT to IN_EFFECT in the commit that implements it. Constant data: any
 * thread. */
#include "conf/options.h"

#include "conf/ini.h"

/* connection_memory: the limit of the servers that usually run the Python service (uwsgi's buffer
 * and wsgiref's line limit are 64 KiB). The library touches all of this memory and zeroes it one
 * and a half times for each request: at 128 KiB that was a third of a small request's time outside
 * the kernel. */

/* One row per line: first the columns that every option has, then those that only some have. */
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

/* oslo.log's list and the placement service's additions. */
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
    ROW(STR, USED, "berth", "socket_mode", "0660", "Permissions of the unix sockets in `listen`, in octal."),
    ROW(STR, USED, "berth", "tls_cert_file", NULL, "Certificate for https, followed by its chain (PEM).", MUTABLE),
    ROW(STR, USED, "berth", "tls_key_file", NULL, "Private key of the certificate in tls_cert_file (PEM).", MUTABLE),
    ROW(STR, USED, "berth", "tls_ca_file", NULL, "CA certificates for client certificates (PEM). If it is set, clients must present a certificate that one of these CAs issued; if it is unset, they need none.", MUTABLE),
    ROW(STR, USED, "berth", "tls_priorities", TLS_PRIORITIES, "TLS versions and ciphers, as a GnuTLS priority string.", MUTABLE),
    ROW(INT, USED, "berth", "worker_threads", "0", "HTTP threads for each address; 0: one per core, at least 2.", BOUNDS(0, 1024)),
    ROW(INT, USED, "berth", "max_body", "16777216", "Largest request body in bytes.", BOUNDS(1024, GIB)),
    ROW(INT, USED, "berth", "body_memory", "536870912", "Memory for all large requests together, in bytes.", BOUNDS(65536, 64L * GIB)),
    ROW(INT, USED, "berth", "max_connections", "4096", "Limit of open connections to one listening address.", BOUNDS(1, 1000000)),
    ROW(INT, USED, "berth", "max_connections_per_address", "2048", "Limit of open connections from one client address to one listening address.", BOUNDS(1, 1000000)),
    ROW(INT, USED, "berth", "idle_timeout", "60", "Seconds after which an idle connection is closed.", BOUNDS(1, DAY_S)),
    ROW(INT, USED, "berth", "header_deadline", "30", "Time limit in seconds for each of these: a request line, a request's headers, a TLS handshake.", BOUNDS(1, DAY_S), MUTABLE),
    ROW(INT, USED, "berth", "body_deadline", "30", "Seconds for a request body, in addition to the time it takes at 10 KB/s.", BOUNDS(1, DAY_S), MUTABLE),
    ROW(INT, USED, "berth", "stop_grace", "10", "Seconds that a stop allows for requests in progress.", BOUNDS(0, DAY_S)),
    ROW(INT, USED, "berth", "connection_memory", "65536", "Bytes for a connection's request line and headers.", BOUNDS(4096, GIB)),
    ROW(INT, USED, "berth", "answer_memory", "1073741824", "Memory for all large answers that clients are still reading, in bytes.", BOUNDS(1048576, 1024L * GIB)),
    ROW(MULT, USED, "berth", "mount_prefix", "/placement", "Additional path below which the API is served."),
    ROW(BOOL, USED, "berth", "access_log", "true", "Log one line for each request.", MUTABLE),
    ROW(BOOL, USED, "berth", "server_header", "false", "Send the header Server: berth/VERSION with every answer."),
    ROW(INT, USED, "berth", "query_deadline", "60", "Deadline in seconds for a request that is too expensive for a worker.", BOUNDS(1, DAY_S), MUTABLE),
    /* 10 ms of the writer's thread; reshaping a host with 290 servers of three classes writes
     * 2330 */
    ROW(INT, USED, "berth", "max_write_rows", "3000", "Database rows that one request may write.", BOUNDS(100, 10000000), MUTABLE),
    ROW(INT, USED, "berth", "slow_request_ms", "1000", "Log requests that take longer than this, in milliseconds; 0: none.", BOUNDS(0, DAY_S * 1000), MUTABLE),
    ROW(STR, USED, "berth", "reads", "strict", "Whether a read always reflects the newest state of the database (strict), or one that is at most `staleness` old (bounded).", CHOICES("strict|bounded"), MUTABLE),
    ROW(INT, USED, "berth", "staleness", "100", "Maximum age in milliseconds of the state that a bounded read reflects.", BOUNDS(0, DAY_S * 1000), MUTABLE),
    ROW(INT, USED, "berth", "reads_while_unavailable", "0", "Seconds for which reads continue while the database is unavailable; 0: they are answered 503 at once.", BOUNDS(0, DAY_S), MUTABLE),
    ROW(INT, USED, "berth", "scrub_interval", "3600", "Seconds between two comparisons of everything in memory with a database on a server; 0: none.", BOUNDS(0, 30 * DAY_S), MUTABLE),
    /* the engine gives up after twice the largest value */
    ROW(INT, USED, "berth", "stalled_instance_timeout", "5000", "Milliseconds for which another instance that is stopped while it writes may keep this one's writes waiting.", BOUNDS(500, 10000)),
    ROW(STR, USED, "berth", "loss_directory", NULL, "Directory for files that name what a database on a server has lost; unset: the state directory."),

    ROW(BOOL, USED, "baremetal", "enabled", "false", "Serve the bare metal API: nodes and their allocations."),
    ROW(MULT, USED, "baremetal", "listen", "127.0.0.1:6385", "Where the bare metal API is served: ADDRESS:PORT, https://ADDRESS:PORT or unix:/PATH."),
    ROW(MULT, USED, "baremetal", "prefix", NULL, "Additional path below which the bare metal API is served."),
    ROW(BOOL, USED, "baremetal", "mirror", "true", "Represent nodes as resource providers: a node that is in use in one API is in use in the other."),
    ROW(STR, USED, "baremetal", "provider_name", "uuid", "Name of a node's resource provider: the node's uuid or the node's name.", CHOICES("uuid|name")),
    ROW(STR, USED, "baremetal", "public_endpoint", NULL, "Beginning of the URLs in answers, instead of the URL that the client requested."),
    ROW(INT, USED, "baremetal", "max_limit", "1000", "Maximum number of items on one page of a list.", BOUNDS(1, 100000)),
    ROW(INT, USED, "baremetal", "node_locked_retry_attempts", "3", "How many times an allocation tries nodes that are locked.", BOUNDS(1, 1000)),
    ROW(INT, USED, "baremetal", "node_locked_retry_interval", "1", "Seconds between these attempts.", BOUNDS(0, 3600)),
    ROW(STR, USED, "baremetal", "service_type", "baremetal", "Type of the bare metal API in Keystone's catalog, for access rules."),
    ROW(STR, USED, "baremetal", "host", NULL, "Name that nodes show as their conductor and locks show as their holder; unset: the machine's host name."),
    ROW(INT, USED, "baremetal", "takeover_after", "45", "Seconds for which another berthd may be late before this one takes over its nodes and allocations.", BOUNDS(1, 3600)),
    ROW(INT, USED, "baremetal", "fake_delay_ms", "100", "Duration of each transient state of a node, in milliseconds.", BOUNDS(0, 60000)),

    ROW(BOOL, USED, "valet", "enabled", "false", "Serve the Valet API: groups, plans and placements."),
    ROW(MULT, USED, "valet", "listen", "127.0.0.1:8090", "Where the Valet API is served: ADDRESS:PORT, https://ADDRESS:PORT or unix:/PATH."),
    ROW(MULT, USED, "valet", "prefix", NULL, "Additional path below which the Valet API is served."),
    ROW(STR, USED, "valet", "flavors", NULL, "File with the flavors that plans refer to by name (JSON)."),
    ROW(STR, USED, "valet", "default_zone", "nova", "Availability zone of hosts that belong to no zone."),
    ROW(INT, USED, "valet", "step_limit", "200000", "Maximum number of steps in one request's search for hosts.", BOUNDS(1, 1000000000)),
    ROW(INT, USED, "valet", "max_servers", "1000", "Maximum number of servers in one plan.", BOUNDS(1, 10000)),
    ROW(STR, USED, "valet", "service_type", "valet", "Type of the Valet API in Keystone's catalog, for access rules."),

    ROW(BOOL, USED, "DEFAULT", "debug", "false", "Log at level DEBUG.", MUTABLE),
    ROW(STR, NONE, "DEFAULT", "tempdir", NULL, "Directory for temporary files; berth creates none."),
    ROW(STR, NONE, "DEFAULT", "pybasedir", "/usr/share/berth", "Directory of the program's own files, which other options can refer to."),
    ROW(STR, NONE, "DEFAULT", "state_path", "$pybasedir", "Directory for state, which other options can refer to."),
    ROW(STR, USED, "DEFAULT", "log_file", NULL, "File that the log is written to.", OLD("DEFAULT", "logfile")),
    ROW(STR, USED, "DEFAULT", "log_dir", NULL, "Directory of log_file. If only log_dir is set, the log is written to PROGRAM.log in it.", OLD("DEFAULT", "logdir")),
    ROW(STR, USED, "DEFAULT", "log_config_append", NULL, "Logging configuration file in Python's format, used instead of the logging options.", OLD2("DEFAULT", "log-config", "log_config"), MUTABLE),
    ROW(STR, USED, "DEFAULT", "log_date_format", "%Y-%m-%d %H:%M:%S", "Format of `%(asctime)s`."),
    ROW(BOOL, USED, "DEFAULT", "log_options", "true", "Log the values of all options at startup, at level DEBUG."),
    ROW(BOOL, USED, "DEFAULT", "use_syslog", "false", "Log to syslog, in addition to other destinations."),
    ROW(STR, USED, "DEFAULT", "syslog_log_facility", "LOG_USER", "Facility for syslog and the journal."),
    ROW(BOOL, USED, "DEFAULT", "use_journal", "false", "Log to systemd's journal, with structured fields."),
    ROW(BOOL, NONE, "DEFAULT", "use_eventlog", "false", "Log to the Windows event log."),
    ROW(BOOL, USED, "DEFAULT", "use_json", "false", "Write log lines as JSON objects."),
    ROW(BOOL, USED, "DEFAULT", "use_stderr", "false", "Log to standard error in addition to a file or the journal; without either, this is always done."),
    ROW(BOOL, USED, "DEFAULT", "log_color", "false", "Log in colour on standard error."),
    ROW(BOOL, USED, "DEFAULT", "watch_log_file", "false", "Reopen the log file as soon as it is moved or removed."),
    ROW(STR, USED, "DEFAULT", "log_rotation_type", "none", "When the log file is rotated.", ANY_CASE("interval|size|none")),
    ROW(INT, USED, "DEFAULT", "log_rotate_interval", "1", "Number of units after which the log file is rotated."),
    ROW(STR, USED, "DEFAULT", "log_rotate_interval_type", "days", "Unit of log_rotate_interval.", ANY_CASE("Seconds|Minutes|Hours|Days|Weekday|Midnight")),
    ROW(INT, USED, "DEFAULT", "max_logfile_count", "30", "Number of rotated log files to keep."),
    ROW(INT, USED, "DEFAULT", "max_logfile_size_mb", "200", "Size in megabytes at which the log file is rotated."),
    ROW(LIST, USED, "DEFAULT", "default_log_levels", LOG_LEVELS, "Levels of individual loggers.", MUTABLE),
    ROW(STR, USED, "DEFAULT", "logging_context_format_string", LOG_PREFIX "[%(global_request_id)s %(request_id)s %(user_identity)s] %(instance)s%(message)s", "Format of log lines that belong to a request."),
    ROW(STR, USED, "DEFAULT", "logging_default_format_string", LOG_PREFIX "[-] %(instance)s%(message)s", "Format of log lines that belong to no request."),
    ROW(STR, USED, "DEFAULT", "logging_debug_format_suffix", "%(funcName)s %(pathname)s:%(lineno)d", "Text appended to lines of level DEBUG."),
    ROW(STR, NONE, "DEFAULT", "logging_exception_prefix", "%(asctime)s.%(msecs)03d %(process)d ERROR %(name)s %(instance)s", "Prefix of each line of a traceback; berth logs none."),
    ROW(STR, USED, "DEFAULT", "logging_user_identity_format", "%(user)s %(project)s %(domain)s %(system_scope)s %(user_domain)s %(project_domain)s", "Format of %(user_identity)s."),
    ROW(STR, NONE, "DEFAULT", "instance_format", "[instance: %(uuid)s] ", "Format of an instance in a log line; Placement's log lines have none."),
    ROW(STR, NONE, "DEFAULT", "instance_uuid_format", "[instance: %(uuid)s] ", "Format of an instance's uuid in a log line; Placement's log lines have none."),
    ROW(INT, USED, "DEFAULT", "rate_limit_interval", "0", "Interval, in seconds, in which at most rate_limit_burst lines are logged."),
    ROW(INT, USED, "DEFAULT", "rate_limit_burst", "0", "Maximum number of lines logged in one rate_limit_interval."),
    ROW(STR, USED, "DEFAULT", "rate_limit_except_level", "CRITICAL", "Level whose lines are never rate-limited."),
    ROW(BOOL, NONE, "DEFAULT", "publish_errors", "false", "Send error notifications to a message bus, which berth does not have."),
    ROW(BOOL, NONE, "DEFAULT", "fatal_deprecations", "false", "Exit when a deprecated feature is used; berth only warns."),

    ROW(STR, USED, "api", "auth_strategy", "keystone", "How callers are authenticated: with Keystone tokens, or not at all (noauth2).", CHOICES("keystone|noauth2"), OLD("DEFAULT", "auth_strategy")),

    ROW(BOOL, USED, "placement", "randomize_allocation_candidates", "false", "Return a random sample of the allocation candidates if a limit cuts the list.", MUTABLE),
    ROW(STR, USED, "placement", "incomplete_consumer_project_id", ZERO_UUID, "Project of allocations that are written with microversions below 1.8."),
    ROW(STR, USED, "placement", "incomplete_consumer_user_id", ZERO_UUID, "User of allocations that are written with microversions below 1.8."),
    ROW(INT, USED, "placement", "max_allocation_candidates", "-1", "Maximum number of allocation candidates generated for one request; -1: unlimited.", BOUNDS(-1, INT32_MAX), MUTABLE),
    ROW(STR, USED, "placement", "allocation_candidates_generation_strategy", NULL, "Order in which candidates of several trees are generated.", CHOICES("depth-first|breadth-first"), MUTABLE),
    ROW(INT, NONE, "placement", "allocation_conflict_retry_count", "10", "How often a write is retried after a generation conflict."),
    ROW(BOOL, NONE, "workarounds", "optimize_for_wide_provider_trees", "false", "Search trees with many similar children in another order."),

    ROW(STR, USED, "placement_database", "connection", NULL, "URL of the database.", SECRET),
    ROW(BOOL, USED, "placement_database", "sync_on_startup", "false", "Upgrade the database schema to the newest revision at startup."),
    ROW(STR, USED, "placement_database", "connection_parameters", "", "Parameters appended to the URL, as name=value&name=value.", SECRET),
    ROW(STR, NONE, "placement_database", "slave_connection", NULL, "URL of a read-only replica of the database.", SECRET),
    ROW(BOOL, NONE, "placement_database", "sqlite_synchronous", "true", "Make SQLite wait for the disk at each commit; berth always does."),
    ROW(STR, NONE, "placement_database", "mysql_sql_mode", "TRADITIONAL", "SQL mode of MySQL sessions; empty: the server's default."),
    ROW(INT, NONE, "placement_database", "mysql_wsrep_sync_wait", NULL, "Which statements wait on Galera until the node has what the cluster has committed; unset: the server's default."),
    ROW(INT, USED, "placement_database", "connection_recycle_time", "3600", "Seconds after which a database connection is replaced."),
    ROW(INT, NONE, "placement_database", "max_pool_size", NULL, "Number of database connections kept open; 0: unlimited."),
    ROW(INT, NONE, "placement_database", "max_overflow", NULL, "Number of database connections that may be open in addition to those kept."),
    ROW(INT, NONE, "placement_database", "pool_timeout", NULL, "Seconds to wait for a connection when all are in use."),
    ROW(INT, USED, "placement_database", "max_retries", "10", "Attempts to connect to the database at startup; -1: unlimited."),
    ROW(INT, USED, "placement_database", "retry_interval", "10", "Seconds between these attempts."),
    ROW(INT, NONE, "placement_database", "connection_debug", "0", "How much SQL is logged; 0: none, 100: all."),
    ROW(BOOL, NONE, "placement_database", "connection_trace", "false", "Add the calling Python code to SQL statements as comments."),
    ROW(BOOL, NONE, "placement_database", "mysql_enable_ndb", "false", "Create tables for MySQL Cluster (NDB)."),

    ROW(BOOL, USED, "oslo_policy", "enforce_new_defaults", "false", "Do not apply the deprecated rules."),
    ROW(BOOL, USED, "oslo_policy", "enforce_scope", "true", "Refuse tokens with a scope that the rule does not allow."),
    ROW(STR, USED, "oslo_policy", "policy_file", "policy.yaml", "File with policy rules that replace the defaults.", OLD("DEFAULT", "policy_file")),
    ROW(STR, USED, "oslo_policy", "policy_default_rule", "default", "Rule used in place of undefined rules.", OLD("DEFAULT", "policy_default_rule")),
    ROW(MULT, USED, "oslo_policy", "policy_dirs", "policy.d", "Directories with further policy files.", OLD("DEFAULT", "policy_dirs")),
    ROW(STR, NONE, "oslo_policy", "remote_content_type", "application/x-www-form-urlencoded", "Content type of a remote check's request body.", CHOICES("application/x-www-form-urlencoded|application/json")),
    ROW(BOOL, NONE, "oslo_policy", "remote_ssl_verify_server_crt", "false", "Verify the certificate of a remote check's server."),
    ROW(STR, NONE, "oslo_policy", "remote_ssl_ca_crt_file", NULL, "CA certificates for remote checks."),
    ROW(STR, NONE, "oslo_policy", "remote_ssl_client_crt_file", NULL, "Client certificate for remote checks."),
    ROW(STR, NONE, "oslo_policy", "remote_ssl_client_key_file", NULL, "Client key for remote checks."),
    ROW(REAL, NONE, "oslo_policy", "remote_timeout", "60", "Timeout of a remote check, in seconds."),

    ROW(BOOL, USED, "oslo_middleware", "enable_proxy_headers_parsing", "false", "Trust the headers Forwarded and X-Forwarded-* of a proxy in front."),

    ROW(BOOL, USED, "healthcheck", "enabled", "true", "Serve the health check."),
    ROW(STR, USED, "healthcheck", "path", "/healthcheck", "Path of the health check; it is served below every mount prefix, too."),
    ROW(BOOL, USED, "healthcheck", "detailed", "false", "Include details in the answer, as JSON or HTML."),
    ROW(LIST, USED, "healthcheck", "backends", NULL, "Additional checks: disable_by_file, disable_by_files_ports, enable_by_files."),
    ROW(STR, USED, "healthcheck", "disable_by_file_path", NULL, "disable_by_file fails while this file exists."),
    ROW(LIST, USED, "healthcheck", "disable_by_file_paths", NULL, "List of PORT:PATH: disable_by_files_ports fails on a port while its file exists."),
    ROW(LIST, USED, "healthcheck", "enable_by_file_paths", NULL, "enable_by_files fails while one of these files is missing."),
    ROW(LIST, USED, "healthcheck", "allowed_source_ranges", NULL, "Only clients in these address ranges find the health check; unset: all clients."),
    ROW(BOOL, USED, "healthcheck", "ignore_proxied_requests", "false", "Hide the health check from requests that carry a proxy's headers."),

    ROW(LIST, USED, "cors", "allowed_origin", NULL, "Origins of web pages that may call the API."),
    ROW(BOOL, USED, "cors", "allow_credentials", "true", "Let browsers send credentials with such calls."),
    ROW(LIST, USED, "cors", "expose_headers", "X-Auth-Token,X-Openstack-Request-Id,X-Subject-Token,X-Service-Token,OpenStack-API-Version", "Response headers that scripts may read."),
    ROW(INT, USED, "cors", "max_age", "3600", "Seconds for which browsers cache the answer to a preflight request."),
    ROW(LIST, USED, "cors", "allow_methods", "GET,PUT,POST,DELETE,PATCH", "Methods that scripts may use."),
    ROW(LIST, USED, "cors", "allow_headers", "X-Auth-Token,X-Openstack-Request-Id,X-Identity-Status,X-Roles,X-Service-Catalog,X-User-Id,X-Tenant-Id,OpenStack-API-Version", "Request headers that scripts may set."),

    ROW(STR, USED, "keystone_authtoken", "www_authenticate_uri", NULL, "Keystone's URL as given to clients.", OLD("keystone_authtoken", "auth_uri")),
    ROW(STR, USED, "keystone_authtoken", "auth_type", NULL, "How the service itself authenticates: password, v3password, v3applicationcredential, token, v3token or admin_token.", OLD("keystone_authtoken", "auth_plugin"), OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "auth_section", NULL, "Section with auth_type and the options that it needs, if it is not this one."),
    ROW(STR, NONE, "keystone_authtoken", "auth_version", NULL, "Version of Keystone's API; it is always 3."),
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
    ROW(STR, USED, "keystone_authtoken", "default_domain_id", NULL, "Domain of the user and the project if none is set for them, by id.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "default_domain_name", NULL, "Domain of the user and the project if none is set for them, by name.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "domain_id", NULL, "Domain scope, by id.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "domain_name", NULL, "Domain scope, by name.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "system_scope", NULL, "System scope.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "trust_id", NULL, "Trust, by id.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "application_credential_id", NULL, "Application credential, by id.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "application_credential_name", NULL, "Application credential, by name.", OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "application_credential_secret", NULL, "Secret of the application credential.", SECRET, OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "token", NULL, "Token to authenticate with; with admin_token, the token that queries to Keystone carry.", SECRET, OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "endpoint", NULL, "With admin_token: Keystone's versioned URL.", OLD("keystone_authtoken", "url"), OF_PLUGIN),
    ROW(STR, USED, "keystone_authtoken", "interface", "internal", "Interface of Keystone's endpoint in the catalog."),
    ROW(STR, USED, "keystone_authtoken", "region_name", NULL, "Region of Keystone's endpoint in the catalog."),
    ROW(STR, USED, "keystone_authtoken", "cafile", NULL, "CA certificates for Keystone."),
    ROW(STR, USED, "keystone_authtoken", "certfile", NULL, "Client certificate for Keystone."),
    ROW(STR, USED, "keystone_authtoken", "keyfile", NULL, "Client key for Keystone."),
    ROW(BOOL, USED, "keystone_authtoken", "insecure", "false", "Do not verify Keystone's certificate."),
    ROW(INT, USED, "keystone_authtoken", "http_connect_timeout", NULL, "Timeout of one query to Keystone, in seconds; unset: 30."),
    ROW(INT, USED, "keystone_authtoken", "http_request_max_retries", "3", "Number of retries when Keystone cannot be reached."),
    ROW(BOOL, USED, "keystone_authtoken", "delay_auth_decision", "false", "Let the service itself refuse requests without a valid token."),
    ROW(STR, NONE, "keystone_authtoken", "cache", NULL, "Name of the WSGI server's token cache."),
    ROW(INT, USED, "keystone_authtoken", "token_cache_time", "300", "Seconds for which a token is cached."),
    ROW(LIST, NONE, "keystone_authtoken", "memcached_servers", NULL, "Servers of a shared token cache.", OLD("keystone_authtoken", "memcache_servers")),
    ROW(STR, NONE, "keystone_authtoken", "memcache_security_strategy", "None", "How cached tokens are protected.", ANY_CASE("None|MAC|ENCRYPT")),
    ROW(STR, NONE, "keystone_authtoken", "memcache_secret_key", NULL, "Key with which cached tokens are protected.", SECRET),
    ROW(BOOL, NONE, "keystone_authtoken", "memcache_use_advanced_pool", "true", "Use the advanced pool of connections."),
    ROW(INT, NONE, "keystone_authtoken", "memcache_pool_dead_retry", "300", "Seconds until an unreachable memcached server is tried again."),
    ROW(INT, NONE, "keystone_authtoken", "memcache_pool_maxsize", "10", "Maximum number of connections to a memcached server."),
    ROW(INT, NONE, "keystone_authtoken", "memcache_pool_socket_timeout", "3", "Seconds to wait for an answer from memcached."),
    ROW(INT, NONE, "keystone_authtoken", "memcache_pool_unused_timeout", "60", "Seconds for which an unused connection is kept."),
    ROW(INT, NONE, "keystone_authtoken", "memcache_pool_conn_get_timeout", "10", "Seconds to wait for a connection."),
    ROW(BOOL, NONE, "keystone_authtoken", "memcache_tls_enabled", "false", "Use TLS for connections to memcached."),
    ROW(STR, NONE, "keystone_authtoken", "memcache_tls_cafile", NULL, "CA certificates for memcached."),
    ROW(STR, NONE, "keystone_authtoken", "memcache_tls_certfile", NULL, "Client certificate for memcached."),
    ROW(STR, NONE, "keystone_authtoken", "memcache_tls_keyfile", NULL, "Client key for memcached."),
    ROW(STR, NONE, "keystone_authtoken", "memcache_tls_allowed_ciphers", NULL, "TLS ciphers for memcached."),
    ROW(BOOL, NONE, "keystone_authtoken", "include_service_catalog", "true", "Request the catalog with each token; berth requests it only where it is needed."),
    ROW(STR, USED, "keystone_authtoken", "enforce_token_bind", "permissive", "How tokens with a binding (such as Kerberos) are handled."),
    ROW(LIST, USED, "keystone_authtoken", "service_token_roles", "service", "Roles of service tokens."),
    ROW(BOOL, USED, "keystone_authtoken", "service_token_roles_required", "false", "Refuse service tokens that have none of the roles in service_token_roles."),
    ROW(STR, USED, "keystone_authtoken", "service_type", NULL, "Type of the Placement API in Keystone's catalog, for access rules."),

    ROW(BOOL, NONE, "audit", "enabled", "false", "Emit an audit event for each request."),
    ROW(STR, NONE, "audit", "audit_map_file", "/etc/placement/api_audit_map.conf", "File with the names that requests have in audit events."),
    ROW(STR, NONE, "audit", "ignore_req_list", "", "HTTP methods, separated by commas, for which no audit events are emitted."),

    ROW(BOOL, NONE, "profiler", "enabled", "false", "Trace requests with osprofiler.", OLD("profiler", "profiler_enabled")),
    ROW(BOOL, NONE, "profiler", "trace_sqlalchemy", "false", "Also trace the SQL of requests."),
    ROW(STR, NONE, "profiler", "hmac_keys", "SECRET_KEY", "Keys, separated by commas; a client must know one of them to start a trace.", SECRET),
    ROW(STR, NONE, "profiler", "connection_string", "messaging://", "URL that traces are sent to.", SECRET),
    ROW(STR, NONE, "profiler", "es_doc_type", "notification", "Elasticsearch document type of traces."),
    ROW(STR, NONE, "profiler", "es_scroll_time", "2m", "How long Elasticsearch keeps the state of a search, such as 2m."),
    ROW(INT, NONE, "profiler", "es_scroll_size", "10000", "Maximum batch size of a search in Elasticsearch."),
    ROW(REAL, NONE, "profiler", "socket_timeout", "0.1", "Seconds to wait for Redis Sentinel."),
    ROW(STR, NONE, "profiler", "sentinel_service_name", "mymaster", "Name of the Redis service in Redis Sentinel."),
    ROW(BOOL, NONE, "profiler", "filter_error_trace", "false", "Store traces of failed requests separately."),
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
