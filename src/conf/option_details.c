/* Texts for the sample file, the reference page and the manual, in addition to the sentence in each
 * row of options.c. One entry per option, in the order of that table; an option needs none if its
 * row is sufficient. Text between backticks is code in Markdown; the other formats omit the
 * backticks. Constant data: any thread. */
#include "conf/option_details.h"

#include <string.h>

struct details {
    const char *section;
    const char *name;
    const char *text;
};

static const struct details table[] = {
    {"berth", "listen",
     "May be given several times. An IPv6 address is written in brackets, and port 0 chooses any "
     "free port. An https address needs tls_cert_file. Sockets opened by the service manager are "
     "served in addition to these. Listen on loopback behind a web server or load balancer, or on "
     "the address that Keystone's catalog names. With `[api] auth_strategy = noauth2`, berth "
     "believes any identity that a client claims: anyone who can reach an address has full "
     "access."},
    {"berth", "admin_listen",
     "May be given several times, with the same syntax as `listen`; unset: not served. The admin "
     "listener requires no token and shows names of hosts and what they hold: keep it on loopback "
     "or on a management network. See docs/monitoring.md."},
    {"berth", "socket_mode",
     "The clients also need access to the socket's directory. 0660 admits the user and the group "
     "of berthd: add the user of the web server in front to that group."},
    {"berth", "tls_cert_file",
     "The file is read again when it changes and on a reload; open connections keep the "
     "certificate they were established with. If the new certificate cannot be used, the old one "
     "stays in use, and the log gives the reason. Needed if `listen` has an https address."},
    {"berth", "tls_key_file", "Needed with tls_cert_file, and read together with it."},
    {"berth", "tls_ca_file",
     "The client certificate decides who may connect; the token decides what they may do."},
    {"berth", "tls_priorities",
     "The default allows TLS 1.2 and 1.3, with forward secrecy and authenticated encryption. For "
     "clients that support only less, use a proxy in front."},
    {"berth", "stop_grace",
     "Requests that are not finished within that time are cut off, and the exit status is 3. "
     "berthd also waits for transient states of bare metal nodes that end within that time. Make "
     "it shorter than the time after which the service manager kills a process."},
    {"berth", "worker_threads",
     "Each thread serves many connections. The default suits nearly every machine; a lower number "
     "leaves cores to other services on the same host. A request that takes long moves to a "
     "separate thread, so that it does not delay others."},
    {"berth", "max_body",
     "A larger body is answered with 413; before that, up to 16 MiB more are read and discarded. "
     "The largest requests are those to /reshaper and POST /allocations for many consumers; 16 "
     "MiB hold some hundred thousand allocations."},
    {"berth", "body_memory",
     "It covers request bodies over 16 KiB, the documents they are parsed into, and anything else "
     "that a request needs beyond 128 KiB. A document typically needs about 10 times as much "
     "memory as the body it was parsed from, and at most 75 times as much. A project, or a client "
     "address, may use at most half of what the others leave free. A request that finds too little "
     "memory left is answered with 503 and Retry-After. A request that needs more than half of the "
     "total is answered with 413. If a resource limit or a control group limits the memory of the "
     "process, at most a quarter of that limit is used."},
    {"berth", "max_connections",
     "When the limit is exceeded, an older connection of the address with the most connections is "
     "closed: the one that has been idle longest, or else the one with the oldest unfinished "
     "request. Each connection takes connection_memory and one file descriptor; the process uses "
     "as many descriptors as its hard limit allows."},
    {"berth", "max_connections_per_address",
     "It prevents one client that leaks connections from shutting out the others. All IPv6 "
     "addresses with the same first 64 bits count as one. Behind a proxy, all clients have the "
     "proxy's address: raise this limit to max_connections there."},
    {"berth", "idle_timeout",
     "Make it longer than the time for which a proxy in front keeps idle connections, so that the "
     "proxy, not berth, closes them. Otherwise the proxy occasionally sends a request on a "
     "connection that berth is just closing."},
    {"berth", "header_deadline",
     "The time for the request line counts from its first byte, the time for the headers from the "
     "end of the request line. The option limits what slow or malicious clients cost. Change it "
     "only for clients on very bad lines."},
    {"berth", "body_deadline",
     "A body of 10 MB thus has 1030 seconds. For reading an answer over 1 MiB, a client has as "
     "long as the answer takes at 250 KB/s. The option limits what slow or malicious clients "
     "cost."},
    {"berth", "connection_memory",
     "Each connection takes all of it, rounded up to pages of 4096 bytes; a query parameter takes "
     "64 bytes in addition to its text. Requests that do not fit are answered with 414 or 431. "
     "Raise it for clients that send several thousand member_of or required parameters in one "
     "request."},
    {"berth", "answer_memory",
     "Answers over 1 MiB count from when they are written until they have been read. The answers "
     "of one project (or client address) may use no more than they leave free for others. An "
     "answer that does not fit is replaced by 503. Long lists are sent in pieces while the client "
     "reads them; only the current piece counts."},
    {"berth", "mount_prefix",
     "May be given several times; an empty value means none. The API is always served below `/` as "
     "well. Links in answers have the prefix of the request. If a proxy mounts the service at "
     "another path and does not remove that path from requests, set that path here."},
    {"berth", "access_log",
     "The line is that of the Python service's `placement.requestlog`, at level INFO. Turn it off "
     "if a proxy in front writes such a log and this one is too large."},
    {"berth", "server_header",
     "It shows which process in a chain of proxies has answered, but also tells every client the "
     "version. Answers that the HTTP library itself gives, such as 431, do not have the header."},
    {"berth", "query_deadline",
     "Expensive requests are large lists, searches with very many combinations, and plans. They "
     "run apart from other requests, and projects take turns. The time counts from when such a "
     "request begins to wait for its turn. A request that needs longer is ended and answered with "
     "503. While it runs, the state of the database that it started with stays in memory."},
    {"berth", "max_write_rows",
     "Every row that a request inserts, changes or deletes counts, including its consequences: "
     "consumers, allocations, inventories, traits, aggregates. Because of their indexes, consumers "
     "count as more than one: a new one as 15, one that is deleted or changes its project or user "
     "as seven, and one of which only the generation is raised as four. A row of bare metal or "
     "Valet counts as one more for each KiB. When a tree changes its shape, every two providers "
     "that move to another place in memory count as one, and so do 16 of their inventories, traits "
     "and aggregates. A larger request is answered with 413 and nothing is written. The limit "
     "exists because all other writes wait while a request's rows are written: 3000 rows take "
     "about 10 ms. They are more than a reshape of a host with 290 servers of three classes needs. "
     "Raise the limit for the duration of a larger migration. The limits of the Valet API allow "
     "25000 rows regardless of this option."},
    {"berth", "slow_request_ms",
     "The time counts from the request line to the answer, including time spent waiting for the "
     "database's lock, which another program may hold. The line is a warning with the request and "
     "its duration."},
    {"berth", "reads",
     "A strict read reflects everything that any instance committed before the read arrived. On a "
     "network database, berth has to query the database for that; reads that arrive at about the "
     "same time share a query, which returns one row. With bounded reads, a read that arrives "
     "within `staleness` of a query that found memory up to date is answered without one. It may "
     "then miss what other instances have committed since, but nothing that this instance has "
     "answered. Writes are not affected. With SQLite the option makes no difference: the state of "
     "a file is known without a query, so reads are always strict."},
    {"berth", "staleness",
     "Only used with `reads = bounded`. With 0, every read queries the database, as a strict read "
     "does."},
    {"berth", "reads_while_unavailable",
     "While a database on a server cannot be queried for its newest state, reads are answered from "
     "memory as long as memory is known to have been up to date at most that long ago, and with "
     "503 and `Retry-After` from then on. As soon as the database answers again, reads are as "
     "`reads` requires. A server that neither answers nor refuses the connection counts as "
     "unavailable after a second, or after half of this time if that is shorter. Such answers may "
     "miss what other instances commit to a database that only this instance cannot reach. Writes "
     "are answered 503 in any case. With SQLite the option makes no difference: reads are answered "
     "from memory if the file can be read."},
    {"berth", "scrub_interval",
     "Other programs' writes are noticed within about a second (if the server is slow, a minute "
     "after the last look at the latest), unless they leave the generations "
     "and times of providers and consumers as they are, as SQL can. The scrub finds those: it "
     "reads "
     "all rows again, a few at a time, in short transactions, with at most a twentieth of a "
     "processor of the server, and logs what differs. With a million providers it takes some seven "
     "minutes, and half an hour if the machine is busy. The first one begins that long after the "
     "start. With SQLite the option makes no "
     "difference, because every write to the file is noticed."},
    {"berth", "stalled_instance_timeout",
     "Instances on one database take turns with a lock. If one of them is stopped, or its machine "
     "freezes, while it holds the lock, the next in line waits for half of this time. It then ends "
     "the other's connection to the database, provided that it has been idle for the other half. "
     "Reads continue meanwhile. The interrupted write is not made, unless it had already been "
     "committed. An instance that computes or waits for the disk or a standby is left alone. Use "
     "the same value on all instances, and a larger one if their machines pause for seconds, as in "
     "a live migration. With SQLite the option makes no difference: the lock of a process that is "
     "stopped is waited for."},
    {"berth", "loss_directory",
     "If a database on a server goes back to an earlier state, because a backup was restored or a "
     "failover has lost commits, each instance writes a file with everything that it had read or "
     "acknowledged and that is gone. It also keeps a small file there, by which it finds out after "
     "a "
     "restart. The state directory is the one that systemd sets up for the "
     "service ($STATE_DIRECTORY), /var/lib/berth for root, and $XDG_STATE_HOME/berth or "
     "~/.local/state/berth for other users."},

    {"baremetal", "enabled",
     "berth keeps nodes and allocations and deploys nothing: see docs/api/baremetal.md. The switch "
     "--baremetal-listen serves the API as well, regardless of this option. Existing nodes stay "
     "resource providers when the API is not served."},
    {"baremetal", "listen",
     "Same syntax as `[berth] listen`. All other options of [berth] about connections, TLS and the "
     "log apply to these addresses, too."},
    {"baremetal", "prefix",
     "For example /baremetal. It corresponds to `[berth] mount_prefix`, which is for the Placement "
     "API."},
    {"baremetal", "mirror",
     "Turn it off if another service writes providers of the same nodes in another form. nova's "
     "ironic driver writes the same form and can stay in use. With false, neither API knows what "
     "the other has allocated, and both may hand out the same node."},
    {"baremetal", "provider_name",
     "nova looks providers up by uuid. With `name`, the provider is renamed together with the "
     "node. The provider has the node's uuid as its name if the node has no name, if that name has "
     "more than 200 characters, or if another provider has it."},
    {"baremetal", "public_endpoint",
     "Needed if a proxy in front does not pass on the host name and scheme that the client used."},
    {"baremetal", "node_locked_retry_attempts",
     "A node is locked while a power or provision operation is in progress."},
    {"baremetal", "service_type",
     "It corresponds to `[keystone_authtoken] service_type`, which is for the Placement API. If it "
     "is empty, the bare metal API refuses application credentials with access rules."},
    {"baremetal", "host",
     "After a restart, berthd at once takes over nodes and allocations of a previous berthd of the "
     "same name on the same machine; with SQLite, also after a reboot. For those of any other "
     "berthd see `takeover_after`."},
    {"baremetal", "takeover_after",
     "With several instances of berthd, the rest do the work of one that is gone: a node or an "
     "allocation is taken over this long after its next step was due, as measured by the clock of "
     "the one that takes it over. The other machine's clock does not matter, but "
     "`fake_delay_ms` must be the same on all of them. A berthd that was only stopped for longer "
     "finds its work taken over and leaves it alone."},
    {"baremetal", "fake_delay_ms",
     "berth has no drivers: deploying, cleaning and so on only take time."},

    {"valet", "enabled",
     "See docs/api/valet.md. The switch --valet-listen serves the API as well, regardless of this "
     "option. Groups keep their hosts, and plans their capacity, also when the API is not served."},
    {"valet", "listen",
     "Same syntax as `[berth] listen`. All other options of [berth] about connections, TLS and the "
     "log apply to these addresses, too."},
    {"valet", "prefix",
     "For example /valet. It corresponds to `[berth] mount_prefix`, which is for the Placement "
     "API."},
    {"valet", "flavors",
     "The file is a JSON object such as `{\"m1.tiny\": {\"id\": \"1\", \"vcpus\": 1, \"ram\": 512, "
     "\"disk\": 1}}`, with the names of the flavors as keys, ram in MiB and disk in GiB. If it is "
     "unset, the flavors are m1.tiny, m1.small, m1.medium, m1.large and m1.xlarge."},
    {"valet", "step_limit",
     "A plan whose search needs more steps is refused. One step is one host, rack or provider "
     "tried, or 2048 checks of single servers, hosts or amounts on the way; 200000 steps take a "
     "few seconds at most. Steps are counted instead of time so that the same plan always gets "
     "the same answer."},
    {"valet", "service_type",
     "It corresponds to `[keystone_authtoken] service_type`, which is for the Placement API. If it "
     "is empty, the Valet API refuses application credentials with access rules."},

    {"DEFAULT", "debug",
     "Otherwise the lowest level logged is INFO. DEBUG adds unknown options of the configuration, "
     "all values in force, a line when each request arrives, and details of the processing: under "
     "load, these are very many lines. docs/logging.md describes this and all other logging "
     "options."},
    {"DEFAULT", "log_config_append",
     "The file has the format of Python's `logging.config`, such as openstack-helm's "
     "`logging.conf`. The other logging options are then ignored, except for the formats. A reload "
     "reads the file again if it has changed."},
    {"DEFAULT", "log_options", "Values of options that hold secrets are shown as ****."},
    {"DEFAULT", "log_file",
     "A relative name is relative to log_dir. If no file is set, the log goes to standard error, "
     "which systemd puts into the journal. The file is opened for appending. It is reopened if it "
     "was moved or removed, and on a reload. Ignored if log_config_append is set."},
    {"DEFAULT", "log_dir",
     "PROGRAM is the name that the program was started by. Ignored if log_config_append is set."},
    {"DEFAULT", "log_date_format", "A format of strftime. Ignored if log_config_append is set."},
    {"DEFAULT", "use_json", "The keys are those of oslo.log's JSONFormatter."},
    {"DEFAULT", "use_syslog",
     "The log is sent to the socket /dev/log. Ignored if log_config_append is set."},
    {"DEFAULT", "syslog_log_facility",
     "One of user, mail, daemon, auth, syslog, lpr, news, uucp, cron, authpriv, ftp, local0 to "
     "local7, with or without LOG_ before it. If use_syslog or use_journal is set, berthd does "
     "not start with any other value."},
    {"DEFAULT", "use_journal",
     "Standard error then gets no lines unless use_stderr is set, too. Ignored if "
     "log_config_append is set."},
    {"DEFAULT", "log_color",
     "The keys `%(color)s` and `%(reset_color)s` of a format are then terminal escape sequences; "
     "otherwise they are empty."},
    {"DEFAULT", "watch_log_file",
     "berth checks twice a second, even while nothing is written, and also whenever it writes. "
     "Cannot be combined with log_rotation_type."},
    {"DEFAULT", "log_rotation_type",
     "With `none`, berth does not rotate the file, but other programs, such as logrotate, may. "
     "Rotated files have the names that Python's rotating handlers give them: `log.1`, `log.2` and "
     "so on with `size`, `log.2026-11-21` and the like with `interval`."},
    {"DEFAULT", "log_rotate_interval",
     "The unit is log_rotate_interval_type; with `weekday`, the number is the day of the week, "
     "where 0 is Monday. Only with `log_rotation_type = interval`."},
    {"DEFAULT", "max_logfile_count",
     "When there are more, the oldest is removed; at most 10000 are numbered. With 0, rotation by "
     "interval keeps all files, and rotation by size is off."},
    {"DEFAULT", "max_logfile_size_mb", "Only with `log_rotation_type = size`."},
    {"DEFAULT", "default_log_levels",
     "A list of pairs such as `placement=DEBUG`. Each pair sets the lowest level that is logged by "
     "a logger and the loggers below it. berth's own loggers count as below placement."},
    {"DEFAULT", "logging_context_format_string",
     "In the syntax of Python's % operator, with the keys of log records and of the request."},
    {"DEFAULT", "logging_default_format_string",
     "In the syntax of Python's % operator, with the keys of log records."},
    {"DEFAULT", "rate_limit_interval", "0: no limit."},
    {"DEFAULT", "rate_limit_burst",
     "0: no limit. If lines were dropped, one more line reports that."},
    {"DEFAULT", "rate_limit_except_level",
     "Lines of higher levels are not limited either. If it is empty, all lines are limited."},

    {"api", "auth_strategy",
     "With `keystone`, berth validates each token with Keystone, using the settings in "
     "[keystone_authtoken]. With `noauth2`, berth believes the header X-Auth-Token, which is USER "
     "or USER:PROJECT, and gives the user `admin` all rights. Use noauth2 only for tests, and for "
     "services on one host behind a loopback address. Without any configuration file, noauth2 is "
     "used."},

    {"placement", "randomize_allocation_candidates",
     "Otherwise the order is stable: the same request gets the same candidates as long as nothing "
     "changes. If the scheduler takes the first candidate, a random sample spreads instances over "
     "equal hosts. A random sample takes more time, because all candidates are examined."},
    {"placement", "incomplete_consumer_project_id",
     "Such old requests name no project. berthd and `placement-manage db online_data_migrations` "
     "also use it for consumers that have allocations but no row."},
    {"placement", "incomplete_consumer_user_id",
     "Such old requests name no user. berthd and `placement-manage db online_data_migrations` also "
     "use it for consumers that have allocations but no row."},
    {"placement", "max_allocation_candidates",
     "A request may set a lower limit. berth does not need this limit to stay within its memory: "
     "the option exists for deployments that set it for the Python service."},
    {"placement", "allocation_candidates_generation_strategy",
     "breadth-first takes one candidate of each provider tree before a second of any. depth-first "
     "takes all of a tree before the next, so that a few hosts may use up the limit. If it is "
     "unset, berth uses breadth-first when a limit cuts the answer, which costs nothing."},
    {"placement", "allocation_conflict_retry_count",
     "Writes of one berthd never conflict with each other, and those of several berthd processes "
     "wait for one another."},
    {"workarounds", "optimize_for_wide_provider_trees",
     "berth always prunes searches as early as this option would."},

    {"placement_database", "connection",
     "In SQLAlchemy's form, such as `sqlite:////var/lib/berth/berth.db` with an absolute path. It "
     "is required as soon as there is a configuration file; without one, berth uses a file of its "
     "own. It is never shown or logged, because it may contain a password."},
    {"placement_database", "sync_on_startup",
     "The same as `placement-manage db sync` before each start. Leave it off if several berthd "
     "processes share a database and an operator decides when it is upgraded."},
    {"placement_database", "connection_parameters",
     "For database servers, such as `sslmode=verify-full`; an SQLite file has none. They are never "
     "shown or logged, because they may contain a password."},
    {"placement_database", "slave_connection",
     "All reads are answered from memory, so berth never connects to it."},
    {"placement_database", "sqlite_synchronous", "A change is on disk before it is answered."},
    {"placement_database", "mysql_sql_mode",
     "berth's statements always run with TRADITIONAL and NO_BACKSLASH_ESCAPES: a value that does "
     "not fit is refused, never cut."},
    {"placement_database", "mysql_wsrep_sync_wait",
     "Wherever the answer of a node must be up to date, berth makes it wait, as with 1."},
    {"placement_database", "connection_recycle_time",
     "For a database on a server, whose proxies or firewalls may drop old connections. A "
     "connection is replaced when it is not in use, never within a transaction. 0 counts as 1 "
     "second; with a negative number, connections are not replaced."},
    {"placement_database", "max_pool_size",
     "berth has no pool: one connection writes, and reads are answered from memory."},
    {"placement_database", "max_retries",
     "For a database on a server. If the server cannot be reached or does not accept connections "
     "yet, berthd logs a warning for each attempt, and exits with status 1 after the last one. A "
     "rejected password, an unknown database or an invalid URL ends the start at once. With 0 "
     "there is one attempt. While berthd serves, it reconnects regardless of this option."},
    {"placement_database", "retry_interval",
     "SIGTERM ends the wait at once. A service manager that uses systemd's protocol is asked for "
     "more time before each wait."},

    {"oslo_policy", "enforce_new_defaults",
     "While it is off, callers that the rules of older releases admit (role admin) are admitted, "
     "too. Turn it on when all callers have the roles of the newest rules: `POST /reshaper` then "
     "needs the role service."},
    {"oslo_policy", "enforce_scope",
     "The rules of the newest release are for tokens with a project: tokens with system or domain "
     "scope get 403. The newest Python service has no such option and always refuses them; 8.0.0 "
     "refuses them only if the option is set. With false, berthd logs a warning at each start."},

    {"oslo_policy", "policy_file",
     "A relative name is looked up in the directories of --config-dir, in the directories of the "
     "configuration files (the last first), and in ~/.placement, ~, /etc/placement and /etc. If "
     "the option is not set and there is no `policy.yaml`, `policy.json` is read. The file is read "
     "again when it changes; if it is invalid, the rules stay as they were. `berth policy "
     "validate` reports what is wrong with it."},
    {"oslo_policy", "policy_dirs",
     "May be given several times. Relative names are looked up like policy_file. The files in "
     "these directories override policy_file, and files with later names override earlier ones. "
     "Missing directories are not an error. Empty: none."},
    {"oslo_policy", "policy_default_rule",
     "A reference to an undefined rule uses this rule. If this rule is not defined either, the "
     "reference fails."},

    {"oslo_middleware", "enable_proxy_headers_parsing",
     "Turn it on only if every request comes through a proxy that sets these headers itself: "
     "otherwise clients can choose the address that the log shows and the host in `Location`."},

    {"healthcheck", "enabled", "Only berth has this option."},
    {"healthcheck", "detailed",
     "Any client then sees paths, versions and what /readyz of the admin listener shows."},
    {"healthcheck", "backends",
     "berth's own checks (the database can be reached, memory is as new as the database) are "
     "always included. Any other name is ignored, with a warning."},
    {"healthcheck", "disable_by_file_paths",
     "PORT is that of the listener that received the request."},
    {"healthcheck", "allowed_source_ranges",
     "For example `10.0.0.0/8,::1`. Other clients get the answer for a path that does not exist. "
     "berth compares the address of the connection, not an address that a proxy names."},
    {"healthcheck", "ignore_proxied_requests",
     "Only clients that reach berth without going through the proxy can then see it."},

    {"cors", "allowed_origin",
     "Each is `scheme://host` or `scheme://host:port` without a trailing slash, or `*` for any "
     "origin. If it is unset, CORS is off: answers have no such headers, and OPTIONS is answered "
     "with 405."},
    {"cors", "allow_credentials", "Sets the header Access-Control-Allow-Credentials."},
    {"cors", "expose_headers", "They are listed in the header Access-Control-Expose-Headers."},
    {"cors", "max_age",
     "Sets the header Access-Control-Max-Age. Browsers send another preflight request after that "
     "time."},
    {"cors", "allow_methods", "They are listed in the header Access-Control-Allow-Methods."},
    {"cors", "allow_headers",
     "They are listed in the header Access-Control-Allow-Headers. Headers that browsers may always "
     "send need not be listed."},

    {"keystone_authtoken", "www_authenticate_uri",
     "It is sent in the header WWW-Authenticate of a 401. Unset: auth_url."},
    {"keystone_authtoken", "auth_section",
     "The plugin's options are then read only from that section: auth_type, auth_url, the names "
     "and secrets of the service user, its project and other scopes."},
    {"keystone_authtoken", "auth_url",
     "The types password and token look up the URL of version 3 there. The types that begin with "
     "v3 append /v3 unless the URL already ends with it."},
    {"keystone_authtoken", "cafile",
     "A file or directory with the CA certificates that Keystone's certificate is verified "
     "against. Unset: those of the system."},
    {"keystone_authtoken", "http_connect_timeout",
     "It limits each query to Keystone from start to end."},
    {"keystone_authtoken", "delay_auth_decision",
     "The service then answers 401 with its own text, also when Keystone is unavailable, and an "
     "invalid service token does not cause a valid user token to be refused."},
    {"keystone_authtoken", "token_cache_time",
     "A revoked token may be accepted for as long as this; an expired token is not. With 0 or "
     "less, berth queries Keystone for every request."},
    {"keystone_authtoken", "enforce_token_bind",
     "berth supports no binding. disabled: bindings are not checked. permissive: tokens bound to "
     "Kerberos are refused. strict: all tokens with a binding are refused. required, or the name "
     "of a binding: every token is refused."},
    {"keystone_authtoken", "service_token_roles",
     "With a service token that has one of these roles, an expired user token is accepted."},
    {"keystone_authtoken", "service_type",
     "Set it to `placement`. If it is unset, application credentials with access rules are "
     "refused. For the bare metal API, set `[baremetal] service_type`; for the Valet API, `[valet] "
     "service_type`."},
    {"keystone_authtoken", "auth_type",
     "Each type needs its own options: password and v3password need a user, a password and a "
     "project; v3applicationcredential needs the id and the secret of an application credential. "
     "Types whose name begins with v3 do not query Keystone for its versions first."},
    {"keystone_authtoken", "interface", "One of public, internal and admin."},
    {"keystone_authtoken", "region_name", "Unset: any region."},
    {"keystone_authtoken", "certfile",
     "Only if Keystone requires client certificates. The key is in `keyfile`."},
    {"keystone_authtoken", "insecure",
     "Anyone who can intercept the connection can then read the service's password and forge "
     "tokens: for tests only."},
    {"keystone_authtoken", "memcached_servers", "berth caches valid tokens in the process itself."},
    {"keystone_authtoken", "service_token_roles_required",
     "If it is false, such a token is accepted, but expired user tokens are not."},

    {"audit", "enabled",
     "berth emits no audit events. With true, berthd logs a warning at each start. The log has a "
     "line for each request, with user, project and request id."},
    {"profiler", "enabled",
     "berth does not trace requests; to find slow ones, use the log and `[berth] "
     "slow_request_ms`."},
    {"profiler", "hmac_keys", "Never shown or logged."},
    {"profiler", "connection_string", "Never shown or logged, because it may contain a password."},
};

