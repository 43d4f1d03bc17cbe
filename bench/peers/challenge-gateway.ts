// The gateway of the challenge benchmark: everything that a sandbox has, and one more paid tool without a quote.
import { z } from 'zod'
import { x402 } from '../../src/core/price.ts'
import { loadConfig } from '../../src/app/config.ts'
import { startGateway } from '../../src/app/gateway.ts'
import { createLogger } from '../../src/lib/log.ts'
import type { AnyTool } from '../../src/core/registry.ts'
import { defineTool } from '../../tools/services.ts'
import { tools } from '../../tools/index.ts'

const unquoted = defineTool({
  name: 'gateway.bench.paid',
  title: 'Repeat a text',
  toolset: 'web',
  summary: 'Repeats a text. Costs 0.001 USDC.',
  input: z.strictObject({ text: z.string().max(100) }),
  output: z.strictObject({ text: z.string() }),
  price: x402({ amount: 1000n, networks: ['eip155:84532'] }),
  caller: 'anyone',
  effects: { readOnly: false, idempotent: false, openWorld: false },
  rest: { method: 'POST', path: '/v1/bench/paid', operationId: 'benchPaid' },
  errors: ['payment_required'],
  examples: [{ title: 'Say hello', input: { text: 'hello' } }],
  handle: async ({ text }) => ({ text }),
}) as unknown as AnyTool

const config = loadConfig(process.env)
const gateway = await startGateway(config, createLogger(config.logLevel), { tools: [...tools, unquoted] })
console.log(`listening on ${gateway.addresses.baseUrl}`)
process.on('SIGTERM', () => void gateway.close(1000).then(() => process.exit(0)))
