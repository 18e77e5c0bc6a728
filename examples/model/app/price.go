// Package app computes prices.
package app

import "example.com/app/legacy"

// Total returns the price of n items with tax.
func Total(n int, price float64) float64 {
	sum := legacy.Multiply(price, n)
	return sum * 1.19
}
