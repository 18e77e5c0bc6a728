package rules

import (
	"context"
	"errors"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/kaiak/kaiak/workspace"
)

// ScanOptions tune [Set.Scan].
type ScanOptions struct {
	Under   []string // files and folders to scan, relative to the root; empty: all
	All     bool     // what git ignores, too
	Workers int      // how many files at a time; 0: as many as there are processors
	Cache   *Cache   // what earlier scans found nothing in is not read again; nil: all is read
}

// A FileResult is what a scan has to say about one file.
type FileResult struct {
	Path    string
	Matches []Match
	Skipped *workspace.PathError // not nil: the file was not looked at, and why
	Err     error                // the file could not be checked, or not completely
}

// Scan checks the files of a workspace that any rule looks at, several at a
// time, and calls fn for each file that has matches, was skipped or could not
// be checked: one after the other, in the order of the walk, whatever the
// number of workers. It ends with the first error of fn or ctx; a file that
// cannot be checked does not end it.
func (s *Set) Scan(ctx context.Context, ws *workspace.Workspace, opts ScanOptions, fn func(FileResult) error) error {
	workers := opts.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	known := opts.Cache.open(s, ws, len(opts.Under) == 0 && !opts.All)
	group, ctx := errgroup.WithContext(ctx)
	// Each job carries the channel on which its result is awaited in order; the
	// capacity of the queue bounds how far the workers run ahead.
	type job struct {
		entry workspace.Entry
		done  chan FileResult
	}
	const ahead = 256
	jobs := make(chan job)
	queue := make(chan job, ahead)
	group.Go(func() error {
		defer close(jobs)
		defer close(queue)
		return ws.Walk(ctx, workspace.WalkOptions{Under: opts.Under, All: opts.All}, func(e workspace.Entry) error {
			if !s.Applies(e.Path) {
				return nil
			}
			if known.skip(e) {
				return nil
			}
			j := job{e, make(chan FileResult, 1)}
			select {
			case queue <- j:
			case <-ctx.Done():
				return ctx.Err()
			}
			if e.Skipped != nil {
				j.done <- FileResult{Path: e.Path, Skipped: e.Skipped}
				return nil
			}
			select {
			case jobs <- j:
			case <-ctx.Done():
				return ctx.Err()
			}
			return nil
		})
	})
	for range workers {
		group.Go(func() error {
			for j := range jobs {
				j.done <- s.scanFile(ctx, ws, j.entry.Path)
			}
			return nil
		})
	}
	group.Go(func() error {
		for j := range queue {
			var r FileResult
			select {
			case r = <-j.done:
			case <-ctx.Done():
				return ctx.Err()
			}
			if len(r.Matches) == 0 && r.Skipped == nil && r.Err == nil {
				known.add(r.Path, j.entry.Stamp)
				continue
			}
			if err := fn(r); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	if err := group.Wait(); err != nil {
		return err
	}
	known.save()
	return nil
}

func (s *Set) scanFile(ctx context.Context, ws *workspace.Workspace, path string) FileResult {
	file, err := ws.ReadText(path)
	if err != nil {
		var skipped *workspace.PathError
		if errors.As(err, &skipped) {
			return FileResult{Path: path, Skipped: skipped}
		}
		return FileResult{Path: path, Err: err}
	}
	matches, err := s.Check(ctx, file, nil)
	return FileResult{Path: path, Matches: matches, Err: err}
}
