/* Reads [keystone_authtoken] and, if auth_section names one, the section of the service's own
 * login. Errors that Python's plugins would report at the first request, and settings that can
 * never work, are reported here, in one line; whether Keystone is running is not checked. An empty
 * value counts as none, as upstream. Called at startup, on one thread. */
#include "keystone/settings.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/json_write.h"
#include "keystone/url.h"

enum {
    ATTEMPT_TIMEOUT_S = 30,
    TIMEOUT_MOST_S = 60, /* no query lasts longer; a login would, and would delay all queries */
    RETRIES_MOST = 1000,
    CACHE_MOST_S = 30 * 86400
};

struct reader {
    const struct conf *conf;
    struct arena *arena;
    struct err *err;
    struct keystone_settings *out;
};

/* A kind of login, and what its name implies. */
static const struct plugin {
    const char *name;
    const char *method; /* in the login's body; NULL: no login */
    bool discovers;
    bool has_default_domain;
} PLUGINS[] = {
    {"password", "password", true, true},
    {"v3password", "password", false, false},
    {"v3applicationcredential", "application_credential", false, false},
    {"token", "token", true, true},
    {"v3token", "token", false, false},
    {"admin_token", NULL, false, false},
};

static const struct conf_value *settings_value_of(const struct reader *r, const char *name)
{
    return conf_value(r->conf, OPTION_AUTH_SECTION, name);
}

/* NULL: not set, or empty. */
static const char *settings_text_of(const struct reader *r, const char *name)
{
    const struct conf_value *value = settings_value_of(r, name);
    return value->is_set && value->text[0] != '\0' ? value->text : NULL;
}

static const char *section_of(const struct reader *r, const char *name)
{
    return settings_value_of(r, name)->option->of_auth_plugin ? r->conf->auth_section
                                                              : OPTION_AUTH_SECTION;
}

/* For a missing option there is no line to name, only the file that was read last. */
static bool refuse_missing(const struct reader *r, const char *section, const char *what)
{
    const struct conf_texts *files = &r->conf->files;
    return err_set(r->err, 500, NULL, "[%s] %s%s%s", section, what, files->n > 0 ? " in " : "",
                   files->n > 0 ? files->items[files->n - 1] : "");
}

static bool settings_refuse(const struct reader *r, const char *name, const char *what)
{
    return err_set(r->err, 500, NULL, "%s: [%s] %s %s", settings_value_of(r, name)->where,
                   section_of(r, name), name, what);
}

static bool need(const struct reader *r, const char *name)
{
    if (settings_text_of(r, name) != NULL)
        return true;
    return refuse_missing(r, section_of(r, name),
                          arena_printf(r->arena, "%s is not set", name).data);
}

static bool check_url(const struct reader *r, const char *name)
{
    if (!need(r, name))
        return false;
    return keystone_url_is_usable(settings_text_of(r, name)) ||
           settings_refuse(r, name, "is not an http or https URL with a host");
}

static bool check_file(const struct reader *r, const char *name)
{
    const char *path = settings_text_of(r, name);
    return path == NULL || access(path, R_OK) == 0 || settings_refuse(r, name, "cannot be read");
}

/* Writes a member of the login's body. */

static void write_member(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, "\"%s\": ", name);
    json_write_string(out, slice_of(value));
}

/* {"id": …} or {"name": …}; the id takes precedence. */
static void write_reference(struct buf *out, const char *id, const char *name)
{
    buf_append_char(out, '{');
    write_member(out, id != NULL ? "id" : "name", id != NULL ? id : name);
    buf_append_char(out, '}');
}

struct domain {
    const char *id;
    const char *name;
};

static struct domain domain_of(const struct reader *r, const struct plugin *plugin, const char *id,
                               const char *name)
{
    struct domain domain = {settings_text_of(r, id), settings_text_of(r, name)};
    if (plugin->has_default_domain && domain.id == NULL)
        domain.id = settings_text_of(r, "default_domain_id");
    if (plugin->has_default_domain && domain.name == NULL)
        domain.name = settings_text_of(r, "default_domain_name");
    return domain;
}

