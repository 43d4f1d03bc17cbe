import { describe, expect, it } from 'vitest'
import { judgeSubmission } from '../../../src/payments/adapters/node-replies.ts'
import {
  decideStep,
  type Entry,
  findObstacle,
  isRipe,
  nonceOf,
  RAISE_AFTER_MS,
  raiseFees,
} from '../../../src/payments/adapters/outgoing.ts'

const entry = (nonce: bigint, change: Partial<Entry> = {}): Entry => ({
  call: { to: '0x', data: '0x', gas: 1n },
  isFiller: false,
  isWanted: async () => true,
  versions: [{ raw: '0x', transaction: '0x1', nonce, fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n } }],
  since: 0,
  sentAt: 0,
  isDoubtful: false,
  isAwaited: false,
  isOccupied: false,
  moves: 0,
  isMissed: false,
  ...change,
})
const counts = (mined: bigint, pending = mined) => ({ mined, pending })

describe('what happens next to a transaction', () => {
  it.each([
    ['its nonce is used', 6n, false, 0, 'look_for_receipt'],
    ['its nonce is used and the node knows it', 6n, true, 0, 'look_for_receipt'],
    ['the node dropped it', 5n, false, 0, 'send_again'],
    ['the node dropped it and others are before it', 4n, false, 0, 'send_again'],
    ['the node does not say', 5n, undefined, RAISE_AFTER_MS, 'wait'],
    ['it is next and waits', 5n, true, RAISE_AFTER_MS - 1, 'wait'],
    ['it is next and waits for too long', 5n, true, RAISE_AFTER_MS, 'raise_fees'],
    ['it waits for another one', 4n, true, RAISE_AFTER_MS, 'wait'],
  ] as const)('is, where %s, decided by count and age', (_, mined, isKnown, age, step) => {
    expect(decideStep(entry(5n), counts(mined), isKnown, age)).toBe(step)
  })

  it('is not asked about before a node should show it, and sooner where it never said that it has it', () => {
    expect([1_999, 2_000].map((now) => isRipe(entry(1n), now))).toEqual([false, true])
    // The timer of a second may ring a millisecond early.
    expect([749, 750, 999].map((now) => isRipe(entry(1n, { isDoubtful: true }), now))).toEqual([
      false,
      true,
      true,
    ])
    // Whoever waits for its answer goes on with it.
    expect(isRipe(entry(1n, { isDoubtful: true, isAwaited: true }), 60_000)).toBe(false)
    expect(nonceOf(entry(7n))).toBe(7n)
  })
})

describe('what is in the way', () => {
  it.each([
    ['nothing, where nothing waits', [], counts(5n), undefined],
    ['nothing, where ours is next', [6n, 5n], counts(5n, 7n), undefined],
    ['nothing, where ours is mined', [4n], counts(5n), undefined],
    ['a gap', [9n, 8n], counts(5n), { state: 'gap', first: 5n, last: 7n }],
    ['a gap behind what waits', [9n], counts(5n, 7n), { state: 'gap', first: 7n, last: 8n }],
    ['a gap, of a node that counts wrongly', [9n], counts(5n, 3n), { state: 'gap', first: 5n, last: 8n }],
    ["somebody else's transaction", [9n], counts(5n, 9n), { state: 'occupied', first: 5n }],
    ["somebody else's, with ours behind it", [9n], counts(5n, 10n), { state: 'occupied', first: 5n }],
  ] as const)('is %s', (_, nonces, seen, expected) => {
    expect(findObstacle(nonces, seen)).toEqual(expected)
  })
})

describe('raised fees', () => {
  const fees = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) => ({
    maxFeePerGas,
    maxPriorityFeePerGas,
  })
  it.each([
    ['an eighth more on both', fees(800n, 80n), fees(1n, 1n), 2_000n, fees(901n, 91n)],
    ['the market where it asks for more', fees(800n, 80n), fees(1_500n, 300n), 2_000n, fees(1_500n, 300n)],
    ['never a tip above the whole', fees(80n, 80n), fees(1n, 300n), 2_000n, fees(91n, 91n)],
    ['just below the cap', fees(800n, 80n), fees(1n, 1n), 901n, fees(901n, 91n)],
    ['none above the cap', fees(800n, 80n), fees(1n, 1n), 900n, undefined],
    ['none where the market is above it', fees(800n, 80n), undefined, 2_000n, undefined],
  ])('are %s', (_, old, market, cap, expected) => {
    expect(raiseFees(old, market, cap)).toEqual(expected)
  })
})

describe('what a node says of a transaction', () => {
  const says = (message: string) =>
    judgeSubmission({
      state: 'answered',
      reply: { ok: false, code: -32000, message, data: undefined },
    })

  it('is nothing where it did not answer, and a no where nothing was sent', () => {
    expect(judgeSubmission({ state: 'no_reply' })).toEqual({ state: 'doubtful', reason: 'no_reply' })
    expect(judgeSubmission({ state: 'not_sent' })).toEqual({ state: 'refused', reason: 'chain_unreachable' })
    const reply = { ok: true, result: '0x' } as const
    expect(judgeSubmission({ state: 'answered', reply })).toEqual({ state: 'taken', wasKnown: false })
  })

  it.each([
    // geth, reth, erigon, nethermind, besu, anvil
    ['already known', { state: 'taken', wasKnown: true }],
    ['ALREADY_EXISTS: already known', { state: 'taken', wasKnown: true }],
    ['nonce too low: address 0x, tx: 1 state: 2', { state: 'nonce_used' }],
    ['OldNonce, Current nonce: 2, nonce of rejected tx: 1', { state: 'nonce_used' }],
    ['replacement transaction underpriced', { state: 'nonce_taken' }],
    ['ReplacementNotAllowed', { state: 'nonce_taken' }],
    ['Replacement transaction underpriced', { state: 'nonce_taken' }],
    ['insufficient funds for gas * price + value: balance 1', { state: 'refused', reason: 'out_of_gas' }],
    ['Insufficient funds for gas * price + value', { state: 'refused', reason: 'out_of_gas' }],
    ['transaction underpriced: tip needed 1', { state: 'refused', reason: 'node_refused' }],
    ['max fee per gas less than block base fee', { state: 'refused', reason: 'node_refused' }],
    ['txpool is full', { state: 'refused', reason: 'node_refused' }],
    ['Nonce too distant from current sender nonce', { state: 'refused', reason: 'node_refused' }],
    ['nonce too high', { state: 'refused', reason: 'node_refused' }],
    ['the moon is full', { state: 'doubtful', reason: 'unclear_answer' }],
  ])('"%s"', (message, expected) => {
    expect(says(message)).toEqual(expected)
  })
})
