package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// pipeCap is the most that a line may have between a program and what it started (LIMIT-1).
const pipeCap = 16 << 20

// pipe serves stdin and stdout, one message a line.
func pipe() int {
	in := newInbox(pipeCap)
	if !wrong("pipe-dies-of-sigterm") {
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, syscall.SIGTERM)
		go func() {
			<-stop
			in.end() // SIGTERM is the end of the input (PIPE-3)
		}()
	}
	go func() {
		readLines(bufio.NewReaderSize(os.Stdin, 64<<10), in)
		in.end()
	}()
	end := "\n"
	if wrong("crlf-written") {
		end = "\r\n"
	}
	err := door{name: "pipe", in: in, write: func(body []byte) error {
		_, err := os.Stdout.Write(append(body, end...))
		return err
	}}.loop()
	switch {
	case errors.Is(err, errUnsolicited) && wrong("unsolicited-exits-0"):
		return 0
	case err != nil:
		return fail(1, "%v", err)
	case wrong("end-exits-3"):
		return 3
	}
	return 0
}

// readLines puts each line into the inbox until the input ends. Of a line over the cap no more than the cap is kept
// (LIMIT-2, LIMIT-4).
func readLines(from *bufio.Reader, in *inbox) {
	limit := pipeCap
	if wrong("cap-less-one") {
		limit--
	}
	for {
		if _, err := from.Peek(1); err == nil && wrong("short-reads-lost") && from.Buffered() < 4 {
			from.ReadSlice('\n')
			continue
		}
		var line bytes.Buffer
		size := 0
		piece, err := from.ReadSlice('\n')
		for ; errors.Is(err, bufio.ErrBufferFull); piece, err = from.ReadSlice('\n') {
			if size += len(piece); size <= limit || wrong("endless-line-kept") {
				line.Write(piece)
			}
		}
		if size += len(piece); size <= limit+1 {
			line.Write(piece)
		}
		if errors.Is(err, io.EOF) && wrong("needs-line-end") {
			return
		}
		putLine(in, line.Bytes(), size, limit)
		if err != nil {
			return
		}
		if wrong("one-message-a-read") {
			from.Discard(from.Buffered())
		}
	}
}

// putLine takes the end off a line, and lets blank ones go (PIPE-1).
func putLine(in *inbox, line []byte, size, limit int) {
	if bytes.HasSuffix(line, []byte("\n")) || size > len(line) {
		line, size = bytes.TrimSuffix(line, []byte("\n")), size-1
	}
	blank := len(bytes.Trim(line, " \t\r")) == 0
	switch {
	case size > limit:
		in.put(incoming{bad: overCap("line", size, pipeCap), last: wrong("over-cap-ends")})
	case blank && !(wrong("blank-lines-answered") && size > 0):
	case wrong("crlf-refused") && bytes.HasSuffix(line, []byte("\r")):
		bad := malformed("a line ends with LF alone")
		in.put(incoming{bad: &bad})
	default:
		in.put(incoming{body: line})
	}
}

func overCap(what string, size, limit int) *reply {
	bad := malformed("a %s of %d bytes is over the cap of %d", what, size, limit)
	if wrong("over-cap-unnamed") {
		bad.err = "too long"
	}
	return &bad
}
