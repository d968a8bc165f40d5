// Package verbs is the set of verbs a program answers: it binds typed Go functions to calls, refuses by name what does not
// fit, and tells about itself (WIRE §11).
//
// A program begins with a name and the surface its extensions are written against, and adds its verbs. A verb is a function
// of a struct, whose exported fields, in order, are the arguments of the call; each value it returns is one row:
//
//	type noteArgs struct {
//		Text string
//		Tags []string `kith:"rest"`
//	}
//
//	func main() {
//		set := verbs.New("scribe", 1)
//		verbs.Add(set, "note", "keep one line", note) // func(context.Context, noteArgs) ([]Note, error)
//		doors.Main(set)
//	}
//
// That program answers note, and by itself verbs and client, on its cli, its pipe and its socket, in JSON and in CBOR.
//
// # Arguments
//
// An argument is named by its field's json tag, or else by the field's name in lower case, and its type is the WIRE word of
// the field's Go type: text, bool, int, number, list, map or any. Four things can be said of it:
//
//   - a pointer field is optional: nil where the argument is left out
//   - a field tagged `kith:"optional"` is optional too: its zero value where it is left out
//   - the last field, a slice tagged `kith:"rest"`, takes all arguments that are left, none included
//   - a field tagged `json:"-"`, and one that is not exported, is no argument
//
// Optional ones come after the required ones. null for an optional argument is the same as leaving it out, unless its type is
// any, which takes null as the value it is. struct{} takes no arguments. On the cli a word is the text it is where the type
// is text, and is read as JSON where the type is any other, any included (ARGV-3).
//
// # Rows
//
// Each element of the returned slice is a row; nil is no rows. A row that is itself a list is nearly always a listing that
// was wrapped by mistake (SHAPE-4), so it is refused at registration unless [ListRows] says that it is meant.
//
// An error is the refusal of the call, and its fault is its own: shape.Refused.Errorf for what the caller may not have,
// shape.Failed.Errorf for what did not land, failed for every other error.
//
// # Events
//
// [On] binds a function to an event. The members of the event fill the fields by their names, optional ones by the same two
// rules as arguments. An event with no function is dropped, one that does not fit is dropped and logged, and neither is
// ever answered (SHAPE-6).
//
// # Doors
//
// Every verb is answered on every door of the program. [Doors] narrows it, for one verb or for all of the program; what
// `verbs` lists for a door is what that door answers, and nothing else (FAULT-5). A function learns who asks, and by which
// door, from transport.PeerFrom.
//
// # Faults of registration
//
// What is registered wrongly is a mistake in the program and not in a call, so it does not wait for one: New, Add and On
// panic, as net/http does for a bad pattern, and say which verb and why.
package verbs
