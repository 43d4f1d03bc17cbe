// A stdio server for the client tests: `node mcp-stdio.ts <url>` bridges, `node mcp-stdio.ts` serves in this process.
import { serveMcpStdio } from '../../src/doors/mcp/stdio.ts'
import { adminKey, startMcpGateway, testTools } from './mcp-gateway.ts'
import { createFakeGate, paidTool } from './paid-door.ts'

const url = process.argv[2]
if (url === undefined) {
  const gateway = await startMcpGateway({ tools: [...testTools().tools, paidTool], gate: createFakeGate() })
  await serveMcpStdio({ target: { door: gateway.door }, token: adminKey })
  await gateway.close()
} else await serveMcpStdio({ target: { url }, token: adminKey })
process.exit(0)
