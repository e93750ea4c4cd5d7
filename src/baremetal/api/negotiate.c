/* Both headers are reduced to one text, "1.N" or "latest". Pure; any thread. */
#include "baremetal/api/negotiate.h"

#include "api/text/python_int.h"
#include "api/text/version_header.h"
#include "base/arena.h"

enum { DIGITS_MAX = 4300 }; /* of int() */

struct part {
    struct slice text;
    int64_t number;
};

/* As Python's int() reads it. A header is Latin-1 in Python, which has no digits but those of
 * ASCII. */
static bool read_part(struct slice text, struct part *part)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.data[i] >= 0x80)
            return false;
    part->text = text;
    return text.len <= DIGITS_MAX && python_int_parse(text, &part->number);
}

/* "MAJOR.MINOR" */
static bool read_version(struct slice text, struct part *major, struct part *minor)
{
    struct slice before = slice_cut(&text, '.');
    return read_part(before, major) && read_part(text, minor);
}

static struct slice shown(const struct part *part, struct arena *arena)
{
    bool is_beyond = part->number == INT64_MAX || part->number == -INT64_MAX;
    return is_beyond ? python_strip(part->text)
                     : arena_printf(arena, "%lld", (long long)part->number);
}

static bool refuse_major(const struct part *major, const struct part *minor, struct err *err)
{
    struct slice before = shown(major, err->arena);
    struct slice after = shown(minor, err->arena);
    return err_set(err, 406, NULL,
                   "Mutually exclusive versions requested. Version %.*s.%.*s requested but not "
                   "supported by this service. The supported version range is: [1.%d, 1.%d].",
                   SLICE_ARG(before), SLICE_ARG(after), BAREMETAL_MINOR_MIN, BAREMETAL_MINOR_MAX);
}

static bool refuse_minor(const struct part *minor, struct err *err)
{
    struct slice after = shown(minor, err->arena);
    return err_set(err, 406, NULL,
                   "Version 1.%.*s was requested but the minor version is not supported by this "
                   "service. The supported version range is: [1.%d, 1.%d].",
                   SLICE_ARG(after), BAREMETAL_MINOR_MIN, BAREMETAL_MINOR_MAX);
}

bool negotiate_version(struct slice own, struct slice general, unsigned *minor, struct err *err)
{
    const char *header = "X-OpenStack-Ironic-API-Version";
    struct slice version = own;
    if (version.len == 0) {
        header = "OpenStack-API-Version";
        version = version_header_find(general, SLICE_LIT("baremetal"));
    }
    *minor = BAREMETAL_MINOR_MIN;
    if (version.len == 0)
        return true;
    if (slice_equal_nocase(version, SLICE_LIT("latest"))) {
        *minor = BAREMETAL_MINOR_MAX;
        return true;
    }
    struct part major;
    struct part found;
    if (!read_version(version, &major, &found))
        return err_set(err, 406, NULL, "Invalid value for %s header", header);
    if (major.number != 1)
        return refuse_major(&major, &found, err);
    if (found.number < BAREMETAL_MINOR_MIN || found.number > BAREMETAL_MINOR_MAX)
        return refuse_minor(&found, err);
    *minor = (unsigned)found.number;
    return true;
}
