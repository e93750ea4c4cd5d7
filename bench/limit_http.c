/* The limit of the HTTP library: a bare libmicrohttpd that answers with fixed bytes.
 *
 * It is configured as in berthd (epoll, a pool of threads, 64 KiB for each connection), with
 * prepared answers: `GET /300` is answered with 300 bytes, for each size named on the command line.
 * Bodies of requests are read and discarded, so a claim can be sent, too.
 *
 * The pool's threads call answer(); the prepared answers never change after the start. */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZES_MAX            16
#define CONNECTION_MEMORY    (64 * 1024)
#define CONNECTIONS_MAX      4096
#define CONNECTION_TIMEOUT_S 60

struct prepared {
    size_t size[SIZES_MAX];
    struct MHD_Response *answer[SIZES_MAX];
    size_t count;
};

static enum MHD_Result answer(void *cls, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
    static int seen;
    const struct prepared *prepared = cls;
    (void)method;
    (void)version;
    (void)upload;
    if (*state == NULL) { /* the library calls once before the body */
        *state = &seen;
        return MHD_YES;
    }
    if (*upload_size > 0) {
        *upload_size = 0;
        return MHD_YES;
    }
    size_t size = strtoull(url + 1, NULL, 10);
    for (size_t i = 0; i < prepared->count; i++)
        if (prepared->size[i] == size)
            return MHD_queue_response(connection, MHD_HTTP_OK, prepared->answer[i]);
    return MHD_NO;
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc > 3 + SIZES_MAX) {
        fputs("usage: limit_http PORT THREADS SIZE...\n", stderr);
        return 2;
    }
    struct prepared prepared = {0};
    for (int i = 3; i < argc; i++) {
        size_t size = strtoull(argv[i], NULL, 10);
        char *text = malloc(size + 1);
        if (text == NULL)
            return 1;
        memset(text, 'x', size);
        struct MHD_Response *response =
            MHD_create_response_from_buffer(size, text, MHD_RESPMEM_PERSISTENT);
        if (response == NULL)
            return 1;
        MHD_add_response_header(response, "Content-Type", "application/json");
        prepared.size[prepared.count] = size;
        prepared.answer[prepared.count++] = response;
    }

    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, SIGINT);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer, &prepared, MHD_OPTION_SOCK_ADDR,
        (struct sockaddr *)&address, MHD_OPTION_THREAD_POOL_SIZE,
        (unsigned int)strtoul(argv[2], NULL, 10), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)CONNECTION_TIMEOUT_S, MHD_OPTION_END);
    if (daemon == NULL) {
        fputs("limit_http: cannot listen\n", stderr);
        return 1;
    }
    puts("limit_http: ready");
    fflush(stdout);
    int signal_number;
    sigwait(&stop, &signal_number);
    MHD_stop_daemon(daemon);
    return 0;
}
