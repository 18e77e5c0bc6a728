//go:build !linux

package workspace

import "os"

// openNoFollow opens a file below root for reading. A symbolic link anywhere in
// rel is errSymlink.
func (t *tree) openNoFollow(rel string) (*os.File, error) {
	return t.openNoFollowPortable(rel)
}
