/* One easy handle for each call, one multi handle for all: connections are kept and reused. Only
 * keystone_http_wake may be called by other threads than the one that runs it. */
#include "keystone/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "keystone/token.h"

/* libcurl keeps all headers; it limits those before a body, but not those after it. */
enum { IDLE_CONNECTIONS = 16, HEADER_BYTES_MAX = 256 * 1024 };

struct keystone_http {
    const struct keystone_settings *settings;
    CURLM *multi;
    bool ca_is_directory;
};

struct keystone_http *keystone_http_create(const struct keystone_settings *settings,
                                           struct err *err)
{
    CURLM *multi = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? curl_multi_init() : NULL;
    if (multi == NULL) {
        (void)err_set(err, 500, NULL, "libcurl, which queries Keystone, cannot be used");
        return NULL;
    }
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)IDLE_CONNECTIONS);
    struct keystone_http *http = calloc(1, sizeof(*http));
    check(http != NULL);
    struct stat at;
    *http = (struct keystone_http){
        .settings = settings,
        .multi = multi,
        .ca_is_directory =
            settings->cafile != NULL && stat(settings->cafile, &at) == 0 && S_ISDIR(at.st_mode),
    };
    return http;
}

void keystone_http_destroy(struct keystone_http *http)
{
    curl_multi_cleanup(http->multi);
    curl_global_cleanup();
    free(http);
}

static size_t take_body(char *data, size_t size, size_t count, void *cls)
{
    struct keystone_call *call = cls;
    size_t len = size * count;
    call->is_too_large = call->body.len + len > TOKEN_ANSWER_BYTES_MAX;
    if (call->is_too_large)
        return 0;
    buf_append(&call->body, data, len);
    return len;
}

static size_t take_header(char *data, size_t size, size_t count, void *cls)
{
    static const struct slice NAME = SLICE_LIT("x-subject-token:");
    struct keystone_call *call = cls;
    struct slice line = {data, size * count};
    call->header_bytes += line.len;
    call->is_too_large = call->header_bytes > HEADER_BYTES_MAX;
    if (call->is_too_large)
        return 0;
    if (line.len < NAME.len || !slice_equal_nocase((struct slice){data, NAME.len}, NAME))
        return size * count;
    while (line.len > 0 && (line.data[line.len - 1] == '\n' || line.data[line.len - 1] == '\r'))
        line.len--;
    struct slice value = slice_trim(slice_skip(line, NAME.len));
    free(call->subject_token);
    call->subject_token = NULL;
    if (value.len > 0 && value.len <= KEYSTONE_TOKEN_BYTES_MAX)
        call->subject_token = slice_dup(value);
    return size * count;
}

/* These calls fail only if libcurl lacks a feature or memory, never because of input; the failure
 * becomes visible when the call is performed. */
static void set_connection(struct keystone_http *http, CURL *curl)
{
    const struct keystone_settings *settings = http->settings;
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L); /* a stop does not wait for a resolver */
    if (settings->insecure) {
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (settings->cafile != NULL)
        curl_easy_setopt(curl, http->ca_is_directory ? CURLOPT_CAPATH : CURLOPT_CAINFO,
                         settings->cafile);
    if (settings->certfile != NULL) {
        curl_easy_setopt(curl, CURLOPT_SSLCERT, settings->certfile);
        curl_easy_setopt(curl, CURLOPT_SSLKEY,
                         settings->keyfile != NULL ? settings->keyfile : settings->certfile);
    }
}

static void set_headers(struct keystone_call *call)
{
    struct buf line = {0};
    for (size_t i = 0; i < KEYSTONE_HEADERS_MAX; i++) {
        if (call->headers[i].value == NULL)
            continue;
        line.len = 0;
        buf_printf(&line, "%s: %s", call->headers[i].name, call->headers[i].value);
        buf_append_char(&line, '\0');
        struct curl_slist *list = curl_slist_append(call->header_list, line.data);
        check(list != NULL);
        call->header_list = list;
    }
    buf_free(&line);
}

void keystone_http_start(struct keystone_http *http, struct keystone_call *call)
{
    CURL *curl = curl_easy_init();
    check(curl != NULL);
    call->curl = curl;
    call->header_list = NULL;
    call->status = 0;
    call->is_unreachable = call->is_too_large = false;
    call->body.len = call->header_bytes = 0;
    free(call->subject_token);
    call->subject_token = NULL;
    call->error[0] = call->why[0] = '\0';
    set_connection(http, curl);
    set_headers(call);
    curl_easy_setopt(curl, CURLOPT_URL, call->url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, call->header_list);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "berth/" BERTH_VERSION);
    if (call->post != NULL)
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call->post);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)call->timeout_ms);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)call->timeout_ms);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, call);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, call);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, call->error);
    curl_easy_setopt(curl, CURLOPT_PRIVATE, call);
    check(curl_multi_add_handle(http->multi, curl) == CURLM_OK);
}

static void end_call(struct keystone_http *http, struct keystone_call *call)
{
    curl_multi_remove_handle(http->multi, call->curl);
    curl_easy_cleanup(call->curl);
    curl_slist_free_all(call->header_list);
    call->curl = NULL;
    call->header_list = NULL;
}

void keystone_http_cancel(struct keystone_http *http, struct keystone_call *call)
{
    if (call->curl != NULL)
        end_call(http, call);
}

/* Failures that another attempt may overcome, as defined by keystoneauth; a bad certificate is not
 * one. */
static bool is_unreachable(CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
        return true;
    default:
        return false;
    }
}

static void finish_call(struct keystone_http *http, struct keystone_call *call, CURLcode code)
{
    long status = 0;
    if (code == CURLE_OK) {
        curl_easy_getinfo(call->curl, CURLINFO_RESPONSE_CODE, &status);
        if (status < 100 || status > 999)
            snprintf(call->why, sizeof(call->why), "no HTTP answer");
        else
            call->status = (int)status;
    } else if (call->is_too_large) {
        snprintf(call->why, sizeof(call->why), "its answer is too large");
    } else {
        call->is_unreachable = is_unreachable(code);
        snprintf(call->why, sizeof(call->why), "%s",
                 call->error[0] != '\0' ? call->error : curl_easy_strerror(code));
    }
    if (call->status == 0) /* the next attempt may come much later */
        buf_free(&call->body);
    end_call(http, call);
    call->done(call);
}

/* Whether any call has ended. */
static bool perform(struct keystone_http *http)
{
    int running = 0;
    int left = 0;
    bool any = false;
    CURLMsg *message;
    curl_multi_perform(http->multi, &running);
    while ((message = curl_multi_info_read(http->multi, &left)) != NULL) {
        struct keystone_call *call = NULL;
        CURLcode code = message->data.result;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&call);
        finish_call(http, call, code);
        any = true;
    }
    return any;
}

void keystone_http_run(struct keystone_http *http, unsigned wait_ms)
{
    if (perform(http))
        return; /* there may be more calls to start, so there is nothing to wait for */
    curl_multi_poll(http->multi, NULL, 0, (int)wait_ms, NULL);
    (void)perform(http);
}

void keystone_http_wake(struct keystone_http *http)
{
    curl_multi_wakeup(http->multi);
}

void keystone_call_clear(struct keystone_call *call)
{
    buf_free(&call->body);
    free(call->subject_token);
    call->subject_token = NULL;
}
