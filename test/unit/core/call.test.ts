import { describe, expect, it, vi } from 'vitest'
import { hideNames } from '../../../src/commerce/secrets/places.ts'
import { z } from 'zod'
import { credits, free, type Price, x402 } from '../../../src/core/price.ts'
import { type CallRequest, createCallPath } from '../../../src/core/call.ts'
import { neverGone } from '../../../src/core/priced-run.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import type { PaidCall, PaymentGate, PresentedPayment } from '../../../src/core/charging.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { createRateLimiter } from '../../../src/core/rate-limit.ts'
import { createLogger } from '../../../src/lib/log.ts'
import type { AnyTool } from '../../../src/core/registry.ts'
import type { CallerKind } from '../../../src/core/caller.ts'
import { defineTool } from '../../../tools/services.ts'
import type { CallContext } from '../../../src/core/context.ts'
import type { Services } from '../../../tools/services.ts'
import type { HeldCapability } from '../../../src/store/ports.ts'
import { hashToken, newToken } from '../../../src/lib/tokens.ts'
import { noGate, signCallReceipt } from '../../support/no-gate.ts'

const KEY = newToken('sk')
const SERVICE_KEY = {
  id: 'key_1',
  accountId: 'acct_1',
  label: 'k',
  admin: false,
  role: 'operator' as const,
  createdAt: 0,
  revokedAt: null,
}

/** A capability and one that was narrowed from it. */
const AGENT = newToken('cap')
const HELPER = newToken('cap')
const held = (id: string): HeldCapability => ({
  id,
  accountId: 'acct_1',
  credentialId: 'cred_1',
  parentId: id === 'cap_1' ? null : 'cap_1',
  rootId: 'cap_1',
  label: id,
  scope: { hosts: ['api.example.com'], path_prefixes: ['/'], methods: ['GET'] },
  maxUses: null,
  isBudgeted: false,
  showsBalance: false,
  createdAt: 0,
  expiresAt: 1,
  revokedAt: null,
})
const CAPABILITIES = new Map([
  [hashToken(AGENT).toString('hex'), held('cap_1')],
  [hashToken(HELPER).toString('hex'), held('cap_2')],
])

function toolOf(
  handle: (input: { text: string }, context: CallContext) => Promise<unknown> = async ({ text }) => ({
    text,
  }),
  caller: CallerKind = 'anyone',
  price: Price = free,
): AnyTool {
  return defineTool({
    name: 'gateway.test',
    title: 't',
    toolset: 'web',
    summary: 's',
    input: z.strictObject({ text: z.string(), capability: z.string().optional() }),
    output: price.kind === 'free' ? z.unknown() : z.looseObject({}),
    price,
    caller,
    effects: { readOnly: price.kind === 'free', idempotent: price.kind === 'free', openWorld: false },
    rest: { method: 'POST', path: '/t', operationId: 't' },
    errors: ['overloaded', 'scope_denied'],
    examples: [],
    // A price that is not known before it runs is none that types tell apart.
    ...({ handle } as object as { handle(): Promise<never> }),
  })
}

