/* The running process, part by part, as main starts and stops them in order. Only the main thread
 * uses it. */
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

/* The purpose of an address. */
enum listener_kind {
    LISTENER_PLACEMENT,
    LISTENER_BAREMETAL,
    LISTENER_VALET,
    LISTENER_ADMIN, /* for operators; served until all others have ended */
    LISTENER_KINDS
};

struct daemon_listener {
    enum listener_kind kind;
    struct http_server *server;
};

/* The exit codes of berthd. */
enum {
    EXIT_COMMAND_LINE = 2, /* 0 and 1: it stopped normally, it could not start */
    EXIT_CUT_SHORT = 3,    /* it stopped, but some requests in progress were not finished */
};

/* A part that does not exist is NULL. */
struct daemon {
    struct arena *arena; /* lives as long as the process */
    struct err err;
    const struct conf_inputs *inputs;
    struct conf *conf;     /* the configuration at startup: others point into it */
    struct conf *reloaded; /* the newest valid one; NULL: there was no reload */
    struct activation activation;
    struct http_tls *tls;         /* NULL: no https */
    struct http_process *http;    /* shared by the listeners; NULL: none were opened */
    uint64_t tls_look_us;         /* time of the next check of its files */
    uint64_t tls_remind_us;       /* time of the next check of its expiry */
    _Atomic uint64_t store_steps; /* store.h */
    struct watch watch;
    uint64_t status_us;    /* time of the next status notification */
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
    struct admin *admin; /* shown on the admin listeners */
    bool is_stopped;     /* by a signal, while the database was opened and read */
    bool cut_short;      /* stop_grace ended before everything was finished */
};

/* Opens the database, loads it, starts the writer, and logs what is served. False: err has one
 * line, or is_stopped is set. */
bool database_open(struct daemon *daemon) BERTH_MUST_CHECK;
void database_close(struct daemon *daemon);

/* Reads the policy files, which are then checked on each tick of the loop. False: err has one
 * line. */
bool policies_open(struct daemon *daemon) BERTH_MUST_CHECK;
void policies_close(struct daemon *daemon);

/* Starts the connection to Keystone if callers are authenticated there. False: err has one line. */
bool authentication_open(struct daemon *daemon) BERTH_MUST_CHECK;

/* Whatever Keystone does, requests that wait for it are answered before the stop's grace period
 * ends. */
void authentication_hurry(struct daemon *daemon);
void authentication_close(struct daemon *daemon);

/* Fills daemon->api's settings from the configuration, and starts the slow lane. False: err has one
 * line. */
bool api_settings_fill(struct daemon *daemon) BERTH_MUST_CHECK;

/* memory.c: [berth] body_memory, or less if the process may not use that much. */
uint64_t memory_of_bodies(const struct conf *conf);

/* Sets the options that a reload may change, while other threads read them. */
void api_settings_take(struct daemon *daemon, const struct conf *conf);

/* Reads the flavors that plans of stacks refer to. False: err has one line. */
bool catalogue_open(struct daemon *daemon) BERTH_MUST_CHECK;
/* Reads the file again; on an error, the error is logged and the old flavors stay. */
void catalogue_reload(struct daemon *daemon);
/* Called after the listeners have ended. */
void catalogue_close(struct daemon *daemon);

/* Loads the certificates for https; does nothing if none are configured. False: err has one
 * line. */
bool tls_open(struct daemon *daemon) BERTH_MUST_CHECK;
/* Loads them again, possibly from other files; on an error, the error is logged and the old ones
 * stay. */
void tls_reload(struct daemon *daemon);
/* On a tick: loads them again if their files have changed; warns about their expiry once a day. */
void tls_look_after(struct daemon *daemon);
/* Called after the listeners have ended. */
void tls_close(struct daemon *daemon);

/* Opens every address of the configuration, and the sockets from the service manager. False: err
 * has one line; the listeners already opened are closed by listeners_close. */
bool listeners_open(struct daemon *daemon) BERTH_MUST_CHECK;

/* Applies new deadlines. */
void listeners_take(struct daemon *daemon, const struct conf *conf);

/* Accepts no new connections, finishes requests in progress within stop_grace, and waits for the
 * answers that the writer and the slow lane still owe. From here on, another signal ends the
 * process at once. */
void listeners_close(struct daemon *daemon);

/* Writes "berthd: ready URL… [baremetal URL…] [valet URL…] [admin URL…]" to standard output. */
void listeners_print_ready(const struct daemon *daemon);

/* The configuration that has the current values of mutable options. */
static inline const struct conf *conf_in_force(const struct daemon *daemon)
{
    return daemon->reloaded != NULL ? daemon->reloaded : daemon->conf;
}

/* On SIGHUP: see reload.c, which lists what is read again. */
void daemon_reload(struct daemon *daemon);

/* Blocks the signals that the loop waits for; called before any thread is started, because threads
 * inherit the mask. */
void loop_block_signals(void);

/* Returns when the process is to end. */
void loop_run(struct daemon *daemon);

/* Sends the watchdog a keep-alive if everything makes progress: see notify.h. */
void loop_watch(struct daemon *daemon);

#endif
