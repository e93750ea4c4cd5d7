/* The client's side of the fake MariaDB: what the simulation decides about its connections. */
#ifndef BERTH_FAKE_MARIADB_LIBMARIADB_H
#define BERTH_FAKE_MARIADB_LIBMARIADB_H

struct process;

/* The node to which the proxy passes the process' next connection. Of the simulation. */
int libmariadb_node(const struct process *process);

#endif
