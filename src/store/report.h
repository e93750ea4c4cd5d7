/* What an operator should know of a database on a server: the server, the instances of berthd that
 * use it, and what is unsafe. */
#ifndef BERTH_STORE_REPORT_H
#define BERTH_STORE_REPORT_H

#include "base/arena.h"
#include "base/buf.h"
#include "store/store.h"

/* One that has written its row within the last hour. */
struct store_instance {
    struct slice name; /* a uuid */
    struct slice host;
    struct slice version;
    struct slice node; /* of a cluster, through which it writes; empty: it is not known, or none */
    int64_t pid;
    int64_t seen_s; /* how many seconds ago it wrote its row; usually below a minute */
    int64_t behind; /* how many batches have been committed since the one that it then had */
    bool is_own;    /* the instance that makes the report */
};

/* A node of a cluster through which this process has written within the last hour. */
struct store_node {
    struct slice name;
    int64_t left_s; /* how many seconds ago another one took its place; the first is still in use */
};

/* How far the ids of a table with ids of 32 bits are used up. */
struct store_ids {
    const char *table; /* static */
    int64_t used;      /* the largest id that a row has or that was handed out; 0: none */
};
enum { STORE_IDS_MOST = INT32_MAX };

/* Texts belong to the arena that was given. */
struct store_report {
    uint64_t made_us; /* of clock_monotonic_us() */
    struct store_server server;
    bool has_log;          /* berth's tables are there and can be read; otherwise 0 and none: */
    int64_t log_head;      /* the number of the newest batch; 0: there was none yet */
    int64_t log_head_s;    /* how many seconds ago it was committed */
    int64_t log_rows;      /* at most that many: from the oldest to the newest */
    int64_t log_bytes;     /* on disk, with the index */
    struct store_ids *ids; /* of each such table; none if they cannot be read */
    size_t id_count;
    int64_t triggers; /* that note what other programs write; of triggers_all */
    int64_t triggers_all;
    int64_t waiting; /* such notes that are in no row of the log yet */
    struct store_instance *instances;
    size_t instance_count, instance_capacity;
    struct store_node *nodes; /* the newest first; none: the server is in no cluster, or a tool,
                                 which does not write, makes the report */
    size_t node_count, node_capacity;
    int64_t node_changes;   /* how often one has taken another's place within the last hour */
    struct slice *warnings; /* each a sentence without its full stop */
    size_t warning_count, warning_capacity;
};

void report_add_instance(struct store_report *report, struct arena *arena,
                         const struct store_instance *instance);
void report_add_node(struct store_report *report, struct arena *arena, struct slice name,
                     int64_t left_s);
void report_warn(struct store_report *report, struct arena *arena, const char *format, ...)
    BERTH_PRINTF(3, 4);

/* The table whose ids are used up furthest; NULL: none is known. */
const struct store_ids *report_most_used_ids(const struct store_report *report);

/* Copies all that belongs to an arena. */
struct store_report report_copy(const struct store_report *report, struct arena *arena);

/* "none", "asynchronous", "synchronous" or "unknown" */
const char *report_replication_name(enum store_replication replication);

/* Append, without a line end: "primary at 192.0.2.7:5432, version 15.20, read committed, …", "node
 * node1 (Synced, 3 in the cluster) at …",
 * "host1, process 4711, version 1.0, node node1, 0 batches behind, seen 12 s ago", and "node1,
 * until 12 s ago node2, 3 changes in the last hour". */
void report_write_server(const struct store_server *server, struct buf *out);
void report_write_instance(const struct store_instance *instance, struct buf *out);
void report_write_nodes(const struct store_report *report, struct buf *out);

/* "primary", "standby", "read-only", or, of a cluster all of whose nodes may be written, "node" */
const char *report_role(const struct store_server *server);

/* The value of the setting with that name; "" if this kind of server has none. */
const char *report_setting(const struct store_server *server, const char *name);

/* Adds a setting. The name is static; a value that is too long is cut. */
void report_add_setting(struct store_server *server, const char *name, struct slice value);

/* The last report of an open store, at most about a minute old while the server answers. False:
 * there is none, because the database has no server, or because it has not answered yet. Any
 * thread. */
bool store_report(const struct store *store, struct arena *arena, struct store_report *report);

/* Makes a report on the database of that SQLAlchemy URL. *has_server false: the database has no
 * server, and there is no report. False: err has one clear line. One thread at a time for each
 * database. */
bool report_make(struct slice connection, struct arena *arena, bool *has_server,
                 struct store_report *report, struct err *err) BERTH_MUST_CHECK;

#endif
