// The lines that connect a client to this gateway, filled with its addresses. The facts are those of docs/guides/mcp.md and of each
// client's own documentation; the words around them are in texts/connect.ts.
import type { PageContext } from './ports.ts'
import type { ConnectTexts } from './texts/connect.ts'

/** One block to copy. */
export interface ConnectionLines {
  /** Name of the file or of the place; undefined: the terminal. */
  readonly where: string | undefined
  readonly text: string
}

export interface Connection {
  readonly id: string
  readonly name: string
  /** Which sentence says what to do with the lines. */
  readonly how: keyof ConnectTexts['how']
  readonly lines: readonly ConnectionLines[]
  /** Opens the client with the lines in it. */
  readonly opens?: string
  /** What has to be known before it works. */
  readonly note?: 'notPublic' | 'paths'
}

const NAME = 'agent-gateway'
const json = (value: unknown) => JSON.stringify(value, undefined, 2)

/** What a client on somebody else's machine can reach. */
const isPublic = (url: string) => {
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' && !/^(?:localhost|.*\.localhost|127\..*|\[::1\])$/.test(hostname)
}

/** In the order in which they are shown. */
export function connectionsTo({ baseUrl, mcpUrl }: Pick<PageContext, 'baseUrl' | 'mcpUrl'>): Connection[] {
  const isReachable = isPublic(mcpUrl)
  const mcpServers = (server: object) => json({ mcpServers: { [NAME]: server } })
  const http = { type: 'http', url: mcpUrl }
  const desktop = {
    where: 'claude_desktop_config.json',
    text: mcpServers({
      command: 'node',
      args: ['/path/to/agent-gateway/dist/launcher.js', 'stdio'],
      env: { GATEWAY_BASE_URL: baseUrl },
    }),
  }
  const named = (where: string | undefined, text: string): ConnectionLines => ({ where, text })
  // Connectors of these services sign in at the first request or not at all.
  const signedIn = named('URL, OAuth', `${mcpUrl}/connect`)
  return [
    {
      id: 'claude-code',
      name: 'Claude Code',
      how: 'claude-code',
      lines: [named(undefined, `claude mcp add --transport http ${NAME} ${mcpUrl}`)],
    },
    isReachable
      ? {
          id: 'claude-desktop',
          name: 'Claude Desktop',
          how: 'claude-desktop-remote',
          lines: [named('URL', mcpUrl), signedIn],
        }
      : {
          id: 'claude-desktop',
          name: 'Claude Desktop',
          how: 'claude-desktop',
          lines: [desktop],
          note: 'paths',
        },
    {
      id: 'chatgpt',
      name: 'ChatGPT',
      how: 'chatgpt',
      lines: [named('URL', mcpUrl), signedIn],
      ...(!isReachable && { note: 'notPublic' }),
    },
    {
      id: 'codex',
      name: 'Codex',
      how: 'codex',
      lines: [
        named(undefined, `codex mcp add ${NAME} --url ${mcpUrl}`),
        named('~/.codex/config.toml', `[mcp_servers.${NAME}]\nurl = ${JSON.stringify(mcpUrl)}`),
      ],
    },
    {
      id: 'cursor',
      name: 'Cursor',
      how: 'cursor',
      opens: `cursor://anysphere.cursor-deeplink/mcp/install?name=${NAME}&config=${encodeURIComponent(
        Buffer.from(JSON.stringify({ url: mcpUrl })).toString('base64'),
      )}`,
      lines: [named('.cursor/mcp.json', mcpServers({ url: mcpUrl }))],
    },
    {
      id: 'vscode',
      name: 'VS Code',
      how: 'vscode',
      opens: `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: NAME, ...http }))}`,
      lines: [
        named(undefined, `code --add-mcp '${JSON.stringify({ name: NAME, ...http })}'`),
        named('.vscode/mcp.json', json({ servers: { [NAME]: http } })),
      ],
    },
    {
      id: 'gemini-cli',
      name: 'Gemini CLI',
      how: 'gemini',
      lines: [
        named(undefined, `gemini mcp add --transport http ${NAME} ${mcpUrl}`),
        named('~/.gemini/settings.json', mcpServers({ httpUrl: mcpUrl })),
      ],
    },
    {
      id: 'a2a',
      name: 'A2A',
      how: 'a2a',
      lines: [
        named('Agent card', `${baseUrl}/.well-known/agent-card.json`),
        named('TypeScript, @a2a-js/sdk', a2aProgram(baseUrl)),
      ],
    },
    {
      id: 'curl',
      name: 'curl',
      how: 'curl',
      lines: [
        named(
          'REST',
          `curl -sS ${baseUrl}/v1/execute \\\n  -H 'Content-Type: application/json' \\\n  -d '{"intent":"demo"}'`,
        ),
        named(
          'MCP',
          `curl -sS ${mcpUrl} \\\n${MCP_HEADERS.map((header) => `  -H '${header}' \\\n`).join('')}  -d '${MCP_CALL}'`,
        ),
      ],
    },
  ]
}

const MCP_HEADERS = ['Content-Type: application/json', 'Accept: application/json, text/event-stream']
const MCP_CALL = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'gateway_execute', arguments: { intent: 'demo' } },
})

const a2aProgram = (baseUrl: string) => `import { SendMessageRequest } from '@a2a-js/sdk'
import { ClientFactory } from '@a2a-js/sdk/client'

const client = await new ClientFactory().createFromUrl('${baseUrl}')
const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'demo' }] }
const answer = await client.sendMessage(SendMessageRequest.fromJSON({ message }))
console.log(JSON.stringify(answer, undefined, 2))`
