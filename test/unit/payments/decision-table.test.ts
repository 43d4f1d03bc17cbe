// Every cell of the table: which answer against which evidence ends a claim how.
import { describe, expect, it } from 'vitest'
import type { Evidence } from '../../../src/payments/chain-evidence.ts'
import {
  type AnswerKind,
  decide,
  decideFinally,
  DECISIONS,
  kindOf,
} from '../../../src/payments/decision-table.ts'
import type { UpstreamSettlement } from '../../../src/payments/ports.ts'
import { hash } from '../../support/payment-fakes.ts'

const TX = hash('a')
const answers: Readonly<Record<AnswerKind, UpstreamSettlement>> = {
  settled: { state: 'settled', transaction: TX },
  pending: { state: 'pending', transaction: TX },
  refused: { state: 'refused', reason: 'upstream_unreachable' },
  declined: { state: 'failed', reason: 'insufficient_funds' },
  reverted: { state: 'failed', reason: 'invalid_exact_evm_transaction_failed' },
  used: { state: 'failed', reason: 'invalid_exact_evm_nonce_already_used' },
  unknown: { state: 'unknown', reason: 'upstream_timeout' },
}
const evidence: readonly Evidence[] = [
  { state: 'paid', transaction: TX },
  { state: 'void', reason: 'authorization_canceled' },
  { state: 'shallow', transaction: TX },
  { state: 'barred', reason: 'insufficient_funds' },
  { state: 'unused' },
  { state: 'unanswered' },
  { state: 'unprovable' },
]

/** In the order of `evidence`. */
const expected: Readonly<Record<AnswerKind, string>> = {
  settled: 'settled failed shallow unproven unproven unproven trusted',
  pending: 'settled failed shallow pending  pending  pending  pending',
  refused: 'settled failed shallow failed   failed   unsent   failed',
  declined: 'settled failed shallow watched again    unknown  failed',
  reverted: 'settled failed shallow watched unknown  unknown  failed',
  used: 'settled failed shallow    unknown  unknown  unknown  failed',
  unknown: 'settled failed shallow unknown  unknown  unknown  unknown',
}

describe.each(Object.entries(answers) as [AnswerKind, UpstreamSettlement][])('%s', (kind, answer) => {
  const endings = expected[kind].split(/ +/)
  it.each(evidence.map((found, i) => [found.state, endings[i], found] as const))(
    'and the payment is %s: %s',
    (_state, ending, found) => {
      expect(kindOf(answer)).toBe(kind)
      expect(decide(answer, found)).toBe(ending)
    },
  )
})

describe('the second time', () => {
  it('ends what was left open as unknown, and all else as before', () => {
    for (const found of evidence) {
      const first = decide(answers.declined, found)
      expect(decideFinally(answers.declined, found)).toBe(first === 'again' ? 'unknown' : first)
      expect(decideFinally(answers.settled, found)).toBe(decide(answers.settled, found))
      expect(decideFinally(answers.unknown, found)).toBe(decide(answers.unknown, found))
    }
  })

  it('a refusal before a byte left does not unsay the first time', () => {
    const ends = evidence.map((found) => decideFinally(answers.refused, found))
    expect(ends).toEqual(['settled', 'failed', 'shallow', 'watched', 'unknown', 'unknown', 'failed'])
  })
})

it('no answer invites to pay again while the chain would still take the payment from whoever has it', () => {
  const invites = ['failed', 'watched']
  for (const [kind, row] of Object.entries(DECISIONS))
    if (kind !== 'refused') expect(invites).not.toContain(row.unused)
})
