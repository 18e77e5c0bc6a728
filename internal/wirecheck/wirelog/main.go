// Command wirelog judges recorded connections with package wirecheck:
//
//	wirelog LOG…
//
// The logs are those of internal/wirerecord. It prints every fault and exits
// with 1 when there are any, with 2 when a log cannot be read or holds no
// message of the server. KAIAK_LSP_METAMODEL adds LSP's metamodel to what the
// messages are judged by.
package main

import (
	"fmt"
	"os"

	"github.com/kaiak/kaiak/internal/wirecheck"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(files []string) int {
	mm, err := wirecheck.LoadMetamodel()
	if err != nil || len(files) == 0 {
		fmt.Fprintln(os.Stderr, "usage: wirelog LOG…", err)
		return 2
	}
	code := 0
	for _, name := range files {
		faults, judged, err := check(name, wirecheck.Options{Metamodel: mm})
		switch {
		case err != nil:
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			return 2
		case judged == 0:
			fmt.Fprintf(os.Stderr, "%s: no message of the server\n", name)
			return 2
		}
		for _, f := range faults {
			fmt.Printf("%s: %s\n", name, f)
			code = 1
		}
		fmt.Printf("%s: %d messages of the server, %d faults\n", name, judged, len(faults))
	}
	return code
}

func check(name string, opts wirecheck.Options) ([]string, int, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	return wirecheck.CheckLog(f, opts)
}
