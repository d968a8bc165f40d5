// Package wire holds the smallest pieces both encodings are made of: appending one scalar or one opening, and walking
// bytes that a scanner has already admitted. It validates nothing; package scan does.
package wire

// Encoding says how a message is written.
type Encoding uint8

const (
	JSON Encoding = iota
	CBOR
)

// Kind is what one value is.
type Kind uint8

const (
	None Kind = iota // no value: end of the bytes
	Null
	Bool
	Text
	Int   // JSON without '.' and exponent; CBOR majors 0 and 1, tags 2 and 3
	Float // every other number
	List
	Map
)

// kindNames are WIRE words for a kind, as error texts use them.
var kindNames = [...]string{"nothing", "null", "bool", "text", "int", "number", "list", "map"}

func (k Kind) String() string { return kindNames[k] }
