package workspace

import (
	"io/fs"
	"os"
)

// openNonblock is for pipes in the tree; Windows has none there.
const openNonblock = 0

// linkCount is 1: a FileInfo does not tell, and hard links are rare there.
func linkCount(fs.FileInfo) uint64 { return 1 }

// keepOwner does nothing: a new file inherits from its folder.
func keepOwner(tempFile, fs.FileInfo) error { return nil }

// syncDir does nothing: NTFS journals its folders.
func syncDir(*os.Root) error { return nil }
