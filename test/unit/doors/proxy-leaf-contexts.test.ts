import { describe, expect, it } from 'vitest'
import { createLeafContexts } from '../../../src/doors/proxy/leaf-contexts.ts'
import { createRunAuthority, LEAF_MS } from '../../../src/interception/authority.ts'

const NOW = Date.UTC(2026, 10, 28)

function createContexts() {
  let now = NOW
  const authority = createRunAuthority(() => now)
  const issued: string[] = []
  const contextOf = createLeafContexts(
    {
      issue(host) {
        issued.push(host)
        return authority.issue(host)
      },
    },
    () => now,
    4,
  )
  return { contextOf, issued, pass: (ms: number) => void (now += ms) }
}

describe('the certificates that are remembered', () => {
  it('are made once for a host, and anew in the middle of their life', () => {
    const { contextOf, issued, pass } = createContexts()
    const first = contextOf('a.example.com')
    pass(LEAF_MS / 2 - 1)
    expect(contextOf('a.example.com')).toBe(first)
    pass(1)
    expect(contextOf('a.example.com')).not.toBe(first)
    expect(issued).toEqual(['a.example.com', 'a.example.com'])
  })

  it('are bounded, and the one that nobody asked for longest goes', () => {
    const { contextOf, issued } = createContexts()
    const first = contextOf('kept.example.com')
    for (let i = 0; i < 3; i++) contextOf(`h${i}.example.com`)
    expect(contextOf('kept.example.com')).toBe(first)
    contextOf('one-more.example.com')
    expect(issued).toHaveLength(5)
    expect(contextOf('kept.example.com')).toBe(first)
    contextOf('h0.example.com')
    expect(issued).toHaveLength(6)
  })
})
