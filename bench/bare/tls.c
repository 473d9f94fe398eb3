/* The least a TLS client can do: requests over epoll with OpenSSL, answers counted by their length.
 * It verifies nothing, parses one head and keeps no statistics: a yardstick, not a load generator.
 *
 *   cc -O2 -o bare-tls tls.c -lssl -lcrypto
 *   bare-tls PORT CONNECTIONS REQUESTS PATH [close]
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct connection {
    int fd;
    SSL *ssl;
    int asked;  /* the request has left */
    long came;  /* bytes of the answer so far */
};

static SSL_CTX *context;
static struct sockaddr_in server;
static char request[1024], bytes[256 * 1024];
static int request_bytes, closes, epoll;
static long answer_bytes, to_begin, to_end;

static void die(const char *what)
{
    fprintf(stderr, "bare-tls: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void begin(struct connection *it, int blocks)
{
    int one = 1;
    it->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (it->fd < 0 || connect(it->fd, (struct sockaddr *)&server, sizeof server))
        die("connect");
    setsockopt(it->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (!blocks)
        fcntl(it->fd, F_SETFL, O_NONBLOCK);
    it->ssl = SSL_new(context);
    SSL_set_fd(it->ssl, it->fd);
    SSL_set_connect_state(it->ssl);
    it->asked = 0;
    it->came = 0;
}

static void watch(struct connection *it)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = it};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, it->fd, &event))
        die("epoll_ctl");
}

static void end(struct connection *it)
{
    SSL_free(it->ssl);
    close(it->fd);
}

/* Length of an answer, head and body: one is fetched and its Content-Length believed. */
static long measure(void)
{
    struct connection it;
    long have = 0, whole = 0;
    begin(&it, 1);
    if (SSL_do_handshake(it.ssl) != 1 || SSL_write(it.ssl, request, request_bytes) <= 0)
        die("handshake or write");
    while (!whole || have < whole) {
        int got = SSL_read(it.ssl, bytes + (whole ? 0 : have), sizeof bytes - (whole ? 0 : have) - 1);
        if (got <= 0)
            die("the first answer is short");
        have += got;
        if (!whole) {
            bytes[have] = 0;
            char *head_end = strstr(bytes, "\r\n\r\n"), *length = strcasestr(bytes, "\r\nContent-Length:");
            if (head_end && length)
                whole = head_end + 4 - bytes + atol(length + 17);
        }
    }
    end(&it);
    return whole;
}

static int would_block(struct connection *it, int result)
{
    int why = SSL_get_error(it->ssl, result);
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE;
}

/* As far as the socket lets it. */
static void step(struct connection *it)
{
    for (;;) {
        if (!it->asked) {
            int result = SSL_is_init_finished(it->ssl) ? 1 : SSL_do_handshake(it->ssl);
            if (result != 1) {
                if (would_block(it, result))
                    return;
                die("handshake");
            }
            if (SSL_write(it->ssl, request, request_bytes) != request_bytes)
                die("write");
            it->asked = 1;
        }
        int got = SSL_read(it->ssl, bytes, sizeof bytes);
        if (got <= 0) {
            if (would_block(it, got))
                return;
            die("read");
        }
        it->came += got;
        if (it->came < answer_bytes)
            continue;
        to_end--;
        it->came = 0;
        it->asked = 0;
        if (closes)
            end(it);
        if (to_begin == 0)
            return;
        to_begin--;
        if (closes) {
            begin(it, 0);
            watch(it);
        }
    }
}

int main(int count, char **words)
{
    if (count < 5) {
        fprintf(stderr, "usage: bare-tls PORT CONNECTIONS REQUESTS PATH [close]\n");
        return 2;
    }
    int connections = atoi(words[2]);
    long requests = atol(words[3]);
    closes = count > 5 && !strcmp(words[5], "close");
    server = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(atoi(words[1])),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    request_bytes = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n", words[4],
                             closes ? "Connection: close\r\n" : "");
    context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    /* What ablaze and the peers built on rustls offer first. */
    SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384");
    SSL_CTX_set1_groups_list(context, "X25519");
    answer_bytes = measure();

    struct connection *all = calloc(connections, sizeof *all);
    struct epoll_event events[256];
    struct timespec start, stop;
    epoll = epoll_create1(0);
    to_end = requests;
    to_begin = requests;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int at = 0; at < connections && to_begin > 0; at++, to_begin--) {
        begin(&all[at], 0);
        watch(&all[at]);
        step(&all[at]);
    }
    while (to_end > 0) {
        int ready = epoll_wait(epoll, events, 256, 10000);
        if (ready == 0)
            die("nothing came for 10 s");
        for (int at = 0; at < ready; at++)
            step(events[at].data.ptr);
    }
    clock_gettime(CLOCK_MONOTONIC, &stop);
    double seconds = stop.tv_sec - start.tv_sec + (stop.tv_nsec - start.tv_nsec) / 1e9;
    /* measure() asked once more. */
    printf("{\"responses\": %ld, \"rate_per_s\": %.1f, \"beside\": 1}\n", requests, requests / seconds);
    return 0;
}
