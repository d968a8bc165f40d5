// Package peers holds programs on the wire in other languages, each written by somebody who had only SPEC.md or, for the daemon wire, the
// description of its protocol. They share no code with kith and none with each other: what they and kith agree about, the documents
// say. Its tests have every one of them pass the checker, and all of them and the scribe call each other.
//
//	python   cbor2
//	node     cbor-x
//	rust     serde_json, ciborium
//	daemon   the daemon wire, in Rust: serde, tokio
//
// `bash conformance/peers/build` builds them, into folders that are not kept.
package peers
