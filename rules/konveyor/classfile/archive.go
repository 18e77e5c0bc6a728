package classfile

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"path"
	"strings"
)

// Limits of one archive, so that a small file cannot use up memory or time.
const (
	maxClass   = 4 << 20   // bytes of one class or inner archive's entry
	maxInner   = 64 << 20  // bytes of an archive inside an archive
	maxExpand  = 512 << 20 // bytes of all that is unpacked
	maxEntries = 200_000
)

// ErrTooLarge is an archive that unpacks to more than the package reads. What
// was read before has been visited.
var ErrTooLarge = errors.New("the archive unpacks to too much")

// IsArchive reports whether a path is one that [ReadArchive] reads.
func IsArchive(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".jar", ".war", ".ear", ".rar":
		return true
	}
	return false
}

// ReadArchive calls visit with every class of an archive and of the archives
// directly in it. Classes that cannot be read are left out.
func ReadArchive(data []byte, visit func(*Class)) error {
	b := budget{bytes: maxExpand, entries: maxEntries}
	return b.read(data, true, visit)
}

type budget struct {
	bytes   int64
	entries int
}

func (b *budget) read(data []byte, inner bool, visit func(*Class)) error {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	for _, f := range z.File {
		if b.entries--; b.entries < 0 {
			return ErrTooLarge
		}
		limit := int64(maxClass)
		isClass := strings.HasSuffix(f.Name, ".class") && !strings.HasPrefix(f.Name, "META-INF/versions/")
		isInner := inner && IsArchive(f.Name)
		if isInner {
			limit = maxInner
		}
		if !isClass && !isInner {
			continue
		}
		text, err := b.unpack(f, limit)
		switch {
		case errors.Is(err, ErrTooLarge):
			return err
		case err != nil:
			continue
		}
		if isInner {
			if err := b.read(text, false, visit); errors.Is(err, ErrTooLarge) {
				return err
			}
			continue
		}
		if c, err := Parse(text); err == nil {
			visit(c)
		}
	}
	return nil
}

func (b *budget) unpack(f *zip.File, limit int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, min(limit, b.bytes)+1))
	b.bytes -= int64(len(text))
	if b.bytes < 0 {
		return nil, ErrTooLarge
	}
	if int64(len(text)) > limit {
		return nil, errors.New("the entry is too large")
	}
	return text, err
}
