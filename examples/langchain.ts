// npx node examples/langchain.ts
// Loads the gateway's tools into LangChain. CAPABILITY comes from store-credential.ts.
import { MultiServerMCPClient } from '@langchain/mcp-adapters'

const gateway = process.env.GATEWAY_BASE_URL ?? 'http://localhost:8402'

const client = new MultiServerMCPClient({
  mcpServers: {
    'agent-gateway': {
      transport: 'http',
      url: `${gateway}/mcp`,
      headers: { Authorization: `Bearer ${process.env.CAPABILITY}` },
    },
  },
})
const tools = await client.getTools() // an agent takes them as they are: createAgent({ model, tools })
const fetchTool = tools.find(({ name }) => name === 'gateway_egress_fetch')
console.log(fetchTool?.description)

const answer = await fetchTool?.invoke({
  method: 'GET',
  url: 'https://sandbox.agent-gateway.test/api/whoami',
})
console.log(answer)
await client.close()
