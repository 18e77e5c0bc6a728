package lsp

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.lsp.dev/protocol"
)

// folders are the client's workspace folders, as absolute directories.
type folders struct {
	mu   sync.RWMutex // guards dirs
	dirs []string
}

func (f *folders) list() []string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return slices.Clone(f.dirs)
}

func (f *folders) change(added, removed []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dirs = slices.DeleteFunc(f.dirs, func(d string) bool { return slices.Contains(removed, d) })
	for _, d := range added {
		if !slices.Contains(f.dirs, d) {
			f.dirs = append(f.dirs, d)
		}
	}
}

// relative returns the path of a document in the folder it lies in, slash-
// separated; of a document in no folder, its URI.
func (f *folders) relative(name string) string {
	file := documentKey(name)
	best := ""
	for _, dir := range f.list() {
		if strings.HasPrefix(file, dir+string(filepath.Separator)) && len(dir) > len(best) {
			best = dir
		}
	}
	if best == "" {
		return name
	}
	return filepath.ToSlash(strings.TrimPrefix(file, best+string(filepath.Separator)))
}

// initialFolders returns the folders of an initialize request, by whichever of
// its three generations of members the client used.
func initialFolders(p *protocol.InitializeParams) []string {
	if list, ok := p.WorkspaceFolders.Get(); ok {
		return directories(list)
	}
	if p.RootURI != nil && p.RootURI.IsFile() { //nolint:staticcheck // clients without folders send it
		return []string{p.RootURI.FsPath()} //nolint:staticcheck // as above
	}
	if root, ok := p.RootPath.Get(); ok && filepath.IsAbs(root) { //nolint:staticcheck // older ones only this
		return []string{filepath.Clean(root)}
	}
	return nil
}

// directories returns the folders that are directories of this machine.
func directories(list []protocol.WorkspaceFolder) []string {
	var dirs []string
	for _, f := range list {
		if f.URI.IsFile() {
			dirs = append(dirs, filepath.Clean(f.URI.FsPath()))
		}
	}
	return dirs
}

// openFolders opens the folders that the client begins with.
func (s *server) openFolders(ctx context.Context, dirs []string) { s.setFolders(ctx, dirs, nil) }

func (s *server) setFolders(ctx context.Context, added, removed []string) {
	s.folders.change(added, removed)
	if err := s.client.SetFolders(ctx, added, removed); err != nil {
		s.warn(err)
	}
}

func (s *server) didChangeFolders(_ context.Context, p *protocol.DidChangeWorkspaceFoldersParams) error {
	added, removed := directories(p.Event.Added), directories(p.Event.Removed)
	s.background.add(func(ctx context.Context) {
		s.setFolders(ctx, added, removed)
		for _, doc := range s.docs.all() {
			s.diags.news(doc.uri)
		}
	})
	return nil
}
