/* Access to the loaded configuration. Any thread. */
#include "conf/settings.h"

const struct conf_value *conf_value(const struct conf *conf, const char *section, const char *name)
{
    return &conf->values[option_named(section, name) - option_table];
}
