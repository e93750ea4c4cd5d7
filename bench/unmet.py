"""Explanations for rows that are not always met: the profile, and the designs that were tried.

Printed in RESULTS.md under the table for rows that are not met there. Figures are from the machine named there, each
measured alternately with the one it is compared with."""

SMALL_REQUEST = """\
*Profile* (perf, 16 connections, 14.3 µs): 63 % kernel (recvfrom and sendmsg, no other call a request; a sleep in
epoll_wait for three of them), 18 % libc (7.5 libmicrohttpd's zeroing of a connection's memory, 1.5 times 64 KiB a request; 4 its
allocations, three for each of six headers), 8 % libmicrohttpd, 11 % berthd, no function of it above 1.1 %. In turns:
socket alone 8.2 µs, bare libmicrohttpd 9.0 to 10.2, the same with these six headers 10.6, berthd 14.3; the bare
library is itself 340 to 400 times below the Python service, whose figure moves between 2.8 and 4.2 ms.

*Tried against it*: routes found by segment, no allocation of ours, texts eight bytes at a time, the log of many
requests in one write (40 000 to 27 000 instructions a request, taken); a short way for plain version headers, plain
Accept and ASCII, routes by method first (2 to 5 %, taken); 64 KiB instead of 128 KiB a connection (user
time 7.0 to 5.4 µs, taken); 32 and 16 KiB (1.0 and 2.0 µs less, not taken: the servers under the Python service
take heads of 64 KiB); link-time optimisation with -O3 (0 to 2 % less, not taken); mimalloc, and a larger tcache (not
measurable); no access log (0.2 µs); giving the core away once before a worker sleeps (10 % less and the goal met, for
a worker then sleeps a hundredth as often; not taken: beside two other busy processes 40 000 requests/s become
14 000; with a rest after each long absence that is mended, but 6 % are left and p99 is 0.8 instead of 0.5 ms); asking
epoll some times more before it sleeps (not measurable).

*What is left*: 3.7 µs above the library with the same headers: stages of a request, look-up, log line, each in
caches that the zeroing has emptied; less is to be had from a library that does not zero, or less memory a connection."""

AT_ONE = """\
*Profile* (perf, candidates, 1 connection): 60 % kernel, 20 % berthd over a hundred functions of which none has 2 %
(fit_demand_page 1.5), 11 % libc, 6 % libmicrohttpd. What runs outside the kernel costs twice what it costs at 16
connections, the bare library's six headers too (3 to 5 µs, not 1.5): caches are cold after each sleep. So the bound,
which adds the difference at 16 connections, is near: berth has met it and missed it on the same day.

*Tried against it*: see GET /resource_providers/{uuid}; with 32 KiB a connection 44 instead of 54 µs (not taken)."""

LARGE = """\
*Profile* (perf, candidates, 16 connections): 45 % kernel (13 copying into the socket), 45 % berthd: 16 the summaries and 6
their inventories, 12 the candidates; 8 % libc, mostly memmove. Of its 120 µs, bare libmicrohttpd takes 44 for an answer
of that size; the rest is 75 ns for each host with its candidate and its summary, 520 bytes, of memory that is in no
cache when a request comes to it. In turns, the commit before the issue on rules and bounds takes the same (118 and 117
µs; the list 153 and 157). The goal was met on the AMD machine, where writing the bytes takes 53 µs instead of 36.

*What is left*: summaries that are kept as text with their providers, at some 300 bytes for each provider."""

