//go:build !alone || goplugin

package main

import (
	"fmt"
	"net/rpc"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
)

func init() {
	register(contender{
		name: "go-plugin", title: "hashicorp/go-plugin, net/rpc", tag: "goplugin", module: "github.com/hashicorp/go-plugin",
		peer: true, starts: true, shared: true, serve: pluginServe, dial: pluginDial,
	})
}

// pluginBench is the one plugin, at both ends.
type pluginBench struct{ service *rpcBench }

func (p pluginBench) Server(*plugin.MuxBroker) (any, error) { return p.service, nil }

func (p pluginBench) Client(_ *plugin.MuxBroker, c *rpc.Client) (any, error) {
	return rpcClient{c, "Plugin"}, nil
}

var pluginHandshake = plugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "BENCH_PLUGIN", MagicCookieValue: "bench"}

func pluginServe(measure, _ string, _ func()) error {
	endWithInput() // that of the client, which a plugin has too
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: pluginHandshake,
		Plugins:         plugin.PluginSet{"bench": pluginBench{newRPCBench(measure)}},
		Logger:          hclog.NewNullLogger(),
	})
	return nil
}

type pluginClient struct {
	rpcClient
	process *plugin.Client
}

func pluginDial(measure, _ string) (client, error) {
	cmd, err := command("go-plugin", measure)
	if err != nil {
		return nil, err
	}
	process := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: pluginHandshake, Plugins: plugin.PluginSet{"bench": pluginBench{}}, Cmd: cmd, Logger: hclog.NewNullLogger(),
	})
	c, err := pluginConnect(process)
	if err != nil {
		process.Kill()
		return nil, err
	}
	return pluginClient{c, process}, nil
}

func pluginConnect(process *plugin.Client) (rpcClient, error) {
	protocol, err := process.Client()
	if err != nil {
		return rpcClient{}, err
	}
	got, err := protocol.Dispense("bench")
	if err != nil {
		return rpcClient{}, err
	}
	c, ok := got.(rpcClient)
	if !ok {
		return c, fmt.Errorf("the plugin is a %T", got)
	}
	return c, nil
}

func (c pluginClient) Close() error {
	c.process.Kill()
	return nil
}
