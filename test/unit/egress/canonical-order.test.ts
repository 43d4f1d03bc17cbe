// The documents of every fetch are made with their members in canonical order: nothing has to order them before they are hashed and
// signed, which costs three times as much.
import { expect, it, vi } from 'vitest'
import { createAttemptLedger } from '../../../src/egress/attempts.ts'
import { digestRequest, digestResponse } from '../../../src/egress/digest.ts'
import { toCanonicalJson } from '../../../src/lib/canonical-json.ts'
import { createLogger } from '../../../src/lib/log.ts'
import type { Attempt } from '../../../src/store/model.ts'
import type { Store } from '../../../src/store/ports.ts'

/** How many documents JSON itself wrote meanwhile: of one whose members are not in order the library gives it the texts and numbers alone. */
async function countWritten(make: () => unknown): Promise<number> {
  const written = vi.spyOn(JSON, 'stringify')
  try {
    await make()
    return written.mock.calls.filter(([value]) => typeof value === 'object' && value !== null).length
  } finally {
    written.mockRestore()
  }
}

it('is told from what the library has to put in order', async () => {
  expect(await countWritten(() => toCanonicalJson({ b: 1, a: { c: [null] } }))).toBe(0)
  expect(await countWritten(() => toCanonicalJson({ a: { c: [null] }, b: 1 }))).toBe(1)
})

it('puts the digests of request and response in order as it makes them', async () => {
  const request = { method: 'POST', url: 'https://api.example.com/', body: undefined, credentialId: 'cred_1' }
  const digest = () =>
    digestRequest({ ...request, headers: [['b', '1'] as const, ['a', '2']], secretVersion: 1 })
  expect(await countWritten(digest)).toBe(1)
  expect(
    await countWritten(() =>
      digestResponse({ status: 200, headers: { b: '1', a: '2' }, contentDigest: 'd' }),
    ),
  ).toBe(1)
})

it.each(['fetch', 'action', 'edge'] as const)(
  'puts the receipt of an attempt in order, of kind %s',
  async (kind) => {
    const attempts = createAttemptLedger({
      store: { finishAttempt: () => Promise.resolve({ ok: true, balance: 1 }) } as Partial<Store> as Store,
      signer: {
        kid: 'k',
        environment: 'production',
        // As the signer of an installation says its environment.
        sign: (_typ, payload) => toCanonicalJson({ ...payload, environment: 'production' }),
      },
      baseUrl: 'https://gateway.example',
      bootId: 'boot',
      now: Date.now,
      log: createLogger('silent'),
    })
    const attempt: Attempt = {
      id: 'att_1',
      accountId: 'acc_1',
      kind,
      capabilityId: 'cap_1',
      permitId: 'per_1',
      credentialId: 'cred_1',
      credentialVersion: 1,
      state: 'sending',
      method: 'GET',
      host: 'api.example.com',
      requestDigest: 'digest',
      idempotencyKey: null,
      createdAt: 0,
      sendingAt: 0,
      finishedAt: null,
      upstreamStatus: null,
      responseDigest: null,
      outcome: null,
      receiptId: null,
    }
    const finish = () =>
      attempts.finish(attempt, {
        state: 'settled',
        outcome: 'delivered',
        upstreamStatus: 200,
        responseDigest: 'digest',
        gate: 'clean',
      })
    expect(await countWritten(finish)).toBe(1)
    const { receipt } = await finish()
    expect(JSON.parse(receipt.jws)).toMatchObject({ attempt_id: 'att_1', environment: 'production' })
  },
)
