// Command cmd plays a model script for processes that are not Go tests: an
// editor's test suite, an example. It prints one line of JSON, {"url": …}, when
// it listens, stops when its standard input ends, and exits with 1 when the
// script was not played to the end or an unexpected request came.
//
//	go run ./internal/modelserver/cmd -script fix.yaml [-addr 127.0.0.1:0] [-requests out.jsonl]
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/kaiak/kaiak/internal/modelserver"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "modelserver:", err)
		os.Exit(1)
	}
}

func run() error {
	script := flag.String("script", "", "YAML or JSON file with the script")
	addr := flag.String("addr", "127.0.0.1:0", "loopback address to listen on")
	requests := flag.String("requests", "", "file that receives the bodies of the requests, one per line")
	flag.Parse()
	sc, err := modelserver.ReadScript(*script)
	if err != nil {
		return err
	}
	s, err := modelserver.Start(sc, *addr)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"url": s.URL}); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	s.Close()
	if *requests != "" {
		f, err := os.OpenFile(*requests, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		for _, r := range s.Received() {
			if _, err := fmt.Fprintf(f, "%s\n", r.Body); err != nil {
				return err
			}
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return s.Check()
}
