// npx node examples/frameworks/openai-agents-pay.ts
// An agent of the OpenAI Agents SDK that pays for a web page with the sandbox's test payer. OPENAI_API_KEY is read by the SDK.
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Agent, MCPServerStreamableHttp, run } from '@openai/agents'
import { x402Client } from '@x402/core/client'
import type { PaymentRequired } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm'
import { privateKeyToAccount } from 'viem/accounts'

const url = `${process.env.GATEWAY_BASE_URL ?? 'http://localhost:8402'}/mcp`
const accounts = resolve(process.env.GATEWAY_DATA_DIR ?? 'data', 'chains/accounts.json')
const { payer } = JSON.parse(await readFile(accounts, 'utf8'))
const wallet = new x402Client().register(
  'eip155:*',
  new ExactEvmScheme(privateKeyToAccount(payer.private_key)),
)

const gateway = new MCPServerStreamableHttp({
  name: 'gateway',
  url,
  // A call without a payment does nothing and says the price; what may be spent without asking anybody is decided here.
  async toolMetaResolver({ toolName, arguments: input }) {
    if (toolName !== 'gateway_web_fetch') return undefined
    const { structuredContent } = await gateway.callToolResult(toolName, input)
    const price = structuredContent as unknown as PaymentRequired
    if (!price.accepts?.every(({ amount }) => BigInt(amount) <= 10_000n)) return undefined
    return { 'x402/payment': await wallet.createPaymentPayload(price) }
  },
})
await gateway.connect()
const agent = new Agent({ name: 'reader', model: 'gpt-5-mini', mcpServers: [gateway] })
const { finalOutput } = await run(agent, 'What does https://sandbox.agent-gateway.test/tea/one say?')
console.log(finalOutput)
await gateway.close()
