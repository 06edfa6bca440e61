module example.org/webshop

go 1.22
