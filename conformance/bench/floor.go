package main

// Two processes that block are at the mercy of the scheduler: on one processor a switch is all there is between them, on two each
// message wakes one that has gone to sleep. The second contender leaves it no choice.
func init() {
	only := []string{"echo", "pipe"}
	register(contender{name: "c", title: "C, blocking", native: "floor/floor.c", only: only})
	register(contender{name: "c-pinned", title: "C, blocking, on one processor", native: "floor/floor.c", only: only})
}
