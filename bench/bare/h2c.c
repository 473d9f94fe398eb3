/* The least an HTTP/2 client can do: prior knowledge, frames counted by their END_STREAM flag, one
 * write per connection and turn. It decodes no header and keeps no statistics: a yardstick, not a
 * load generator. BATCH: new requests of a connection wait until so many answers have come.
 *
 *   cc -O2 -o bare-h2c h2c.c
 *   bare-h2c PORT CONNECTIONS REQUESTS PATH STREAMS [BATCH]
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* RFC 9113, 6: types of frames; 6.1, 6.5: flags. */
enum { DATA = 0, HEADERS = 1, RST_STREAM = 3, SETTINGS = 4, GOAWAY = 7, WINDOW_UPDATE = 8 };
enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4 };
enum { FRAME_HEAD = 9, WINDOW = 0x3fffffff };

struct connection {
    int fd, left_over, answered;
    uint32_t next_stream;
    long since_update;
    unsigned char beginning[128 * 1024]; /* of a frame that came in part */
};

static unsigned char block[256], out[256 * 1024], in[256 * 1024];
static int block_bytes, out_bytes;

static void die(const char *what)
{
    fprintf(stderr, "bare-h2c: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void put(uint32_t value, int bytes)
{
    while (bytes-- > 0)
        out[out_bytes++] = value >> (8 * bytes);
}

static void head(int length, int type, int flags, uint32_t stream)
{
    put(length, 3);
    put(type, 1);
    put(flags, 1);
    put(stream, 4);
}

static void ask(struct connection *it)
{
    head(block_bytes, HEADERS, END_STREAM | END_HEADERS, it->next_stream);
    memcpy(out + out_bytes, block, block_bytes);
    out_bytes += block_bytes;
    it->next_stream += 2;
}

/* RFC 7541, Appendix A: GET is 2, http 6, :path 4, :authority 1. */
static void make_block(const char *path)
{
    int length = strlen(path);
    block[block_bytes++] = 0x82;
    block[block_bytes++] = 0x86;
    block[block_bytes++] = 0x04;
    block[block_bytes++] = length;
    memcpy(block + block_bytes, path, length);
    block_bytes += length;
    memcpy(block + block_bytes, "\x01\x09" "127.0.0.1", 11);
    block_bytes += 11;
}

static void begin(struct connection *it, struct sockaddr_in *server, int streams, long *to_begin)
{
    int one = 1;
    it->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (it->fd < 0 || connect(it->fd, (struct sockaddr *)server, sizeof *server))
        die("connect");
    setsockopt(it->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    it->next_stream = 1;
    memcpy(out, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24);
    out_bytes = 24;
    head(6, SETTINGS, 0, 0);
    put(4, 2); /* SETTINGS_INITIAL_WINDOW_SIZE */
    put(WINDOW, 4);
    head(4, WINDOW_UPDATE, 0, 0);
    put(WINDOW - 65535, 4);
    for (int stream = 0; stream < streams && *to_begin > 0; stream++, --*to_begin)
        ask(it);
    if (send(it->fd, out, out_bytes, 0) != out_bytes)
        die("send");
}

/* Reads what came; returns how many answers were in it. */
static int receive(struct connection *it)
{
    memcpy(in, it->beginning, it->left_over);
    int got = recv(it->fd, in + it->left_over, sizeof in - it->left_over, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return 0;
    if (got <= 0)
        die("the server closed");
    int length = it->left_over + got, at = 0, answers = 0;
    it->since_update += got;
    while (length - at >= FRAME_HEAD) {
        int payload = in[at] << 16 | in[at + 1] << 8 | in[at + 2], type = in[at + 3], flags = in[at + 4];
        if (length - at < FRAME_HEAD + payload)
            break;
        if ((type == DATA || type == HEADERS) && (flags & END_STREAM))
            answers++;
        else if (type == SETTINGS && !(flags & ACK))
            head(0, SETTINGS, ACK, 0);
        else if (type == GOAWAY || type == RST_STREAM)
            die("the server ends a stream or the connection");
        at += FRAME_HEAD + payload;
    }
    it->left_over = length - at;
    memcpy(it->beginning, in + at, it->left_over);
    if (it->since_update > WINDOW / 4) {
        head(4, WINDOW_UPDATE, 0, 0);
        put(it->since_update, 4);
        it->since_update = 0;
    }
    return answers;
}

int main(int count, char **words)
{
    if (count < 6 || strlen(words[4]) > 100) {
        fprintf(stderr, "usage: bare-h2c PORT CONNECTIONS REQUESTS PATH STREAMS [BATCH]\n");
        return 2;
    }
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(atoi(words[1])),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int connections = atoi(words[2]), streams = atoi(words[5]), batch = count > 6 ? atoi(words[6]) : 1;
    long requests = atol(words[3]), to_begin = requests, to_end = requests;
    struct connection *all = calloc(connections, sizeof *all);
    struct epoll_event events[256];
    struct timespec start, stop;
    int epoll = epoll_create1(0);
    make_block(words[4]);
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int at = 0; at < connections; at++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[at]};
        begin(&all[at], &server, streams, &to_begin);
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, all[at].fd, &event))
            die("epoll_ctl");
    }
    while (to_end > 0) {
        int ready = epoll_wait(epoll, events, 256, 10000);
        if (ready == 0)
            die("nothing came for 10 s");
        for (int at = 0; at < ready; at++) {
            struct connection *it = events[at].data.ptr;
            out_bytes = 0;
            int answers = receive(it);
            to_end -= answers;
            it->answered += answers;
            for (; (it->answered >= batch || to_end < (long)connections * streams) && it->answered > 0 && to_begin > 0;
                 it->answered--, to_begin--)
                ask(it);
            if (out_bytes > 0 && send(it->fd, out, out_bytes, 0) != out_bytes)
                die("send");
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &stop);
    double seconds = stop.tv_sec - start.tv_sec + (stop.tv_nsec - start.tv_nsec) / 1e9;
    printf("{\"responses\": %ld, \"rate_per_s\": %.1f, \"beside\": 0}\n", requests, requests / seconds);
    return 0;
}