ONE_CLAIM = """\
*Profile* (schedstat and perf, 340 µs alone on the machine, before workers committed by themselves): the server 180 µs, like
libpq's; berthd's worker 32, its writer 51 (10 the send, 11 the receipt, 5.5 waking the worker, 5.5 the plan, 3.5 the
parameters; no function above 0.3), the load generator 20. A claim passed five threads and processes, libpq's batch two, and
while that one is on its way the next is built. So all but 25 µs of berthd's time and that of the client are on top of libpq's,
whatever the disk takes.

*Tried against it*: a writer that gives its core away for up to 200 µs before it sleeps (nothing: the guest's kernel polls
before it halts). A worker that plans, sends and receives by itself while nobody else writes (taken, 2026-11-27; two
hand-overs between threads less: on an AMD machine where one takes 40 µs, in turns, p50 of a claim is 952 instead of 1 081 µs,
+ 25 instead of + 30 %, with 257 instead of 383 µs of berthd's CPU).

*What is left*: the HTTP request itself. With nothing behind it, it takes 62 µs of the 66 that a claim may have on top of
libpq's 329: the goal would be met only if planning, sending and receiving took as long as libpq alone."""


TWO = """\
*Profile* (pg_stat_statements, thread clocks): of the 1 200 µs between two batches of 16, the statements take 640 (550 with one
instance, whose caches are warm), and the server idles while the writer, under the lock, follows the other's claims (80 to
100), plans (72), and builds and sends (55 to 70). With one instance all of that happens while the batch before is on its way.

*Tried against it*: changes in the log's rows, which come with the lock (34 to 70 %, taken); one statement for these rows
(28 µs of the server a batch, taken); a larger tcache (not measurable); planning while the lock is awaited, and following
after the batch is sent (nine batches of ten were sent at once, the writers took 11 instead of 9 µs a claim, and the rate
was 13 900 instead of 14 800/s: both cores share one set of execution units, so time of the server that is not used is
not lost; not taken); planning once for nothing while the lock is awaited, for the caches (14 300/s; not taken).

*What is left*: less to follow. The ratio moves between 70 and 91 % within minutes (medians of five: 75, 77, 82, 83 %), mostly
with the single instance's rate."""

TWO_ON_MARIADB = """\
*Profile* (perf, all processes, 32 connections in both cases): for each claim, one instance takes 94 µs of the server and 15 of its
writer, two take 130 and 31. The server parses the statements that take the lock and read the log's rows (95 of some 190 µs
in all that the round trip takes), sends each result on its own, and wakes the writer for it; all of its other work takes a
third longer, because both cores are busy for 83 instead of 72 % of the time. The writer follows the other's claims (14 % of
its time), plans (12 %), and is woken (22 %).

*Tried against it*: the newest epoch in the same result as the log's rows (taken after this run; in turns, medians of six: 8 891
instead of 8 504 claims/s, 82.6 instead of 78.4 %); sleeping through the results that are not the last (one instance + 4 %, two
nothing; not taken).

*What is left*: the ratio moves between 74 and 92 % within minutes, medians of five between 79 and 88 %."""

STRICT_GET = """\
*Profile* (perf and system calls, AMD machine, 16 connections, workers that ask by themselves): 6 requests share a query. For each
request, one sendmsg, two recv, two epoll_ctl, an eventfd written, and one epoll_wait; the last four are libmicrohttpd's
suspending and resuming. The server has 17 % of both cores, the load generator 16, the workers 56, 9 are idle.

*Tried against it*, with a thread that asks: one query at a time (4.6 requests each; +36 %); the same, completing requests
before the next query is sent (4.5; +47 %); giving the core away before it (6.4 to 6.7 requests, 2 µs less CPU; +38 to +46 %,
because nothing runs meanwhile). The query without the row's changes (taken). Requests that are not suspended, but looked at
again whenever their worker wakes, with one wake-up for all that share a query; the same with a query for all requests of a
worker's round; with one query at a time; with one worker; and these together (all between 248 and 270 µs, in turns with 263;
not taken). Workers that ask by themselves, on connections of their own (taken, 2026-11-27; AMD machine, in turns: 1.19
instead of 1.99 times SELECT 1, medians of five, and on a slower one 1.25 instead of 1.80; 25 500 instead of 16 300 requests/s,
59 instead of 38 % of the embedded store's); with the query sent at the end of each round, 60, 150 or 500 µs after the first
request (not distinguishable from 200).

*What is left*: libmicrohttpd's suspending and resuming. Of what a strict GET takes, the same GET takes more than half on the
embedded store."""

