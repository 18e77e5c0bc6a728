package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A progress is shown on a terminal and nowhere else.
type progress struct{ bar *progressbar.ProgressBar }

func newProgress(title string, w io.Writer) *progress {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return &progress{}
	}
	return &progress{progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(f),
		progressbar.OptionSetDescription(title),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetWidth(20),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSpinnerType(14),
	)}
}

// report shows that done of all (0: unknown) is done, and what is at hand.
func (p *progress) report(done, all int, doing string) {
	if p.bar == nil {
		return
	}
	if all > 0 {
		p.bar.ChangeMax(all)
	}
	p.bar.Describe(doing)
	if all > 0 {
		_ = p.bar.Set(done) // what cannot be shown is not missed
	} else {
		_ = p.bar.Add(1)
	}
}

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
