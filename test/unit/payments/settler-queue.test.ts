// The broadcasts of one account, which leave one after the other, through a node that answers late or not at all.
import { keccak256, parseTransaction, toHex } from 'viem'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createNetworks } from '../../../src/core/networks.ts'
import { Secret } from '../../../src/lib/secret.ts'
import type { Submission } from '../../../src/payments/adapters/json-rpc.ts'
import { openSettler, type Outgoing, type Settler } from '../../../src/payments/adapters/settler.ts'

const network = createNetworks([8453]).all[0]!
const FEES = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n }
const REFUSED: Submission = {
  state: 'answered',
  reply: { ok: false, code: -32000, message: 'txpool is full', data: undefined },
}
const TAKEN: Submission = { state: 'answered', reply: { ok: true, result: '0x' } }
const USED: Submission = {
  state: 'answered',
  reply: { ok: false, code: -32000, message: 'nonce too low', data: undefined },
}

let settler: Settler
/** Whether the node has what was handed to it. */
let isKnown = true
/** What has left, in order, each with what answers it. */
let left: { readonly nonce: number; readonly hash: string; readonly answer: (as: Submission) => void }[]

beforeEach(async () => {
  vi.useFakeTimers()
  left = []
  isKnown = true
  settler = await openSettler({
    key: new Secret<string>(toHex(0xa9e17n, { size: 32 })),
    network,
    rpc: {
      // Nothing of the account is mined.
      ask: async (calls) =>
        calls.map(({ method }) => ({
          ok: true,
          result:
            method === 'eth_getTransactionCount' ? '0x7' : method.endsWith('ByHash') && isKnown ? {} : null,
        })),
      submit: (_method, [raw]) =>
        new Promise((resolve) => {
          const { nonce = 0 } = parseTransaction(raw as `0x02${string}`)
          left.push({ nonce, hash: keccak256(raw as `0x${string}`), answer: resolve })
        }),
    },
    fees: async () => FEES,
    maxFeePerGas: 10n,
    now: Date.now,
  })
})
afterEach(() => {
  settler.close()
  vi.useRealTimers()
})

const outgoing = (over: Partial<Outgoing> = {}): Outgoing => ({
  to: network.asset.address,
  data: '0x',
  gas: 100_000n,
  fees: FEES,
  isWanted: async () => true,
  ...over,
})
const nonces = () => left.map(({ nonce }) => nonce)
/** Lets pass what passes at once, or in so many milliseconds. */
const pass = (ms = 0) => vi.advanceTimersByTimeAsync(ms)

it('leave one after the other while the node answers', async () => {
  const sent = [settler.broadcast(outgoing()), settler.broadcast(outgoing())]
  await pass()
  expect(nonces()).toEqual([7])
  left[0]!.answer(TAKEN)
  await pass()
  expect(nonces()).toEqual([7, 8])
  left[1]!.answer(TAKEN)
  expect(await Promise.all(sent)).toEqual(left.map(({ hash }) => ({ state: 'sent', transaction: hash })))
})

it('leave under the next nonces while it does not, and end as it says in the end', async () => {
  const sent = [0, 1, 2].map(() => settler.broadcast(outgoing()))
  await pass(2_000)
  expect(nonces()).toEqual([7, 8, 9])
  for (const { answer } of left.toReversed()) answer(TAKEN)
  expect(await Promise.all(sent)).toEqual(left.map(({ hash }) => ({ state: 'sent', transaction: hash })))
  expect(settler.load()).toMatchObject({ waiting: 3 })
})

it('wait for the answer as long as nobody waits for them', async () => {
  const refused = settler.broadcast(outgoing())
  await pass(2_000)
  expect(settler.load()).toMatchObject({ waiting: 0 })
  left[0]!.answer(REFUSED)
  expect(await refused).toEqual({ state: 'refused', reason: 'node_refused' })
  const sent = settler.broadcast(outgoing())
  await pass()
  expect(nonces()).toEqual([7, 7])
  left[1]!.answer(TAKEN)
  expect((await sent).state).toBe('sent')
})

it('keep the nonces behind one that is refused late', async () => {
  const [refused, behind] = [settler.broadcast(outgoing()), settler.broadcast(outgoing())]
  await pass(600)
  left[0]!.answer(REFUSED)
  left[1]!.answer(TAKEN)
  expect([(await refused).state, (await behind).state]).toEqual(['refused', 'sent'])
  void settler.broadcast(outgoing())
  await pass()
  expect(nonces()).toEqual([7, 8, 9])
})

it('get another nonce where the node says late that theirs is used', async () => {
  const [first, behind] = [settler.broadcast(outgoing()), settler.broadcast(outgoing())]
  await pass(600)
  left[0]!.answer(USED)
  left[1]!.answer(TAKEN)
  await pass()
  expect(nonces()).toEqual([7, 8, 9])
  left[2]!.answer(TAKEN)
  expect(await Promise.all([first, behind])).toEqual([
    { state: 'sent', transaction: left[2]!.hash },
    { state: 'sent', transaction: left[1]!.hash },
  ])
  expect(settler.load()).toMatchObject({ waiting: 2 })
})

it('are not put out again before the node has answered, which would keep the next ones waiting', async () => {
  isKnown = false
  const sent = [settler.broadcast(outgoing()), settler.broadcast(outgoing())]
  await pass(600)
  left[1]!.answer(TAKEN)
  await pass(1_000)
  sent.push(settler.broadcast(outgoing()))
  await pass()
  expect(nonces()).toEqual([7, 8, 9])
  left[2]!.answer(TAKEN)
  left[0]!.answer(TAKEN)
  expect((await Promise.all(sent)).map(({ state }) => state)).toEqual(['sent', 'sent', 'sent'])
})

it('do not wait for the answer to one that is put out again', async () => {
  isKnown = false
  const lost = settler.broadcast(outgoing())
  await pass()
  left[0]!.answer({ state: 'no_reply' })
  expect((await lost).state).toBe('doubtful')
  await pass(1_000)
  const sent = settler.broadcast(outgoing())
  await pass(600)
  expect(nonces()).toEqual([7, 7, 8])
  for (const { answer } of left) answer(TAKEN)
  expect((await sent).state).toBe('sent')
})

it('may have left where they were seen in a block before the node refused them', async () => {
  const sent = [settler.broadcast(outgoing()), settler.broadcast(outgoing())]
  await pass(600)
  left[1]!.answer(TAKEN)
  settler.forget(left[0]!.hash)
  left[0]!.answer(REFUSED)
  expect((await Promise.all(sent)).map(({ state }) => state)).toEqual(['doubtful', 'sent'])
})

it('do not leave where it is too late for them once it is their turn', async () => {
  let isLate = false
  const findLateness = () => (isLate ? 'too_late' : undefined)
  const sent = [settler.broadcast(outgoing({ findLateness })), settler.broadcast(outgoing({ findLateness }))]
  await pass()
  isLate = true
  await pass(600)
  left[0]!.answer(TAKEN)
  expect(await Promise.all(sent)).toEqual([
    { state: 'sent', transaction: left[0]!.hash },
    { state: 'refused', reason: 'too_late' },
  ])
  expect(nonces()).toEqual([7])
})

it('tell how long the next one would wait', async () => {
  expect(settler.load().queueMs).toBe(0)
  const sent = Array.from({ length: 50 }, () => settler.broadcast(outgoing()))
  await pass(2_000)
  expect(settler.load().queueMs).toBeGreaterThan(9_000)
  await pass(30_000)
  for (const { answer } of left) answer(TAKEN)
  await Promise.all(sent)
  expect(settler.load().queueMs).toBe(0)
})
