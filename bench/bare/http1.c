/* The least an HTTP/1.1 client can do with small responses: requests over epoll or io_uring, and the
 * bytes of the responses counted. Every response must be as long as the first, or the loop ends. It parses
 * nothing and keeps no statistics: a yardstick, not a load generator.
 *
 *   cc -O2 -o bare-epoll http1.c
 *   bare-epoll PORT CONNECTIONS REQUESTS PATH epoll|uring [close]
 *
 * io_uring without a library: one ring, multishot receives into a ring of buffers, one system call a turn
 * (16 completions or 50 us); with `close` each connection is one chain of linked requests on a direct
 * descriptor (socket, connect, send, receive, close).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/io_uring.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ENTRIES = 4096, BUFFERS = 256, BUFFER_BYTES = 4096, GROUP = 1, BATCH = 16 };
enum { SOCKET = 1, CONNECT, SEND, RECEIVE, CLOSE };

static struct sockaddr_in server = {.sin_family = AF_INET};
static char request[512], in[64 * 1024];
static int request_bytes, response_bytes, connections;
static long requests, begun, ended;

static void die(const char *what)
{
    fprintf(stderr, "bare-http1: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int connected(void)
{
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&server, sizeof server))
        die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

/* One request before the clock: how long the responses are. */
static void learn_length(void)
{
    int fd = connected();
    if (send(fd, request, request_bytes, 0) != request_bytes)
        die("send");
    response_bytes = recv(fd, in, sizeof in, 0);
    if (response_bytes <= 0)
        die("no response");
    close(fd);
}

static void must_be_whole(int got)
{
    if (got == response_bytes)
        return;
    errno = got < 0 ? -got : EPROTO;
    die("a response of another length");
}

static void ask(int fd)
{
    if (send(fd, request, request_bytes, MSG_DONTWAIT | MSG_NOSIGNAL) != request_bytes)
        die("send");
    begun++;
}

static void epoll_reused(void)
{
    struct epoll_event events[1024];
    int epoll = epoll_create1(0);
    for (int at = 0; at < connections; at++) {
        int fd = connected();
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = fd};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
            die("epoll_ctl");
        ask(fd);
    }
    while (ended < requests) {
        int ready = epoll_wait(epoll, events, 1024, 10000);
        if (ready <= 0)
            die("nothing came for 10 s");
        for (int at = 0; at < ready; at++) {
            struct timespec now;
            must_be_whole(recv(events[at].data.fd, in, sizeof in, MSG_DONTWAIT));
            clock_gettime(CLOCK_MONOTONIC, &now);
            ended++;
            if (begun < requests)
                ask(events[at].data.fd);
        }
    }
}

static void epoll_open(int epoll)
{
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (fd < 0 || (connect(fd, (struct sockaddr *)&server, sizeof server) && errno != EINPROGRESS))
        die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLOUT, .data.fd = fd};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
        die("epoll_ctl");
    begun++;
}

/* Each connection sends when it stands, reads the response, and then the server's end, so that TIME_WAIT
 * stays there. */
static void epoll_closing(void)
{
    struct epoll_event events[1024];
    int epoll = epoll_create1(0);
    for (int at = 0; at < connections; at++)
        epoll_open(epoll);
    while (ended < requests) {
        int ready = epoll_wait(epoll, events, 1024, 10000);
        if (ready <= 0)
            die("nothing came for 10 s");
        for (int at = 0; at < ready; at++) {
            int fd = events[at].data.fd;
            if (!(events[at].events & EPOLLIN)) {
                struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
                if (send(fd, request, request_bytes, MSG_NOSIGNAL) != request_bytes)
                    die("send");
                epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event);
                continue;
            }
            int got = recv(fd, in, sizeof in, 0);
            if (got > 0) {
                must_be_whole(got);
                continue;
            }
            ended++;
            close(fd);
            if (begun < requests)
                epoll_open(epoll);
        }
    }
}

/* The ring: indices shared with the kernel, and the entries. */
static struct {
    int fd;
    unsigned *sq_tail, *cq_head, *cq_tail, sq_mask, cq_mask, to_submit, sq_local;
    struct io_uring_sqe *sqes;
    struct io_uring_cqe *cqes;
} ring;
static struct io_uring_buf_ring *buffer_ring;
static char *buffers;
static uint16_t buffer_tail;

