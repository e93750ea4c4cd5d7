/* Decides which of the texts given for an option is used, and converts it. The idea: options are
 * resolved one by one, and where a value refers to another option, that one is resolved first; an
 * option that is reached again while it is being resolved refers to itself.
 *
 * If both the current and an old name of an option are set, oslo.config prefers the one in the
 * later file and, within one file, the current name. While the process starts: one thread. */
#include "conf/resolve.h"

#include <ctype.h>
#include <stdlib.h>

#include "conf/interpolate.h"

enum {
    /* Values that refer to values that refer to values grow exponentially; real ones are short. */
    RESOLVE_MAX_BYTES = 64 * 1024
};

enum resolve_state { RESOLVE_NEW, RESOLVE_OPEN, RESOLVE_DONE, RESOLVE_BAD };

struct resolver {
    const struct resolve_from *from;
    struct arena *arena;
    struct conf_value *values;
    enum resolve_state *states; /* one for each option */
    const char *auth_section;   /* where options of_auth_plugin are read */
    struct texts_builder *deprecated;
    struct faults *faults;
};

/* The texts used for one option: one, or for OPTION_MULTI any number. */
struct given {
    struct slice *texts;
    size_t n;
    size_t room;
    enum conf_origin origin;
    const char *where;
};

/* The section that an option is read from: the table's, or the one that auth_section names. */
static const char *section_of(const struct resolver *r, const struct option *option)
{
    return option->of_auth_plugin ? r->auth_section : option->section;
}

static void give(struct given *given, const struct option *option, struct arena *arena,
                 struct slice text)
{
    if (option->type != OPTION_MULTI)
        given->n = 0;
    given->texts = arena_grow(arena, given->texts, given->n, &given->room, sizeof(*given->texts));
    given->texts[given->n++] = text;
}

static void give_overrides(struct given *given, const struct option *option, struct arena *arena,
                           const struct conf_override *overrides, size_t n, enum conf_origin origin)
{
    for (size_t i = 0; i < n; i++)
        if (option_find(slice_of(overrides[i].section), slice_of(overrides[i].name)) == option) {
            give(given, option, arena, slice_of(overrides[i].value));
            given->origin = origin;
            given->where = overrides[i].where;
        }
}

static void give_environment(struct resolver *r, struct given *given, const struct option *option)
{
    struct slice name = arena_printf(r->arena, "OS_%s__%s", section_of(r, option), option->name);
    char *variable = arena_alloc(r->arena, name.len + 1);
    for (size_t i = 0; i <= name.len; i++)
        variable[i] = (char)toupper((unsigned char)name.data[i]);
    const char *text = getenv(variable);
    if (text == NULL)
        return;
    give(given, option, r->arena, slice_of(text));
    given->origin = CONF_ORIGIN_ENVIRONMENT;
    given->where = variable;
}

static bool give_entries(struct given *given, const struct option *option, struct arena *arena,
                         const struct read_file *file, const char *section, const char *name)
{
    const struct ini_entry *last = NULL;
    for (size_t i = 0; i < file->ini.n; i++) {
        const struct ini_entry *entry = &file->ini.entries[i];
        if (!slice_equal(entry->key, slice_of(name)) || !ini_section_is(entry->section, section))
            continue;
        give(given, option, arena, entry->value);
        last = entry;
    }
    if (last == NULL)
        return false;
    given->origin = CONF_ORIGIN_FILE;
    given->where = arena_printf(arena, "%s:%u", file->path, last->line).data;
    return true;
}

static void give_file(struct resolver *r, struct given *given, const struct option *option,
                      const struct read_file *file)
{
    const char *section = section_of(r, option);
    for (int i = OPTION_OLD_NAMES; i-- > 0;) {
        const struct option_name *old = &option->deprecated[i];
        const char *old_section = option->of_auth_plugin ? section : old->section;
        if (old->section != NULL &&
            give_entries(given, option, r->arena, file, old_section, old->name))
            texts_add(r->deprecated, r->arena,
                      arena_printf(r->arena, "%s: [%s] %s is now [%s] %s", given->where,
                                   old_section, old->name, section, option->name)
                          .data);
    }
    (void)give_entries(given, option, r->arena, file, section, option->name);
}

