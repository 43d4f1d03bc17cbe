// Who an answer waits for, while it is handed over; with a client that tells what a test says. Real connections are in test/flow.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { expect, it } from 'vitest'
import type { Connection } from '../../../src/egress/adapters/connections.ts'
import { streamExchange } from '../../../src/egress/adapters/stream-exchange.ts'
import { noFault } from '../../../src/lib/fault-points.ts'
import { Secret } from '../../../src/lib/secret.ts'

const IDLE_MS = 300

/** An answer whose head is here, and what its upstream says next. */
async function begin() {
  let handler: Dispatcher.DispatchHandler | undefined
  const controller = {
    rawHeaders: [],
    abort: () => {},
    pause: () => {},
    resume: () => {},
  } as unknown as Dispatcher.DispatchController
  const client = {
    dispatch(_options: unknown, given: Dispatcher.DispatchHandler) {
      handler = given
      given.onRequestStart!(controller, {})
      given.onResponseStart!(controller, 200, {}, 'OK')
    },
  }
  const connection = { client, socket: { bytesWritten: 0 }, key: 'key' } as unknown as Connection
  const result = await streamExchange(
    connection,
    {
      method: 'GET',
      url: new URL('https://api.example.com/v1'),
      addresses: ['192.0.2.1'],
      headers: new Secret([]),
      body: undefined,
      partition: 'cred_1',
      clocks: { connectMs: 1_000, firstByteMs: 60_000, idleMs: IDLE_MS, totalMs: 60_000 },
      signal: new AbortController().signal,
    },
    { fault: noFault, done: () => {} },
  )
  if (!result.ok || result.upgraded) throw new Error('no answer')
  return {
    answer: result.answer,
    say: (text: string) => handler!.onResponseData!(controller, Buffer.from(text)),
  }
}

it('does not take an upstream for silent while nobody waits for what it says', async () => {
  const { answer, say } = await begin()
  say('one')
  expect(String(await answer.next())).toBe('one')
  await sleep(2.5 * IDLE_MS)
  const next = answer.next()
  say('two')
  expect(String(await next)).toBe('two')
  answer.cancel()
})

it('takes it for silent once somebody has waited for as long', async () => {
  const { answer } = await begin()
  await sleep(IDLE_MS / 2)
  await expect(answer.next()).rejects.toMatchObject({ reason: 'idle' })
})
