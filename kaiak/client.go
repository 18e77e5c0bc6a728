package kaiak

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
)

// ClientInfo says who connects.
type ClientInfo struct {
	Name    string // for the log, the audit log and for lock owners
	Version string
	// Interactive: the client renders kaiak/stream/user_interaction itself and
	// answers by kaiak/interaction/respond. Otherwise it is asked through
	// [Front.Ask].
	Interactive bool
}

// A Client is one connection of a [Front]. Text synchronisation ([Client.DidOpen]
// and its siblings) must be called in the order of the wire; everything else
// may be called concurrently.
type Client struct {
	service *Service
	front   Front
	info    ClientInfo

	asking  sync.Mutex // held while a question is on the client's screen
	opening sync.Mutex // held while the editor's own session is looked up or made

	mu       sync.Mutex // guards what follows
	settings settings
	folders  []*space // in the order in which they were opened
	sessions map[string]*session
	docs     map[string]*document // by path as the client names it
	own      map[*space]*session  // for what the editor does without naming a session
	closed   bool
}

// Connect registers a front. Events of the sessions that this client creates
// or resumes go to front until [Client.Close].
func (s *Service) Connect(front Front, info ClientInfo) *Client {
	if info.Name == "" {
		info.Name = "client"
	}
	c := &Client{service: s, front: front, info: info, settings: settings{}, sessions: map[string]*session{}, docs: map[string]*document{}, own: map[*space]*session{}}
	s.mu.Lock()
	s.clients[c] = struct{}{}
	s.mu.Unlock()
	return c
}

// Close ends the connection: its documents are no longer open, requests that
// nobody else listens to are interrupted and can be resumed, what it was asked
// stays pending. It waits for the goroutines that work for this client.
func (c *Client) Close() {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	c.closed = true
	sessions, folders, docs := c.sessions, c.folders, c.docs
	c.sessions, c.folders, c.docs = map[string]*session{}, nil, map[string]*document{}
	c.mu.Unlock()

	c.service.mu.Lock()
	delete(c.service.clients, c)
	c.service.mu.Unlock()
	for _, s := range sessions {
		s.detach(c)
		s.mu.Lock()
		alone := len(s.clients) == 0
		s.mu.Unlock()
		for _, r := range s.active() {
			if alone || r.client == c {
				r.cancel(errClosing)
				<-r.done
			}
		}
	}
	for _, d := range docs {
		d.close()
	}
	for _, sp := range folders {
		sp.dropLayer(c)
		c.service.releaseSpace(sp)
	}
}

// SetFolders opens and closes workspace folders, given as absolute directories
// or file URIs. A folder that cannot be opened is reported, the others are opened.
func (c *Client) SetFolders(ctx context.Context, added, removed []string) error {
	var errs []error
	var gone []*space
	for _, dir := range removed {
		real, err := realDirectory(dir)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		c.mu.Lock()
		i := slices.IndexFunc(c.folders, func(sp *space) bool { return sp.ws.RealDir() == real })
		var sp *space
		if i >= 0 {
			sp = c.folders[i]
			c.folders = slices.Delete(c.folders, i, i+1)
		}
		c.mu.Unlock()
		if sp != nil {
			gone = append(gone, sp)
		}
	}
	for _, dir := range added {
		sp, err := c.service.openSpace(ctx, dir, c)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		c.mu.Lock()
		double := c.closed || slices.Contains(c.folders, sp)
		if !double {
			c.folders = append(c.folders, sp)
		}
		given := c.settings
		c.mu.Unlock()
		if double {
			c.service.releaseSpace(sp)
			continue
		}
		errs = append(errs, sp.setLayer(ctx, c, given))
		sp.watch()
	}
	c.rehome()
	for _, sp := range gone {
		sp.dropLayer(c)
		c.service.releaseSpace(sp)
	}
	return errors.Join(errs...)
}

// rehome opens the documents again whose folder is another one now.
func (c *Client) rehome() {
	c.mu.Lock()
	docs := make(map[string]*document, len(c.docs))
	for uri, d := range c.docs {
		docs[uri] = d
	}
	c.mu.Unlock()
	for _, uri := range sortedKeys(docs) {
		d := docs[uri]
		if sp, rel := c.folderOf(uri); sp == d.space && rel == d.rel {
			continue
		}
		file, ok := c.Document(uri)
		if !ok {
			continue
		}
		if err := c.DidOpen(uri, file.LanguageID, file.Version, string(file.Text)); err != nil {
			c.service.log.Warn("a document has no workspace folder", "uri", uri, "error", err)
			continue
		}
		c.front.IncidentsChanged(uri)
	}
}

// Configure replaces the settings that this client gave (initializationOptions,
// workspace/configuration). A key that does not exist or has the wrong type is
// a -32014 that names it, and nothing changes.
func (c *Client) Configure(ctx context.Context, raw json.RawMessage) error {
	given, err := parseSettings(raw, "settings")
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.settings = given
	folders := slices.Clone(c.folders)
	c.mu.Unlock()
	var errs []error
	for _, sp := range folders {
		errs = append(errs, sp.setLayer(ctx, c, given))
		sp.announceAll()
	}
	return errors.Join(errs...)
}

// given returns the client's settings.
func (c *Client) given() settings {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settings
}

func (c *Client) folderSpaces() []*space {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.folders)
}
