#!/usr/bin/python3
"""Runs a command with a MariaDB server, or a Galera cluster, of its own, and ends the servers with it.

    tests/databases/with_mariadb.py [--galera | --mysql] [--haproxy] [--database NAME] [--charset NAME] [--option NAME=VALUE]…
                                    [--] COMMAND…

BERTH_TEST_ON=mysql in its own environment stands for --mysql, except with --galera: so that programs that run this one can be
run on MySQL.

The exit status is the command's; 128 plus the number of the signal that ended it. The command finds in its environment:

    BERTH_TEST_MARIADB_PRODUCT    mariadb or mysql
    BERTH_TEST_MARIADB            a URL of the user with all rights on the database:
                                  mysql+pymysql://USER:PASSWORD@127.0.0.1:PORT/NAME
    BERTH_TEST_MARIADB_URL        the same; with --haproxy, that of HAProxy, which leads to it at first
    BERTH_TEST_MARIADB_SOCKET     the same over the unix socket
    BERTH_TEST_MARIADB_ADMIN      a URL of root, over the unix socket
    BERTH_TEST_MARIADB_PID        the process id of the server
    BERTH_TEST_MARIADB_LOG        its log file
    BERTH_TEST_MARIADB_CHARSET    the character set of the database
    BERTH_TEST_MARIADB_CLIENT     an option file of the user, for read_default_file and for `mariadb --defaults-file=…`
    BERTH_TEST_MARIADB_2, BERTH_TEST_MARIADB_2_SOCKET, …, BERTH_TEST_MARIADB_3, …
                                  the same of the other nodes, with --galera
    BERTH_TEST_HAPROXY            the URL for HAProxy in front of the nodes, in the shape of kolla-ansible, with --haproxy
    BERTH_TEST_HAPROXY_CONTROL    its control socket: `set server mariadb_back/node1 state maint` leads new sessions to node2
"""

import sys

import mariadb
import with_servers
from galera import PATIENT, Galera
from haproxy import Balancer
from mariadb import server_class
from mysql import Mysql

CHECKS_MS = 100  # between two of HAProxy's checks, instead of two seconds


def options():
    parser = with_servers.parser_of(__doc__)
    parser.add_argument("--charset", default="utf8mb3", metavar="NAME", help="the character set of the database (utf8mb3)")
    parser.add_argument("--galera", action="store_true", help="start a cluster of three nodes")
    parser.add_argument("--mysql", action="store_true", help="start a MySQL server")
    parser.add_argument("--haproxy", action="store_true", help="also start HAProxy")
    return with_servers.parse(parser)


def variables_of(server, name):
    admin = server.url(socket=True, user=mariadb.SUPERUSER, password="")
    client = server.write_option_file(host="127.0.0.1", port=server.port, user=server.user, password=server.password)
    return {**with_servers.variables_of(server, name, admin), f"BERTH_TEST_{name}_CLIENT": client}


def start(chosen, servers):
    """Starts the servers, which end with the exit stack, and returns the variables that name them."""
    what = {"options": chosen.settings, "database": chosen.database, "charset": chosen.charset,
            "collation": chosen.charset + "_general_ci"}
    if chosen.galera:
        nodes = servers.enter_context(Galera(provider=PATIENT, **what)).nodes
    else:
        nodes = [servers.enter_context((Mysql if chosen.mysql else server_class())(**what))]
    variables = {"BERTH_TEST_MARIADB_CHARSET": chosen.charset,
                 "BERTH_TEST_MARIADB_PRODUCT": "mysql" if isinstance(nodes[0], Mysql) else "mariadb"}
    for number, node in enumerate(nodes, 1):
        variables.update(variables_of(node, "MARIADB" if number == 1 else f"MARIADB_{number}"))
    variables["BERTH_TEST_MARIADB_URL"] = variables["BERTH_TEST_MARIADB"]
    if chosen.haproxy:
        balancer = servers.enter_context(Balancer(nodes, inter_ms=CHECKS_MS))
        variables.update(BERTH_TEST_HAPROXY=balancer.url(), BERTH_TEST_HAPROXY_CONTROL=balancer.control,
                         BERTH_TEST_MARIADB_URL=balancer.url())
    return variables


if __name__ == "__main__":
    sys.exit(with_servers.run(options(), start))
