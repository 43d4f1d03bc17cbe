// Peer of the MCP benchmark: the SDK's McpServer behind createMcpHandler on node:http, set up as its documentation shows, with its
// own Host and Origin validation.
import { createServer } from 'node:http'
import { hostHeaderValidation, originValidation, toNodeHandler } from '@modelcontextprotocol/node'
import {
  createMcpHandler,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  McpServer,
} from '@modelcontextprotocol/server'
import { answer, input, output, summary, title, TOOL_COUNT, toolName } from './mcp-tools.ts'

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'peer', version: '1.0.0' })
  for (let i = 0; i < TOOL_COUNT; i++)
    server.registerTool(
      toolName(i),
      {
        title: title(i),
        description: summary(i),
        inputSchema: input,
        outputSchema: output,
        annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
      },
      async (given) => {
        const structuredContent = answer(given)
        return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
      },
    )
  return server
})
const serve = toNodeHandler(handler)
const checkHost = hostHeaderValidation(localhostAllowedHostnames())
const checkOrigin = originValidation(localhostAllowedOrigins())

const server = createServer({ keepAliveTimeout: 65_000 }, (req, res) => {
  // The SDK's types predate exactOptionalPropertyTypes.
  if (checkHost(req, res) && checkOrigin(req, res)) void serve(req as Parameters<typeof serve>[0], res)
})
server.listen(0, '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${(server.address() as { port: number }).port}`),
)
process.on('SIGTERM', () => process.exit(0))