static bool need_domain(const struct reader *r, const struct domain *domain,
                        const struct plugin *plugin, const char *of, const char *option)
{
    if (domain->id != NULL || domain->name != NULL)
        return true;
    return refuse_missing(
        r, r->conf->auth_section,
        arena_printf(r->arena, "%s needs %s_domain_id or %s_domain_name%s, none is set", option, of,
                     of, plugin->has_default_domain ? " or a default domain" : "")
            .data);
}

/* Writes the members of "user", without the braces. */
static bool write_user(const struct reader *r, const struct plugin *plugin, struct buf *out)
{
    struct domain domain = domain_of(r, plugin, "user_domain_id", "user_domain_name");
    const char *id = settings_text_of(r, "user_id");
    const char *name = settings_text_of(r, "username");
    if (id != NULL) {
        write_member(out, "id", id);
        return true;
    }
    if (name == NULL)
        return refuse_missing(r, r->conf->auth_section, "has neither username nor user_id set");
    if (!need_domain(r, &domain, plugin, "user", "username"))
        return false;
    write_member(out, "name", name);
    buf_append_lit(out, ", \"domain\": ");
    write_reference(out, domain.id, domain.name);
    return true;
}

static bool write_password(const struct reader *r, const struct plugin *plugin, struct buf *out)
{
    buf_append_lit(out, "{\"user\": {");
    if (!write_user(r, plugin, out) || !need(r, "password"))
        return false;
    buf_append_lit(out, ", ");
    write_member(out, "password", settings_text_of(r, "password"));
    buf_append_lit(out, "}}");
    return true;
}

static bool write_credential(const struct reader *r, const struct plugin *plugin, struct buf *out)
{
    const char *id = settings_text_of(r, "application_credential_id");
    const char *name = settings_text_of(r, "application_credential_name");
    if (!need(r, "application_credential_secret"))
        return false;
    buf_append_char(out, '{');
    write_member(out, "secret", settings_text_of(r, "application_credential_secret"));
    buf_append_lit(out, ", ");
    if (id != NULL) {
        write_member(out, "id", id);
    } else if (name != NULL) {
        write_member(out, "name", name);
        buf_append_lit(out, ", \"user\": {");
        if (!write_user(r, plugin, out))
            return false;
        buf_append_char(out, '}');
    } else {
        return refuse_missing(
            r, r->conf->auth_section,
            "has neither application_credential_id nor application_credential_name set");
    }
    buf_append_char(out, '}');
    return true;
}

static bool write_token(const struct reader *r, struct buf *out)
{
    if (!need(r, "token"))
        return false;
    r->out->own_token = settings_text_of(r, "token");
    write_reference(out, settings_text_of(r, "token"), NULL);
    return true;
}

static bool write_project(const struct reader *r, const struct plugin *plugin, struct buf *out)
{
    struct domain domain = domain_of(r, plugin, "project_domain_id", "project_domain_name");
    const char *id = settings_text_of(r, "project_id");
    buf_append_lit(out, ", \"scope\": {\"project\": {");
    if (id != NULL) {
        write_member(out, "id", id);
    } else {
        if (!need_domain(r, &domain, plugin, "project", "project_name"))
            return false;
        write_member(out, "name", settings_text_of(r, "project_name"));
        buf_append_lit(out, ", \"domain\": ");
        write_reference(out, domain.id, domain.name);
    }
    buf_append_lit(out, "}}");
    return true;
}

