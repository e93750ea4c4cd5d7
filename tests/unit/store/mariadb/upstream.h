/* The tables of upstream, as text. */
#ifndef BERTH_TESTS_UNIT_STORE_MARIADB_UPSTREAM_H
#define BERTH_TESTS_UNIT_STORE_MARIADB_UPSTREAM_H

/* What `placement-manage db sync` of placement 8.0 creates, without the table of the revision. */
extern const char mariadb_upstream[];

#endif
