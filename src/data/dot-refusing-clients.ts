// MCP clients that drop or refuse a tool list with a dot in a name. `match` is looked for, in lower case, in the client
// name of `initialize` or `_meta` and in the User-Agent. Add a line when a client is met; the portable spelling loses nothing.
export const DOT_REFUSING_CLIENTS: readonly { readonly match: string; readonly who: string }[] = [
  { match: 'claude-ai', who: 'claude.ai and Claude Desktop: a name must match ^[a-zA-Z0-9_-]{1,64}$, or no tool is shown' },
  { match: 'claude.ai', who: 'claude.ai' },
  { match: 'claude-user', who: 'claude.ai connectors (User-Agent)' },
  { match: 'claude-desktop', who: 'Claude Desktop' },
  { match: 'claude desktop', who: 'Claude Desktop' },
  { match: 'anthropic/', who: 'Anthropic API connector: the model API refuses dots' },
  { match: 'copilot', who: 'GitHub Copilot CLI and SDK: the model API answers 400 to the whole list' },
  { match: 'codex', who: 'OpenAI Codex: function names must match ^[a-zA-Z0-9_-]+$' },
  { match: 'openai-mcp', who: 'ChatGPT connectors and the Responses API' },
  { match: 'docker-mcp', who: 'Docker MCP Gateway in front of such clients' },
]
