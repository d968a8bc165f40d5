// Package shape holds the three messages of the wire, in both encodings: a call, its reply, and an event. Bytes in, values
// out; nothing here reads or writes.
//
// A message that comes is read with [Limits.Read], which admits every byte of it once: what it returns fits the value model of
// both encodings, so that it can be answered in either. Its parts are not decoded before somebody asks: a [Raw] is one
// admitted value, [Args] the arguments of a call, [Members] the members that the shape does not name, [Rows] the rows of a
// reply. All of them are parts of the bytes that came, and good as long as those are; Clone makes them their own.
//
// A message that goes is made of Go values: [RowsOf] makes the rows of a reply and [Rows.AppendReply] writes it, [Call.Append]
// writes a call and [Event.Append] an event. Types cross as encoding/json names them, in both encodings the same: structs by
// their json tags, nil slices as empty lists, times and other text marshalers as text. A type that cannot cross both encodings
// is told by [TypeOf].
//
// Why a call has no rows is an [*Error]. Its [Fault] is what the caller has lost, and is itself an error:
//
//	if errors.Is(err, shape.Refused) { … }
package shape
