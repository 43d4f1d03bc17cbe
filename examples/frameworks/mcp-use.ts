// npx node examples/frameworks/mcp-use.ts
// An agent of mcp-use with the gateway's tools. ANTHROPIC_API_KEY is read by the model.
import { ChatAnthropic } from '@langchain/anthropic'
import { MCPAgent } from 'mcp-use/agent'
import { MCPClient } from 'mcp-use/client'

const url = `${process.env.GATEWAY_BASE_URL ?? 'http://localhost:8402'}/mcp`

const client = new MCPClient({ mcpServers: { gateway: { url } } })
const agent = new MCPAgent({ llm: new ChatAnthropic({ model: 'claude-sonnet-4-5' }), client, maxSteps: 5 })
console.log(await agent.run({ prompt: 'Show me a sample of what the gateway extracts from a page.' }))
await client.closeAllSessions()
