// Package shop sells things.
package shop

import (
	"fmt"
	m "example.com/shop/money"
)

// Named is what has a name.
type Named interface {
	fmt.Stringer
	Name() string
}

// Cart holds what is bought. 🛒
//
//nolint:all
type Cart[T any] struct {
	Base
	items []T
	pay   func(int) error
}

type (
	// Cents are small.
	Cents  = m.Amount
	number int
)

var hook = func(c *Cart[int]) { c.Add(1) }

// Add puts an item in.
func (c *Cart[T]) Add(item T) (count int, err error) {
	check := func(i T) bool { return true }
	type local struct{ x int }
	if check(item) {
		c.items = append(c.items, item)
	}
	return len(c.items), nil
}

func (Cents) String() string { return "" }

func New() *Cart[int] { return &Cart[int]{} }
func extern(x int) int
