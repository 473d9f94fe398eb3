/* The least a client of QUIC can do: the datagrams of requests and responses, sealed and opened with AES-128-GCM, many of
 * them per call (UDP_SEGMENT, UDP_GRO), and one acknowledgement for each call that received. It has no handshake, no
 * streams, no loss recovery and no HTTP: a yardstick, not a load generator. Its server is its own.
 *
 *   cc -O2 [-DDATAGRAM=16368] -o bare-quic quic.c -lcrypto
 *   bare-quic serve PORT
 *   bare-quic PORT CONNECTIONS STREAMS REQUESTS BODY_BYTES
 *
 * A round of a connection asks for as many responses as it has streams, and ends when all have come.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef DATAGRAM
#define DATAGRAM 1452               /* what ablaze sends and gets over Ethernet-sized paths; 16368 is what it does over loopback */
#endif

enum {
    TAG = 16,
    HEADER = 12,                    /* a packet's, with a connection ID of eight bytes */
    PAYLOAD = DATAGRAM - TAG - HEADER,
    SEGMENTS = 65473 / DATAGRAM,    /* of one call: a packet with the heads of Ethernet, IPv6 and UDP has less than 65,536 bytes */
    REQUEST = 40, HEAD = 60,        /* of a request, and of a response besides its body, as fields and frames */
    WINDOW = 96 * 1024,             /* on their way to a client: its receive buffer has 212,992 */
    ACKNOWLEDGEMENT = 24,
};

struct connection {
    int fd;
    uint64_t number;
    long to_come;                   /* bytes of this round */
};

/* Of a client, by its port. */
struct client {
    uint64_t number;
    long to_send, on_the_way;
};

static EVP_CIPHER_CTX *seals, *opens;
static unsigned char in[1 << 16], clear[1 << 16], out[SEGMENTS * DATAGRAM], zeros[PAYLOAD];

static void die(const char *what)
{
    fprintf(stderr, "bare-quic: %s: %s\n", what, strerror(errno));
    exit(1);
}

static EVP_CIPHER_CTX *cipher(int seals_it)
{
    static const unsigned char key[16] = "0123456789abcde";
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (EVP_CipherInit_ex(context, EVP_aes_128_gcm(), NULL, key, NULL, seals_it) != 1)
        die("AES-128-GCM");
    return context;
}

/* A packet of this payload at `at`; its length. */
static int seal(unsigned char *at, uint64_t number, const void *payload, int bytes)
{
    unsigned char nonce[12] = {0};
    int done;
    memset(at, 0, HEADER);
    memcpy(at + 4, &number, sizeof number);
    memcpy(nonce + 4, &number, sizeof number);
    EVP_EncryptInit_ex(seals, NULL, NULL, NULL, nonce);
    EVP_EncryptUpdate(seals, NULL, &done, at, HEADER);
    EVP_EncryptUpdate(seals, at + HEADER, &done, payload, bytes);
    EVP_EncryptFinal_ex(seals, at + HEADER + done, &done);
    EVP_CIPHER_CTX_ctrl(seals, EVP_CTRL_GCM_GET_TAG, TAG, at + HEADER + bytes);
    return HEADER + bytes + TAG;
}

/* The payload of a packet is in `clear`; its length. */
static int unseal(unsigned char *at, int bytes)
{
    unsigned char nonce[12] = {0};
    int done, rest, payload = bytes - HEADER - TAG;
    if (payload < 0)
        die("a short packet");
    memcpy(nonce + 4, at + 4, 8);
    EVP_DecryptInit_ex(opens, NULL, NULL, NULL, nonce);
    EVP_DecryptUpdate(opens, NULL, &done, at, HEADER);
    EVP_DecryptUpdate(opens, clear, &done, at + HEADER, payload);
    EVP_CIPHER_CTX_ctrl(opens, EVP_CTRL_GCM_SET_TAG, TAG, at + HEADER + payload);
    if (EVP_DecryptFinal_ex(opens, clear + done, &rest) != 1)
        die("a packet that is not genuine");
    return payload;
}

/* Packets of `segment` bytes each but for the last, with one call. */
static void send_all(int fd, int bytes, int segment, struct sockaddr_in *to)
{
    union { char bytes[CMSG_SPACE(sizeof(uint16_t))]; struct cmsghdr align; } control;
    struct iovec piece = {out, bytes};
    struct msghdr message = {.msg_name = to, .msg_namelen = to ? sizeof *to : 0, .msg_iov = &piece, .msg_iovlen = 1};
    if (bytes > segment) {
        uint16_t size = segment;
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_UDP;
        head->cmsg_type = UDP_SEGMENT;
        head->cmsg_len = CMSG_LEN(sizeof size);
        memcpy(CMSG_DATA(head), &size, sizeof size);
    }
    if (sendmsg(fd, &message, 0) != bytes)
        die("sendmsg");
}

