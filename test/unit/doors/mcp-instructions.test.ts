// What a model reads first over MCP, of the product's own tools: short, and every name in it can be called.
import { describe, expect, it } from 'vitest'
import { createSpell } from '../../../src/doors/mcp/names.ts'
import { instructions } from '../../../src/doors/mcp/instructions.ts'
import { createRegistry } from '../../../src/core/registry.ts'
import { tools } from '../../../tools/index.ts'

const registry = createRegistry(tools)
const spell = createSpell(registry)

it('is silent on tools that the connection is not shown', () => {
  const lines = instructions(
    (name) => name === 'gateway.receipts.get',
    (text) => text,
  )
  expect(lines.match(/gateway[._][a-z._]*[a-z]/g)).toEqual(['gateway.receipts.get'])
})

describe.each(['dotted', 'portable'] as const)('instructions of the product, %s', (spelling) => {
  const lines = instructions(
    (name) => registry.find(name) !== undefined,
    (text) => spell(text, spelling),
  ).split('\n')

  it('are at most ten lines', () => {
    expect(lines.length).toBeLessThanOrEqual(10)
  })

  it('name only tools that exist', () => {
    const names = lines.join('\n').match(/\bgateway[._][a-z_.]*[a-z]/g) ?? []
    expect(names.length).toBeGreaterThan(4)
    for (const name of names) {
      const entry = registry.find(name)
      expect(entry && (spelling === 'dotted' ? entry.tool.name : entry.portableName), name).toBe(name)
    }
  })

  it.each([
    /\{"intent":"demo"\}/,
    /pages, shops or feeds/,
    /settlement_unknown/,
    /outcome_ambiguous/,
    /retry_after_seconds/,
    /x402\/payment/,
  ])('keep %s', (word) => {
    expect(lines.join('\n')).toMatch(word)
  })
})
