/* Names of levels. Pure; any thread. */
#include "conf/log_level.h"

#include "log/settings.h"

bool log_level_parse(struct slice name, int *level)
{
    static const struct {
        const char *name;
        int level;
    } LEVELS[] = {{"CRITICAL", LOG_NUMBER_CRITICAL}, {"FATAL", LOG_NUMBER_CRITICAL},
                  {"ERROR", LOG_NUMBER_ERROR},       {"WARNING", LOG_NUMBER_WARNING},
                  {"WARN", LOG_NUMBER_WARNING},      {"INFO", LOG_NUMBER_INFO},
                  {"DEBUG", LOG_NUMBER_DEBUG},       {"TRACE", LOG_NUMBER_TRACE},
                  {"NOTSET", LOG_NUMBER_UNSET}};
    for (size_t i = 0; i < sizeof(LEVELS) / sizeof(LEVELS[0]); i++)
        if (slice_equal(name, slice_of(LEVELS[i].name))) {
            *level = LEVELS[i].level;
            return true;
        }
    return false;
}
