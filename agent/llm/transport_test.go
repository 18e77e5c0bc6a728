package llm

import (
	"bufio"
	"context"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// secure is an endpoint behind TLS, and the file with its authority.
func secure(t *testing.T) (server *httptest.Server, caFile string) {
	t.Helper()
	server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, say(hello).Raw+finish("stop").Raw+"data: [DONE]\n\n")
	}))
	t.Cleanup(server.Close)
	caFile = filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(caFile, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return server, caFile
}

func chat(t *testing.T, p Profile) (*Response, error) {
	t.Helper()
	p.Model = "m"
	c, err := New(p, Options{})
	if err != nil {
		return nil, err
	}
	t.Cleanup(c.Close)
	return c.Chat(context.Background(), Request{Messages: []Message{User("u")}}, nil)
}

func TestCAFile(t *testing.T) {
	server, caFile := secure(t)
	got, err := chat(t, Profile{Name: "p", BaseURL: server.URL + "/v1", CAFile: caFile, Proxy: "none"})
	completes{text: hello}.check(t, got, err)
	if _, err := New(Profile{Name: "p", BaseURL: server.URL, CAFile: caFile + ".none"}, Options{}); err == nil || !strings.Contains(err.Error(), "CA file") {
		t.Errorf("error = %v", err)
	}
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Profile{Name: "p", BaseURL: server.URL, CAFile: empty}, Options{}); err == nil || !strings.Contains(err.Error(), "no PEM certificate") {
		t.Errorf("error = %v", err)
	}
}

func TestProxy(t *testing.T) {
	server, caFile := secure(t)
	var tunnels atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			http.Error(w, "only CONNECT", http.StatusMethodNotAllowed)
			return
		}
		tunnels.Add(1)
		out, err := net.Dial("tcp", r.Host)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		in, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(in, "HTTP/1.1 200 OK\r\n\r\n")
		go pipe(out, rw.Reader, in)
		pipe(in, bufio.NewReader(out), out)
	}))
	defer proxy.Close()
	got, err := chat(t, Profile{Name: "p", BaseURL: server.URL + "/v1", CAFile: caFile, Proxy: proxy.URL})
	completes{text: hello}.check(t, got, err)
	if tunnels.Load() != 1 {
		t.Errorf("%d tunnels through the proxy", tunnels.Load())
	}
	if _, err := New(Profile{Name: "p", BaseURL: server.URL, Proxy: "proxy"}, Options{}); err == nil || !strings.Contains(err.Error(), "not a URL") {
		t.Errorf("error = %v", err)
	}
}

// pipe copies one direction of a tunnel and ends both.
func pipe(to net.Conn, from io.Reader, source net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
	_ = source.Close()
}

func TestKeyGoesIntoTheRightHeader(t *testing.T) {
	var got http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		_, _ = io.WriteString(w, say(hello).Raw+finish("stop").Raw)
	}))
	defer server.Close()
	if _, err := chat(t, Profile{BaseURL: server.URL, Proxy: "none", Headers: map[string]string{"X-Team": "a"}}); err != nil {
		t.Fatal(err)
	}
	if got.Get("Authorization") != "" || got.Get("X-Team") != "a" {
		t.Errorf("without a key: %v", got)
	}
	if _, err := chat(t, Profile{BaseURL: server.URL, Proxy: "none", Key: "k\r\nX-Evil: 1"}); err == nil {
		t.Error("a key of two lines is sent")
	}
}

// A name that resolves elsewhere does not get plain http, whatever it is called.
func TestLoopbackIsCheckedByAddress(t *testing.T) {
	dial := loopbackOnly(&net.Dialer{Resolver: &net.Resolver{PreferGo: true}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := dial(context.Background(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	outside, ok := nonLoopback()
	if !ok {
		t.Skip("this machine has no other address")
	}
	other, err := net.Listen("tcp", net.JoinHostPort(outside, "0"))
	if err != nil {
		t.Skip("cannot listen on another address: ", err)
	}
	defer other.Close()
	if _, err := dial(context.Background(), "tcp", other.Addr().String()); err == nil || !strings.Contains(err.Error(), "not this machine") {
		t.Errorf("dialling %s: %v", outside, err)
	}
}

// nonLoopback returns an address of this machine that is not loopback.
func nonLoopback() (string, bool) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return "", false
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.String(), true
		}
	}
	return "", false
}
