package workspace

import (
	"io/fs"
	"syscall"
)

func stampOf(info fs.FileInfo) Stamp {
	s := Stamp{Size: info.Size(), ModTime: info.ModTime().UnixNano()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.ChangeTime, s.Inode = sys.Ctim.Nano(), sys.Ino
	}
	return s
}
