// Ceiling of the MCP benchmark: bare node:http that parses the body, validates the arguments with zod and answers with a tool
// result, or with a list made beforehand. No headers checked, no names looked up.
import { createServer } from 'node:http'
import { z } from 'zod'
import { answer, input, output, summary, title, TOOL_COUNT, toolName } from './mcp-tools.ts'

const tools = Array.from({ length: TOOL_COUNT }, (_, i) => ({
  name: toolName(i),
  title: title(i),
  description: summary(i),
  inputSchema: z.toJSONSchema(input, { io: 'input' }),
  outputSchema: z.toJSONSchema(output),
}))
const list = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools } })

const server = createServer({ keepAliveTimeout: 65_000 }, (req, res) => {
  const chunks: Buffer[] = []
  req.on('data', (chunk: Buffer) => chunks.push(chunk))
  req.on('end', () => {
    const message = JSON.parse(Buffer.concat(chunks).toString()) as {
      id: number
      method: string
      params: { arguments: unknown }
    }
    const reply = message.method === 'tools/list' ? list : call(message.id, message.params.arguments)
    res
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(reply) })
      .end(reply)
  })
})

function call(id: number, given: unknown): string {
  const structuredContent = answer(input.parse(given))
  const content = [{ type: 'text', text: JSON.stringify(structuredContent) }]
  return JSON.stringify({ jsonrpc: '2.0', id, result: { content, structuredContent } })
}

server.listen(0, '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${(server.address() as { port: number }).port}`),
)
process.on('SIGTERM', () => process.exit(0))
