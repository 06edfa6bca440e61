package main

import "example.org/webshop/api"

func main() {
	srv := api.NewServer(":8080")
	if err := srv.Run(); err != nil {
		fail(err)
	}
}

func fail(err error) {
	panic(err)
}
