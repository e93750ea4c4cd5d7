/* Both headers come to one text, "1.N" or "latest". Pure; any thread. */
#include "api/baremetal/negotiate.h"

#include "api/python_int.h"
#include "api/version_header.h"
#include "base/arena.h"

/* "MAJOR.MINOR", each as Python's int() takes it. */
static bool read_version(struct slice text, int64_t *major, int64_t *minor)
{
    struct slice before = slice_cut(&text, '.');
    return python_int_parse(before, major) && python_int_parse(text, minor);
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
    int64_t major;
    int64_t found;
    if (!read_version(version, &major, &found))
        return err_set(err, 406, NULL, "Invalid value for %s header", header);
    if (major != 1)
        return err_set(err, 406, NULL,
                       "Mutually exclusive versions requested. Version %lld.%lld requested but not "
                       "supported by this service. The supported version range is: [1.%d, 1.%d].",
                       (long long)major, (long long)found, BAREMETAL_MINOR_MIN,
                       BAREMETAL_MINOR_MAX);
    if (found < BAREMETAL_MINOR_MIN || found > BAREMETAL_MINOR_MAX)
        return err_set(err, 406, NULL,
                       "Version 1.%lld was requested but the minor version is not supported by "
                       "this service. The supported version range is: [1.%d, 1.%d].",
                       (long long)found, BAREMETAL_MINOR_MIN, BAREMETAL_MINOR_MAX);
    *minor = (unsigned)found;
    return true;
}