static void give_fallback(struct given *given, const struct option *option, struct arena *arena)
{
    given->origin = CONF_ORIGIN_DEFAULT;
    given->where = "";
    struct slice rest = slice_of(option->fallback == NULL ? "" : option->fallback);
    if (option->fallback == NULL)
        return;
    if (option->type != OPTION_MULTI) {
        give(given, option, arena, rest);
        return;
    }
    while (rest.len > 0) {
        size_t len = strcspn(rest.data, ",");
        give(given, option, arena, (struct slice){rest.data, len});
        rest = slice_skip(rest, len < rest.len ? len + 1 : len);
    }
}

/* The texts of the highest rank that has any. */
static struct given resolve_collect(struct resolver *r, const struct option *option)
{
    const struct resolve_from *from = r->from;
    struct given given = {0};
    give_overrides(&given, option, r->arena, from->inputs->overrides, from->inputs->overrides_n,
                   CONF_ORIGIN_COMMAND_LINE);
    if (given.n == 0)
        give_environment(r, &given, option);
    if (given.n == 0)
        for (size_t i = 0; i < from->files_n; i++)
            give_file(r, &given, option, &from->files[i]);
    if (given.n == 0)
        give_overrides(&given, option, r->arena, from->embedded, from->embedded_n,
                       CONF_ORIGIN_EMBEDDED);
    if (given.n == 0)
        give_fallback(&given, option, r->arena);
    return given;
}

static bool resolve(struct resolver *r, const struct option *option);

struct reference {
    struct resolver *resolver;
    const struct option *from; /* the option whose value refers */
    const char *where;
};

static bool has_capital(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] >= 'A' && text.data[i] <= 'Z')
            return true;
    return false;
}

/* An option that has only moved to another section is not found in its old section. */
static const struct option *find_referred(struct slice section, struct slice name)
{
    const struct option *option = option_find(section, name);
    if (option != NULL)
        return option;
    option = option_find_any(section, name);
    return option != NULL && slice_equal(name, slice_of(option->name)) ? NULL : option;
}

static const struct option *option_in(const struct resolver *r, struct slice section,
                                      struct slice name)
{
    const struct option *option = find_referred(section, name);
    if (option != NULL || !ini_section_is(section, r->auth_section))
        return option;
    option = find_referred(SLICE_LIT(OPTION_AUTH_SECTION), name);
    return option != NULL && option->of_auth_plugin ? option : NULL;
}

/* `section.name`, or a name in the same section, else in DEFAULT. Old names work, too. Unlike in a
 * file, the section's name must be in lower case. */
static const struct option *referred_option(const struct resolver *r, const struct option *from,
                                            struct slice name)
{
    const char *dot = memchr(name.data, '.', name.len);
    if (dot != NULL) {
        struct slice section = {name.data, (size_t)(dot - name.data)};
        return has_capital(section) && !slice_equal(section, SLICE_LIT("DEFAULT"))
                   ? NULL
                   : option_in(r, section, slice_skip(name, section.len + 1));
    }
    const struct option *option = find_referred(slice_of(from->section), name);
    return option != NULL ? option : find_referred(SLICE_LIT("DEFAULT"), name);
}

static bool find_reference(void *context, struct slice name, struct buf *out)
{
    struct reference *reference = context;
    struct resolver *r = reference->resolver;
    const struct option *from = reference->from;
    const struct option *to = referred_option(r, from, name);
    if (to == NULL)
        return err_set(
            r->faults->err, 500, NULL,
            "%s: [%s] %s refers to $%.*s, which is not an option (write $$ for a dollar sign)",
            reference->where, section_of(r, from), from->name, SLICE_ARG(name));
    if (r->states[to - option_table] == RESOLVE_OPEN)
        return err_set(r->faults->err, 500, NULL, "%s: [%s] %s refers to itself by $%.*s",
                       reference->where, section_of(r, from), from->name, SLICE_ARG(name));
    if (!resolve(r, to))
        return false;
    value_print(&r->values[to - option_table], out);
    if (out->len <= RESOLVE_MAX_BYTES)
        return true;
    return err_set(r->faults->err, 500, NULL, "%s: [%s] %s is longer than %d bytes",
                   reference->where, section_of(r, from), from->name, RESOLVE_MAX_BYTES);
}

