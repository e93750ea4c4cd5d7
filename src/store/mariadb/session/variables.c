/* See variables.h. A version of the server may lack any of the names, so a missing one is no error,
 * and counts as off. Pure; any thread. */
#include "store/mariadb/session/variables.h"

#include <stdio.h>
#include <stdlib.h>

struct slice mariadb_list_value(const struct mariadb_rows *rows, const char *name)
{
    for (size_t i = 0; i < mariadb_rows_count(rows); i++) {
        struct slice found = mariadb_rows_bytes(rows, i, 0);
        struct slice value = mariadb_rows_bytes(rows, i, 1);
        if (found.data != NULL && slice_equal_nocase(found, slice_of(name)) && value.data != NULL)
            return value;
    }
    return SLICE_LIT("");
}

/* Values end with a NUL byte. */
uint64_t mariadb_list_number(const struct mariadb_rows *rows, const char *name)
{
    return strtoull(mariadb_list_value(rows, name).data, NULL, 10);
}

bool mariadb_value_is_on(struct slice value)
{
    return slice_equal_nocase(value, SLICE_LIT("ON")) || slice_equal(value, SLICE_LIT("1"));
}

/* MariaDB 12 knows more values than ON and OFF, which all forbid writes, and also returns the names
 * where older versions return numbers. */
bool mariadb_value_accepts_writes(struct slice read_only)
{
    return read_only.data != NULL && (slice_equal_nocase(read_only, SLICE_LIT("OFF")) ||
                                      slice_equal(read_only, SLICE_LIT("0")));
}

static bool is_set(struct slice value)
{
    return value.len > 0 && !mariadb_value_accepts_writes(value);
}

bool mariadb_list_is_read_only(const struct mariadb_rows *variables)
{
    return is_set(mariadb_list_value(variables, "read_only")) ||
           is_set(mariadb_list_value(variables, "super_read_only"));
}

bool mariadb_list_is_galera(const struct mariadb_rows *variables)
{
    struct slice provider = mariadb_list_value(variables, "wsrep_provider");
    return mariadb_value_is_on(mariadb_list_value(variables, "wsrep_on")) && provider.len > 0 &&
           !slice_equal_nocase(provider, SLICE_LIT("none"));
}

void mariadb_copy_value(char *out, size_t room, struct slice value)
{
    snprintf(out, room, "%.*s", SLICE_ARG(value));
}
