// The gateway of the MCP benchmark: everything that production has, with thirty trivial tools instead of its own.
import { free } from '../../src/core/price.ts'
import { loadConfig } from '../../src/app/config.ts'
import { startGateway } from '../../src/app/gateway.ts'
import { createLogger } from '../../src/lib/log.ts'
import type { AnyTool } from '../../src/core/registry.ts'
import { defineTool } from '../../tools/services.ts'
import { answer, input, output, summary, title, TOOL_COUNT, toolName } from './mcp-tools.ts'

const tools = Array.from({ length: TOOL_COUNT }, (_, i) =>
  defineTool({
    name: toolName(i),
    title: title(i),
    toolset: 'web',
    summary: summary(i),
    input,
    output,
    price: free,
    caller: 'anyone',
    effects: { readOnly: true, idempotent: true, openWorld: false },
    rest: { method: 'POST', path: `/v1/bench/say-${i}`, operationId: `benchSay${i}` },
    skill: { id: `say-${i}`, tags: ['bench'], examples: ['Say hello'] },
    errors: [],
    examples: [{ title: 'Say it once', input: { text: 'hello' } }],
    handle: async (given) => answer(given),
  }),
) as unknown as AnyTool[]

const config = loadConfig(process.env)
const gateway = await startGateway(config, createLogger(config.logLevel), { tools })
console.log(`listening on ${gateway.addresses.baseUrl}`)
process.on('SIGTERM', () => void gateway.close(1000).then(() => process.exit(0)))
