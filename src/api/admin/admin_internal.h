/* What the files of this folder share. */
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
    int64_t started_us; /* of the process, wall clock */
    _Atomic uint64_t reloads_taken;
    _Atomic uint64_t reloads_refused;
    _Atomic bool is_stopping;

    struct admin_about about;

    pthread_mutex_t lock; /* over the rest */
    struct admin_address {
        const char *purpose;
        const char *url;
    } addresses[ADMIN_ADDRESSES_MAX];
    unsigned address_count;
    struct slow_lane *lane; /* for what takes long, apart from the searches'; NULL until needed */
    struct http_server *listeners[ADMIN_LISTENERS_MAX];
    unsigned listener_count;
};

/* A long page in the making, on the slow lane. */
struct admin_page {
    const struct http_exchange *client; /* pending */
    struct slow_lane *lane;
    struct slow_job *job;
};

/* page.c: to be asked every thousand rows or so; gives way to others. True: the client has gone.
 */
bool admin_page_is_abandoned(const struct admin_page *page);

/* metrics.c: everything but the inventory. The version is pinned. Any thread, here and below. */
void metrics_write(struct admin *admin, const struct version *version,
                   struct exposition *exposition);

/* auth_metrics.c */
void auth_metrics_write(const struct admin *admin, struct exposition *exposition);

/* process_metrics.c */
void process_metrics_write(const struct admin *admin, struct exposition *exposition);
/* When the process was started, in microseconds since 1970. */
int64_t process_started_us(void);

/* inventory_metrics.c: what all providers have and use; and, which is as long as the table of
 * allocations, by whom. False: the client has gone meanwhile. */
bool inventory_metrics_write(const struct version *version, const struct admin_page *page,
                             struct exposition *exposition) BERTH_MUST_CHECK;
bool allocation_metrics_write(const struct version *version, const struct admin_page *page,
                              struct exposition *exposition) BERTH_MUST_CHECK;

/* node_metrics.c: bare metal nodes and their allocations by state. False: as above. */
bool node_metrics_write(const struct version *version, const struct admin_page *page,
                        struct exposition *exposition) BERTH_MUST_CHECK;

/* health_pages.c. The checks are members of a JSON object: "ready": …, "checks": {…} */
void health_write_checks(const struct readiness_report *report, struct buf *out);
void health_write_alive(struct admin *admin, struct http_exchange *http);
void health_write_ready(const struct readiness_report *report, struct http_exchange *http);

/* status_page.c: always 200, as the process is there. */
void status_write(struct admin *admin, const struct readiness_report *report,
                  struct http_exchange *http);

/* service.c: an answer whose body is in http->out. */
void admin_answer(struct http_exchange *http, int status, const char *content_type);

#endif