function setUp(
  options: {
    rateLimit?: number
    maxInFlight?: number
    gate?: PaymentGate
    balance?: number
    undocumented?: 'log' | 'fail'
  } = {},
) {
  const lines: string[] = []
  const ended: string[] = []
  /** Of the one account, as a ledger has it. */
  const ledger = { balance: options.balance ?? 10, entries: [] as string[] }
  const calls = createCallPath({
    services: {} as Services,
    gate: options.gate ?? noGate,
    store: {
      findKey: async (hash) => (hash.equals(hashToken(KEY)) ? SERVICE_KEY : undefined),
      findCapability: async (hash) => CAPABILITIES.get(hash.toString('hex')),
      findEmailKey: async () => undefined,
      findSession: async () => undefined,
      findAccessToken: async () => undefined,
    },
    debits: {
      async take({ accountId, credits }) {
        if (ledger.balance < credits) return { ok: false, balance: ledger.balance }
        ledger.entries.push(`-${credits}`)
        const debit = { accountId, credits, transactionId: 'txn_1', startedAt: 0 }
        return { ok: true, balance: (ledger.balance -= credits), debit }
      },
      settle: async (debit, call) => signCallReceipt({ ...debit, ...call }).shown,
      async giveBack() {
        ledger.entries.push('given back')
        ledger.balance++
      },
      async recover() {},
    },
    creditsRequired: async ({ what, balance }) =>
      new GatewayError('credits_required', `${what} and the account has ${balance}.`),
    elapsedMs: () => 0,
    watch: { ended: (...facts) => void ended.push(facts.join(' ')) },
    ...(options.undocumented && { undocumented: options.undocumented }),
    limiter: createRateLimiter(options.rateLimit ?? 0),
    hideNames,
    log: createLogger('info', { write: (line: string) => void lines.push(line) }),
    now: () => 0,
    ...(options.maxInFlight === undefined ? {} : { maxInFlight: options.maxInFlight }),
  })
  const call = async (tool: AnyTool, request: Partial<CallRequest> = {}) => {
    const result = await calls.call({
      tool,
      input: { text: 'a' },
      door: 'rest',
      tokens: {},
      address: '192.0.2.1',
      requestId: 'req_1',
      signal: neverGone,
      ...request,
    })
    return { result, code: result.ok ? 'ok' : result.error.code }
  }
  return {
    calls,
    call,
    ledger,
    ended,
    log: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  }
}

