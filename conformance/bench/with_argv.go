package main

// Programs that are run once for a call. They are packages of their own, so that they link what a program of its user links.
func init() {
	argv := []string{"argv"}
	register(contender{name: "argv-minimal", title: "minimal Go program", program: "argv/minimal", only: argv})
	register(contender{name: "argv-doors", title: "kith, all doors", program: "argv/doors", module: kithModule, only: argv})
	register(contender{name: "argv-alone", title: "kith, package argv alone", program: "argv/alone", module: kithModule, only: argv})
}
