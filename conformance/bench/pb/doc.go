// Package pb has the messages of the contenders that speak protobuf.
package pb

//go:generate protoc --go_out=. --go_opt=paths=source_relative bench.proto
