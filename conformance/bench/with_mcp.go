//go:build !alone || mcp

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func init() {
	register(contender{
		name: "mcp", title: "MCP go-sdk, stdio", tag: "mcp", module: "github.com/modelcontextprotocol/go-sdk",
		peer: true, starts: true, shared: true, serve: mcpServe, dial: mcpDial,
		pipe: func() (client, error) { return mcpDial("pipe", "") },
	})
}

type mcpAsk struct {
	N int `json:"n"`
}

type mcpListing struct {
	Rows []Row `json:"rows"`
}

var mcpImplementation = &mcp.Implementation{Name: "bench", Version: "1"}

func mcpServe(measure, _ string, _ func()) error {
	text, rows := held(measure)
	s := mcp.NewServer(mcpImplementation, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "say it again"},
		func(_ context.Context, _ *mcp.CallToolRequest, in Said) (*mcp.CallToolResult, Said, error) {
			return nil, in, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "blob", Description: "one large text"},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, Said, error) {
			return nil, Said{text}, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "list", Description: "the first n rows"},
		func(_ context.Context, _ *mcp.CallToolRequest, in mcpAsk) (*mcp.CallToolResult, mcpListing, error) {
			if in.N < 0 || in.N > len(rows) {
				return nil, mcpListing{}, fmt.Errorf("n is %d and there are %d rows", in.N, len(rows))
			}
			return nil, mcpListing{rows[:in.N]}, nil
		})
	return s.Run(context.Background(), &mcp.StdioTransport{})
}

type mcpClient struct{ *mcp.ClientSession }

func mcpDial(measure, _ string) (client, error) {
	cmd, err := command("mcp", measure)
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	c := mcp.NewClient(mcpImplementation, nil)
	session, err := c.Connect(context.Background(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return nil, err
	}
	return mcpClient{session}, nil
}

// mcpCall returns the structured content as a T, which the SDK leaves to its user.
func mcpCall[T any](c mcpClient, tool string, in any) (out T, err error) {
	res, err := c.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: in})
	if err != nil {
		return out, err
	}
	if res.IsError {
		return out, fmt.Errorf("%s: %w", tool, res.GetError())
	}
	b, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(b, &out)
}

func (c mcpClient) Echo(text string) (string, error) {
	out, err := mcpCall[Said](c, "echo", Said{text})
	return out.Text, err
}

func (c mcpClient) Blob() (int, error) {
	out, err := mcpCall[Said](c, "blob", struct{}{})
	return len(out.Text), err
}

func (c mcpClient) List(n int) (int, string, error) {
	out, err := mcpCall[mcpListing](c, "list", mcpAsk{n})
	if err != nil || len(out.Rows) == 0 {
		return 0, "", err
	}
	return len(out.Rows), out.Rows[len(out.Rows)-1].Text, nil
}
