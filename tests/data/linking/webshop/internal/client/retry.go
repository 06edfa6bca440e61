package client

type RetryPolicy struct {
	Max int
}

func (p RetryPolicy) ShouldRetry(attempt int) bool {
	return attempt < p.Max
}

func Backoff(attempt int) int {
	return 1 << attempt
}
