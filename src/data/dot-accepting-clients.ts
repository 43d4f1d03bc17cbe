// MCP clients that are known to take a dot in a tool's name: they do not hand names to a model API as they are, or rewrite them
// before they do. `name` is the whole client name of `initialize` or `_meta`, in lower case; `agent` the product in front of the
// User-Agent, where the client sends one of its own. Any other client is shown the portable names, which no client refuses, so a
// line is added only after the code was read that does it: `source` says where.
//
// Read and left out: Zed, mcp-use, LangChain and AI SDK (names go to the model API as they are), goose (the same behind a prefix),
// Cline (a name with a dot gets a hash at its end), Codex and Copilot CLI (the model API refuses the request), claude.ai and Claude
// Desktop (one name with a dot hides every tool). Names of the SDK's examples (`example-client`) are in too many copies to mean anything.
export const DOT_ACCEPTING_CLIENTS: readonly {
  readonly name: string
  readonly agent?: string
  readonly source: string
}[] = [
  {
    name: 'claude-code',
    agent: 'claude-code',
    source: 'names are sent as mcp__<server>__<tool> with every other character as `_`: anthropics/claude-code, services/mcp/normalization.ts; joshuaswarren/remnic#2705',
  },
  {
    name: 'visual studio code',
    source: 'names are rewritten for the model, the own one is kept for the call: microsoft/vscode, contrib/mcp/common/mcpServer.ts, toolInvalidCharRe',
  },
  { name: 'visual studio code - insiders', source: 'as Visual Studio Code' },
  {
    name: 'mcp-inspector',
    source: 'no model behind it: modelcontextprotocol/inspector 2.3, core/mcp/inspectorClient.ts; 0.16 and older, useConnection.ts',
  },
  {
    name: 'inspector-client',
    source: 'no model behind it: modelcontextprotocol/inspector 0.17 to 0.22, client/src/lib/constants.ts',
  },
  { name: 'inspector-cli', source: 'no model behind it: modelcontextprotocol/inspector, clients/cli/src/cli.ts' },
  { name: 'inspector-tui', source: 'no model behind it: modelcontextprotocol/inspector, clients/tui/src/App.tsx' },
  {
    name: 'conformance-test-client',
    source: 'TOOL_NAME_PATTERN allows dots: modelcontextprotocol/conformance, src/scenarios/server/tools.ts',
  },
]
