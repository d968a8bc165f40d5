package conformance

import "slices"

// check is one thing that is checked, at each of its doors.
type check struct {
	name  string
	rule  string // of WIRE
	about string
	doors []string
	own   bool // it ends, starts or measures the program, so the checker must have started it
	run   func(*probe)
}

func (c check) has(door string) bool { return slices.Contains(c.doors, door) }

var (
	cliDoor    = []string{CLI}
	pipeDoor   = []string{Pipe}
	socketDoor = []string{Socket}
	talkDoors  = []string{Pipe, Socket}
	bothCodes  = []string{CLI, Socket} // the doors that carry CBOR
)

// Item is a check at a door, as a list shows it.
type Item struct {
	Name  string `json:"name"` // door/check
	Rule  string `json:"rule"`
	About string `json:"about"`
}

// Checks returns the checks of these doors, in the order of reports; where none is named, those of a program, which has no
// [Daemon].
func Checks(doors ...string) (items []Item) {
	if len(doors) == 0 {
		doors = allDoors
	}
	for _, d := range everyDoor {
		for _, c := range table {
			if slices.Contains(doors, d) && c.has(d) {
				items = append(items, Item{Name: d + "/" + c.name, Rule: c.rule, About: c.about})
			}
		}
	}
	return items
}

// table is all there is. It is filled here and nowhere else; init breaks the circle between it and what runs it.
var table []check

func init() {
	table = slices.Concat(replyChecks, verbChecks, orderChecks, messageChecks, valueChecks, limitChecks, cliChecks, pipeChecks,
		socketChecks, serverChecks, daemonAnswerChecks, daemonBadChecks, daemonEndChecks)
}
