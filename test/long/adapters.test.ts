// Every agent framework, untouched, at the default address of a gateway with default settings, with a model API behind it that refuses
// whatever its published rules refuse.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WHAT_A_PERSON_NEEDS } from '../support/asking.ts'
import { type DefaultGateway, startDefaultGateway } from '../support/default-gateway.ts'
import { frameworks } from '../support/frameworks.ts'
import { type ModelServer, type Script, startModelApis } from '../support/model-apis/index.ts'
import { tokensOf } from '../support/tokens.ts'

let gateway: DefaultGateway
let model: ModelServer
let capability: string
beforeAll(async () => {
  // Nothing of a test calls home.
  process.env['MCP_USE_ANONYMIZED_TELEMETRY'] = 'false'
  gateway = await startDefaultGateway()
  capability = await gateway.grant()
  model = await startModelApis()
})
afterAll(async () => {
  await gateway?.close()
  await model?.close()
})

const PAGE = 'https://sandbox.agent-gateway.test/tea/one'

describe.each(frameworks)('$name', ({ name, run }) => {
  /** Plays a script to its end. Resolves to what the model read of each tool, and the last words. */
  const converse = async (script: Script, token?: string) => {
    model.play(script)
    const words = await run({ mcp: gateway.mcpUrl, model: model.url, token }, 'Do it.').catch(String)
    expect(model.refusals, words).toEqual([])
    expect(words).toMatch(/^The tool said: /)
    expect(model.turns).toHaveLength(script.length + 1)
    return { results: model.turns.at(-1)?.results ?? [], words }
  }

  it('offers the tools to the model, passes on what free ones answer, and what a paid one asks for', async () => {
    const { results, words } = await converse([
      [
        { tool: 'gateway_execute', input: { intent: 'demo' } },
        { tool: 'gateway_preflight', input: { url: PAGE } },
        { tool: 'gateway_capabilities', input: {} },
      ],
      [{ tool: 'gateway_web_fetch', input: { url: 'http://127.0.0.1/' } }],
      [{ tool: 'gateway_web_fetch', input: { url: PAGE } }],
    ])
    const [sample, checked, index, refused] = results
    expect(sample).toContain('This is a sample')
    expect(checked).toContain(PAGE)
    expect(index).toContain('feed-digest')
    for (const result of results) expect(tokensOf(result)).toBeLessThan(4500)
    expect(refused).toMatch(/code\\*":\\*"target_/)
    for (const part of WHAT_A_PERSON_NEEDS) expect(words).toMatch(part)
    // mcp-use makes a tool of each resource and each prompt, too.
    expect(tokensOf(model.turns[0]?.tools)).toBeLessThan(8000)
  })

  // Streaming is another way to read the same answers.
  if (name.includes('streamed')) return

  it('calls an API with the capability that it was given', async () => {
    const { words } = await converse(
      [
        [
          {
            tool: 'gateway_egress_fetch',
            input: { method: 'GET', url: 'https://sandbox.agent-gateway.test/api/whoami' },
          },
        ],
      ],
      capability,
    )
    expect(words).toContain('authenticated')
    expect(words).not.toContain('a-secret-the-agent-never-sees')
  })

  it('is not refused the list of an operator, who is shown every tool', async () => {
    await converse([[{ tool: 'gateway_egress_credentials_list', input: {} }]], gateway.operatorKey)
    expect(model.turns[0]?.tools.length).toBeGreaterThan(60)
  })
})