STRICT_GET_ON_GALERA = """\
55 % in the whole run of 2026-11-28 on an AMD machine; 45 to 52 % in many runs on Intel machines, depending on the hour: kernel and
database are as fast there, while a GET on the embedded store takes 9.5 instead of 13 µs.

*Profile* (16 connections): for each request, 16 µs of berthd, where the same GET takes 11 on the embedded store, 11 of the node,
and 7 of the load generator; a tenth of the time is idle. 7.9 requests share a query, and a worker has no more than 8. It costs the
node some 90 µs, about half of it the wait for what the cluster has committed, for which a thread of Galera's is woken and wakes
another one, and an eighth parsing. berthd makes 5.6 calls of the kernel for each request instead of 2.4: libmicrohttpd writes to
an eventfd when a connection is resumed, tries to read from it once more after the answer (0.9), and waits twice as often.

*Tried against it*, in turns, medians of eight or nine: a worker's query for what waits at the other ones as well (45 instead of
49 %: one seldom waits when another one asks). Connections that stay in the epoll set while they are suspended (46.7 instead of
44.0 %, and 48.4 instead of 44.8; taken). A query that is prepared (49.8 instead of 49.7 %; 6 % less CPU if something else keeps
the cores busy; not taken). Gathering requests not at all, or for twice as long (45.4 and 46.6 instead of 48.9 %). Asking before
the requests are read, so that none has to be suspended (47.5 instead of 52.1 %, as fewer share a query; not taken).

*What is left*: what the wait costs the node."""

ONE_STRICT_GET = """\
*Profile* (perf, 1 connection, machine of 2026-11-27): the cores are halted for 37 % of the time; the worker has 30 %, the server 23,
the load generator 9, nearly all of it in waking another core (_raw_spin_unlock_irqrestore) and being woken; no function
outside the kernel has 0.4 %.

*Tried against it*, in turns there, medians of seven: a thread that asks for all workers (+ 108 %; on the machine of 2026-11-26,
where a wake-up costs a fraction of it, - 22 %); a worker that asks by itself (+ 47 %, taken: two wake-ups less).

*What is left*: suspending and resuming in libmicrohttpd, and an answer of 774 bytes instead of a number, which the load generator
reads before it asks again."""

START = """\
It was 7.9 s on the machine of 2026-11-26, and 17.0 and 13.9 s in two whole runs on that of 2026-11-27, which takes twice as
long for everything: the Python service's candidates 316 instead of 137 ms of CPU, 0.57 and 0.31 instead of 0.21 s for 10 000
hosts, 4 005 and 3 018 instead of 10 250 fdatasync/s. The load has not changed in between."""

CANDIDATES = """\
The goal is at 27 µs for an answer of 5 269 bytes; other runs of the same day had 21 to 33 µs, and 4 000 to 6 000 times.
The strict read's share is that of the GET above, 8 to 12 µs. On the machine of 2026-11-27 a call of the kernel costs three times
as much, and what runs in Python twice as much: a GET takes 27 µs on the embedded store (10 on the other one) and, in turns, 56
as a strict read, where it took 69 with a thread that asked.

*Tried against it*: see GET /resource_providers/{uuid}, strict, whose cost on top of the embedded store's it is."""

SLOW_MACHINE = """\
The goal is in µs, and the Intel machine of 2026-11-23 meets it. This machine changes its speed by half within minutes. Measured
on it in the order old, today's, old, at 16 connections, the build of 2026-11-23 and today's take 31.6, 33.1 and 42.6 µs among
1 000 hosts, 40.0, 44.9 and 46.8 among 10 000, and 21.3, 19.2 and 25.1 for GET one provider."""

TAIL = """\
In turns here (the build of 2026-11-23, today's, the same again), p50, p99 and the longest in ms. 16 connections: 2.7, 12.9, 41;
2.4, 14.4, 48; 2.0, 9.5, 31; 2.1, 6.9, 38. Beside plans: 4.7, 16.6, 52; 4.4, 17.3, 50; 3.6, 13.2, 39; 3.3, 12.0, 30. 256
connections: 30, 73, 109; 30, 74, 122; 25, 65, 92; 27, 61, 102. Beside plans: 33, 81, 123; 33, 79, 117; 29, 65, 89; 27, 66, 122.
That build met all four on the Intel machine."""