static bool interpolate(struct resolver *r, const struct option *option, struct given *given)
{
    struct reference reference = {r, option, given->where};
    struct interpolate_lookup lookup = {find_reference, &reference};
    for (size_t i = 0; i < given->n; i++) {
        if (memchr(given->texts[i].data, '$', given->texts[i].len) == NULL)
            continue;
        struct buf out = {0};
        bool ok = interpolate_expand(given->texts[i], lookup, &out);
        if (ok)
            given->texts[i] = arena_copy(r->arena, buf_slice(&out));
        buf_free(&out);
        if (!ok)
            return false;
    }
    return true;
}

static bool convert(struct resolver *r, struct conf_value *value, const struct given *given)
{
    struct slice why = {0};
    value->origin = given->origin;
    value->where = given->where;
    if (given->n == 0)
        return true;
    if (value_convert(value, given->texts, given->n, r->arena, &why))
        return true;
    return err_set(r->faults->err, 500, NULL, "%s: [%s] %s %.*s", value->where,
                   section_of(r, value->option), value->option->name, SLICE_ARG(why));
}

/* For an option with an invalid value, in an examination. Its default may refer to another such
 * option; then it has no value. */
static void take_default(struct resolver *r, struct conf_value *value)
{
    struct given given = {0};
    give_fallback(&given, value->option, r->arena);
    *value = (struct conf_value){.option = value->option};
    if (!interpolate(r, value->option, &given) || !convert(r, value, &given))
        (void)faults_go_on(r->faults);
}

static bool resolve(struct resolver *r, const struct option *option)
{
    size_t at = (size_t)(option - option_table);
    struct conf_value *value = &r->values[at];
    if (r->states[at] == RESOLVE_DONE || r->states[at] == RESOLVE_BAD)
        return r->states[at] == RESOLVE_DONE;
    r->states[at] = RESOLVE_OPEN;
    *value = (struct conf_value){.option = option};
    struct given given = resolve_collect(r, option);
    if (!interpolate(r, option, &given) || !convert(r, value, &given)) {
        r->states[at] = RESOLVE_BAD;
        if (faults_go_on(r->faults))
            take_default(r, value);
        return false;
    }
    if (!value->is_set && option->fallback != NULL) {
        /* An empty number. Upstream treats it as None, which no number of ours can be. */
        given = (struct given){0};
        give_fallback(&given, option, r->arena);
        check(convert(r, value, &given)); /* the tests convert each default */
    }
    r->states[at] = RESOLVE_DONE;
    return true;
}

/* The option that decides which section others are read from comes first. */
static bool resolve_auth_section(struct resolver *r)
{
    const struct option *option = option_named(OPTION_AUTH_SECTION, "auth_section");
    const struct conf_value *value = &r->values[option - option_table];
    r->auth_section = OPTION_AUTH_SECTION;
    if (!resolve(r, option))
        return false;
    if (!value->is_set || value->text[0] == '\0')
        return true;
    char *section = (char *)(uintptr_t)arena_copy(r->arena, slice_of(value->text)).data;
    if (strcmp(section, "DEFAULT") != 0)
        for (char *c = section; *c != '\0'; c++)
            *c = (char)tolower((unsigned char)*c);
    r->auth_section = section;
    return true;
}

bool resolve_options(const struct resolve_from *from, struct arena *arena,
                     struct conf_value *values, struct texts_builder *deprecated,
                     const char **auth_section, struct faults *faults)
{
    struct resolver resolver = {
        .from = from,
        .arena = arena,
        .values = values,
        .states = memset(arena_array(arena, option_count, sizeof(enum resolve_state)), 0,
                         option_count * sizeof(enum resolve_state)),
        .deprecated = deprecated,
        .faults = faults,
    };
    if (!resolve_auth_section(&resolver) && faults->all == NULL)
        return false;
    *auth_section = resolver.auth_section;
    for (size_t i = 0; i < option_count; i++)
        if (!resolve(&resolver, &option_table[i]) && faults->all == NULL)
            return false;
    return true;
}
