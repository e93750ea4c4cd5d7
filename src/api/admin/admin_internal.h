/* Shared by the files of this folder. */
#ifndef BERTH_API_ADMIN_ADMIN_INTERNAL_H
#define BERTH_API_ADMIN_ADMIN_INTERNAL_H

#include <pthread.h>

#include "api/admin/admin.h"
#include "api/admin/exposition.h"
#include "api/services/readiness.h"

enum { ADMIN_LISTENERS_MAX = 16, ADMIN_ADDRESSES_MAX = 16 };

struct admin {
    const struct api *api;
    const struct store *store;
    int64_t started_us; /* start of the process, wall clock */
    _Atomic uint64_t reloads_taken;
    _Atomic uint64_t reloads_refused;
    _Atomic bool is_stopping;

    struct admin_about about;

    pthread_mutex_t lock; /* protects the fields below */
    struct admin_address {
        const char *purpose;
        const char *url;
    } addresses[ADMIN_ADDRESSES_MAX];
    unsigned address_count;
    struct slow_lane *lane; /* for long work, separate from the lane of the searches; NULL until
                             * needed */
    struct http_server *listeners[ADMIN_LISTENERS_MAX];
    unsigned listener_count;
};

/* A long page that is being written on the slow lane. */
struct admin_page {
    const struct http_exchange *client; /* pending */
    struct slow_lane *lane;
    struct slow_job *job;
};

/* page.c: call it about every thousand rows; it gives way to other work. True: the client has
 * disconnected. */
bool admin_page_is_abandoned(const struct admin_page *page);

/* metrics.c: everything except the inventory. The version is pinned. Any thread, here and below. */
void metrics_write(struct admin *admin, const struct version *version,
                   struct exposition *exposition);

/* auth_metrics.c */
void auth_metrics_write(const struct admin *admin, struct exposition *exposition);

/* process_metrics.c */
void process_metrics_write(const struct admin *admin, struct exposition *exposition);
/* The start time of the process, in microseconds since 1970. */
int64_t process_started_us(void);

/* inventory_metrics.c: the inventory and use of all providers; on request also by consumer, which
 * takes as many samples as the table of allocations has rows. False: the client has
 * disconnected. */
bool inventory_metrics_write(const struct version *version, const struct admin_page *page,
                             struct exposition *exposition) BERTH_MUST_CHECK;
bool allocation_metrics_write(const struct version *version, const struct admin_page *page,
                              struct exposition *exposition) BERTH_MUST_CHECK;

/* node_metrics.c: bare metal nodes and their allocations by state. False: the client has
 * disconnected. */
bool node_metrics_write(const struct version *version, const struct admin_page *page,
                        struct exposition *exposition) BERTH_MUST_CHECK;

/* health_pages.c: writes the checks as members of a JSON object: "ready": …, "checks": {…} */
void health_write_checks(const struct readiness_report *report, struct buf *out);
void health_write_alive(struct admin *admin, struct http_exchange *http);
void health_write_ready(const struct admin *admin, const struct readiness_report *report,
                        struct http_exchange *http);

/* status_page.c: always 200, because the process is running. */
void status_write(struct admin *admin, const struct readiness_report *report,
                  struct http_exchange *http);

/* service.c: sends an answer whose body is in http->out. */
void admin_answer(struct http_exchange *http, int status, const char *content_type);

#endif
