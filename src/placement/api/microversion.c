/* The version header is a list of "SERVICE VERSION"; the last entry for placement counts. Pure; any
 * thread. */
#include "placement/api/microversion.h"

#include "api/text/python_int.h"
#include "api/text/python_repr.h"
#include "api/text/version_header.h"
#include "base/arena.h"

/* The message of Python's int() for a text that it rejects. */
static bool refuse_int(struct err *err, struct slice version, struct slice part)
{
    struct buf text = {0};
    buf_append_lit(&text, "Invalid microversion: invalid version string: ");
    buf_append_slice(&text, version);
    buf_append_lit(&text, "; invalid literal for int() with base 10: ");
    python_repr_string(&text, part);
    struct slice message = arena_copy(err->arena, buf_slice(&text));
    buf_free(&text);
    return err_set_text(err, 400, NULL, message);
}

/* Parses exactly "placement 1.N", which almost all clients send. */
static bool read_plain(struct slice header, unsigned *minor)
{
    const struct slice known = SLICE_LIT("placement 1.");
    if (header.len <= known.len || header.len > known.len + 2 || !slice_starts_with(header, known))
        return false;
    unsigned number = 0;
    for (size_t i = known.len; i < header.len; i++) {
        if (header.data[i] < '0' || header.data[i] > '9')
            return false;
        number = number * 10 + (unsigned)(header.data[i] - '0');
    }
    *minor = number;
    return number <= PLACEMENT_MINOR_MAX;
}

bool microversion_negotiate(struct slice header, unsigned *minor, struct err *err)
{
    if (read_plain(header, minor))
        return true;
    struct slice version = version_header_find(header, SLICE_LIT("placement"));
    *minor = 0;
    if (version.data == NULL)
        return true;
    if (slice_equal(version, SLICE_LIT("latest"))) {
        *minor = PLACEMENT_MINOR_MAX;
        return true;
    }
    const char *dot = memchr(version.data, '.', version.len);
    int64_t major;
    int64_t found;
    struct slice before = version;
    if (dot != NULL)
        before.len = (size_t)(dot - version.data);
    if (!python_int_parse(before, &major))
        return refuse_int(err, version, before);
    if (dot == NULL)
        return err_set(err, 400, NULL,
                       "Invalid microversion: invalid version string: %.*s; Version.__new__() "
                       "missing 1 required positional argument: 'minor'",
                       SLICE_ARG(version));
    struct slice after = slice_skip(version, before.len + 1);
    if (!python_int_parse(after, &found))
        return refuse_int(err, version, after);
    if (major != 1 || found < 0 || found > PLACEMENT_MINOR_MAX)
        return err_set(err, 406, NULL, "Invalid microversion: Unacceptable version header: %.*s",
                       SLICE_ARG(version));
    *minor = (unsigned)found;
    return true;
}