describe('call path', () => {
  it('tells its watch how every call ended, and nothing of who made it or what it said', async () => {
    const { call, ended } = setUp({ rateLimit: 1 })
    await call(toolOf())
    await call(toolOf())
    await call(toolOf(), { door: 'mcp', address: '192.0.2.2', input: { text: 1 } })
    expect(ended).toEqual([
      'gateway.test rest  0',
      'gateway.test rest rate_limited 0',
      'gateway.test mcp input_wrong_type 0',
    ])
  })

  it('hands the parsed input, the caller and the signal to the handler', async () => {
    const { call } = setUp()
    const signal = () => new AbortController().signal
    let seen: CallContext | undefined
    const tool = toolOf(async (input, context) => {
      seen = context
      context.progress({ done: 1 })
      return input
    })
    const { result } = await call(tool, { tokens: { bearer: KEY }, signal })
    expect(result).toMatchObject({
      ok: true,
      output: { text: 'a' },
      caller: { kind: 'operator', id: 'key_1' },
    })
    expect(seen).toMatchObject({ caller: { id: 'key_1' }, requestId: 'req_1' })
    expect(seen!.signal).toBe(signal)
  })

  it('passes reports of progress on while they move forward, and none after the call has ended', async () => {
    const { call } = setUp()
    const heard: number[] = []
    let late: CallContext['progress'] | undefined
    const tool = toolOf(async (input, { progress }) => {
      late = progress
      for (const done of [1, 1, 0, 2]) progress({ done })
      return input
    })
    await call(tool, { tokens: { bearer: KEY }, progress: ({ done }) => void heard.push(done) })
    late?.({ done: 3 })
    expect(heard).toEqual([1, 2])
  })

  it('refuses in order: 401, 429, 400', async () => {
    const { call } = setUp({ rateLimit: 1 })
    const tool = toolOf(undefined, 'operator')
    const bad = { input: { nonsense: 1 } }
    expect((await call(tool, bad)).code).toBe('key_required')
    expect((await call(tool, { ...bad, tokens: { bearer: KEY } })).code).toBe('input_missing_field')
    const limited = await call(tool, { ...bad, tokens: { bearer: KEY } })
    expect(limited.code).toBe('rate_limited')
    expect(limited.result).toMatchObject({ rate: { limit: 1, remaining: 0 }, caller: { id: 'key_1' } })
  })

  it('counts what a door answers by itself like a call, each under its own name', async () => {
    const { calls, call } = setUp({ rateLimit: 1 })
    const tool = toolOf(undefined, 'operator')
    const admit = (what: string, bearer?: string) => calls.admit(what, { bearer }, '192.0.2.1')
    expect(await admit('list', KEY)).toMatchObject({ kind: 'operator', id: 'key_1' })
    await expect(admit('list', KEY)).rejects.toMatchObject({
      code: 'rate_limited',
      extras: { retry_after_seconds: expect.any(Number) as number },
    })
    expect(await admit('list')).toMatchObject({ kind: 'anonymous' })
    expect(await admit('other list', KEY)).toMatchObject({ id: 'key_1' })
    expect((await call(tool, { tokens: { bearer: KEY } })).code).toBe('ok')
    await expect(admit('list', 'agw_sk_x')).rejects.toMatchObject({ code: 'key_invalid' })
    await expect(admit('another list', 'agw_sk_x')).rejects.toMatchObject({ code: 'rate_limited' })
  })

  it('refuses input that a door could not read after the caller is known, and before the handler', async () => {
    const { call } = setUp()
    let handled = false
    const tool = toolOf(async () => void (handled = true), 'operator')
    const inputError = new GatewayError('json_invalid', 'd')
    expect((await call(tool, { inputError })).code).toBe('key_required')
    expect((await call(tool, { inputError, tokens: { bearer: KEY } })).code).toBe('json_invalid')
    expect(handled).toBe(false)
  })

  it('counts refused tokens by address, and holds that against nobody whose token is good', async () => {
    const { call } = setUp({ rateLimit: 2 })
    const tool = toolOf(undefined, 'operator')
    for (const expected of ['key_invalid', 'key_invalid', 'rate_limited'])
      expect((await call(tool, { tokens: { bearer: newToken('sk') } })).code).toBe(expected)
    expect((await call(tool, { address: '192.0.2.2' })).code).toBe('key_required')
    expect((await call(tool, { tokens: { bearer: KEY } })).code).toBe('ok')
  })

  it('counts anonymous callers by address and known ones by key', async () => {
    const { call } = setUp({ rateLimit: 1 })
    expect((await call(toolOf(), { address: '192.0.2.1' })).code).toBe('ok')
    expect((await call(toolOf(), { address: '192.0.2.2' })).code).toBe('ok')
    expect((await call(toolOf(), { address: '192.0.2.1' })).code).toBe('rate_limited')
    expect((await call(toolOf(), { address: '192.0.2.1', tokens: { bearer: KEY } })).code).toBe('ok')
  })

  it('counts a capability and all that were narrowed from it together', async () => {
    const { call } = setUp({ rateLimit: 2 })
    const tool = toolOf(undefined, 'capability')
    expect((await call(tool, { tokens: { bearer: AGENT } })).code).toBe('ok')
    expect((await call(tool, { tokens: { bearer: HELPER } })).code).toBe('ok')
    expect((await call(tool, { tokens: { bearer: HELPER } })).code).toBe('rate_limited')
    expect((await call(tool, { tokens: { bearer: AGENT } })).code).toBe('rate_limited')
  })

  it('reads a capability from the arguments only where a tool takes one', async () => {
    const { call } = setUp()
    const input = { text: 'a', capability: newToken('cap') }
    expect((await call(toolOf(undefined, 'capability'), { input })).code).toBe('capability_invalid')
    expect((await call(toolOf(undefined, 'account'), { input })).code).toBe('capability_invalid')
    expect((await call(toolOf(undefined, 'anyone'), { input })).code).toBe('ok')
    expect((await call(toolOf(undefined, 'operator'), { input })).code).toBe('key_required')
    expect((await call(toolOf(undefined, 'capability'), { input: { text: 'a', capability: 1 } })).code).toBe(
      'capability_required',
    )
  })

  it('asks the door before the work starts and lets it refuse', async () => {
    const { call } = setUp()
    const order: string[] = []
    const tool = toolOf(async () => void order.push('handled'))
    await call(tool, { onAccepted: ({ id }) => void order.push(`accepted ${id}`) })
    expect(order).toEqual(['accepted anonymous', 'handled'])
    await call(tool, { input: {}, onAccepted: () => void order.push('accepted') })
    const onAccepted = () => Promise.reject(new GatewayError('overloaded', 'd'))
    expect((await call(tool, { onAccepted })).code).toBe('overloaded')
    expect(order).toHaveLength(2)
  })

  it('turns anything unrecognised into internal and keeps its words out of answer and log', async () => {
    const { call, log } = setUp()
    const { result, code } = await call(toolOf(async () => Promise.reject(new Error('password=hunter2'))))
    expect(code).toBe('internal')
    expect(result.ok ? '' : result.error.message).not.toContain('hunter2')
    expect(log()[0]).toMatchObject({ level: 50, code: 'internal', err: { type: 'Error' } })
    expect(JSON.stringify(log())).not.toContain('hunter2')
  })

  it('writes one line a call, whatever its end', async () => {
    const { call, log } = setUp()
    const paid = toolOf(undefined, 'operator', credits(1))
    await call(paid, { tokens: { bearer: KEY }, traceparent: '00-a-b-01' })
    await call(paid)
    const refused = new GatewayError('scope_denied', 'd', { reason: 'host', extras: { attempt_id: 'att_1' } })
    await call(toolOf(async () => Promise.reject(refused)))
    expect(log()).toEqual([
      expect.objectContaining({
        request_id: 'req_1',
        door: 'rest',
        tool: 'gateway.test',
        caller: 'key_1',
        account: 'acct_1',
        code: 'ok',
        price: '1 credit',
        traceparent: '00-a-b-01',
      }),
      expect.objectContaining({ code: 'key_required', level: 30 }),
      expect.objectContaining({
        code: 'scope_denied',
        reason: 'host',
        attempt_id: 'att_1',
        caller: 'anonymous',
      }),
    ])
    for (const line of log()) expect(line['ms']).toEqual(expect.any(Number))
    expect(JSON.stringify(log())).not.toContain(KEY)
  })

  it('logs a code that the tool does not document, and fails with a sentence where that is asked for', async () => {
    const surprising = toolOf(async () => Promise.reject(new GatewayError('permit_used', 'd')))
    const { call, log } = setUp()
    expect((await call(surprising)).code).toBe('permit_used')
    expect(log()[0]).toMatchObject({ level: 40, tool: 'gateway.test', code: 'permit_used' })
    const { result } = await setUp({ undocumented: 'fail' }).call(surprising)
    expect(result).toMatchObject({ ok: false, error: { code: 'internal' } })
    expect(result.ok ? '' : result.error.message).toMatch(/ended in permit_used.*add it to its `errors`/)
  })

  it('takes as many calls at once as allowed, refuses the next, and counts them all', async () => {
    const { call, calls } = setUp({ maxInFlight: 2 })
    const gate = Promise.withResolvers<void>()
    const slow = toolOf(async () => gate.promise)
    const running = [call(slow), call(slow)]
    expect(calls.inFlight).toBe(2)
    const refused = await call(slow)
    expect(refused.code).toBe('overloaded')
    expect(refused.result).toMatchObject({ error: { extras: { retry_after_seconds: 1 } } })
    gate.resolve()
    expect((await Promise.all(running)).map(({ code }) => code)).toEqual(['ok', 'ok'])
    expect(calls.inFlight).toBe(0)
  })

  it('keeps places for others, whoever waits for what never answers', async () => {
    const { call, calls } = setUp({ maxInFlight: 8 })
    const gate = Promise.withResolvers<void>()
    const slow = toolOf(async () => gate.promise)
    const running: ReturnType<typeof call>[] = []
    for (let i = 0; i < 12; i++) {
      running.push(call(slow))
      await new Promise(setImmediate)
    }
    // Most of one caller, and of all strangers together.
    const second = call(slow, { address: '192.0.2.2' })
    await new Promise(setImmediate)
    const third = await call(slow, { address: '192.0.2.3' })
    expect(third.result).toMatchObject({ error: { code: 'overloaded', reason: 'caller_busy' } })
    expect(calls.inFlight).toBe(9)
    expect((await call(toolOf(undefined, 'operator'), { tokens: { bearer: KEY } })).code).toBe('ok')
    gate.resolve()
    const codes = (await Promise.all(running)).map(({ code }) => code)
    expect(codes.filter((code) => code === 'ok')).toHaveLength(8)
    expect(codes.filter((code) => code === 'overloaded')).toHaveLength(4)
    expect((await second).code).toBe('ok')
    expect((await call(toolOf(), { address: '192.0.2.3' })).code).toBe('ok')
  })

  it('finishes what runs and refuses what comes after a drain', async () => {
    const { call, calls } = setUp()
    const gate = Promise.withResolvers<void>()
    const running = call(toolOf(async () => gate.promise))
    calls.drain()
    expect((await call(toolOf())).code).toBe('draining')
    gate.resolve()
    expect((await running).code).toBe('ok')
  })
})

