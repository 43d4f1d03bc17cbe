// Which part of the list the address of a connection asks for.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRegistry } from '../../../src/core/registry.ts'
import { TOOLSETS } from '../../../src/core/tool.ts'
import { createSelections } from '../../../src/doors/mcp/selection.ts'
import { tools } from '../../../tools/index.ts'

const registry = createRegistry(tools)
const served = registry.tools.filter(({ tool }) => tool.doors.includes('mcp'))
const selections = createSelections(registry)
const shown = (query: string) => {
  const { selection } = selections.read(query)
  return served.filter(({ tool }) => selection?.has(tool) ?? true).map(({ tool }) => tool.name)
}
const ofToolsets = (...toolsets: string[]) =>
  served.filter(({ tool }) => toolsets.includes(tool.toolset)).map(({ tool }) => tool.name)

describe('a selection', () => {
  it.each([
    ['', served.map(({ tool }) => tool.name)],
    ['names=dotted', served.map(({ tool }) => tool.name)],
    ['api_key=x&names=auto', served.map(({ tool }) => tool.name)],
    ['toolsets=email', ofToolsets('email')],
    ['toolsets=web,egress', ofToolsets('web', 'egress')],
    ['toolsets=egress&toolsets=web', ofToolsets('web', 'egress')],
    ['toolsets=web%2C%20egress,', ofToolsets('web', 'egress')],
    ['tools=gateway.inspect', ['gateway.inspect']],
    ['tools=gateway_inspect,gateway.inspect', ['gateway.inspect']],
    ['tools=gateway_inspect&toolsets=email', [...ofToolsets('email'), 'gateway.inspect']],
  ])('of %j shows these tools', (query, expected) => {
    expect(shown(query).toSorted()).toEqual(expected.toSorted())
  })

  it.each([
    ['tools=gateway_web_fech', /Unknown tool: gateway_web_fech\. Did you mean gateway_web_fetch\?/],
    ['tools=web_fetch', /Did you mean gateway_web_fetch\?/],
    ['tools=gateway-web-fetch', /Did you mean gateway_web_fetch\?/],
    ['tools=Gateway.Inspect', /Did you mean gateway_inspect\?/],
    ['tools=gateway_inspect,nothing_like_it_at_all', /Unknown tool: nothing_like_it_at_all\. tools\/list/],
    ['tools=gateway.edge.forward', /not served over MCP, but at .* \//],
    ['tools=', /\?tools= is empty.*gateway_web_fetch/],
    ['toolsets=,', /\?toolsets= is empty.*web,egress/],
    ['toolsets=webs', /Unknown toolset: webs\. Did you mean web\? There are web, payments/],
    ['toolsets=Egress', /Did you mean egress\?/],
    ['toolsets=all-of-them', /Unknown toolset: all-of-them\. There are web, payments/],
    ['toolset=web', /\?toolset=\. Did you mean \?toolsets=\?/],
    ['tool=gateway_inspect', /Did you mean \?tools=\?/],
    ['Tools=gateway_inspect', /Did you mean \?tools=\?/],
    ['tools[]=gateway_inspect', /Did you mean \?tools=\?/],
    ['name=dotted', /Did you mean \?names=\?/],
  ])('of %j is refused, with what to write instead', (query, words) => {
    expect(() => selections.read(query)).toThrow(words)
    // Nothing wrong is remembered as right.
    expect(() => selections.read(query)).toThrow(words)
  })

  it('has the same text for the same tools, in whatever order they were written', () => {
    const names = fc.shuffledSubarray(
      served.map(({ tool }) => tool.name),
      { minLength: 1 },
    )
    const toolsets = fc.shuffledSubarray([...TOOLSETS])
    fc.assert(
      fc.property(names, toolsets, fc.nat(), (some, groups, by) => {
        const query = (list: readonly string[], sets: readonly string[]) =>
          `tools=${list.join(',')}${sets.length > 0 ? `&toolsets=${sets.join(',')}` : ''}`
        const { selection } = selections.read(query(some, groups))
        const turned = some.map((_, index) => some[(index + by) % some.length] ?? '')
        expect(selections.read(query(turned, groups.toReversed())).selection?.text).toBe(selection?.text)
        const restored = selections.restore(selection?.text ?? '')
        for (const { tool } of served) expect(restored.has(tool)).toBe(selection?.has(tool))
      }),
      { numRuns: 50 },
    )
  })

  it('finds every tool in a toolset of its own', () => {
    expect(shown(`toolsets=${TOOLSETS.join(',')}`)).toHaveLength(served.length)
  })
})
