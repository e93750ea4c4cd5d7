/* The configuration as the rest of berth reads it: typed fields that never change once built. */
#ifndef BERTH_CONF_SETTINGS_H
#define BERTH_CONF_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "conf/baremetal.h"
#include "conf/healthcheck.h"
#include "conf/listen.h"
#include "conf/texts.h"
#include "conf/valet.h"
#include "conf/value.h"

enum conf_auth_strategy { CONF_AUTH_KEYSTONE, CONF_AUTH_NOAUTH2 };

/* [placement] allocation_candidates_generation_strategy. */
enum conf_generation_strategy {
    CONF_STRATEGY_UNSET, /* with a limit: spread over roots */
    CONF_STRATEGY_DEPTH_FIRST,
    CONF_STRATEGY_BREADTH_FIRST
};

/* An assignment in a file to an unknown option. */
struct conf_unknown {
    const char *path;
    unsigned line;
    struct slice section;
    struct slice name;
};

/* Everything below lies in `arena`. Any thread may read it. */
struct conf {
    struct arena *arena;

    /* [berth] */
    const struct conf_listen *listen;
    size_t listen_count;
    const struct conf_listen *admin_listen; /* metrics and health */
    size_t admin_listen_count;
    bool listen_is_default;    /* not set explicitly */
    unsigned socket_mode;      /* permissions, at most 0777 */
    const char *tls_cert_file; /* NULL: not set; the key is set if and only if the certificate is */
    const char *tls_key_file;
    const char *tls_ca_file;
    const char *tls_priorities;
    unsigned stop_grace_s;
    const struct slice *mount_prefixes; /* each begins with a slash and does not end with one */
    size_t mount_prefix_count;
    unsigned worker_threads; /* of each address in listen; at least 1; the default is resolved */
    size_t max_body_bytes;
    uint64_t body_memory_bytes; /* of all large bodies, and of the documents parsed from them */
    unsigned max_connections;   /* to one address in listen, as the next one */
    unsigned max_connections_per_address;
    unsigned idle_timeout_s;
    unsigned header_deadline_s;
    unsigned body_deadline_s;
    size_t connection_memory_bytes;
    size_t answer_memory_bytes;
    bool access_log;
    bool server_header;
    uint64_t query_deadline_us;    /* time limit of an expensive request */
    uint64_t max_write_rows;       /* rows of the database that one request may write */
    uint64_t staleness_us;         /* of bounded reads; 0: reads are strict */
    uint64_t unavailable_reads_us; /* for how long reads continue while the database is unavailable
                                    */
    uint64_t scrub_interval_us;    /* between comparisons with the database; 0: none */
    unsigned stalled_ms;           /* for which a stalled instance may keep writes waiting */
    uint64_t slow_request_us;      /* 0: slow requests are not logged */
    const char *loss_directory;    /* for files about a database that went back */

    /* [DEFAULT], [api], [oslo_policy], [oslo_middleware] */
    bool debug;
    enum conf_auth_strategy auth_strategy;
    bool enforce_new_defaults;
    bool enforce_scope;
    bool proxy_headers;

    struct conf_healthcheck healthcheck;
    struct conf_baremetal baremetal;
    struct conf_valet valet;

    /* [placement] */
    bool randomize_allocation_candidates;
    int max_allocation_candidates; /* -1: no bound */
    enum conf_generation_strategy generation_strategy;
    const char *incomplete_consumer_project_id;
    const char *incomplete_consumer_user_id;

    /* [placement_database] */
    const char *connection; /* never NULL */
    bool sync_on_startup;
    int64_t connect_attempts;       /* at startup, at least 1; -1: unlimited */
    uint64_t connection_recycle_us; /* 0: never */
    uint64_t connect_interval_us;   /* between two of them */

    /* The origin of the configuration. */
    bool embedded;                      /* no file was read: see load.h */
    const char *state_directory;        /* directory of the embedded database; NULL: not used */
    struct conf_texts files;            /* read, in order */
    const struct conf_unknown *unknown; /* ignored */
    size_t unknown_n;
    struct conf_texts no_effect;     /* "[section] name": set, but without effect here */
    struct conf_texts deprecated;    /* "FILE:LINE: [section] old is now [section] new" */
    struct conf_texts faults;        /* from conf_examine: faults that a load would fail with */
    bool half_read;                  /* from conf_examine: a file could not be read */
    const char *auth_section;        /* section that options of_auth_plugin were read from */
    const struct conf_value *values; /* one for each row of option_table, in its order */
};

/* The value of any option in the table, including those without a field. The option must exist. */
const struct conf_value *conf_value(const struct conf *conf, const char *section, const char *name);

#endif
