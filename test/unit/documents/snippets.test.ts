// Calls to paste, as texts; test/long/site-snippets.test.ts runs them.
import { describe, expect, it } from 'vitest'
import { createRegistry, type RegisteredTool } from '../../../src/core/registry.ts'
import { hasPlaceholder, snippetsOf, TOKEN_VARIABLES } from '../../../src/documents/snippets.ts'
import { tools } from '../../../tools/index.ts'

const addresses = {
  baseUrl: 'https://gw.example/at',
  siteUrl: 'https://gw.example/at',
  mcpUrl: 'https://gw.example/at/mcp',
}
const { tools: entries, find } = createRegistry(tools)
const toolOf = (name: string): RegisteredTool => {
  const entry = find(name)
  if (!entry) throw new Error(name)
  return entry
}
const of = (name: string, input: unknown, way: 'curl' | 'typescript' | 'python' = 'curl') =>
  snippetsOf(toolOf(name), addresses, input)[way]?.[0]?.code ?? ''

describe('a call', () => {
  it('has what the address holds in the address, and the rest in the query or the body', () => {
    expect(of('gateway.egress.attempts.list', { limit: 10, state: 'a&b' })).toBe(
      `curl -sS 'https://gw.example/at/v1/egress/attempts?limit=10&state=a%26b' \\\n  -H "authorization: Bearer $AGENT_GATEWAY_KEY"`,
    )
    expect(of('gateway.receipts.get', { receipt_id: 'rcp_../x' })).toBe(
      `curl -sS 'https://gw.example/at/v1/receipts/rcp_..%2Fx'`,
    )
    expect(of('gateway.keys.revoke', { key_id: 'key_1' })).toContain(
      'curl -sS -X POST https://gw.example/at/v1/keys/key_1/revoke',
    )
    expect(of('gateway.keys.free', {})).toContain("<<'JSON'\n{}\nJSON")
  })

  it('survives a shell, TypeScript and Python whatever a text holds', () => {
    const text = `it's "quoted" \\ $HOME \`id\` \n JSON \${x} é 😀`
    const input = { url: text, __proto__: undefined, headers: { ['__proto__']: text, 'x-y': null, ok: true } }
    const curl = of('gateway.preflight', input)
    const [, body = ''] = /<<'JSON'\n(.*)\nJSON$/s.exec(curl) ?? []
    expect(JSON.parse(body)).toEqual(JSON.parse(JSON.stringify(input)))
    const [, literal = ''] =
      /JSON\.stringify\((.*)\),\n\}\)/s.exec(of('gateway.preflight', input, 'typescript')) ?? []
    // oxlint-disable-next-line no-new-func
    const value: unknown = new Function(`return (${literal})`)()
    expect(JSON.stringify(value)).toBe(JSON.stringify(input))
    expect(of('gateway.preflight', input, 'python')).toMatch(/"x-y": None,\s+"ok": True/)
    expect(of('gateway.marketplace.get', { seller: "o'x", service_id: '$(id)' })).toContain(
      `'https://gw.example/at/v1/marketplace/services/o'\\''x/%24(id)'`,
    )
  })
})

describe('every tool', () => {
  it.each(entries.map((entry) => [entry.tool.name, entry] as const))(
    '%s is called in each way that it is served',
    (_name, entry) => {
      const { tool } = entry
      for (const { input } of tool.examples) {
        const snippets = snippetsOf(entry, addresses, input)
        expect(Object.keys(snippets)).toEqual(
          tool.doors.length === 3
            ? ['curl', 'typescript', 'python', 'mcp', 'a2a']
            : ['curl', 'typescript', 'python'],
        )
        const code = Object.values(snippets).flatMap((blocks) => blocks.map(({ code }) => code))
        const token = TOKEN_VARIABLES[tool.caller]
        for (const text of code) {
          expect(text).not.toMatch(
            /undefined(?!, 2\))|\[object|agw_(?:sk|cap|ek)_|[?&](?:capability|key|token)=/,
          )
          expect(text.includes('Bearer')).toBe(token !== undefined)
          if (token !== undefined) expect(text).toContain(token)
          // What is filled in has a name that says so, or is free of braces of a template.
          expect(text).not.toMatch(/gw\.example\/at[^\s'"]*[{}]/)
        }
      }
    },
  )
})

it.each([
  [{ permit: 'replace-with-the-permit' }, true],
  [{ receipt_id: 'rcp_0000000000000000000000000000000000' }, true],
  [{ seller: 'acme-weather' }, true],
  [{ url: 'https://example.com/' }, false],
  [{}, false],
  [undefined, false],
])('%j has something to fill in: %s', (input, expected) => {
  expect(hasPlaceholder(input)).toBe(expected)
})
