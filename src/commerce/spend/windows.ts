// Spend windows of an account: the store holds the payment of a message against them and, where the caller asks, counts it. What
// they say is one more reason of the policy.
import { hash, randomUUID } from 'node:crypto'
import type { SpendHolder, SpendReport } from '../../../schemas/commerce.ts'
import { toTimestamp } from '../../lib/timestamp.ts'
import type { SpendInput, SpendResult, SpendStanding, Store } from '../../store/ports.ts'
import { type SpendUnit, unitKey } from '../policy/document.ts'
import type { JudgedMessage } from '../policy/judge.ts'
import { placeOfPayment } from '../policy/model.ts'
import { reason, type Reason } from '../policy/reasons.ts'
import { type Payment, readPayment } from './payment.ts'

export type SpendStore = Pick<Store, 'judgeSpend' | 'countSpend'>

export interface SpendVerdict {
  readonly reasons: readonly Reason[]
  readonly report: SpendReport
}

/** Payments of one account that are remembered at most, so that its rows are bounded: some 3,300 a day for the month they are kept. */
const MAX_COUNTED = 100_000
const HOUR_MS = 3_600_000
/** A server forgets an idempotency key after a day, and carries out what comes then: it is another payment. */
const KEY_KEPT_MS = 24 * HOUR_MS
/** As long as a payment is on record (retention of operational rows). */
const NAME_KEPT_MS = 30 * 24 * HOUR_MS

/**
 * Holds what a judged message pays against the windows of its account, and counts it where `isCounted` and nothing denies it.
 * @param now milliseconds since the epoch
 */
export async function judgeSpendWindows(
  { subject, decision }: JudgedMessage,
  caller: { readonly accountId: string; readonly isCounted: boolean },
  store: SpendStore,
  now: number,
): Promise<SpendVerdict> {
  const { policy } = subject
  const payment = readPayment(subject)
  if (typeof payment === 'string') {
    const isHeld = payment === 'amount_unknown' && (policy.hasSpendWindows || caller.isCounted)
    return {
      reasons: isHeld ? [reason('SPEND_NOT_COUNTED', placeOfPayment(subject))] : [],
      report: { status: payment, counted_at: null, windows: [] },
    }
  }
  const input = toInput(payment, subject.policy.spendWindowsOf(payment.unit), caller.accountId, now)
  const mayCount = caller.isCounted && decision !== 'deny'
  const result = mayCount ? await store.countSpend(input) : await store.judgeSpend(input)
  const reasons = toReasons(result, payment)
  const isDenied = decision === 'deny' || reasons.some(({ severity }) => severity === 'deny')
  return {
    reasons,
    report: {
      status: statusOf(result, caller.isCounted, isDenied),
      counted_at: result.countedAt === null ? null : toTimestamp(result.countedAt),
      windows: result.windows.map((standing) => toReport(standing, payment.unit)),
    },
  }
}

function toInput(
  payment: Payment,
  limits: ReturnType<JudgedMessage['subject']['policy']['spendWindowsOf']>,
  accountId: string,
  now: number,
): SpendInput {
  const { unit, amount, shares, mandate, identity, content } = payment
  const scopeOf = (per: SpendHolder, whose: string) => digest([accountId, unitKey(unit), per, whose])
  const scopes: Readonly<Record<SpendHolder, readonly { scope: string; amount: string }[]>> = {
    all: [{ scope: scopeOf('all', ''), amount: String(amount) }],
    counterparty: shares.map((share) => ({
      scope: scopeOf('counterparty', share.party),
      amount: String(share.amount),
    })),
    mandate: mandate === undefined ? [] : [{ scope: scopeOf('mandate', mandate), amount: String(amount) }],
  }
  return {
    accountId,
    now,
    payment: {
      // What nothing tells from the next is a payment each time: sent twice, it happens twice.
      id: identity === undefined ? randomUUID() : digest([accountId, identity.name]),
      content,
      keptMs: identity?.isKey === true ? KEY_KEPT_MS : NAME_KEPT_MS,
      upTo: payment.isRunning ? String(amount) : undefined,
    },
    counts: Object.values(scopes).flat(),
    windows: limits.flatMap(({ period, per, max }) =>
      scopes[per].map(({ scope }) => ({ scope, period, max: String(max), per })),
    ),
    maxCounted: MAX_COUNTED,
  }
}

const digest = (parts: readonly string[]): string => hash('sha256', JSON.stringify(parts), 'base64url')

const WHOSE: Readonly<Record<SpendHolder, string>> = {
  all: 'the account',
  counterparty: 'this recipient',
  mandate: 'this mandate, session or checkout',
}

function toReasons({ outcome, windows }: SpendResult, { amountAt, identity }: Payment): readonly Reason[] {
  if (outcome === 'replayed') return [reason('REPLAYED_NONCE', identity?.at ?? amountAt)]
  if (outcome === 'full')
    return [
      reason('SPEND_NOT_COUNTED', amountAt, {
        severity: 'deny',
        message: `${MAX_COUNTED} payments of the account were counted within a day: no more is, until they are older.`,
      }),
    ]
  return windows
    .filter(({ isOver }) => isOver)
    .map(({ per, period, spent, max, freesAt }) =>
      reason('SPEND_OVER_CAP', amountAt, {
        message: `Payments of ${WHOSE[per]} within ${period === 'hour' ? 'an hour' : 'a day'} come to more than ${max} with this one: ${spent} are counted. ${
          freesAt === null ? 'This amount alone is more.' : `It fits again at ${toTimestamp(freesAt)}.`
        }`,
      }),
    )
}

function statusOf({ outcome }: SpendResult, isCounted: boolean, isDenied: boolean): SpendReport['status'] {
  if (outcome === 'counted') return 'counted'
  if (outcome === 'repeated') return 'already_counted'
  return isCounted && isDenied ? 'denied' : 'not_counted'
}

function toReport(
  { period, per, max, spent, freesAt }: SpendStanding,
  unit: SpendUnit,
): SpendReport['windows'][number] {
  const left = BigInt(max) - BigInt(spent)
  return {
    period,
    per,
    asset: 'asset' in unit ? unit.asset : null,
    network: 'asset' in unit ? unit.network : null,
    currency: 'asset' in unit ? null : unit.currency,
    cap: max,
    spent,
    left: String(left > 0n ? left : 0n),
    frees_at: freesAt === null ? null : toTimestamp(freesAt),
  }
}
