import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRegistry } from '../../../src/core/registry.ts'
import { createSelections } from '../../../src/doors/mcp/selection.ts'
import { createSessionIds } from '../../../src/doors/mcp/session-ids.ts'
import { tools } from '../../../tools/index.ts'

const registry = createRegistry(tools)
const selections = createSelections(registry)
const sessionIds = (key: Buffer) => createSessionIds(key, selections.restore)
const dotted = { spelling: 'dotted', selection: undefined } as const

describe('a session id', () => {
  const key = randomBytes(32)

  it.each(['dotted', 'portable'] as const)('carries %s to another replica with the same key', (spelling) => {
    const id = sessionIds(key).issue({ spelling, selection: undefined })
    expect(id).toMatch(/^[!-~]+$/)
    expect(sessionIds(key).read(id)).toEqual({ spelling, selection: undefined })
  })

  it('carries what of the list was asked for, in characters that a header may have', () => {
    const { selection } = selections.read('toolsets=email,web&tools=gateway.inspect,gateway_web_fetch')
    const id = sessionIds(key).issue({ spelling: 'portable', selection })
    expect(id).toMatch(/^[!-+--~]{40,120}$/)
    const read = sessionIds(key).read(id)
    expect(read?.spelling).toBe('portable')
    expect(read?.selection?.text).toBe('web-email+gateway_inspect')
    expect(registry.tools.filter(({ tool }) => read?.selection?.has(tool))).toEqual(
      registry.tools.filter(({ tool }) => selection?.has(tool)),
    )
  })

  it('carries every tool there is within the size of a header', () => {
    const names = registry.tools.filter(({ tool }) => tool.doors.includes('mcp')).map(({ tool }) => tool.name)
    const { selection } = selections.read(`tools=${names.join(',')}`)
    const id = sessionIds(key).issue({ spelling: 'dotted', selection })
    expect(id.length).toBeLessThan(4096)
    expect(sessionIds(key).read(id)?.selection?.text).toBe(selection?.text)
  })

  it('leaves out a tool that is not served any more', () => {
    expect(selections.restore('web-nothing+gateway_gone-gateway_inspect').text).toBe('web+gateway_inspect')
  })

  it('is not accepted with another selection', () => {
    const { selection } = selections.read('toolsets=web')
    const id = sessionIds(key).issue({ spelling: 'portable', selection })
    expect(sessionIds(key).read(id.replace('~web+', '~operator+'))).toBeUndefined()
    expect(sessionIds(key).read(id.replace('~web+', ''))).toBeUndefined()
  })

  it('is not accepted under another key', () => {
    expect(sessionIds(randomBytes(32)).read(sessionIds(key).issue(dotted))).toBeUndefined()
  })

  it('is not accepted with any character changed', () => {
    const id = sessionIds(key).issue(dotted)
    fc.assert(
      fc.property(fc.nat(id.length - 1), fc.constantFrom(...'dpAz09-_.~+,'), (at, char) => {
        const changed = id.slice(0, at) + char + id.slice(at + 1)
        fc.pre(changed !== id)
        return sessionIds(key).read(changed) === undefined
      }),
      { numRuns: 1000 },
    )
  })

  it('is refused when it is any other text', () => {
    const ids = sessionIds(key)
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), (text) => ids.read(text) === undefined),
      { numRuns: 1000 },
    )
  })
})
