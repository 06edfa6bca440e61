package queue

type Queue[T any] struct {
	items []T
}

func (q *Queue[T]) Push(item T) {
	q.items = append(q.items, item)
}

func (q *Queue[T]) Pop() (T, bool) {
	var none T
	return none, false
}

func Drain[T any](q *Queue[T]) int {
	return len(q.items)
}
