package llm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"
)

var errRedirect = errors.New("redirect refused")

// newTransport makes a transport that reaches the profile's host only.
func newTransport(p Profile, u *url.URL, connect time.Duration) (http.RoundTripper, error) {
	dialer := &net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}
	t := &http.Transport{
		DialContext:           dialer.DialContext,
		TLSHandshakeTimeout:   connect,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   16,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12},
	}
	switch p.Proxy {
	case "":
		t.Proxy = http.ProxyFromEnvironment
	case "none":
	default:
		proxy, err := url.Parse(p.Proxy)
		if err != nil || proxy.Host == "" {
			return nil, fmt.Errorf("proxy of model profile %q is not a URL such as http://proxy:3128", p.Name)
		}
		t.Proxy = http.ProxyURL(proxy)
	}
	if p.CAFile != "" {
		pem, err := os.ReadFile(p.CAFile)
		if err != nil {
			return nil, fmt.Errorf("CA file of model profile %q: %w", p.Name, err)
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("CA file of model profile %q holds no PEM certificate", p.Name)
		}
		t.TLSClientConfig.RootCAs = pool
	}
	if u.Scheme == "http" {
		t.Proxy = nil // loopback does not go through a proxy
		t.DialContext = loopbackOnly(dialer)
	}
	return t, nil
}

// loopbackOnly dials, and hangs up before a byte is sent when the name turned
// out not to be this machine.
func loopbackOnly(d *net.Dialer) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := d.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		if tcp, ok := conn.RemoteAddr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
			_ = conn.Close()
			return nil, fmt.Errorf("%s is not this machine: plain http is allowed to loopback only", addr)
		}
		return conn, nil
	}
}

// onlyHost refuses requests to any host but one: neither a redirect nor a
// mistake takes the key and the source elsewhere.
type onlyHost struct {
	base http.RoundTripper
	url  *url.URL
}

func (o onlyHost) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != o.url.Host || r.URL.Scheme != o.url.Scheme {
		return nil, fmt.Errorf("%w: to %s://%s", errRedirect, r.URL.Scheme, r.URL.Host)
	}
	return o.base.RoundTrip(r)
}

// checkRedirect follows a redirect only within the endpoint, and only one that
// keeps method and body.
func checkRedirect(u *url.URL) func(*http.Request, []*http.Request) error {
	return func(r *http.Request, via []*http.Request) error {
		switch {
		case r.URL.Host != u.Host || r.URL.Scheme != u.Scheme:
			return fmt.Errorf("%w: to %s://%s", errRedirect, r.URL.Scheme, r.URL.Host)
		case r.Method != via[0].Method:
			return fmt.Errorf("%w: it would turn %s into %s", errRedirect, via[0].Method, r.Method)
		case len(via) > 3:
			return fmt.Errorf("%w: more than three in a row", errRedirect)
		}
		return nil
	}
}
