/* Converts the options of the Valet API to fields. Runs while the process starts. */
#include "conf/fill_sections.h"

#include "conf/fill_apis.h"

static const char SECTION[] = "valet";

static const struct conf_value *option(const struct conf *conf, const char *name)
{
    return conf_value(conf, SECTION, name);
}

static bool fill_zone(const struct conf *conf, struct conf_valet *valet, struct err *err)
{
    const struct conf_value *zone = option(conf, "default_zone");
    valet->default_zone = slice_of(zone->is_set ? zone->text : "");
    return valet->default_zone.len > 0 ||
           fill_refuse(err, zone, "the name of an availability zone", "");
}

bool fill_valet(struct conf *conf, struct err *err)
{
    struct conf_valet *valet = &conf->valet;
    const struct conf_value *flavors = option(conf, "flavors");
    *valet = (struct conf_valet){
        .flavors = flavors->is_set && flavors->text[0] != '\0' ? flavors->text : NULL,
        .step_limit = option(conf, "step_limit")->integer,
        .max_servers = (unsigned)option(conf, "max_servers")->integer,
    };
    return fill_api(conf, SECTION, &valet->listen, &valet->listen_count, &valet->listen_is_default,
                    err) &&
           fill_prefixes(conf, SECTION, "prefix", &valet->mount_prefixes,
                         &valet->mount_prefix_count, err) &&
           fill_zone(conf, valet, err);
}
