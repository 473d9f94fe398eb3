/* A server of one connection at a time, whose responses take 2 ms in the first second of each connection and
 * no time after it: what a client learned of slow responses must not make it slow later. PORT */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static long now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(int count, char **words) {
    static const char response[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    char bytes[4096];
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(count > 1 ? atoi(words[1]) : 0)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 16)) return 1;
    for (;;) {
        int client = accept(listener, NULL, NULL);
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        long begun_ms = now_ms();
        while (read(client, bytes, sizeof bytes) > 0) {
            if (now_ms() - begun_ms < 1000) usleep(2000);
            if (write(client, response, sizeof response - 1) < 0) break;
        }
        close(client);
    }
}
