// The gateway of the A2A benchmark: everything that production has, with two trivial tools instead of its own.
import { z } from 'zod'
import { free } from '../../src/core/price.ts'
import { loadConfig } from '../../src/app/config.ts'
import { startGateway } from '../../src/app/gateway.ts'
import { createLogger } from '../../src/lib/log.ts'
import type { AnyTool } from '../../src/core/registry.ts'
import { defineTool } from '../../tools/services.ts'

const shape = { text: z.string(), times: z.int().default(1), tags: z.array(z.string()).default([]) }
const echo = (id: string, reply: 'message' | 'task') =>
  defineTool({
    name: `gateway.${id}`,
    title: id,
    toolset: 'web',
    summary: 'Says back what it is given.',
    input: z.strictObject(shape),
    output: z.strictObject(shape),
    price: free,
    caller: 'anyone',
    effects: { readOnly: true, idempotent: true, openWorld: false },
    rest: { method: 'POST', path: `/v1/bench/${id}`, operationId: id },
    skill: { id, tags: ['bench'], examples: ['Say hello'] },
    reply,
    errors: [],
    examples: [{ title: 'Hello', input: { text: 'hello' } }],
    handle: async (given) => given,
  })

const config = loadConfig(process.env)
const tools = [echo('echo', 'message'), echo('task', 'task')] as unknown as AnyTool[]
const gateway = await startGateway(config, createLogger(config.logLevel), { tools })
console.log(`listening on ${gateway.addresses.baseUrl}`)
process.on('SIGTERM', () => void gateway.close(1000).then(() => process.exit(0)))
