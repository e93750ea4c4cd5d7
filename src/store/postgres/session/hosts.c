/* libpq's lists: a value of host, hostaddr and port for each host, separated by commas. Pure; any
 * thread. */
#include "store/postgres/session/hosts.h"

static size_t parts_of_list(const char *list)
{
    size_t n = list == NULL ? 0 : 1;
    for (; n > 0 && *list != '\0'; list++)
        n += *list == ',';
    return n;
}

/* The part of a list of `n`; a single part is that of all hosts, and an empty one is no value. */
static const char *part_of_list(struct arena *arena, const char *list, size_t at)
{
    if (list == NULL)
        return NULL;
    struct slice rest = slice_of(list);
    struct slice found = slice_cut(&rest, ',');
    for (bool is_list = parts_of_list(list) > 1; is_list && at > 0; at--)
        found = slice_cut(&rest, ',');
    return arena_copy(arena, found).data;
}

bool pg_hosts_list(const struct pg_url *url, struct arena *arena,
                   struct pg_host hosts[static PG_HOSTS_MOST], size_t *count, const char **reason)
{
    const char *names = pg_url_value(url, "host");
    const char *addresses = pg_url_value(url, "hostaddr");
    const char *ports = pg_url_value(url, "port");
    *count = parts_of_list(addresses != NULL ? addresses : names);
    *count = *count == 0 ? 1 : *count;
    bool fits = *count <= PG_HOSTS_MOST &&
                (parts_of_list(ports) <= 1 || parts_of_list(ports) == *count) &&
                (names == NULL || addresses == NULL || parts_of_list(names) == *count);
    *reason = *count > PG_HOSTS_MOST ? "there are too many hosts"
                                     : "there are not as many ports as hosts";
    for (size_t i = 0; i < *count && fits; i++)
        hosts[i] = (struct pg_host){.host = part_of_list(arena, names, i),
                                    .address = part_of_list(arena, addresses, i),
                                    .port = part_of_list(arena, ports, i)};
    return fits;
}
