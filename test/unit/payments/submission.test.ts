import { afterAll, beforeAll, expect, it } from 'vitest'
import { createLogger } from '../../../src/lib/log.ts'
import type { Router, UpstreamSettlement } from '../../../src/payments/ports.ts'
import { createSubmitter } from '../../../src/payments/submission.ts'
import { claimFor, exactKind, fakeUpstream, makePayment, requirements } from '../../support/payment-fakes.ts'
import { openTempStore, type TempStore } from '../../support/temp-store.ts'

const NOW = Date.UTC(2026, 5, 1)

let temp: TempStore
beforeAll(async () => void (temp = await openTempStore()))
afterAll(() => temp.close())

const refused = (reason: string): UpstreamSettlement => ({ state: 'refused', reason })
const failed = (reason: string): UpstreamSettlement => ({ state: 'failed', reason })

/** Whether the answer counts for or against the upstream that gave it. */
async function countOf(answer: UpstreamSettlement): Promise<readonly boolean[]> {
  const counted: boolean[] = []
  const router: Pick<Router, 'report'> = { report: (_id, { ok }) => void counted.push(ok) }
  const payment = makePayment(NOW)
  const submitter = createSubmitter({
    router,
    evidence: { canRead: () => false, read: () => Promise.resolve({ state: 'unprovable' }) },
    now: () => NOW,
    log: createLogger('silent'),
  })
  const route = { upstream: fakeUpstream('one', { url: null, answer }), kind: exactKind(), latencyMs: null }
  const claim = await claimFor(temp.store, payment, 'boot_test')
  await submitter.first([route], { claim, payment, requirements, startedAt: NOW })
  return counted
}

it.each([
  refused('out_of_gas'),
  refused('settlers_stuck'),
  refused('settlers_busy'),
  refused('gas_price_above_cap'),
  refused('chain_unreachable'),
  refused('no_settler'),
  refused('upstream_unreachable'),
  failed('unexpected_settle_error'),
])('counts $reason against the upstream, so that after three nobody is worked for', async (answer) => {
  expect(await countOf(answer)).toEqual([false])
})

it.each([
  failed('insufficient_funds'),
  refused('unsupported_scheme'),
  { state: 'unknown', reason: 'no_reply' } as const,
])(
  'does not count $reason against the upstream: the payment is at fault, or nobody knows',
  async (answer) => {
    expect(await countOf(answer)).toEqual([true])
  },
)
