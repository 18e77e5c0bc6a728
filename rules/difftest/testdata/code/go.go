package sample

import (
	"fmt"
	"io/ioutil"
	"strings"
)

// Item is one thing in a cart.
type Item struct {
	Name  string `json:"name"`
	Price float64
	tags  []string
}

type Store interface {
	Get(id string) (*Item, error)
	Put(item *Item, opts ...interface{}) error
}

func (i *Item) Label(prefix string) string {
	if i == nil || len(i.Name) == 0 {
		return prefix + "none"
	}
	switch v := interface{}(i).(type) {
	case fmt.Stringer:
		return v.String()
	default:
		return strings.Replace(i.Name, " ", "-", -1)
	}
}

func load(path string) (items []Item, err error) {
	data, err := ioutil.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", path, err)
	}
	for _, line := range strings.Split(string(data), "\n") {
		parts := strings.Split(line, ",")
		items = append(items, Item{Name: parts[0], tags: parts[1:]})
	}
	go func(n int) { fmt.Println(n, "items") }(len(items))
	defer fmt.Println("done")
	return items, nil
}
