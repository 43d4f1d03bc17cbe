// Floor of the A2A benchmark: bare node:http that parses a JSON-RPC request and echoes the first data part in a message.
import { createServer } from 'node:http'

const server = createServer({ keepAliveTimeout: 65_000 }, (req, res) => {
  const chunks: Buffer[] = []
  req.on('data', (chunk: Buffer) => chunks.push(chunk))
  req.on('end', () => {
    const { id, params } = JSON.parse(Buffer.concat(chunks).toString()) as {
      id: number
      params: { message: { parts: { data: { input: unknown } }[] } }
    }
    const data = params.message.parts[0]!.data.input
    const message = { messageId: 'echo', role: 'ROLE_AGENT', parts: [{ data }] }
    const reply = JSON.stringify({ jsonrpc: '2.0', id, result: { message } })
    res
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(reply) })
      .end(reply)
  })
})
server.listen(0, '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${(server.address() as { port: number }).port}`),
)
process.on('SIGTERM', () => process.exit(0))
