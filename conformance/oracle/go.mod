module github.com/kith-wire/kith/conformance/oracle

go 1.26.0

replace github.com/kith-wire/kith => ../..

require (
	github.com/go-json-experiment/json v1.27.2
	github.com/kith-wire/kith v0.0.0
)
