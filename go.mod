module github.com/kith-wire/kith

go 1.26.0

require (
	github.com/fxamacker/cbor/v2 v2.10.0
	github.com/google/go-cmp v0.7.0
	golang.org/x/sys v0.50.0
)

require github.com/x448/float16 v0.8.4 // indirect
