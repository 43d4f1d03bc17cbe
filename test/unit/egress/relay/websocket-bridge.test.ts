import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { passThrough } from '../../../../src/egress/relay/scanner.ts'
import { bridge, createSentMessages } from '../../../../src/egress/relay/websocket/bridge.ts'
import type { Closing, Item, Message, Side } from '../../../../src/egress/relay/websocket/frames.ts'
import { HOLD_MS } from '../../../../src/egress/relay/websocket/released.ts'
import { newToken } from '../../../../src/lib/tokens.ts'
import { JWS_TYPES } from '../../../../src/receipts/types.ts'

const message = (text: string): Message => ({ kind: 'message', bytes: Buffer.from(text), isBinary: false })
const goodbye: Closing = { kind: 'close', code: 1000, reason: Buffer.alloc(0) }

/** A side that says what it is told to, until it is told that this is all. */
function createTold() {
  const told: Item[] = []
  let next = Promise.withResolvers<void>()
  const wake = () => {
    next.resolve()
    next = Promise.withResolvers()
  }
  let isAll = false
  return {
    say: (...items: Item[]) => {
      told.push(...items)
      wake()
    },
    end: () => {
      isAll = true
      wake()
    },
    async *items() {
      for (;;) {
        for (let item = told.shift(); item; item = told.shift()) yield item
        if (isAll) return
        await next.promise
      }
    },
  }
}

const sideOf = (told: Pick<Side, 'items'>, send: Side['send'] = async () => {}): Side => ({
  items: () => told.items(),
  send,
  isGone: false,
  end: () => {},
})

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('messages that were held, to a program that reads slowly', () => {
  it.each([
    ['a message and a close', [message('3'), goodbye], ['1', '2', '3']],
    ['a close alone', [goodbye], ['1', '2']],
  ] as const)('go out in order and whole before %s', async (_what, later, expected) => {
    const [upstream, program] = [createTold(), createTold()]
    const firstTaken = Promise.withResolvers<void>()
    const sent: string[] = []
    const counted: string[] = []
    // All but the third end in what might be the beginning of the secret.
    let last = ''
    const messages: typeof passThrough = {
      ...passThrough,
      push: async (bytes) => {
        last = String(bytes)
        return { ok: true, released: bytes }
      },
      beginning: async () => (last === '3' ? 0 : 2),
    }
    let over: string | undefined
    void bridge({
      holdMs: HOLD_MS,
      upstream: sideOf(upstream),
      program: sideOf(program, async (item) => {
        sent.push(item.kind === 'close' ? 'close' : String(item.bytes))
        if (sent.length === 1) await firstTaken.promise
      }),
      scanners: { messages, signals: passThrough },
      rules: {
        clocks: { idleMs: 60_000, totalMs: 60_000 } as never,
        maxRequestBytes: 1000,
        maxResponseBytes: 1000,
      },
      facts: { released: (bytes) => void counted.push(String(bytes)), at: () => undefined as never },
      sent: { count: () => 'ok', bytes: () => 0, digest: () => undefined },
      revoked: new AbortController().signal,
      onDefect: (thrown) => {
        throw thrown
      },
    }).then(({ outcome }) => (over = outcome))

    upstream.say(message('1'), message('2'))
    await vi.advanceTimersByTimeAsync(HOLD_MS - 1)
    expect(sent).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(sent).toEqual(['1'])
    upstream.say(...later)
    await vi.advanceTimersByTimeAsync(1)
    expect([sent, over]).toEqual([['1'], undefined])
    firstTaken.resolve()
    await vi.advanceTimersByTimeAsync(1)
    expect([sent, counted, over]).toEqual([expected, expected, 'delivered'])
    upstream.end()
    program.end()
  })
})

describe('messages of a program', () => {
  const header = JSON.stringify({ alg: 'EdDSA', kid: 'k'.repeat(43), typ: JWS_TYPES.permit })
  const permit = `${Buffer.from(header).toString('base64url')}.eyJhIjoxfQ.c2ln`

  it.each([
    ['a capability', newToken('cap')],
    ['a refresh token', newToken('rt')],
    ['an invitation', newToken('inv')],
    ['a permit', permit],
  ])('do not bring %s, wherever it is cut in two', (_what, token) => {
    for (let at = 1; at < token.length; at++) {
      const sent = createSentMessages()
      const verdicts = [token.slice(0, at), token.slice(at)].map((part) =>
        sent.count(true, Buffer.from(part)),
      )
      expect(verdicts).toContain('own_token')
    }
  })

  it('go on with words about tokens in them', () => {
    const sent = createSentMessages()
    expect(sent.count(true, Buffer.from('they begin with agw_rt_ and'))).toBe('ok')
    expect(sent.count(false, Buffer.from('agw_cap_'))).toBe('ok')
  })
})
