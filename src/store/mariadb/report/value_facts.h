/* Which values an open database can hold (store/value_limits.h). */
#ifndef BERTH_STORE_MARIADB_REPORT_VALUE_FACTS_H
#define BERTH_STORE_MARIADB_REPORT_VALUE_FACTS_H

#include "store/mariadb/schema/columns.h"

/* Of every database of this kind: what value_facts are added to. */
extern const struct value_limits mariadb_value_limits;

/* One query. After a failure, the limits are as before. */
enum server_outcome mariadb_value_facts_read(struct server_session *session,
                                             struct value_limits *limits, uint64_t deadline_us,
                                             struct err *err) BERTH_MUST_CHECK;

/* How many bytes of UTF-8 the longest character has that texts of a charset can have. */
unsigned mariadb_charset_utf8_bytes(const char *charset);

#endif