static void make_ring(void)
{
    struct io_uring_params params = {
        .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_CQSIZE,
        .cq_entries = 32768};
    ring.fd = syscall(SYS_io_uring_setup, ENTRIES, &params);
    if (ring.fd < 0)
        die("io_uring_setup");
    size_t sq_bytes = params.sq_off.array + params.sq_entries * sizeof(unsigned);
    size_t cq_bytes = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
    char *rings = mmap(0, sq_bytes > cq_bytes ? sq_bytes : cq_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                       ring.fd, IORING_OFF_SQ_RING);
    ring.sqes = mmap(0, params.sq_entries * sizeof *ring.sqes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                     ring.fd, IORING_OFF_SQES);
    if (rings == MAP_FAILED || ring.sqes == MAP_FAILED)
        die("mmap");
    ring.sq_tail = (unsigned *)(rings + params.sq_off.tail);
    ring.sq_mask = *(unsigned *)(rings + params.sq_off.ring_mask);
    ring.cq_head = (unsigned *)(rings + params.cq_off.head);
    ring.cq_tail = (unsigned *)(rings + params.cq_off.tail);
    ring.cq_mask = *(unsigned *)(rings + params.cq_off.ring_mask);
    ring.cqes = (struct io_uring_cqe *)(rings + params.cq_off.cqes);
    unsigned *array = (unsigned *)(rings + params.sq_off.array);
    for (unsigned at = 0; at < params.sq_entries; at++)
        array[at] = at;
}

static void give_back(int buffer)
{
    struct io_uring_buf *entry = &buffer_ring->bufs[buffer_tail++ & (BUFFERS - 1)];
    entry->addr = (uintptr_t)(buffers + (size_t)buffer * BUFFER_BYTES);
    entry->len = BUFFER_BYTES;
    entry->bid = buffer;
}

static void make_buffers(void)
{
    buffer_ring = mmap(0, BUFFERS * (sizeof(struct io_uring_buf) + BUFFER_BYTES), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer_ring == MAP_FAILED)
        die("mmap");
    buffers = (char *)(buffer_ring->bufs + BUFFERS);
    struct io_uring_buf_reg reg = {.ring_addr = (uintptr_t)buffer_ring, .ring_entries = BUFFERS, .bgid = GROUP};
    if (syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_PBUF_RING, &reg, 1))
        die("io_uring_register: ring of buffers");
    for (int buffer = 0; buffer < BUFFERS; buffer++)
        give_back(buffer);
    __atomic_store_n(&buffer_ring->tail, buffer_tail, __ATOMIC_RELEASE);
}

static void enter(unsigned at_least, const struct __kernel_timespec *most)
{
    struct io_uring_getevents_arg arg = {.ts = (uintptr_t)most};
    unsigned flags = (at_least ? IORING_ENTER_GETEVENTS : 0) | (most ? IORING_ENTER_EXT_ARG : 0);
    __atomic_store_n(ring.sq_tail, ring.sq_local, __ATOMIC_RELEASE);
    int done = syscall(SYS_io_uring_enter, ring.fd, ring.to_submit, at_least, flags, most ? (void *)&arg : 0,
                       most ? sizeof arg : 0);
    if (done < 0 && errno != ETIME && errno != EINTR)
        die("io_uring_enter");
    ring.to_submit = 0;
}

static struct io_uring_sqe *entry(int operation, int opcode, int slot, int flags)
{
    if (ring.to_submit == ENTRIES)
        enter(0, 0);
    struct io_uring_sqe *it = &ring.sqes[ring.sq_local++ & ring.sq_mask];
    memset(it, 0, sizeof *it);
    it->opcode = opcode;
    it->fd = slot;
    it->flags = flags;
    it->user_data = (uint64_t)operation << 32 | slot;
    ring.to_submit++;
    return it;
}

static void uring_send(int slot, int flags)
{
    struct io_uring_sqe *it = entry(SEND, IORING_OP_SEND, slot, IOSQE_FIXED_FILE | IOSQE_CQE_SKIP_SUCCESS | flags);
    it->addr = (uintptr_t)request;
    it->len = request_bytes;
    it->msg_flags = MSG_NOSIGNAL | MSG_WAITALL;
}

static void uring_receive(int slot)
{
    struct io_uring_sqe *it = entry(RECEIVE, IORING_OP_RECV, slot, IOSQE_FIXED_FILE | IOSQE_BUFFER_SELECT);
    it->buf_group = GROUP;
    it->ioprio = IORING_RECV_MULTISHOT;
}

