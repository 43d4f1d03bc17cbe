// The programs of examples/frameworks, run as they stand against a default gateway, with the model APIs that refuse what the real ones
// refuse in place of the real ones: their clients read the address from the environment.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DefaultGateway, startDefaultGateway } from '../support/default-gateway.ts'
import { type ModelServer, startModelApis, type Step } from '../support/model-apis/index.ts'
import { finish } from '../support/process.ts'

const root = new URL('../../', import.meta.url).pathname

const demo: Step = { tool: 'gateway_execute', input: { intent: 'demo' } }
const page: Step = {
  tool: 'gateway_web_fetch',
  input: { url: 'https://sandbox.agent-gateway.test/tea/one' },
}
/** What the model calls in each, and what it then has to say. */
const PROGRAMS: Readonly<Record<string, readonly [Step, RegExp]>> = {
  'ai-sdk.ts': [demo, /^The tool said: .*"sample":true/m],
  'langchain.ts': [demo, /^The tool said: .*"sample":true/m],
  'mcp-use.ts': [demo, /^The tool said: .*"sample":true/m],
  'openai-agents.ts': [demo, /^The tool said: .*"sample":true/m],
  'openai-agents-pay.ts': [page, /^The tool said: .*Old leaves need a little more/m],
}

let gateway: DefaultGateway
let model: ModelServer
beforeAll(async () => {
  gateway = await startDefaultGateway()
  model = await startModelApis()
})
afterAll(async () => {
  await gateway?.close()
  await model?.close()
})

it('all of them are run', async () => {
  expect((await readdir(join(root, 'examples/frameworks'))).toSorted()).toEqual(
    Object.keys(PROGRAMS).toSorted(),
  )
})

it.each(Object.entries(PROGRAMS))('%s', async (file, [step, words]) => {
  model.play([[step]])
  const { code, stdout, stderr } = await finish(process.execPath, [join('examples/frameworks', file)], {
    cwd: root,
    env: {
      PATH: process.env['PATH'],
      GATEWAY_BASE_URL: gateway.url,
      GATEWAY_DATA_DIR: gateway.dataDir,
      OPENAI_API_KEY: 'any',
      OPENAI_BASE_URL: `${model.url}/v1`,
      ANTHROPIC_API_KEY: 'any',
      ANTHROPIC_BASE_URL: model.url,
      // Nothing of a test calls home.
      OPENAI_AGENTS_DISABLE_TRACING: '1',
      MCP_USE_ANONYMIZED_TELEMETRY: 'false',
    },
  })
  expect(model.refusals, stderr).toEqual([])
  expect(code, stderr).toBe(0)
  expect(stdout).toMatch(words)
  // What the model reads of a page, it reads once.
  expect(stdout.split('Old leaves need a little more').length).toBeLessThanOrEqual(2)
})
