package llm

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// A Secret is a string that does not show itself: formatting, logging and
// marshalling it yield a placeholder. Call [Secret.Reveal] to send it.
type Secret string

const hidden = "[secret]"

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// String returns a placeholder, "" for no secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// GoString keeps %#v from showing the secret.
func (s Secret) GoString() string { return s.String() }

// LogValue keeps slog from showing the secret.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText keeps encoders from showing the secret.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A Profile is one named endpoint. The zero value of every field but BaseURL
// means its default.
type Profile struct {
	Name    string
	BaseURL string // e.g. "https://api.openai.com/v1"; a query (Azure's api-version) is kept
	Model   string // "": the only model that the endpoint lists
	Key     Secret // "": none is sent
	Headers map[string]string
	Proxy   string // URL; "": the environment's HTTPS_PROXY, "none": no proxy
	CAFile  string // PEM file with further authorities

	ContextWindow int // tokens; 0: unknown until the endpoint says it
	MaxOutput     int // tokens per reply; 0: 4096
	Concurrency   int // requests at a time; 0: 4, or 1 on loopback

	// TextToolCalls reads <tool_call>{…}</tool_call> and similar in plain text as
	// calls, for servers without a tool-call parser.
	TextToolCalls bool
	// TextEdits asks for edits as text blocks, for models that call no tools.
	TextEdits bool

	Timeouts Timeouts
}

// Timeouts are the limits of one attempt. A zero field means its default.
type Timeouts struct {
	Connect   time.Duration // 10 s
	FirstByte time.Duration // 60 s, on loopback 300 s: until the response's headers
	Idle      time.Duration // 60 s without a byte
	Progress  time.Duration // 120 s without a token, whatever comments keep the line alive
	Total     time.Duration // 300 s, on loopback 900 s
}

func (t Timeouts) withDefaults(local bool) Timeouts {
	first, total := time.Minute, 5*time.Minute
	if local { // a local server loads the model first
		first, total = 5*time.Minute, 15*time.Minute
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&t.Connect, 10 * time.Second}, {&t.FirstByte, first}, {&t.Idle, time.Minute},
		{&t.Progress, 2 * time.Minute}, {&t.Total, total},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	return t
}

// The environment variables that make a profile.
const (
	EnvBaseURL = "OPENAI_BASE_URL"
	EnvKey     = "OPENAI_API_KEY"
	EnvModel   = "OPENAI_MODEL"
)

// DefaultBaseURL is used when only a key is given.
const DefaultBaseURL = "https://api.openai.com/v1"

// ErrNoEndpoint means that the environment names neither an endpoint nor a key.
var ErrNoEndpoint = fmt.Errorf("no model endpoint is configured: set %s (for a local Ollama: http://localhost:11434/v1) or %s", EnvBaseURL, EnvKey)

// FromEnv makes a profile from OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL,
// looked up by getenv (usually [os.Getenv]). Nothing is sent by it.
func FromEnv(getenv func(string) string) (Profile, error) {
	p := Profile{Name: "env", BaseURL: getenv(EnvBaseURL), Key: Secret(getenv(EnvKey)), Model: getenv(EnvModel)}
	if p.BaseURL == "" {
		if p.Key == "" {
			return p, ErrNoEndpoint
		}
		p.BaseURL = DefaultBaseURL
	}
	_, err := p.endpoint()
	return p, err
}

// KeyFromFile reads a key from a file that only its owner can read (0600).
func KeyFromFile(path string) (Secret, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("key file: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("key file %s can be read by others (mode %v); make it private: chmod 600 %s",
			filepath.Base(path), info.Mode().Perm(), filepath.Base(path))
	}
	if !info.Mode().IsRegular() || info.Size() > 64<<10 {
		return "", fmt.Errorf("key file %s is not a small regular file: %w", filepath.Base(path), fs.ErrInvalid)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("key file: %w", err)
	}
	key := strings.TrimSpace(string(text))
	if key == "" || strings.ContainsAny(key, "\r\n\x00") {
		return "", fmt.Errorf("key file %s does not hold exactly one line", filepath.Base(path))
	}
	return Secret(key), nil
}

// endpoint parses and checks the base URL.
func (p Profile) endpoint() (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(p.BaseURL))
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("base URL of model profile %q is not an absolute URL such as %s", p.Name, DefaultBaseURL)
	}
	if u.User != nil {
		return nil, fmt.Errorf("base URL of model profile %q carries a password; use the key setting instead", p.Name)
	}
	switch {
	case u.Scheme == "https":
	case u.Scheme == "http" && isLoopback(u.Hostname()):
	case u.Scheme == "http":
		return nil, fmt.Errorf("base URL of model profile %q is plain http to %s: source code would cross the network readable; use https (plain http is allowed to loopback only)", p.Name, u.Host)
	default:
		return nil, fmt.Errorf("base URL of model profile %q has scheme %q; use https", p.Name, u.Scheme)
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions")
	u.Fragment = ""
	return u, nil
}

// Host returns the host that the profile sends to, for messages.
func (p Profile) Host() string {
	u, err := p.endpoint()
	if err != nil {
		return "?"
	}
	return u.Host
}

// Local reports whether the endpoint is on this machine.
func (p Profile) Local() bool {
	u, err := p.endpoint()
	return err == nil && isLoopback(u.Hostname())
}

func isLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// Profiles is a list of named endpoints.
type Profiles []Profile

// Get returns the profile with the given name; "" means the first.
func (ps Profiles) Get(name string) (Profile, error) {
	if len(ps) == 0 {
		return Profile{}, ErrNoEndpoint
	}
	var names []string
	for _, p := range ps {
		if name == "" || p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Profile{}, errors.New("no model profile is named " + name + "; there are: " + strings.Join(names, ", "))
}
