package lsp

import (
	"context"
	"errors"
	"time"
)

// parentInterval is how often a parent process is looked for.
const parentInterval = 500 * time.Millisecond

var errParentDied = errors.New("the client's process has ended")

// watchParent ends the connection when the process pid is gone. A process that
// is not there to begin with is not watched: the client may live in another
// container, where its number means nothing here. It reports whether it began
// to watch.
func (s *server) watchParent(pid int) bool {
	if _, twice := s.parents.LoadOrStore(pid, struct{}{}); twice || !processAlive(pid) {
		return false
	}
	return s.conn.spawn(func(ctx context.Context) {
		tick := time.NewTicker(parentInterval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if !processAlive(pid) {
					s.log.Info("the client's process has ended", "pid", pid)
					s.conn.close(errParentDied)
					return
				}
			}
		}
	})
}
