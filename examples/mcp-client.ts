// npx node examples/mcp-client.ts
// Calls a tool over MCP (Streamable HTTP) with the official client. CAPABILITY comes from store-credential.ts.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const gateway = process.env.GATEWAY_BASE_URL ?? 'http://localhost:8402'

const client = new Client({ name: 'example', version: '1.0.0' })
await client.connect(
  new StreamableHTTPClientTransport(new URL(`${gateway}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${process.env.CAPABILITY}` } },
  }),
)

const { tools } = await client.listTools()
console.log(`${tools.length} tools, for example ${tools[0]?.name}`)

const result = await client.callTool({
  name: 'gateway_egress_fetch',
  arguments: { method: 'GET', url: 'https://sandbox.agent-gateway.test/api/whoami' },
})
console.log(JSON.stringify(result.structuredContent, undefined, 2))
await client.close()
