"""The three ways into the program: a command line, a pipe and a socket."""
