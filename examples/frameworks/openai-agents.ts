// npx node examples/frameworks/openai-agents.ts
// An agent of the OpenAI Agents SDK with the gateway's tools. OPENAI_API_KEY is read by the SDK.
import { Agent, MCPServerStreamableHttp, run } from '@openai/agents'

const url = `${process.env.GATEWAY_BASE_URL ?? 'http://localhost:8402'}/mcp`

const gateway = new MCPServerStreamableHttp({ name: 'gateway', url })
await gateway.connect()
const agent = new Agent({ name: 'reader', model: 'gpt-5-mini', mcpServers: [gateway] })
const { finalOutput } = await run(agent, 'Show me a sample of what the gateway extracts from a page.')
console.log(finalOutput)
await gateway.close()