static bool write_scope(const struct reader *r, const struct plugin *plugin, struct buf *out)
{
    bool domain =
        settings_text_of(r, "domain_id") != NULL || settings_text_of(r, "domain_name") != NULL;
    bool project =
        settings_text_of(r, "project_id") != NULL || settings_text_of(r, "project_name") != NULL;
    bool trust = settings_text_of(r, "trust_id") != NULL;
    if (domain + project + trust > 1)
        return refuse_missing(r, r->conf->auth_section,
                              "has more than one scope: set a project, a domain or trust_id");
    if (project)
        return write_project(r, plugin, out);
    if (domain) {
        buf_append_lit(out, ", \"scope\": {\"domain\": ");
        write_reference(out, settings_text_of(r, "domain_id"), settings_text_of(r, "domain_name"));
        buf_append_char(out, '}');
    } else if (trust) {
        buf_append_lit(out, ", \"scope\": {\"OS-TRUST:trust\": ");
        write_reference(out, settings_text_of(r, "trust_id"), NULL);
        buf_append_char(out, '}');
    } else if (settings_text_of(r, "system_scope") != NULL) {
        if (strcmp(settings_text_of(r, "system_scope"), "all") != 0)
            return settings_refuse(r, "system_scope", "must be all");
        buf_append_lit(out, ", \"scope\": {\"system\": {\"all\": true}}");
    }
    return true;
}

static bool write_login(const struct reader *r, const struct plugin *plugin, struct buf *out)
{
    buf_printf(out, "{\"auth\": {\"identity\": {\"methods\": [\"%s\"], \"%s\": ", plugin->method,
               plugin->method);
    bool ok;
    if (strcmp(plugin->method, "password") == 0)
        ok = write_password(r, plugin, out);
    else if (strcmp(plugin->method, "token") == 0)
        ok = write_token(r, out);
    else
        ok = write_credential(r, plugin, out);
    buf_append_char(out, '}');
    if (!ok || !write_scope(r, plugin, out))
        return false;
    buf_append_lit(out, "}}");
    return true;
}

static const struct plugin *find_plugin(const struct reader *r)
{
    struct buf names = {0};
    const struct plugin *found = NULL;
    const char *type = settings_text_of(r, "auth_type");
    for (size_t i = 0; i < sizeof(PLUGINS) / sizeof(PLUGINS[0]); i++) {
        buf_printf(&names, "%s%s", i == 0 ? "" : ", ", PLUGINS[i].name);
        if (type != NULL && strcmp(type, PLUGINS[i].name) == 0)
            found = &PLUGINS[i];
    }
    if (type == NULL)
        (void)need(r, "auth_type");
    else if (found == NULL)
        (void)settings_refuse(
            r, "auth_type",
            arena_printf(r->arena, "must be one of %.*s", SLICE_ARG(buf_slice(&names))).data);
    buf_free(&names);
    return found;
}

static bool fill_login(const struct reader *r)
{
    const struct plugin *plugin = find_plugin(r);
    if (plugin == NULL)
        return false;
    const char *url = plugin->method != NULL ? "auth_url" : "endpoint";
    if (!check_url(r, url))
        return false;
    r->out->auth_url = settings_text_of(r, url);
    r->out->discovers = plugin->discovers;
    if (plugin->method == NULL) {
        r->out->own_token = settings_text_of(r, "token");
        return need(r, "token");
    }
    struct buf body = {0};
    bool ok = write_login(r, plugin, &body);
    r->out->login_body = arena_copy(r->arena, buf_slice(&body)).data;
    buf_free(&body);
    return ok;
}

static bool fill_endpoint(const struct reader *r)
{
    static const char *const names[] = {"internal", "public", "admin"};
    const char *interface = settings_text_of(r, "interface");
    if (interface == NULL)
        interface = "public"; /* keystoneauth's default for an empty value */
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t len = strlen(names[i]);
        if (strncmp(interface, names[i], len) == 0 &&
            (interface[len] == '\0' || strcmp(interface + len, "URL") == 0))
            r->out->interface = names[i];
    }
    if (r->out->interface == NULL)
        return settings_refuse(r, "interface", "must be internal, public or admin");
    r->out->region_name = settings_text_of(r, "region_name");
    return true;
}

