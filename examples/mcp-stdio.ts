// npx node examples/mcp-stdio.ts
// Calls a tool over MCP through a local program, as desktop assistants do. CAPABILITY comes from store-credential.ts.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

// An assistant's configuration names a file, so that the capability stands in no list of processes.
const folder = await mkdtemp(join(tmpdir(), 'example-'))
const tokenFile = join(folder, 'capability.txt')
await writeFile(tokenFile, process.env.CAPABILITY ?? '', { mode: 0o600 })

const client = new Client({ name: 'example', version: '1.0.0' })
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: ['dist/launcher.js', 'stdio'],
    env: {
      GATEWAY_BASE_URL: process.env.GATEWAY_BASE_URL ?? 'http://localhost:8402',
      GATEWAY_TOKEN_FILE: tokenFile,
    },
    stderr: 'ignore',
  }),
)

const result = await client.callTool({
  name: 'gateway_egress_fetch',
  arguments: { method: 'GET', url: 'https://sandbox.agent-gateway.test/api/whoami' },
})
console.log(JSON.stringify(result.structuredContent, undefined, 2))
await client.close()
await rm(folder, { recursive: true })