/* Packets of one size that came together, in `in`; their bytes, or 0 if there is none. */
static int receive(int fd, int *segment, struct sockaddr_in *from)
{
    union { char bytes[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } control;
    struct iovec piece = {in, sizeof in};
    struct msghdr message = {.msg_name = from, .msg_namelen = from ? sizeof *from : 0, .msg_iov = &piece, .msg_iovlen = 1,
                             .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    int bytes = recvmsg(fd, &message, MSG_DONTWAIT);
    if (bytes < 0 && errno == EAGAIN)
        return 0;
    if (bytes <= 0)
        die("recvmsg");
    *segment = bytes;
    for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head))
        if (head->cmsg_level == SOL_UDP && head->cmsg_type == UDP_GRO)
            memcpy(segment, CMSG_DATA(head), sizeof *segment);
    return bytes;
}

static int opened(struct sockaddr_in *here, struct sockaddr_in *there)
{
    int one = 1, fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd < 0 || setsockopt(fd, SOL_UDP, UDP_GRO, &one, sizeof one))
        die("socket with UDP_GRO");
    if (here && bind(fd, (struct sockaddr *)here, sizeof *here))
        die("bind");
    if (there && connect(fd, (struct sockaddr *)there, sizeof *there))
        die("connect");
    return fd;
}

static void serve(struct sockaddr_in *here)
{
    static struct client clients[1 << 16];
    int fd = opened(here, NULL), segment;
    fd_set ready;
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        struct sockaddr_in from;
        int bytes = receive(fd, &segment, &from);
        if (bytes == 0) {
            FD_ZERO(&ready);
            FD_SET(fd, &ready);
            select(fd + 1, &ready, NULL, NULL, NULL);
            continue;
        }
        struct client *it = &clients[from.sin_port];
        for (int at = 0; at < bytes; at += segment) {
            int payload = unseal(in + at, bytes - at < segment ? bytes - at : segment);
            int64_t said[2] = {0};
            memcpy(said, clear, payload < (int)sizeof said ? payload : (int)sizeof said);
            it->to_send += said[0];
            it->on_the_way -= said[1];
        }
        while (it->to_send > 0 && it->on_the_way < WINDOW) {
            int filled = 0, count = 0;
            while (count < SEGMENTS && it->to_send > 0) {
                int payload = it->to_send < PAYLOAD ? it->to_send : PAYLOAD;
                filled += seal(out + filled, it->number++, zeros, payload);
                it->to_send -= payload;
                it->on_the_way += payload;
                count++;
            }
            send_all(fd, filled, DATAGRAM, &from);
        }
    }
}

/* Says what is asked for and what came, and fills the packet up to `bytes`. */
static int say(struct connection *it, int at, int64_t wanted, int64_t came, int bytes)
{
    unsigned char payload[PAYLOAD] = {0};
    memcpy(payload, &wanted, sizeof wanted);
    memcpy(payload + 8, &came, sizeof came);
    return seal(out + at, it->number++, payload, bytes);
}

static void ask(struct connection *it, int streams, long body_bytes, int64_t came)
{
    int left = streams * REQUEST, filled = 0, first = 1;
    it->to_come = streams * (HEAD + body_bytes);
    while (left > 0) {
        int bytes = left < PAYLOAD ? (left < 16 ? 16 : left) : PAYLOAD;
        filled += say(it, filled, first ? it->to_come : 0, first ? came : 0, bytes);
        left -= bytes;
        first = 0;
    }
    send_all(it->fd, filled, DATAGRAM, NULL);
}

static void load(struct sockaddr_in *there, int connections, int streams, long requests, long body_bytes)
{
    struct connection *all = calloc(connections, sizeof *all);
    struct epoll_event events[256];
    int epoll = epoll_create1(0), segment;
    long rounds = (requests + streams - 1) / streams, to_begin = rounds, to_end = rounds;
    for (int at = 0; at < connections && to_begin > 0; at++, to_begin--) {
        struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = &all[at]};
        all[at].fd = opened(NULL, there);
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, all[at].fd, &event))
            die("epoll_ctl");
        ask(&all[at], streams, body_bytes, 0);
    }
    while (to_end > 0) {
        int ready = epoll_wait(epoll, events, 256, 10000);
        if (ready == 0)
            die("nothing came for 10 s");
        for (int at = 0; at < ready; at++) {
            struct connection *it = events[at].data.ptr;
            for (int bytes; (bytes = receive(it->fd, &segment, NULL)) > 0;) {
                long came = 0;
                for (int from = 0; from < bytes; from += segment)
                    came += unseal(in + from, bytes - from < segment ? bytes - from : segment);
                it->to_come -= came;
                if (it->to_come > 0) {
                    send_all(it->fd, say(it, 0, 0, came, ACKNOWLEDGEMENT), DATAGRAM, NULL);
                    continue;
                }
                to_end--;
                if (to_begin > 0) {
                    to_begin--;
                    ask(it, streams, body_bytes, came);
                }
            }
        }
    }
    printf("{\"responses\": %ld}\n", rounds * streams);
}

int main(int count, char **words)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    seals = cipher(1);
    opens = cipher(0);
    if (count == 3 && !strcmp(words[1], "serve")) {
        address.sin_port = htons(atoi(words[2]));
        serve(&address);
    }
    if (count != 6) {
        fprintf(stderr, "usage: bare-quic serve PORT | bare-quic PORT CONNECTIONS STREAMS REQUESTS BODY_BYTES\n");
        return 2;
    }
    address.sin_port = htons(atoi(words[1]));
    load(&address, atoi(words[2]), atoi(words[3]), atol(words[4]), atol(words[5]));
    return 0;
}
