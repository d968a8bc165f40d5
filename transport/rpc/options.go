package rpc

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/kith-wire/kith/shape"
	"github.com/kith-wire/kith/transport"
	"github.com/kith-wire/kith/transport/socket"
)

// Options are how the daemon wire is served; as the Wire of [socket.Options] they make a socket speak it.
type Options struct {
	// Namespaces answer the methods: "agent.list" is the verb list of the Handler of agent (RPC-5). An underscore in a method
	// is a hyphen in the verb, which has none: channel.register_channel is register-channel.
	Namespaces map[string]transport.Handler
	// Upgrades are the methods, "agent.drive", whose handlers may call [Upgrade]. Nothing behind such a request is read before its
	// handler has returned or has taken the connection.
	Upgrades []string
	// InFlight is how many requests of one connection are answered at the same time; default 64. More are read once there is room.
	InFlight int
	// Idle is how long a connection may take to its first whole request; default 30 s, below 0 for ever. Later it may be idle.
	Idle time.Duration
}

const (
	defaultInFlight = 64
	defaultIdle     = 30 * time.Second
	defaultStall    = 30 * time.Second
)

// Serve answers the requests that come over conn, which is its to close, until input ends, the connection fails or ctx does. Of cfg
// the Handler is not used, and Limits.Frame defaults to 16 MiB, Limits.Depth to 128.
func (o Options) Serve(ctx context.Context, conn net.Conn, cfg transport.Config) socket.Session {
	if o.InFlight <= 0 {
		o.InFlight = defaultInFlight
	}
	if o.Idle == 0 {
		o.Idle = defaultIdle
	}
	if cfg.Stall == 0 {
		cfg.Stall = defaultStall
	}
	cfg.Limits = limits(cfg.Limits)
	cfg.Handler = transport.HandlerFunc(o.route)
	return serve(ctx, conn, o, cfg)
}

// Refuse is what a caller is told who is not served: an error with id 0, whose request was not read (RPC-4).
func (o Options) Refuse(why error) []byte {
	return appendFailure(nil, 0, Busy, textOf(why))
}

// route calls the verb of a method.
func (o Options) route(ctx context.Context, call shape.Call) (shape.Rows, error) {
	namespace, verb, dotted := strings.Cut(call.Verb, ".")
	h := o.Namespaces[namespace]
	switch {
	case !dotted || verb == "":
		return shape.Rows{}, UnknownMethod.Errorf("method %s is not of the form namespace.verb", shape.Quote(call.Verb))
	case h == nil:
		return shape.Rows{}, UnknownMethod.Errorf("no such namespace: %s; there is %s", shape.Quote(namespace), o.names())
	}
	call.Verb = strings.ReplaceAll(verb, "_", "-")
	return h.Call(ctx, call)
}

func (o Options) names() string {
	var names []string
	for name := range o.Namespaces {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// Check says what is wrong with the options: [socket.Listen] refuses them with that.
func (o Options) Check() error {
	for name, h := range o.Namespaces {
		if name == "" || strings.Contains(name, ".") || h == nil {
			return fmt.Errorf("rpc: namespace %q: a name is not empty and has no dot, and its Handler is not nil", name)
		}
	}
	for _, method := range o.Upgrades {
		if namespace, _, _ := strings.Cut(method, "."); o.Namespaces[namespace] == nil {
			return fmt.Errorf("rpc: method %q may upgrade, and there is no such namespace", method)
		}
	}
	return nil
}
