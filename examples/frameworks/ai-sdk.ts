// npx node examples/frameworks/ai-sdk.ts
// An agent of the AI SDK with the gateway's tools. OPENAI_API_KEY is read by the provider.
import { createMCPClient } from '@ai-sdk/mcp'
import { openai } from '@ai-sdk/openai'
import { generateText, isStepCount } from 'ai'

const url = `${process.env.GATEWAY_BASE_URL ?? 'http://localhost:8402'}/mcp`

const gateway = await createMCPClient({ transport: { type: 'http', url } })
const { text } = await generateText({
  model: openai('gpt-5-mini'),
  tools: await gateway.tools(),
  stopWhen: isStepCount(5),
  prompt: 'Show me a sample of what the gateway extracts from a page.',
})
console.log(text)
await gateway.close()
