import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { credits, free, x402 } from '../../../src/core/price.ts'
import { type AnyTool, createRegistry, portableName } from '../../../src/core/registry.ts'
import { defineTool } from '../../../tools/services.ts'

const given = {
  name: 'gateway.a.b',
  title: 't',
  toolset: 'web' as const,
  summary: 's',
  input: z.strictObject({ n: z.int().default(1), s: z.string() }),
  output: z.strictObject({ n: z.int() }),
  price: free,
  caller: 'anyone' as const,
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'POST', path: '/a', operationId: 'a' } as const,
  errors: [],
  examples: [],
  handle: async () => ({ n: 1 }),
}
const skill = { id: 'a', tags: [], examples: [] }
const other = { name: 'gateway.c', rest: { method: 'POST', path: '/c', operationId: 'c' } as const }
const define = (changes: object = {}) => defineTool({ ...given, ...changes }) as unknown as AnyTool

describe('defineTool', () => {
  it('fills the defaults in', () => {
    expect(define()).toMatchObject({
      doors: ['rest', 'mcp', 'a2a'],
      maxBodyBytes: 262_144,
      reply: 'message',
      skills: [{ id: 'a-b', tags: ['web'], examples: ['t'] }],
      rest: [given.rest],
    })
    expect(define({ skill })).toMatchObject({ doors: ['rest', 'mcp', 'a2a'], skills: [skill] })
    const paid = {
      price: credits(1),
      caller: 'account',
      effects: { ...given.effects, readOnly: false, idempotent: false },
    }
    expect(define(paid)).toMatchObject({ reply: 'task' })
    expect(define({ passes: 'message' })).toMatchObject({ doors: ['rest'], skills: [] })
    expect(Object.isFrozen(define())).toBe(true)
  })

  it('makes a skill of a tool that writes none: its portable name in the spelling of skills, its toolset, its examples', () => {
    const examples = [
      { title: 'One', input: { s: 'a' } },
      { title: 'Two', input: { s: 'b' } },
    ]
    expect(define({ name: 'gateway.signing_keys.list', title: 'List', examples }).skills).toEqual([
      { id: 'signing-keys-list', tags: ['web'], examples: ['List: One', 'List: Two'] },
    ])
    expect(define({ doors: ['rest', 'mcp'] }).skills).toEqual([])
  })

  it.each<[string, object]>([
    ['a name without the prefix', { name: 'execute' }],
    ['a name in capitals', { name: 'gateway.Execute' }],
    ['a skill without its door', { skill, doors: ['rest'] }],
    ['a task for a caller who could not come back for it', { reply: 'task', caller: 'email' }],
    ['a paid tool that cannot wait for its payment', { reply: 'message', price: x402({ amount: '0.01' }) }],
  ])('refuses %s', (_, changes) => {
    expect(() => define(changes)).toThrow()
  })
})

describe('createRegistry', () => {
  it('finds a tool by either spelling and by nothing else', () => {
    const registry = createRegistry([define()])
    expect(registry.find('gateway.a.b')).toBe(registry.find('gateway_a_b'))
    expect(registry.find('gateway.a_b')).toBeUndefined()
    expect(registry.find('toString')).toBeUndefined()
    expect(portableName('gateway_execute')).toBe('gateway_execute')
  })

  it('derives schemas of what is sent and of what comes back', () => {
    const [entry] = createRegistry([define()]).tools
    expect(entry!.inputSchema).toMatchObject({ type: 'object', required: ['s'], additionalProperties: false })
    expect(entry!.outputSchema).toMatchObject({ type: 'object', required: ['n'] })
    expect(entry!.inputSchema).not.toHaveProperty('$schema')
  })

  it.each<[string, object, object]>([
    ['a name', {}, { rest: other.rest }],
    ['a portable name', {}, { name: 'gateway_a_b', rest: other.rest }],
    ['a route', {}, { name: other.name, rest: { ...given.rest, operationId: 'c' } }],
    ['an operation', {}, { name: other.name, rest: { ...other.rest, operationId: 'a' } }],
    ['a skill', { skill }, { ...other, skill }],
  ])('refuses two tools that share %s', (_, first, second) => {
    expect(() => createRegistry([define(first), define(second)])).toThrow(/two tools claim/)
    expect(() => createRegistry([define(first), define(other)])).not.toThrow()
  })
})