describe('a paid tool', () => {
  const TERMS = { amountAtomic: 1000n, networks: ['eip155:84532'], requestDigest: 'd' }
  const PAYMENT: PresentedPayment = {
    form: 'header',
    name: 'payment-signature',
    value: new Secret('secret-signature'),
  }
  const seen: PaidCall[] = []
  const gate: PaymentGate = {
    ...noGate,
    async run(call) {
      seen.push(call)
      if (!call.payment) throw new GatewayError('payment_claimed', 'used', { extras: { claim_id: 'clm_2' } })
      const output = await call.work('clm_1')
      return {
        output,
        json: JSON.stringify(output),
        settlement: { success: true, transaction: '0x1', network: 'eip155:84532', amount: '1000' },
        claimId: 'clm_1',
        replayed: false,
      }
    },
  }
  const paid = (
    charge: () => typeof TERMS | null,
    handle: (input: unknown, context: CallContext) => Promise<object> = async () => ({}),
    caller: CallerKind = 'anyone',
  ): AnyTool => ({
    ...toolOf(undefined, caller, x402({ amount: 1000n, mayBeFree: 'some jobs' })),
    plan: (input) => ({ charge: charge(), run: (context) => handle(input, context) }),
  })

  it('is handled by way of the gate, which learns what is asked, of whom and for what', async () => {
    const { call, log } = setUp({ gate })
    let context: CallContext | undefined
    const abort = new AbortController()
    const accepted: string[] = []
    const { result } = await call(
      paid(
        () => TERMS,
        async (_, given) => {
          context = given
          abort.abort()
          return { done: true }
        },
      ),
      {
        payment: PAYMENT,
        quote: 'q',
        resource: { url: 'http://g/t', method: 'POST' },
        signal: () => abort.signal,
        onAccepted: ({ id }) => void accepted.push(id),
      },
    )
    expect(result).toMatchObject({ ok: true, output: { done: true }, paid: { claimId: 'clm_1' } })
    expect(seen.at(-1)).toMatchObject({
      tool: { name: 'gateway.test' },
      terms: TERMS,
      resource: { url: 'http://g/t', method: 'POST' },
      payment: PAYMENT,
      quote: 'q',
      caller: { kind: 'anonymous' },
      requestId: 'req_1',
    })
    expect(context).toMatchObject({ claimId: 'clm_1', payment: PAYMENT })
    // Paid work goes on when the buyer has gone.
    expect(context!.signal().aborted).toBe(false)
    expect(accepted).toEqual(['anonymous'])
    expect(log()[0]).toMatchObject({ code: 'ok', price: '1000 eip155:84532', claim_id: 'clm_1' })
    expect(JSON.stringify(log())).not.toContain('secret-signature')
  })

  it('does no work that the gate refuses, and the log names the claim', async () => {
    const { call, log } = setUp({ gate })
    const handle = vi.fn(async () => ({}))
    const onAccepted = vi.fn()
    expect(
      (
        await call(
          paid(() => TERMS, handle),
          { onAccepted },
        )
      ).code,
    ).toBe('payment_claimed')
    expect(handle).not.toHaveBeenCalled()
    expect(onAccepted).not.toHaveBeenCalled()
    expect(log()[0]).toMatchObject({ code: 'payment_claimed', claim_id: 'clm_2', price: 'x402' })
  })

  it('has no price for a bad request, nor before the caller is known', async () => {
    const { call } = setUp({ gate })
    const terms = vi.fn(() => TERMS)
    expect((await call(paid(terms), { input: { text: 1 } })).code).toBe('input_wrong_type')
    expect((await call(paid(terms, undefined, 'operator'))).code).toBe('key_required')
    const inputError = new GatewayError('payment_invalid', 'two payments')
    expect((await call(paid(terms), { inputError })).code).toBe('payment_invalid')
    expect(terms).not.toHaveBeenCalled()
  })

  it('is free where its terms are null', async () => {
    const { call } = setUp()
    const { result } = await call(paid(() => null))
    expect(result).toMatchObject({ ok: true, paid: undefined })
  })
})
