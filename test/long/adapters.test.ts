// Every agent framework, untouched, at the default address of a gateway with default settings, with a model API behind it that refuses
// whatever its published rules refuse.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DefaultGateway, startDefaultGateway } from '../support/default-gateway.ts'
import { tokensOf } from '../support/tokens.ts'
import { WHAT_A_PERSON_NEEDS } from '../support/asking.ts'
import { frameworks } from '../support/frameworks.ts'
import { type ModelServer, startModelApis } from '../support/model-apis/index.ts'

let gateway: DefaultGateway
let model: ModelServer
beforeAll(async () => {
  // Nothing of a test calls home.
  process.env['MCP_USE_ANONYMIZED_TELEMETRY'] = 'false'
  gateway = await startDefaultGateway()
  model = await startModelApis()
})
afterAll(async () => {
  await gateway?.close()
  await model?.close()
})

const PAGE = 'https://sandbox.agent-gateway.test/tea/one'

describe.each(frameworks)('$name', ({ run }) => {
  beforeEach(() => {
    model.play([
      { tool: 'gateway_execute', input: { intent: 'demo' } },
      { tool: 'gateway_web_fetch', input: { url: PAGE } },
    ])
  })

  it('offers the tools to the model, passes on what a free one answers, and what a paid one asks for', async () => {
    const words = await run({ mcp: gateway.mcpUrl, model: model.url }, 'What is on the page?').catch(
      (error: unknown) => `${String(error)}`,
    )
    expect(model.refusals, words).toEqual([])
    expect(model.turns.map(({ results }) => results.length)).toEqual([0, 1, 2])
    // mcp-use makes tools of resources and prompts, too.
    expect(tokensOf(model.turns[0]?.tools)).toBeLessThan(12_000)
    const [, sample = ''] = model.turns.map(({ results }) => results.at(-1))
    expect(sample).toContain('This is a sample')
    expect(words).toMatch(/^The tool said: /)
    for (const part of WHAT_A_PERSON_NEEDS) expect(words).toMatch(part)
  })
})
