/* The running process, part by part: what main starts and stops in order. The main thread's own. */
#ifndef BERTH_DAEMON_DAEMON_H
#define BERTH_DAEMON_DAEMON_H

#include "api/admin/admin.h"
#include "api/api.h"
#include "baremetal/api/metal_request.h"
#include "baremetal/write/metal.h"
#include "base/arena.h"
#include "base/err.h"
#include "conf/inputs.h"
#include "conf/settings.h"
#include "daemon/activation.h"
#include "daemon/notify.h"
#include "http/http.h"
#include "placement/api/placement_request.h"
#include "products/products.h"
#include "store/store.h"
#include "valet/api/valet_settings.h"

enum { DAEMON_LISTENERS_MAX = 16 };

/* What an address is opened for. */
enum listener_kind {
    LISTENER_PLACEMENT,
    LISTENER_BAREMETAL,
    LISTENER_VALET,
    LISTENER_ADMIN, /* for those who run berth; it serves until all others have ended */
    LISTENER_KINDS
};

struct daemon_listener {
    enum listener_kind kind;
    struct http_server *server;
};

/* What berthd exits with. */
enum {
    EXIT_COMMAND_LINE = 2, /* 0 and 1: it ended well, it could not start */
    EXIT_CUT_SHORT = 3,    /* it stopped, but not everything that had begun was finished */
};

/* A part that is not there is NULL. */
struct daemon {
    struct arena *arena; /* lives as long as the process */
    struct err err;
    const struct conf_inputs *inputs;
    struct conf *conf;     /* what the process was started with: others point into it */
    struct conf *reloaded; /* the newest good one; NULL: there was no reload */
    struct activation activation;
    struct http_tls *tls;         /* NULL: no https */
    struct http_process *http;    /* what the listeners share; NULL: none were opened */
    uint64_t tls_look_us;         /* when its files are looked at next */
    uint64_t tls_remind_us;       /* when its expiry is looked at next */
    _Atomic uint64_t store_steps; /* store.h */
    struct watch watch;
    uint64_t status_us;    /* when it is to be told next */
    struct slice database; /* its URL, without the password */
    struct store *store;
    struct metal metal;
    struct products products;
    struct api api;
    struct placement_settings placement;
    struct metal_settings baremetal;
    struct valet_settings valet;
    struct daemon_listener listeners[DAEMON_LISTENERS_MAX];
    size_t listener_count;
    struct admin *admin; /* what is shown on the admin listeners */
    bool cut_short;      /* stop_grace was over before everything had ended */
};

/* Opens the database, loads it, starts the writer, and logs what is served. False: err has one
 * line. */
bool database_open(struct daemon *daemon) BERTH_MUST_CHECK;
void database_close(struct daemon *daemon);

/* Reads the policy files, which are then looked at with each tick of the loop. False: err has one
 * line. */
bool policies_open(struct daemon *daemon) BERTH_MUST_CHECK;
void policies_close(struct daemon *daemon);

/* Starts asking Keystone, if that is how callers are known. False: err has one line. */
bool authentication_open(struct daemon *daemon) BERTH_MUST_CHECK;

/* Whatever Keystone does, requests that wait for it are answered before the grace of a stop is
 * over. */
void authentication_hurry(struct daemon *daemon);
void authentication_close(struct daemon *daemon);

/* Fills daemon->api's settings from the configuration, and starts the slow lane. False: err has one
 * line. */
bool api_settings_fill(struct daemon *daemon) BERTH_MUST_CHECK;

/* memory.c: [berth] body_memory, or less where the process may not have so much. */
uint64_t memory_of_bodies(const struct conf *conf);

/* Sets those that a reload may change, while others read them. */
void api_settings_take(struct daemon *daemon, const struct conf *conf);

/* The flavors that plans of stacks name. False: err has one line. */
bool catalogue_open(struct daemon *daemon) BERTH_MUST_CHECK;
/* Reads the file anew; what goes wrong is logged, and the old ones stay. */
void catalogue_reload(struct daemon *daemon);
/* After the listeners. */
void catalogue_close(struct daemon *daemon);

/* Certificates for https; nothing where none is configured. False: err has one line. */
bool tls_open(struct daemon *daemon) BERTH_MUST_CHECK;
/* Reads them anew, perhaps others; what goes wrong is logged, and the old ones stay. */
void tls_reload(struct daemon *daemon);
/* On a tick: reads them again when their files have changed; once a day warns of their expiry. */
void tls_look_after(struct daemon *daemon);
/* After the listeners. */
void tls_close(struct daemon *daemon);

/* Opens every address of the configuration, and those that were given. False: err has one line;
 * those that were opened are closed by listeners_close. */
bool listeners_open(struct daemon *daemon) BERTH_MUST_CHECK;

/* Sets their deadlines anew. */
void listeners_take(struct daemon *daemon, const struct conf *conf);

/* Accepts no more, finishes what has begun within stop_grace, and waits for the answers that the
 * writer and the slow lane still owe. From here on another signal ends the process at once. */
void listeners_close(struct daemon *daemon);

/* Writes "berthd: ready URL… [baremetal URL…] [valet URL…] [admin URL…]" to standard output. */
void listeners_print_ready(const struct daemon *daemon);

/* Where the values of mutable options stand. */
static inline const struct conf *conf_in_force(const struct daemon *daemon)
{
    return daemon->reloaded != NULL ? daemon->reloaded : daemon->conf;
}

/* On SIGHUP: see reload.c, which lists what is read again. */
void daemon_reload(struct daemon *daemon);

/* Blocks the signals that the loop waits for; before any thread is started, which inherit it. */
void loop_block_signals(void);

/* Returns when the process is asked to end. */
void loop_run(struct daemon *daemon);

/* Tells the watchdog that all goes on, if it does: see notify.h. */
void loop_watch(struct daemon *daemon);

#endif
