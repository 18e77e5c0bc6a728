package main

import (
	"fmt"
	str "strings"
)

// Cart is a list of prices.
type Cart struct{ prices []int }

func (c *Cart) Add(p int) { c.prices = append(c.prices, p) }

func main() {
	c := &Cart{}
	c.Add(2)
	fmt.Println(str.ToUpper("total"), len(c.prices))
}