/* Upstream accepts any number; values outside these limits behave like the limits. */
static unsigned within(int64_t number, int64_t low, int64_t high)
{
    return (unsigned)(number < low ? low : number > high ? high : number);
}

static bool fill_connection(const struct reader *r)
{
    struct keystone_settings *out = r->out;
    const struct conf_value *timeout = settings_value_of(r, "http_connect_timeout");
    out->cafile = settings_text_of(r, "cafile");
    out->certfile = settings_text_of(r, "certfile");
    out->keyfile = settings_text_of(r, "keyfile");
    out->insecure = settings_value_of(r, "insecure")->boolean;
    out->attempt_timeout_ms =
        within(timeout->is_set ? timeout->integer : ATTEMPT_TIMEOUT_S, 1, TIMEOUT_MOST_S) * 1000;
    out->retries =
        within(settings_value_of(r, "http_request_max_retries")->integer, 0, RETRIES_MOST);
    return check_file(r, "cafile") && check_file(r, "certfile") && check_file(r, "keyfile");
}

static enum token_bind bind_of(const char *mode)
{
    if (mode != NULL && strcmp(mode, "disabled") == 0)
        return TOKEN_BIND_DISABLED;
    if (mode != NULL && strcmp(mode, "permissive") == 0)
        return TOKEN_BIND_PERMISSIVE;
    if (mode != NULL && strcmp(mode, "strict") == 0)
        return TOKEN_BIND_STRICT;
    return TOKEN_BIND_REQUIRED;
}

/* An empty type counts as none. */
static struct slice service_type(const char *type)
{
    return type == NULL || type[0] == '\0' ? (struct slice){0} : slice_of(type);
}

static void fill_tokens(const struct reader *r)
{
    struct keystone_settings *out = r->out;
    const struct conf_value *roles = settings_value_of(r, "service_token_roles");
    out->delay_auth_decision = settings_value_of(r, "delay_auth_decision")->boolean;
    out->cache_s = within(settings_value_of(r, "token_cache_time")->integer, 0, CACHE_MOST_S);
    out->service_roles = (struct conf_texts){roles->items, roles->items_n};
    out->service_roles_required = settings_value_of(r, "service_token_roles_required")->boolean;
    out->terms.service_types[TOKEN_SERVICE_PLACEMENT] =
        service_type(settings_text_of(r, "service_type"));
    out->terms.service_types[TOKEN_SERVICE_BAREMETAL] =
        service_type(conf_value(r->conf, "baremetal", "service_type")->text);
    out->terms.service_types[TOKEN_SERVICE_VALET] =
        service_type(conf_value(r->conf, "valet", "service_type")->text);
    out->terms.bind = bind_of(settings_text_of(r, "enforce_token_bind"));
}

/* Without www_authenticate_uri, upstream sends auth_url to callers. */
static bool fill_www_authenticate(const struct reader *r)
{
    const char *name = settings_text_of(r, "www_authenticate_uri") != NULL ? "www_authenticate_uri"
                       : settings_text_of(r, "auth_url") != NULL           ? "auth_url"
                                                                           : "endpoint";
    const char *uri = settings_text_of(r, name);
    for (const char *c = uri; *c != '\0'; c++)
        if (*c < ' ' || *c > '~' || *c == '"')
            return settings_refuse(r, name, "has a character that is not allowed in a header");
    r->out->www_authenticate = arena_printf(r->arena, "Keystone uri=\"%s\"", uri);
    return true;
}

bool keystone_settings_read(const struct conf *conf, struct arena *arena,
                            struct keystone_settings *out, struct err *err)
{
    *out = (struct keystone_settings){0};
    const struct reader r = {conf, arena, err, out};
    fill_tokens(&r);
    return fill_login(&r) && fill_endpoint(&r) && fill_connection(&r) && fill_www_authenticate(&r);
}
