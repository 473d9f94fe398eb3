// A server of HTTP/3 on quic-go for the conformance tests: the files of a folder, and /echo. With -retry every client has to
// show its address first; with -goaway every connection is told GOAWAY after that time, again and again.
package main

import (
	"context"
	"crypto/tls"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

func main() {
	address := flag.String("address", "127.0.0.1:8443", "where to listen, over UDP, and over TCP once it does")
	cert := flag.String("cert", "", "certificate with its chain, PEM")
	key := flag.String("key", "", "its private key, PEM")
	root := flag.String("root", ".", "folder of the files")
	retry := flag.Bool("retry", false, "respond to every first packet with Retry")
	goaway := flag.Duration("goaway", 0, "say GOAWAY after this time; 0: never")
	flag.Parse()
	pair, err := tls.LoadX509KeyPair(*cert, *key)
	fatal(err)
	handler := http.NewServeMux()
	handler.HandleFunc("/echo", echo)
	handler.Handle("/", http.FileServer(http.Dir(*root)))
	udp, err := net.ResolveUDPAddr("udp", *address)
	fatal(err)
	socket, err := net.ListenUDP("udp", udp)
	fatal(err)
	transport := &quic.Transport{Conn: socket, VerifySourceAddress: func(net.Addr) bool { return *retry }}
	config := http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{pair}})
	listener, err := transport.ListenEarly(config, &quic.Config{})
	fatal(err)
	var current atomic.Pointer[http3.Server]
	current.Store(&http3.Server{Handler: handler})
	if *goaway > 0 {
		go func() {
			for range time.Tick(*goaway) {
				old := current.Swap(&http3.Server{Handler: handler})
				// It ends with the last request, or with the client.
				go old.Shutdown(context.Background())
			}
		}()
	}
	tcp, err := net.Listen("tcp", *address)
	fatal(err)
	defer tcp.Close()
	for {
		connection, err := listener.Accept(context.Background())
		fatal(err)
		go current.Load().ServeQUICConn(connection)
	}
}

func echo(w http.ResponseWriter, r *http.Request) {
	if body, err := io.ReadAll(r.Body); err == nil {
		w.Write(body)
	}
}

func fatal(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
