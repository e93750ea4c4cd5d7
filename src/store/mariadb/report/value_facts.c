/* See value_facts.h. MariaDB stores no JSON of more than 31 levels in a column that checks it
 * (JSON_VALID), and MySQL none of more than 100. U+0000 fits.
 *
 * What fits into a charset of one byte for each character depends on its table: ASCII certainly
 * does, in all that a column can have. Others are refused, although the database might hold them.
 * One thread at a time. */
#include "store/mariadb/report/value_facts.h"

#include "store/mariadb/session/session_state.h"

enum { JSON_DEPTH_MARIADB = 31, JSON_DEPTH_MYSQL = 100 };

const struct value_limits mariadb_value_limits = {.has_lengths = true,
                                                  .json_depth = JSON_DEPTH_MARIADB};

unsigned mariadb_charset_utf8_bytes(const char *charset)
{
    static const struct {
        const char *name;
        unsigned bytes;
    } charsets[] = {{"utf8mb4", 4}, {"utf8mb3", 3}, {"utf8", 3}, {"utf16", 4},
                    {"utf16le", 4}, {"utf32", 4},   {"ucs2", 3}, {"gb18030", 4}};
    for (size_t i = 0; i < sizeof(charsets) / sizeof(charsets[0]); i++)
        if (slice_equal_nocase(slice_of(charset), slice_of(charsets[i].name)))
            return charsets[i].bytes;
    return 1;
}

/* A column that is missing, or is no text but bytes, keeps what is known without it. */
static void take_room(const struct mariadb_column *column, struct text_room *room)
{
    *room = (struct text_room){0};
    if (column->charset[0] != '\0')
        *room =
            (struct text_room){.chars = column->chars,
                               .utf8_bytes = (uint8_t)mariadb_charset_utf8_bytes(column->charset)};
}

enum server_outcome mariadb_value_facts_read(struct server_session *base,
                                             struct value_limits *limits, uint64_t deadline_us,
                                             struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    struct mariadb_columns columns;
    enum server_outcome outcome = mariadb_columns_read(session, &columns, deadline_us, err);
    if (outcome != SERVER_OK)
        return outcome;
    *limits = mariadb_value_limits;
    if (!mariadb_session_server(session)->is_mariadb)
        limits->json_depth = JSON_DEPTH_MYSQL;
    for (unsigned table = 0; table < ROWS_RECORDS; table++)
        for (unsigned i = 0; i < VALUE_COLUMNS_MOST; i++)
            take_room(&columns.of[table][i], &limits->rooms[table][i]);
    return SERVER_OK;
}