static const struct details sections[] = {
    {"berth", NULL,
     "Settings that the Python service leaves to its web server, and those that only berth has."},
    {"baremetal", NULL, "The bare metal API: nodes and their allocations, with Ironic's names."},
    {"valet", NULL, "The Valet API: groups of hosts, plans and placements."},
    {"DEFAULT", NULL, "Logging."},
    {"api", NULL, "Authentication of callers."},
    {"placement", NULL, "How requests are answered."},
    {"workarounds", NULL, "Options of the newest Python release."},
    {"placement_database", NULL, "The database."},
    {"oslo_policy", NULL, "What callers may do."},
    {"oslo_middleware", NULL, "Headers of a proxy in front."},
    {"healthcheck", NULL, "The health check of oslo.middleware on the listeners of all APIs."},
    {"cors", NULL, "Web pages that call the API from a browser (Cross-Origin Resource Sharing)."},
    {"keystone_authtoken", NULL,
     "How tokens are validated with Keystone. docs/keystone.md describes how these options work "
     "together, and what happens when Keystone is unavailable."},
    {"audit", NULL, "Audit events of the newest Python service, which berth does not emit."},
    {"profiler", NULL, "Tracing with osprofiler, which berth does not do."},
};

const char *option_details(const struct option *option)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (strcmp(table[i].name, option->name) == 0 &&
            strcmp(table[i].section, option->section) == 0)
            return table[i].text;
    return NULL;
}

size_t option_details_count(void)
{
    return sizeof(table) / sizeof(table[0]);
}

const char *section_details(const char *section)
{
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        if (strcmp(sections[i].section, section) == 0)
            return sections[i].text;
    return NULL;
}
