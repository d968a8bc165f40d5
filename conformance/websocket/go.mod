module github.com/kith-wire/kith/conformance/websocket

go 1.26.0

replace github.com/kith-wire/kith => ../..

require github.com/kith-wire/kith v0.0.0

require (
	github.com/coder/websocket v1.8.15
	golang.org/x/sys v0.50.0 // indirect
)
