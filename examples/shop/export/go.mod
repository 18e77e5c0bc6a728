module shop/export

go 1.21
