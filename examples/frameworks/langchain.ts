// npx node examples/frameworks/langchain.ts
// An agent of LangChain with the gateway's tools. ANTHROPIC_API_KEY is read by the model.
import { ChatAnthropic } from '@langchain/anthropic'
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { createAgent } from 'langchain'

const url = `${process.env.GATEWAY_BASE_URL ?? 'http://localhost:8402'}/mcp`

const servers = new MultiServerMCPClient({ mcpServers: { gateway: { transport: 'http', url } } })
const agent = createAgent({
  model: new ChatAnthropic({ model: 'claude-sonnet-4-5' }),
  tools: await servers.getTools(),
})
const { messages } = await agent.invoke({
  messages: [{ role: 'user', content: 'Show me a sample of what the gateway extracts from a page.' }],
})
console.log(messages.at(-1)?.text)
await servers.close()