/* A connection, whole: what succeeds is silent, but for the receive and the close. */
static void uring_open(int slot)
{
    int linked = IOSQE_IO_LINK | IOSQE_CQE_SKIP_SUCCESS;
    struct io_uring_sqe *it = entry(SOCKET, IORING_OP_SOCKET, slot, linked);
    it->fd = AF_INET;
    it->off = SOCK_STREAM;
    it->file_index = slot + 1;
    it = entry(CONNECT, IORING_OP_CONNECT, slot, linked | IOSQE_FIXED_FILE);
    it->addr = (uintptr_t)&server;
    it->off = sizeof server;
    uring_send(slot, IOSQE_IO_LINK);
    it = entry(RECEIVE, IORING_OP_RECV, slot, IOSQE_FIXED_FILE | IOSQE_IO_LINK);
    it->addr = (uintptr_t)in;
    it->len = response_bytes;
    it->ioprio = IORING_RECVSEND_POLL_FIRST;
    it->msg_flags = MSG_WAITALL;
    it = entry(CLOSE, IORING_OP_CLOSE, 0, 0);
    it->file_index = slot + 1;
    it->user_data = (uint64_t)CLOSE << 32 | slot;
    begun++;
}

static void completed(const struct io_uring_cqe *it, int closing)
{
    int slot = (uint32_t)it->user_data, operation = it->user_data >> 32;
    if (operation == RECEIVE && (closing || it->res != -ENOBUFS)) {
        must_be_whole(it->res);
        ended++;
        if (it->flags & IORING_CQE_F_BUFFER)
            give_back(it->flags >> IORING_CQE_BUFFER_SHIFT);
    } else if (operation != RECEIVE && it->res < 0) {
        errno = -it->res;
        die("a request failed");
    }
    if (closing) {
        if (operation == CLOSE && begun < requests)
            uring_open(slot);
        return;
    }
    if (operation == RECEIVE && !(it->flags & IORING_CQE_F_MORE))
        uring_receive(slot);
    if (operation == RECEIVE && it->res > 0 && begun < requests) {
        uring_send(slot, 0);
        begun++;
    }
}

static void uring(int closing)
{
    struct __kernel_timespec most = {.tv_nsec = 50000};
    int *files = calloc(connections, sizeof *files);
    make_ring();
    make_buffers();
    for (int at = 0; at < connections; at++)
        files[at] = closing ? -1 : connected();
    if (syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES, files, connections))
        die("io_uring_register: files");
    for (int at = 0; at < connections; at++) {
        if (closing) {
            uring_open(at);
            continue;
        }
        uring_receive(at);
        uring_send(at, 0);
        begun++;
    }
    while (ended < requests) {
        struct timespec now;
        int gathers = !closing && connections > BATCH && begun < requests;
        enter(gathers ? BATCH : 1, gathers ? &most : 0);
        unsigned head = *ring.cq_head, tail = __atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE);
        for (; head != tail; head++) {
            completed(&ring.cqes[head & ring.cq_mask], closing);
            clock_gettime(CLOCK_MONOTONIC, &now);
        }
        __atomic_store_n(ring.cq_head, head, __ATOMIC_RELEASE);
        __atomic_store_n(&buffer_ring->tail, buffer_tail, __ATOMIC_RELEASE);
    }
}

int main(int count, char **words)
{
    if (count < 6 || strlen(words[4]) > 100) {
        fprintf(stderr, "usage: bare-http1 PORT CONNECTIONS REQUESTS PATH epoll|uring [close]\n");
        return 2;
    }
    int closing = count > 6;
    struct timespec start, stop;
    server.sin_port = htons(atoi(words[1]));
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connections = atoi(words[2]);
    requests = atol(words[3]);
    request_bytes = sprintf(request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n", words[4],
                            closing ? "Connection: close\r\n" : "");
    learn_length();
    clock_gettime(CLOCK_MONOTONIC, &start);
    if (!strcmp(words[5], "uring"))
        uring(closing);
    else if (closing)
        epoll_closing();
    else
        epoll_reused();
    clock_gettime(CLOCK_MONOTONIC, &stop);
    double seconds = stop.tv_sec - start.tv_sec + (stop.tv_nsec - start.tv_nsec) / 1e9;
    printf("{\"responses\": %ld, \"rate_per_s\": %.1f, \"beside\": 1}\n", ended, requests / seconds);
    return 0;
}
