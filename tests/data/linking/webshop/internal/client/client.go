package client

import "time"

type Option func(*Client)

type Client struct {
	timeout time.Duration
	retries int
}

func New(options ...Option) *Client {
	c := &Client{}
	for _, option := range options {
		option(c)
	}
	return c
}

func WithTimeout(d time.Duration) Option {
	return func(c *Client) { c.timeout = d }
}

func (c *Client) Do(path string) (string, error) {
	return c.doOnce(path)
}

func (c *Client) doOnce(path string) (string, error) {
	return path, nil
}

func (c *Client) Close() error {
	return nil
}
