package main

import (
	"io"
	"io/ioutil"
)

// text reads all of r as text.
func text(r io.Reader) (string, error) {
	all, err := ioutil.ReadAll(r)
	return string(all), err
}
