/* What the store reports on the database's server, as JSON and as lines of text. */
#ifndef BERTH_API_ADMIN_SERVER_REPORT_H
#define BERTH_API_ADMIN_SERVER_REPORT_H

#include "base/buf.h"
#include "store/report.h"

/* Appends `, "server": {…}, "log": {…}, "instances": […], "warnings": […]`; nothing if the database
 * has no server or has not answered yet. Any thread. */
void server_report_write_json(const struct store *store, struct buf *out);

/* Appends a line on the server, one on each instance, and one for each warning. */
void server_report_write_text(const struct store *store, struct buf *out);

/* The same without a store. `now_us` of clock_monotonic_us(). */
void server_report_append_json(const struct store_report *report, uint64_t now_us, struct buf *out);
void server_report_append_text(const struct store_report *report, struct buf *out);

#endif
