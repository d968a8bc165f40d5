//go:build !alone || raw

package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
)

// Raw Go: a length in four bytes and that many bytes, the first of which says what is asked; one write and one read a message.
const (
	rawEcho = 'e'
	rawBlob = 'b'
	rawList = 'l'
)

// rawBuffer is what raw-buffers sets both buffers of its sockets to.
const rawBuffer = 1 << 20

func init() {
	raw := contender{name: "raw", title: "raw Go", tag: "raw", serve: rawServe(0), dial: rawDial(0), pipe: rawPipe}
	register(raw)
	large := contender{name: "raw-buffers", title: "raw Go, socket buffers of 1 MiB", tag: "raw", only: []string{"blob"},
		serve: rawServe(rawBuffer), dial: rawDial(rawBuffer)}
	register(large)
}

func setBuffers(c net.Conn, size int) error {
	if size == 0 {
		return nil
	}
	u := c.(*net.UnixConn)
	if err := u.SetReadBuffer(size); err != nil {
		return err
	}
	return u.SetWriteBuffer(size)
}

func rawServe(buffers int) func(measure, path string, ready func()) error {
	return func(measure, path string, ready func()) error {
		answers := rawAnswers(measure)
		if path == "" {
			return rawAnswer(os.Stdin, os.Stdout, answers)
		}
		l, err := net.Listen("unix", path)
		if err != nil {
			return err
		}
		ready()
		for {
			c, err := l.Accept()
			if err != nil {
				return err
			}
			if err := setBuffers(c, buffers); err != nil {
				return err
			}
			go func() {
				rawAnswer(c, c, answers)
				c.Close()
			}()
		}
	}
}

// rawAnswers are the two large replies as they are sent.
func rawAnswers(measure string) map[byte][]byte {
	text, rows := held(measure)
	list := make([]byte, 4)
	for _, r := range rows {
		list = append(list, r.ID...)
		list = append(list, r.At...)
		list = append(list, r.Text...)
	}
	binary.BigEndian.PutUint32(list, uint32(len(list)-4))
	one := append(make([]byte, 4), text...)
	binary.BigEndian.PutUint32(one, uint32(len(one)-4))
	return map[byte][]byte{rawBlob: one, rawList: list}
}

// rawAnswer answers all that one read has brought with one write.
func rawAnswer(in io.Reader, out io.Writer, answers map[byte][]byte) error {
	buf, reply := make([]byte, 0, 4096), []byte(nil)
	for {
		n, err := in.Read(buf[len(buf):cap(buf)])
		if err != nil {
			return err
		}
		buf = buf[:len(buf)+n]
		rest := buf
		reply = reply[:0]
		for len(rest) >= 5 {
			size := 4 + int(binary.BigEndian.Uint32(rest))
			if size > cap(buf) {
				return fmt.Errorf("a request of %d bytes", size)
			}
			if len(rest) < size {
				break
			}
			if large, ok := answers[rest[4]]; ok {
				if _, err := out.Write(large); err != nil {
					return err
				}
			} else {
				reply = append(reply, rest[:size]...)
			}
			rest = rest[size:]
		}
		buf = buf[:copy(buf[:cap(buf)], rest)]
		if len(reply) > 0 {
			if _, err := out.Write(reply); err != nil {
				return err
			}
		}
	}
}

type rawClient struct {
	in      io.Reader
	out     io.Writer
	close   func() error
	request []byte
	reply   []byte
	many    *bufio.Reader // of bursts
}

func rawDial(buffers int) func(measure, path string) (client, error) {
	return func(_, path string) (client, error) {
		c, err := net.Dial("unix", path)
		if err != nil {
			return nil, err
		}
		return newRawClient(c, c, c.Close), setBuffers(c, buffers)
	}
}

// rawPipe has a Go child at the other end of two pipes.
func rawPipe() (client, error) {
	cmd, err := command("raw", "pipe")
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return newRawClient(out, in, func() error { return rawEnd(in, cmd) }), nil
}

// rawEnd ends a child by the end of its input, of which it says that it came.
func rawEnd(in io.Closer, cmd *exec.Cmd) error {
	in.Close()
	cmd.Wait()
	return nil
}

func newRawClient(in io.Reader, out io.Writer, close func() error) *rawClient {
	return &rawClient{in: in, out: out, close: close, reply: make([]byte, 4096)}
}

// call returns what stands behind the length.
func (c *rawClient) call(kind byte, text string) ([]byte, error) {
	c.request = append(append(append(c.request[:0], 0, 0, 0, 0), kind), text...)
	binary.BigEndian.PutUint32(c.request, uint32(len(c.request)-4))
	if _, err := c.out.Write(c.request); err != nil {
		return nil, err
	}
	have := 0
	for size := 4; have < size; {
		n, err := c.in.Read(c.reply[have:])
		if err != nil {
			return nil, err
		}
		if have += n; size == 4 && have >= 4 {
			size += int(binary.BigEndian.Uint32(c.reply))
			if size > len(c.reply) {
				c.reply = append(c.reply, make([]byte, size-len(c.reply))...)
			}
		}
	}
	return c.reply[4:have], nil
}

func (c *rawClient) Echo(text string) (string, error) {
	b, err := c.call(rawEcho, text)
	if err != nil {
		return "", err
	}
	return string(b[1:]), nil
}

func (c *rawClient) Blob() (int, error) {
	b, err := c.call(rawBlob, "")
	return len(b), err
}

// List reads the bytes, of which it makes no rows.
func (c *rawClient) List(n int) (int, string, error) {
	_, err := c.call(rawList, "")
	return n, "", err
}

func (c *rawClient) Burst(n int) error {
	c.request = c.request[:0]
	for range n {
		c.request = binary.BigEndian.AppendUint32(c.request, uint32(1+len(echoText)))
		c.request = append(append(c.request, rawEcho), echoText...)
	}
	if _, err := c.out.Write(c.request); err != nil {
		return err
	}
	if c.many == nil {
		c.many = bufio.NewReader(c.in)
	}
	size := 5 + len(echoText)
	for range n {
		b, err := c.many.Peek(size)
		if err != nil {
			return err
		}
		if string(b[5:]) != echoText {
			return fmt.Errorf("echo returned %.40q", b)
		}
		c.many.Discard(size)
	}
	return nil
}

func (c *rawClient) Close() error { return c.close() }
