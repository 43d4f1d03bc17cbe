// npx node examples/ai-sdk.ts
// Gives the gateway's tools to a model with the AI SDK. CAPABILITY comes from store-credential.ts.
import { createMCPClient } from '@ai-sdk/mcp'
import { generateText, isStepCount } from 'ai'
import { modelThatFetches } from './scripted-model.ts'

const gateway = process.env.GATEWAY_BASE_URL ?? 'http://localhost:8402'

const client = await createMCPClient({
  transport: {
    type: 'http',
    url: `${gateway}/mcp`,
    headers: { Authorization: `Bearer ${process.env.CAPABILITY}` },
  },
})
const answer = await generateText({
  model: modelThatFetches('https://sandbox.agent-gateway.test/api/whoami'), // put your model here
  tools: await client.tools(),
  stopWhen: isStepCount(3),
  prompt: 'Who am I at the sandbox API?',
})

for (const { toolResults } of answer.steps)
  for (const { toolName, output } of toolResults) console.log(toolName, JSON.stringify(output))
console.log(answer.text)
await client.close()
