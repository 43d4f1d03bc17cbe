// Tools that contradict themselves. Each is refused with a sentence that says what to write: by the compiler where types can
// tell (a line that did compile would fail the type check), else when it is defined or registered.
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { credits, free, x402 } from '../../../src/core/price.ts'
import { type AnyTool, createRegistry } from '../../../src/core/registry.ts'
import { defineTool } from '../../../tools/services.ts'
import { tools } from '../../../tools/index.ts'

const given = {
  name: 'gateway.wrong',
  title: 't',
  toolset: 'web' as const,
  summary: 's',
  input: z.strictObject({ text: z.string() }),
  output: z.strictObject({ text: z.string() }),
  price: free,
  caller: 'anyone' as const,
  effects: { readOnly: false, idempotent: false, openWorld: false },
  rest: { method: 'POST', path: '/wrong', operationId: 'wrong' } as const,
  errors: [],
  examples: [{ title: 'One', input: { text: 'a' } }],
  handle: async ({ text }: { text: string }) => ({ text }),
}
const paid = x402({ amount: '0.001', networks: ['eip155:8453'] })
const define = (changes: object): AnyTool => defineTool({ ...given, ...changes })

describe('a tool that contradicts itself is refused where it is defined', () => {
  it('and the nearest one that does not is taken', () => {
    for (const changes of [{}, { price: paid }, { price: credits(2), caller: 'account' }])
      expect(() => createRegistry([define(changes)])).not.toThrow()
  })

  it.each<[string, object, RegExp]>([
    [
      'costs money and says it only reads',
      { price: paid, effects: { ...given.effects, readOnly: true } },
      /readOnly: false/,
    ],
    [
      'is charged anew and says it is idempotent',
      { price: paid, effects: { ...given.effects, idempotent: true } },
      /idempotent: false/,
    ],
    [
      'destroys while it only reads',
      { effects: { ...given.effects, readOnly: true, destructive: true } },
      /write `readOnly: false`/,
    ],
    ['acts on a GET', { rest: { method: 'GET', path: '/x', operationId: 'x' } }, /write method POST/],
    ['takes credits from anybody', { price: credits(1) }, /write caller 'account'/],
    ['takes credits from an email key', { price: credits(1), caller: 'email' }, /write caller 'account'/],
    ['sells something that is no object', { price: paid, output: z.string() }, /write an object as `output`/],
    [
      'lets unknown members out',
      { output: z.object({ text: z.string() }) },
      /at the top: write z\.strictObject/,
    ],
    [
      'lets unknown members out further down',
      { output: z.strictObject({ list: z.array(z.object({ a: z.string() }).nullable()) }) },
      /at \/list: write z\.strictObject/,
    ],
    [
      'lets unknown members out of one of several forms',
      { output: z.union([z.strictObject({}), z.record(z.string(), z.object({}))]) },
      /at the top: write z\.strictObject/,
    ],
    ['has no price', { price: undefined }, /has no `price`: write free, credits\(…\) or x402\(…\)/],
    ['documents no errors', { errors: undefined }, /has no `errors`: write \[\]/],
    ['has no words', { summary: undefined }, /has no `summary`: write a sentence/],
    ['has no work', { handle: undefined }, /write `handle`, or `plan`/],
    ['has no name of ours', { name: 'weather' }, /write gateway\./],
    [
      'has a skill and no door for it',
      { skill: { id: 'a', tags: [], examples: [] }, doors: ['rest'] },
      /skills and doors disagree/,
    ],
  ])('%s', (_, changes, words) => {
    expect(() => define(changes)).toThrow(words)
  })

  it('or registered, when an example is refused by its own schema', () => {
    const wrong = define({ examples: [{ title: 'Numbers', input: { text: 1 } }] })
    expect(() => createRegistry([wrong])).toThrow(
      /“Numbers” is refused by its own schema \(text: .*correct one/,
    )
    const dated = define({
      examples: undefined,
      examplesAt: (now: number) => [{ title: 'Old', input: { text: now } }],
    })
    expect(() => createRegistry([dated])).toThrow(/“Old” is refused/)
  })
})

describe('a price that cannot be taken', () => {
  it.each<[string, () => unknown, RegExp]>([
    ['of no credits', () => credits(0), /write a whole number of credits/],
    ['of half a credit', () => credits(0.5), /write a whole number of credits/],
    ['of nothing', () => x402({ amount: 0n, networks: ['eip155:8453'] }), /write `price: free`/],
    ['with more decimals than USDC has', () => x402({ amount: '0.0000001' }), /at most 6 decimals/],
    ['that is no amount', () => x402({ amount: '-1' }), /write digits/],
    ['on no network', () => x402({ amount: '1', networks: [] }), /name at least one/],
    [
      'on a network without a pinned asset',
      () => x402({ amount: '1', networks: ['eip155:5'] }),
      /write one of eip155:8453/,
    ],
    [
      'on test and production networks',
      () => x402({ amount: '1', networks: ['eip155:8453', 'eip155:84532'] }),
      /test money/,
    ],
    ['whose dearest call is the cheapest', () => x402({ amount: '2', upTo: '1' }), /dearest call/],
  ])('%s is refused', (_, make, words) => {
    expect(make).toThrow(words)
  })

  it('is read to the atomic unit', () => {
    expect([x402({ amount: '0.001' }), x402({ amount: '12.345678' }), x402({ amount: 7n })]).toMatchObject([
      { amountAtomic: 1000n },
      { amountAtomic: 12345678n },
      { amountAtomic: 7n },
    ])
  })
})

describe('what types refuse', () => {
  it('is a caller that does not match, and a price that nobody takes', () => {
    const wrong = () => [
      defineTool({
        ...given,
        caller: 'anyone',
        // @ts-expect-error anybody has no capability: write caller 'capability'
        handle: async (_, { caller }) => ({ text: caller.capability.id }),
      }),
      defineTool({
        ...given,
        caller: 'account',
        // @ts-expect-error an account may be held by an agent, which is no administrator: write caller 'admin'
        handle: async (_, { caller }) => ({ text: String(caller.admin) }),
      }),
      // @ts-expect-error without networks core knows no terms: write `networks`, or `plan`
      defineTool({ ...given, price: x402({ amount: '0.001' }) }),
      defineTool({
        ...given,
        handle: undefined,
        price: x402({ amount: '0.001' }),
        // @ts-expect-error no job of it is free: write `mayBeFree`
        plan: () => ({ charge: null, run: async () => ({ text: 'a' }) }),
      }),
      defineTool({
        ...given,
        handle: undefined,
        // @ts-expect-error a free tool charges nothing: write `price: x402(…)`
        plan: () => ({ charge: { networks: ['eip155:8453'] }, run: async () => ({ text: 'a' }) }),
      }),
      defineTool({
        ...given,
        price: credits(1),
        // @ts-expect-error only a price `within` an attempt is taken by the run: then there is `context.charge`
        handle: async (_, { charge }) => ({ text: String(charge) }),
      }),
    ]
    expect(wrong).toBeTypeOf('function')
  })

  it('and gives the handler the caller that was asked for', () => {
    const right = () => [
      defineTool({
        ...given,
        caller: 'capability',
        handle: async (_, { caller }) => ({ text: caller.capability.id }),
      }),
      defineTool({
        ...given,
        caller: 'operator',
        handle: async (_, { caller }) => ({ text: caller.accountId }),
      }),
      defineTool({ ...given, price: paid, handle: async (_, { claimId }) => ({ text: claimId.slice(1) }) }),
    ]
    expect(right).toBeTypeOf('function')
  })
})

describe('the tools of this house', () => {
  it('are taken, and those that move money say so', () => {
    expect(() => createRegistry(tools)).not.toThrow()
    const settle = tools.find(({ name }) => name === 'gateway.facilitator.settle')
    expect(settle?.effects).toMatchObject({ readOnly: false, destructive: true })
    for (const { price, effects } of tools) if (price.kind !== 'free') expect(effects.readOnly).toBe(false)
  })
})
