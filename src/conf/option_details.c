/* Texts for the sample file, the reference page and the manual, beside the sentence in each row of
 * options.c. One entry an option, in the order of that table; an option needs none if its row says
 * all. Constant data: any thread. */
#include "conf/option_details.h"

#include <string.h>

struct details {
    const char *section;
    const char *name;
    const char *text;
};

static const struct details table[] = {
    {"berth", "listen",
     "May be given several times. An IPv6 address stands in brackets, port 0 takes any free one; "
     "https needs tls_cert_file. Sockets that the service manager opens are served beside these. "
     "Listen on loopback and let a web server or load balancer be in front, or on the address "
     "that Keystone's catalog names. With auth_strategy noauth2 whoever reaches an address is "
     "believed to be who he says he is."},
    {"berth", "admin_listen",
     "May be given several times, as listen; not set: nowhere. It asks for no token and tells "
     "names of hosts and what they hold: keep it on loopback or on a management network. See "
     "docs/monitoring.md."},
    {"berth", "socket_mode",
     "The directory of a socket must let in whoever may connect, too. 0660 is for the user and "
     "the group of berthd: put the web server in front into that group."},
    {"berth", "tls_cert_file",
     "It is read again when it changes, and on a reload; connections that are open keep the one "
     "they began with. One that cannot be used leaves the old one in place, and the log says "
     "why. Needed if listen has an https address."},
    {"berth", "tls_key_file", "Needed with tls_cert_file, and read together with it."},
    {"berth", "tls_ca_file",
     "Without it clients need no certificate. It says who may connect, not what they may do: "
     "that their tokens say."},
    {"berth", "tls_priorities",
     "A priority string of GnuTLS. The default has TLS 1.2 and 1.3 with forward secrecy and "
     "authenticated encryption; clients that need less are best served by a proxy in front."},
    {"berth", "stop_grace",
     "Requests that have begun are finished within that time; what is left then is cut off, and "
     "the exit status is 3. Passing states of bare metal nodes that end within it are waited for. "
     "Make it shorter than the time after which the service manager kills "
     "a process."},
    {"berth", "worker_threads",
     "Each thread serves many connections. The default suits nearly every machine; a lower "
     "number leaves cores to other services on the same host. A question that takes long moves "
     "to threads of its own and holds up none of these."},
    {"berth", "max_body",
     "A larger body is answered with 413; up to 16 MiB more are read and thrown away before. The "
     "largest requests are those to "
     "/reshaper and POST /allocations of many consumers; 16 MiB hold some hundred thousand "
     "allocations."},
    {"berth", "body_memory",
     "It covers request bodies over 16 KiB, the documents they are parsed into, which need up to "
     "75 times as much, and what else a request needs beyond 128 KiB; real requests need about 10 "
     "times as much as their bodies. A project, and a client address, may use "
     "at most half of what the others leave. A request that finds too little left is answered with "
     "503 and Retry-After, one that needs more than half of everything with 413. Where a resource "
     "limit or a control group limits the memory of the process, at most a quarter of that limit "
     "is "
     "used."},
    {"berth", "max_connections",
     "When one more comes, an older one of the address with the most connections is closed: the "
     "one that has been idle longest, or else its oldest unfinished request. Each takes "
     "connection_memory, and one file descriptor, of which the process takes as many as its hard "
     "limit allows."},
    {"berth", "max_connections_per_address",
     "It keeps one client that leaks connections from shutting out the others. An IPv6 address "
     "counts with all that have the same first 64 bits. Behind a proxy "
     "all clients have the proxy's address: raise it to max_connections there."},
    {"berth", "idle_timeout",
     "Make it longer than the time for which a proxy in front keeps idle connections, so that "
     "the proxy, not berth, closes them; otherwise a request now and then meets a connection "
     "that is just being closed."},
    {"berth", "header_deadline",
     "It bounds what slow or malicious clients cost. Change it only for clients on very bad "
     "lines."},
    {"berth", "body_deadline",
     "A body of 10 MB thus has 1030 seconds. An answer over 1 MiB has the time it needs at "
     "250 KB/s. It bounds what slow or malicious clients cost."},
    {"berth", "connection_memory",
     "Each connection takes it whole, rounded up to pages of 4096 bytes; a parameter of a query "
     "takes 64 bytes beside its text. Requests that do not fit are answered with 414 or 431. "
     "Raise it for clients that ask with several thousand member_of or required parameters."},
    {"berth", "answer_memory",
     "Answers over 1 MiB count from when they are written until they have been read, those of one "
     "project (or address) with no more than what they leave free. What does not fit is answered "
     "with 503. Long lists are sent in pieces as they are read, and count with the piece."},
    {"berth", "mount_prefix",
     "May be given several times; an empty value means none. The API is always served below / as "
     "well. References in answers have the prefix of the request. A proxy that mounts the "
     "service at another path without removing it from requests needs that path here."},
    {"berth", "access_log",
     "The line is that of the Python service's placement.requestlog, at level INFO. Turn it off "
     "where a proxy in front writes one and the log is too large."},
    {"berth", "query_deadline",
     "Large lists, searches with very many combinations and plans run apart from other requests, "
     "in "
     "turns of projects. The time counts from where such a request begins to wait for its turn; "
     "one that needs more is answered with 503 and ends. While it runs it keeps the state of the "
     "database it began with in memory."},
    {"berth", "max_write_rows",
     "Every row that a request inserts, changes or deletes counts, including its consequences: "
     "consumers, allocations, inventories, traits, aggregates. A new consumer counts as 15, one "
     "that goes or changes hands as seven, and one whose generation alone is raised as four, "
     "because of their indexes; a row of bare metal or Valet counts as one more for each KiB. When "
     "a tree changes its shape, every two providers that get another place in "
     "memory count as one, and so do 16 of their inventories, traits and aggregates. "
     "All other writes wait meanwhile: 3000 rows take about 10 ms, and are more than "
     "a reshape of a host with 290 servers of three classes needs. A larger request is answered "
     "with 413 and nothing is written. Raise the limit "
     "for the duration of a larger migration. The limits of the Valet API allow 25000 rows "
     "whatever is set here."},
    {"berth", "slow_request_ms",
     "In milliseconds, from the request line to the answer. The line is a warning, with the "
     "request and how long it took. Waiting for the database's lock, which another program may "
     "hold, counts, too."},
    {"berth", "bounded_staleness_ms",
     "Every answer is of the newest committed state, whatever is set here."},

    {"baremetal", "enabled",
     "berth keeps nodes and allocations and deploys nothing: see docs/api/baremetal.md. The switch "
     "--baremetal-listen serves it as well, whatever is set here. Nodes that are there stay "
     "resource providers when it is not served."},
    {"baremetal", "listen",
     "As [berth] listen. All other options of [berth] about connections, TLS and the log hold for "
     "these addresses, too."},
    {"baremetal", "prefix",
     "Such as /baremetal; as [berth] mount_prefix, which is for the Placement API."},
    {"baremetal", "mirror",
     "Turn it off where somebody else writes providers of the same nodes in another form. "
     "nova's ironic driver writes the same one, and can go on. With false the two sides do not "
     "know each other, and both may hand out a node."},
    {"baremetal", "provider_name",
     "nova looks providers up by uuid. With name the provider has the node's name, if that has "
     "at most 200 characters and no other provider has it, and follows it."},
    {"baremetal", "public_endpoint",
     "Needed where a proxy in front does not pass on what it was called by."},
    {"baremetal", "node_locked_retry_attempts",
     "A node is locked while a power or provision operation goes on."},
    {"baremetal", "service_type",
     "As [keystone_authtoken] service_type is for the Placement API. Empty: application "
     "credentials "
     "with access rules are refused there."},
    {"baremetal", "host",
     "After a restart nodes and allocations of a berthd of the same name, which is gone, are taken "
     "up at once; those of another one a minute after they were due."},
    {"baremetal", "fake_delay_ms",
     "berth has no drivers: deploying, cleaning and so on only take time."},

    {"valet", "enabled",
     "See docs/api/valet.md. The switch --valet-listen serves it as well, whatever is set here. "
     "Groups hold their hosts, and plans their room, also when it is not served."},
    {"valet", "listen",
     "As [berth] listen. All other options of [berth] about connections, TLS and the log hold for "
     "these addresses, too."},
    {"valet", "prefix", "Such as /valet; as [berth] mount_prefix, which is for the Placement API."},
    {"valet", "flavors",
     "An object: name -> {\"id\": \"2\", \"vcpus\": 1, \"ram\": 2048, \"disk\": 20}, with ram in "
     "MiB and disk in GiB. Without it there are m1.tiny, m1.small, m1.medium, m1.large and "
     "m1.xlarge."},
    {"valet", "step_limit",
     "A plan whose search takes more is refused. A step is a host, a rack or a provider that is "
     "tried, and each 2048 looks at a server, a host or an amount that this takes: 200000 are "
     "some seconds at most. What is counted is not time, so that the same plan gets the same "
     "answer."},
    {"valet", "service_type",
     "As [keystone_authtoken] service_type is for the Placement API. Empty: application "
     "credentials with access rules are refused there."},

    {"DEFAULT", "debug",
     "Otherwise the log begins at level INFO. DEBUG adds what the configuration has that nobody "
     "knows, all values in force, a line when each request comes, and details of what is done; "
     "under load that is much. docs/logging.md tells more about this and all other options of "
     "the log."},
    {"DEFAULT", "log_config_append",
     "The file has the form of Python's logging.config, such as openstack-helm's logging.conf. "
     "The other options of the log are then passed over, except for the formats. A reload reads "
     "it again if it has changed."},
    {"DEFAULT", "log_options",
     "At start, with debug only. Values of options that hold secrets are shown as ****."},
    {"DEFAULT", "log_file",
     "A relative name is one in log_dir. Without it the log goes to standard error, which "
     "systemd puts into the journal. It is opened for append, and anew when it was moved or "
     "removed, and on a reload. Passed over if log_config_append is set."},
    {"DEFAULT", "log_dir",
     "PROGRAM is the name that the program was started by. Passed over if log_config_append is "
     "set."},
    {"DEFAULT", "log_date_format",
     "In the language of strftime. Passed over if log_config_append is set."},
    {"DEFAULT", "use_json", "With the keys of oslo.log's JSONFormatter."},
    {"DEFAULT", "use_syslog", "By the socket /dev/log. Passed over if log_config_append is set."},
    {"DEFAULT", "syslog_log_facility",
     "One of user, mail, daemon, auth, syslog, lpr, news, uucp, cron, authpriv, ftp, local0 to "
     "local7, with LOG_ before it or without. Others stop the start if use_syslog or use_journal "
     "is set."},
    {"DEFAULT", "use_journal",
     "Then standard error gets no lines unless use_stderr is set, too. Passed over if "
     "log_config_append is set."},
    {"DEFAULT", "log_color", "For format strings that have it; escape sequences of terminals."},
    {"DEFAULT", "watch_log_file",
     "Even while nothing is written: berth looks twice a second. When it writes it looks "
     "anyway. Excludes log_rotation_type."},
    {"DEFAULT", "log_rotation_type",
     "none: by others, such as logrotate, or never. berth renames the file as Python's rotating "
     "handlers do: log.1, log.2 and so on by size, log.2026-11-21 and the like by interval."},
    {"DEFAULT", "log_rotate_interval",
     "The unit is log_rotate_interval_type; with weekday it is the day, 0 is Monday. Only with "
     "log_rotation_type = interval."},
    {"DEFAULT", "max_logfile_count",
     "The oldest is removed when there is one more, at most 10000 are numbered. 0: by interval "
     "all are kept, by size nothing is rotated."},
    {"DEFAULT", "max_logfile_size_mb", "In megabytes; only with log_rotation_type = size."},
    {"DEFAULT", "default_log_levels",
     "A list of pairs such as placement=DEBUG, each a logger and the lowest level that it and "
     "those below it log. berth's own loggers count as below placement."},
    {"DEFAULT", "logging_context_format_string",
     "In the language of Python's % operator, with the keys of log records and of the request."},
    {"DEFAULT", "logging_default_format_string",
     "In the language of Python's % operator, with the keys of log records."},
    {"DEFAULT", "rate_limit_interval", "0: no limit."},
    {"DEFAULT", "rate_limit_burst", "0: no limit. One more line tells that some are missing."},
    {"DEFAULT", "rate_limit_except_level", "Nor are those above it; an empty value: all are."},

    {"api", "auth_strategy",
     "keystone asks Keystone about each token, with the settings of [keystone_authtoken]. "
     "noauth2 believes what stands in the header X-Auth-Token, USER or USER:PROJECT, and gives "
     "the user admin all rights: for tests, and for services on one host behind a loopback "
     "address. Without any configuration file it is noauth2."},

    {"placement", "randomize_allocation_candidates",
     "Otherwise the order is stable: the same question gets the same candidates as long as "
     "nothing changes. A random sample spreads instances over equal hosts where the scheduler "
     "takes the first; it costs more time, since all candidates are looked at."},
    {"placement", "incomplete_consumer_project_id",
     "Such old requests name no project. placement-manage db online_data_migrations gives it to "
     "consumers that lack one, too."},
    {"placement", "incomplete_consumer_user_id",
     "Such old requests name no user. placement-manage db online_data_migrations gives it to "
     "consumers that lack one, too."},
    {"placement", "max_allocation_candidates",
     "The limit of a request may be lower still. berth needs no such bound to stay within its "
     "memory: the option is there for deployments that set it for the Python service."},
    {"placement", "allocation_candidates_generation_strategy",
     "breadth-first takes one candidate of each tree of providers before a second of any; "
     "depth-first takes all of a tree before the next, so that a limit may be used up by few "
     "hosts. The default is that of breadth-first where a limit cuts the answer, and costs "
     "nothing."},
    {"placement", "allocation_conflict_retry_count",
     "Writes of one berthd never conflict with each other, and those of several wait for one "
     "another."},
    {"workarounds", "optimize_for_wide_provider_trees",
     "Searches are always pruned as early as that."},

    {"placement_database", "connection",
     "As SQLAlchemy writes it, such as sqlite:////var/lib/berth/berth.db with an absolute path. "
     "It must be set as soon as there is a configuration file; without one a file of berth's own "
     "is used. It is never shown or logged, since it may hold a password."},
    {"placement_database", "sync_on_startup",
     "The same as placement-manage db sync before each start. Leave it off where several berthd "
     "share a database and an operator decides when it is upgraded."},
    {"placement_database", "slave_connection", "All reads are answered from memory."},
    {"placement_database", "sqlite_synchronous", "A change is on the disk before it is answered."},
    {"placement_database", "max_pool_size",
     "berth has no pool: one connection writes, and reads are answered from memory."},

    {"oslo_policy", "enforce_new_defaults",
     "While it is off, whoever the rules of older releases let in (role admin) is let in too. "
     "Turn it on when all callers have the roles of the newest rules: reshaper then needs the "
     "role service."},
    {"oslo_policy", "enforce_scope",
     "The rules of the newest release are for tokens with a project: tokens with system or domain "
     "scope get 403. The newest Python service has no such option and always refuses them; 8.0.0 "
     "does not unless this is set. With false, there is a warning at each start."},

    {"oslo_policy", "policy_file",
     "A relative name is looked for in the directories of --config-dir, beside the configuration "
     "files, the last first, and in ~/.placement, ~, /etc/placement and /etc. If nobody has set "
     "this and there is no policy.yaml, policy.json is read. The file is read again when it "
     "changes; one that is wrong leaves the rules as they were. berth policy validate tells what "
     "is wrong with it."},
    {"oslo_policy", "policy_dirs",
     "May be given several times; looked for like policy_file. What their files say wins over "
     "policy_file, and later names win over earlier ones. Missing directories are no error. "
     "Empty: none."},
    {"oslo_policy", "policy_default_rule",
     "A reference to a rule that is not defined uses this rule; if this one is not defined either, "
     "the reference fails."},

    {"oslo_middleware", "enable_proxy_headers_parsing",
     "Turn it on if, and only if, every request comes through a proxy that sets these headers "
     "itself: clients can otherwise choose the address that the log shows and the host in "
     "Location."},

    {"healthcheck", "enabled", "An option of berth's own."},
    {"healthcheck", "detailed",
     "Paths, versions and what /readyz of the admin listener tells are shown to whoever asks."},
    {"healthcheck", "backends",
     "What berth itself has to say (is the database reached, is memory as new as it) is always "
     "among the checks. Others than these three are passed over, with a warning."},
    {"healthcheck", "disable_by_file_paths", "PORT is that of the listener a request came to."},
    {"healthcheck", "allowed_source_ranges",
     "Such as 10.0.0.0/8,::1. Others are answered as for any path that is not there. It is the "
     "address of the connection that counts, not what a proxy says."},
    {"healthcheck", "ignore_proxied_requests",
     "So that only those see it who reach berth without the proxy in front."},

    {"cors", "allowed_origin",
     "Each as scheme://host or scheme://host:port without a slash at the end, or * for any. "
     "Without it there is no CORS: no such headers, and OPTIONS is 405."},
    {"cors", "allow_credentials", "The header Access-Control-Allow-Credentials."},
    {"cors", "expose_headers", "The header Access-Control-Expose-Headers."},
    {"cors", "max_age", "The header Access-Control-Max-Age: browsers ask again after that time."},
    {"cors", "allow_methods", "The header Access-Control-Allow-Methods."},
    {"cors", "allow_headers",
     "The header Access-Control-Allow-Headers. Those that browsers always may send need not be "
     "named."},

    {"keystone_authtoken", "www_authenticate_uri",
     "It stands in the header WWW-Authenticate of a 401. Unset: auth_url."},
    {"keystone_authtoken", "auth_section",
     "Then the options of the plugin are read there, and not here: auth_type, auth_url, the "
     "names and secrets of the service user, its project and other scopes."},
    {"keystone_authtoken", "auth_url",
     "password and token ask it where version 3 is; the v3 types add /v3 unless it ends with it."},
    {"keystone_authtoken", "cafile",
     "A file or directory with the authorities that Keystone's certificate is checked with. "
     "Unset: those of the system."},
    {"keystone_authtoken", "http_connect_timeout",
     "It bounds one question to Keystone from its beginning to its end. Unset: 30."},
    {"keystone_authtoken", "delay_auth_decision",
     "Then the 401 is the service's own, also when Keystone is away, and a bad service token "
     "does not refuse a good token."},
    {"keystone_authtoken", "token_cache_time",
     "0 or -1: Keystone is asked every time. A token that is revoked may be believed for so "
     "long, one that expires is not."},
    {"keystone_authtoken", "service_token_roles",
     "Of which a service token needs one to let expired tokens pass."},
    {"keystone_authtoken", "service_type",
     "placement. Without it application credentials with access rules are refused. The bare metal "
     "API has [baremetal] service_type, the Valet API [valet] service_type."},
    {"keystone_authtoken", "auth_type",
     "Each needs its own options: password and v3password a user, a password and a project, "
     "v3applicationcredential the id and the secret of an application credential. Those whose "
     "name begins with v3 do not ask Keystone for its versions first."},
    {"keystone_authtoken", "interface", "One of public, internal and admin."},
    {"keystone_authtoken", "region_name", "Unset: any region."},
    {"keystone_authtoken", "certfile",
     "Only where Keystone asks its clients for one; keyfile is its key."},
    {"keystone_authtoken", "insecure",
     "Then anybody between the two can read the service's password and invent tokens: for tests "
     "only."},
    {"keystone_authtoken", "memcached_servers",
     "Tokens that were found valid are kept in the process itself."},
    {"keystone_authtoken", "service_token_roles_required",
     "Otherwise such a token is accepted, but expired user tokens are not."},

    {"audit", "enabled",
     "berth emits no audit events. With true, there is a warning at each start; the log has a line "
     "for each request, with user, project and request id."},
    {"profiler", "enabled",
     "Requests are not traced; the log and its slow_request_ms tell what takes long."},
    {"profiler", "hmac_keys", "Never shown or logged."},
    {"profiler", "connection_string", "Never shown or logged, since it may hold a password."},
};

static const struct details sections[] = {
    {"berth", NULL, "What the Python service leaves to its web server, and what only berth has."},
    {"baremetal", NULL, "The bare metal API: nodes and their allocations, in Ironic's words."},
    {"valet", NULL, "The Valet API: groups of hosts, plans and placements."},
    {"DEFAULT", NULL, "The log."},
    {"api", NULL, "Who may call."},
    {"placement", NULL, "How questions are answered."},
    {"workarounds", NULL, "Options of the newest Python release."},
    {"placement_database", NULL, "Where everything is kept."},
    {"oslo_policy", NULL, "Who may do what."},
    {"oslo_middleware", NULL, "What is believed of a proxy in front."},
    {"healthcheck", NULL, "The health check of oslo.middleware on the listeners of all APIs."},
    {"cors", NULL, "Web pages that call the API from a browser (Cross-Origin Resource Sharing)."},
    {"keystone_authtoken", NULL,
     "How tokens are checked with Keystone. docs/keystone.md tells what these options do "
     "together, and what happens when Keystone is away."},
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
