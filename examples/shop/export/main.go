// Command export collects a day's order files into one.
package main

import (
	"fmt"
	"io/ioutil"
	"os"
	"path/filepath"
)

func main() {
	if err := export(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "export:", err)
		os.Exit(1)
	}
}

func export(dir, target string) error {
	files, err := ioutil.ReadDir(dir)
	if err != nil {
		return err
	}
	var all []byte
	for _, f := range files {
		one, err := ioutil.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		all = append(all, one...)
	}
	return ioutil.WriteFile(target, all, 0o644)
}
