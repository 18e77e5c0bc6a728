package wirecheck

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// CheckLog judges a recorded connection: one JSON object per line, as
// internal/wirerecord writes it, {"dir":"c2s"|"s2c","msg":{…}} or
// {"dir":…,"fault":"…"}; lines of other shapes are passed over. It returns what
// it found and how many messages of the server it judged.
func CheckLog(r io.Reader, opts Options) (faults []string, judged int, err error) {
	c := New(opts)
	in := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			n, bad := c.logged(line)
			if bad != nil {
				return nil, judged, fmt.Errorf("line %d of the log: %w", number, bad)
			}
			judged += n
		}
		if errors.Is(err, io.EOF) {
			return c.Finish(), judged, nil
		}
		if err != nil {
			return nil, judged, fmt.Errorf("reading the log: %w", err)
		}
	}
}

// logged judges one line of a log.
func (c *Checker) logged(line []byte) (judged int, err error) {
	var entry struct {
		Dir   string          `json:"dir"`
		Msg   json.RawMessage `json:"msg"`
		Fault string          `json:"fault"`
	}
	if err := json.Unmarshal(line, &entry); err != nil {
		return 0, err
	}
	switch {
	case entry.Dir == "c2s" && entry.Msg != nil:
		c.ToServer(entry.Msg)
	case entry.Dir == "s2c" && entry.Msg != nil:
		c.FromServer(entry.Msg)
		return 1, nil
	case entry.Dir == "s2c" && entry.Fault != "":
		c.Fault("framing: " + entry.Fault)
		return 1, nil
	}
	return 0, nil
}
