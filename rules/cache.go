package rules

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/kaiak/kaiak/workspace"
)

// A Cache remembers between scans which files of a workspace had nothing to
// tell, so that a scan of a tree that did not change costs a stat for each file.
// It lives in one directory of the user's, and holds paths and time stamps, no
// code. It is safe for concurrent use by any number of processes: what one loses
// to another is found again.
type Cache struct {
	dir    string
	settle time.Duration // how old a file must be for its stamp to be trusted
}

// NewCache returns the cache in a directory, which need not be there yet.
func NewCache(dir string) *Cache { return &Cache{dir, settle} }

// cacheVersion begins every file of a cache; another one is not read.
const cacheVersion = "kaiak quiet files 1\n"

// settle is how old a file has to be when a scan begins for its stamp to be
// trusted: one that changes within the clock's tick keeps its stamp.
const settle = 2 * time.Second

// quiet is what a cache knows of one workspace under one set of rules.
type quiet struct {
	cache *Cache
	file  string
	since int64                      // when the scan began, less settle; nanoseconds since 1970
	known map[string]workspace.Stamp // not modified
	whole bool                       // the scan walks the whole tree: what it does not see is gone

	mu  sync.Mutex                 // guards now
	now map[string]workspace.Stamp // of this scan
}

// open returns what is known; a cache that cannot be read knows nothing.
func (c *Cache) open(s *Set, ws *workspace.Workspace, whole bool) *quiet {
	if c == nil {
		return nil
	}
	key := sha256.Sum256([]byte(s.sum + "\x00" + ws.RealDir()))
	q := &quiet{cache: c, file: filepath.Join(c.dir, hex.EncodeToString(key[:16])+".quiet"), since: time.Now().Add(-c.settle).UnixNano(), now: map[string]workspace.Stamp{}, whole: whole}
	text, err := os.ReadFile(q.file)
	if err == nil {
		q.known = decodeQuiet(text)
	}
	return q
}

// skip reports whether a file is known to have nothing to tell.
func (q *quiet) skip(e workspace.Entry) bool {
	if q == nil || e.Stamp == (workspace.Stamp{}) || q.known[e.Path] != e.Stamp {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.now[e.Path] = e.Stamp
	return true
}

// add remembers that a file had nothing to tell.
func (q *quiet) add(path string, stamp workspace.Stamp) {
	if q == nil || stamp == (workspace.Stamp{}) || max(stamp.ModTime, stamp.ChangeTime) >= q.since {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.now[path] = stamp
}

// save writes what the scan learned. A cache that cannot be written is no error
// of the scan.
func (q *quiet) save() {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.whole {
		for path, stamp := range q.known {
			if _, ok := q.now[path]; !ok {
				q.now[path] = stamp
			}
		}
	}
	if maps.Equal(q.now, q.known) || os.MkdirAll(q.cache.dir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(q.cache.dir, "new-*") // 0600
	if err != nil {
		return
	}
	_, err = f.Write(encodeQuiet(q.now))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), q.file)
	}
	if err != nil {
		os.Remove(f.Name())
	}
}

// encodeQuiet writes the version, the hash of what follows, and the entries.
func encodeQuiet(m map[string]workspace.Stamp) []byte {
	var body []byte
	for path, s := range m {
		body = binary.AppendUvarint(body, uint64(len(path)))
		body = append(body, path...)
		for _, n := range []uint64{uint64(s.Size), uint64(s.ModTime), uint64(s.ChangeTime), s.Inode} {
			body = binary.AppendUvarint(body, n)
		}
	}
	sum := sha256.Sum256(body)
	return slices.Concat([]byte(cacheVersion), sum[:], body)
}

// decodeQuiet reads what encodeQuiet wrote; anything else is nil.
func decodeQuiet(text []byte) map[string]workspace.Stamp {
	rest, ok := bytes.CutPrefix(text, []byte(cacheVersion))
	if !ok || len(rest) < sha256.Size {
		return nil
	}
	body := rest[sha256.Size:]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], rest[:sha256.Size]) {
		return nil
	}
	out := map[string]workspace.Stamp{}
	number := func() (uint64, bool) {
		n, size := binary.Uvarint(body)
		if size <= 0 {
			return 0, false
		}
		body = body[size:]
		return n, true
	}
	for len(body) > 0 {
		length, ok := number()
		if !ok || length > uint64(len(body)) {
			return nil
		}
		path := string(body[:length])
		body = body[length:]
		var n [4]uint64
		for i := range n {
			if n[i], ok = number(); !ok {
				return nil
			}
		}
		out[path] = workspace.Stamp{Size: int64(n[0]), ModTime: int64(n[1]), ChangeTime: int64(n[2]), Inode: n[3]}
	}
	return out
}

// addBinary makes a new build of the program know nothing of what an older one
// found.
func addBinary(sum hash.Hash) {
	name, err := os.Executable()
	if err != nil {
		return
	}
	if info, err := os.Stat(name); err == nil {
		fmt.Fprintf(sum, "%d %d\x00", info.Size(), info.ModTime().UnixNano())
	}
}
