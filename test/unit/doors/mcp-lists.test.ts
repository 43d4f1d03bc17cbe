// Lists are prepared: asking for one again makes nothing.
import { describe, expect, it } from 'vitest'
import { createRegistry } from '../../../src/core/registry.ts'
import { createCatalogue } from '../../../src/doors/mcp/catalogue.ts'
import { createSelections } from '../../../src/doors/mcp/selection.ts'
import { tools } from '../../../tools/index.ts'

const registry = createRegistry(tools)
const baseUrl = 'http://127.0.0.1:8402'
const addresses = { baseUrl, siteUrl: baseUrl, mcpUrl: `${baseUrl}/mcp` }
const catalogue = createCatalogue(registry, addresses, { tools: [], capabilities: {} })
const selections = createSelections(registry)
const list = (query: string, era: 'legacy' | 'modern' = 'modern') =>
  catalogue.listResult(era, {
    spelling: 'portable',
    audience: 'public',
    selection: selections.read(query).selection,
  })

describe('a list', () => {
  it.each(['', 'toolsets=web', 'tools=gateway_inspect'])(
    'asked for with %j is the same bytes each time',
    (query) => {
      expect(list(query)).toBe(list(query))
    },
  )

  it('of a part is the same bytes in whatever order it is asked for', () => {
    expect(list('tools=gateway_inspect,gateway_test')).toBe(list('tools=gateway.test&tools=gateway.inspect'))
  })

  it.each(['legacy', 'modern'] as const)('of a part has the entries of the whole, %s', (era) => {
    type Listed = { tools: { name: string; _meta: Record<string, string> }[] } & Record<string, unknown>
    const [whole, part] = ['', 'toolsets=email,commerce'].map(
      (query) => JSON.parse(String(list(query, era))) as Listed,
    )
    const shown = whole?.tools.filter(({ _meta }) => {
      const tool = registry.find(_meta['agent-gateway/name'] ?? '')?.tool
      return tool?.toolset === 'email' || tool?.toolset === 'commerce'
    })
    expect(part).toEqual({ ...whole, tools: shown })
    expect(part?.tools.length).toBeGreaterThan(3)
  })

  it('of many parts takes bounded memory: the oldest is made again', () => {
    const first = list('tools=gateway_inspect')
    const names = registry.tools.filter(({ tool }) => tool.doors.includes('mcp')).map(({ tool }) => tool.name)
    for (const name of names) list(`tools=${name}`)
    expect(names.length).toBeGreaterThan(64)
    expect(list('tools=gateway_inspect')).not.toBe(first)
    expect(list('tools=gateway_inspect')).toEqual(first)
  })
})
