// Package legacy is what the project wants to get rid of.
package legacy

// Multiply returns price times n.
func Multiply(price float64, n int) float64 { return price * float64(n) }