TURNS = """\
1.5 and 9.5 ms on the Intel machine. In turns here (the build of 2026-11-23, today's, the same again): candidates of three classes
2.1, 2.2, 2.1 and 1.8 ms; a node of 3 MiB 13.6, 20.1, 13.2 and 17.9 ms, because today's looked at each byte of the JSON to find out
how deep it is nested. Since then it counts brackets first (in turns, medians of five: 15.0 with the older build, 16.6 with today's).
The longest turn at Valet's limits, for which there is no goal, is 1.6 times as long as on the Intel machine, too.

*Profile* (perf, the writer, a node of 3 MiB): 72 % kernel, which clears and maps new pages and copies into the file; 12 % SQLite,
14 % libc's memmove, memset and memcmp; 2 % berthd.

*Tried against it*: an allocator that keeps such memory (in turns, medians of five: 17.7 instead of 16.6 ms; not taken)."""

INNOCENT = """\
3.3 ms on the Intel machine. Here, in turns, the build of 2026-11-23 has 76 ms and today's 67."""

TEXTS = {
    ("PostgreSQL: claim, one client", "p50 against libpq with a claim a batch"): ONE_CLAIM,
    ("PostgreSQL: claim, two instances, 16 connections each", "together against one instance with 32"): TWO,
    ("MariaDB: claim, two instances, 16 connections each", "together against one instance with 32"): TWO_ON_MARIADB,
    ("PostgreSQL: GET /resource_providers/{uuid}, strict", "p50 against SELECT 1, 16 connections each"): STRICT_GET,
    ("MariaDB: GET /resource_providers/{uuid}, strict, on Galera", "requests/s against the embedded store, 16 connections"):
        STRICT_GET_ON_GALERA,
    ("PostgreSQL: candidates, 1 000 hosts, limit=10, strict", "CPU against the Python service, databases included"):
        CANDIDATES,
    ("PostgreSQL: GET /resource_providers/{uuid}, strict",
     "p50 above the embedded store's against SELECT 1, 1 connection each"): ONE_STRICT_GET,
    ("PostgreSQL: start to ready", "1 000 000 hosts"): START,
    ("candidates, 1 000 hosts, no limit", "CPU against writing the bytes"): LARGE,
    ("GET /resource_providers?resources&required", "CPU against writing the bytes"): LARGE,
    ("GET /resource_providers/{uuid}", "CPU against the Python service"): SMALL_REQUEST,
    ("GET /resource_providers/{uuid}", "CPU at 1 connection"): AT_ONE,
    ("candidates, 1 000 hosts, limit=10", "CPU at 1 connection"): AT_ONE,
    ("candidates, 10 000 hosts, limit=10", "CPU at 1 connection"): AT_ONE,
    ("GET /usages?project_id=", "CPU at 1 connection"): AT_ONE,
    ("candidates, 1 000 hosts, limit=10", "CPU"): SLOW_MACHINE,
    ("candidates, 10 000 hosts, limit=10", "CPU"): SLOW_MACHINE,
    ("the tail of claims without a pause", "16 connections"): TAIL,
    ("the tail of claims without a pause", "16 connections beside plans"): TAIL,
    ("the tail of claims without a pause", "256 connections beside plans"): TAIL,
    ("longest turn for one request", "worker"): TURNS,
    ("longest turn for one request", "writer"): TURNS,
    ("a small GET of an innocent client", "p99 beside: half, then gone"): INNOCENT,
}


def sections(rows):
    """Lines of Markdown for the rows that are not met."""
    for row in rows:
        if row.met is False:
            yield from ("", f"### {row.group}: {row.what}", "", f"{row.goal}, here {row.figure}.", "",
                        TEXTS.get((row.group, row.what), "Not profiled yet."))
