// The transaction policy in words, and what it would say if an agent asked about the payments that are on record.
import {
  BUILT_IN,
  type FullRules,
  fullRules,
  type SpendLimit,
  type TransactionPolicyDocument,
  transactionPolicyDocument,
  toPolicy,
  unitKey,
} from '../commerce/policy/document.ts'
import { judgeTransfer } from '../commerce/policy/money.ts'
import type { PaymentClaim } from '../store/ports.ts'
import { SPEND_PERIOD_MS } from '../store/ports/spend-windows.ts'
import { describeClaim } from './payment.ts'
import type { Judged, PolicyKind } from './ports.ts'
import { listed, say, type Statement } from './statements.ts'

export const transactionPolicy: PolicyKind<TransactionPolicyDocument> = {
  name: 'transaction',
  document: transactionPolicyDocument,
  explain: (document) => [
    ...explainRules('*', fullRules(document)),
    ...Object.keys(document.accounts).flatMap((account) => explainAccount(document, account)),
  ],
  async past(store, _accountId, limit) {
    const { items } = await store.searchClaims({}, { limit })
    const replays = new Map<TransactionPolicyDocument, ReadonlyMap<PaymentClaim, Judged>>()
    // What passes a window depends on what passed before it: all of them are judged at once, the oldest first.
    const replayOf = (document: TransactionPolicyDocument) => {
      const replay = replays.get(document) ?? judgeAll(document, items.toReversed())
      replays.set(document, replay)
      return replay
    }
    return {
      decisions: items.map((claim) => ({
        at: claim.createdAt,
        what: describeClaim(claim),
        judge: (document) => replayOf(document).get(claim) ?? { verdict: 'allow', reasons: [] },
      })),
      gaps: ['inspections', 'spend_windows', 'contents'],
    }
  },
}

/** What an account's own rules change, and nothing that they leave as it is for everybody. */
function explainAccount(document: TransactionPolicyDocument, account: string): Statement[] {
  const everybody = new Set(explainRules(account, fullRules(document)).map((one) => JSON.stringify(one)))
  return explainRules(account, fullRules(document, account)).filter(
    (one) => !everybody.has(JSON.stringify(one)),
  )
}

/** Whether a list is the one that holds where nobody writes another. */
const isKnown = (list: readonly unknown[], known: readonly unknown[]): boolean => list === known

function explainRules(who: string, rules: FullRules): Statement[] {
  if (rules.halted) return [say('halted', { who })]
  const assets = rules.allowed_assets.map(({ asset, network }) => `${asset} (${network})`)
  const { allowed_recipients: allowed, denied_recipients: denied, allowed_currencies: currencies } = rules
  return [
    ...(rules.caps.length === 0 ? [say('no_cap', { who })] : []),
    ...rules.caps.map((cap) =>
      say('cap', {
        who,
        max: cap.max,
        asset: 'asset' in cap ? `${cap.asset} (${cap.network})` : cap.currency.toUpperCase(),
      }),
    ),
    ...rules.spend_windows.map((one) =>
      say(`spend_${one.period}_${one.per}`, {
        who,
        max: one.max,
        asset: 'asset' in one ? `${one.asset} (${one.network})` : one.currency.toUpperCase(),
      }),
    ),
    isKnown(rules.allowed_assets, BUILT_IN.allowed_assets)
      ? say('known_assets', { who, n: String(assets.length) })
      : assets.length > 0
        ? say('assets', { who, list: listed(assets) })
        : say('no_asset', { who }),
    isKnown(rules.allowed_networks, BUILT_IN.allowed_networks)
      ? say('known_networks', { who, n: String(rules.allowed_networks.length) })
      : rules.allowed_networks.length > 0
        ? say('networks', { who, list: listed(rules.allowed_networks) })
        : say('no_network', { who }),
    ...(currencies ? [say('currencies', { who, list: listed(currencies) })] : []),
    say('schemes', { who, list: listed(rules.allowed_schemes) }),
    allowed === null
      ? say('any_recipient', { who })
      : allowed.length === 0
        ? say('no_recipient', { who })
        : say('recipients', { who, list: listed(allowed.map(({ address }) => address)) }),
    ...(denied.length > 0
      ? [say('recipients_denied', { who, list: listed(denied.map(({ address }) => address)) })]
      : []),
    say(rules.require_key ? 'key_required' : 'key_reviewed', { who }),
    say('window', {
      who,
      seconds: String(rules.max_window_seconds),
      mandate: String(rules.max_mandate_seconds),
    }),
  ]
}

/** A payment that passed, as a window adds it up. */
interface Passed {
  readonly at: number
  readonly whose: string
  readonly payTo: string
  readonly amount: bigint
}

/** @param claims the oldest first */
function judgeAll(
  document: TransactionPolicyDocument,
  claims: readonly PaymentClaim[],
): ReadonlyMap<PaymentClaim, Judged> {
  const passed: Passed[] = []
  return new Map(claims.map((claim) => [claim, judge(document, claim, passed)]))
}

/** @param passed what passed before; this claim is added where it does */
function judge(document: TransactionPolicyDocument, claim: PaymentClaim, passed: Passed[]): Judged {
  const { network, asset, amount, payTo, payer, createdAt } = claim
  const accountId = claim.accountId ?? claim.purchase?.accountId
  const policy = toPolicy(document, accountId)
  if (policy.isHalted) return { verdict: 'deny', reasons: ['HALTED'] }
  const reasons = judgeTransfer({ network, asset, amount, payTo, scheme: 'exact' }, policy)
  const severities: string[] = reasons.map(({ severity }) => severity)
  const codes = new Set<string>(reasons.map(({ code }) => code))
  const unit = { asset, network }
  const one = {
    at: createdAt,
    whose: `${accountId ?? payer} ${unitKey(unit)}`,
    payTo,
    amount: BigInt(amount),
  }
  if (policy.spendWindowsOf(unit).some((limit) => isOver(limit, one, passed))) {
    severities.push('deny')
    codes.add('SPEND_OVER_CAP')
  }
  if (!severities.includes('deny')) passed.push(one)
  return {
    verdict: severities.includes('deny') ? 'deny' : severities.includes('review') ? 'review' : 'allow',
    reasons: [...codes],
  }
}

function isOver({ period, per, max }: SpendLimit, one: Passed, passed: readonly Passed[]): boolean {
  // No payment on record names a mandate.
  if (per === 'mandate') return false
  const since = one.at - SPEND_PERIOD_MS[period]
  const counted = passed
    .filter(
      ({ at, whose, payTo }) => at > since && whose === one.whose && (per === 'all' || payTo === one.payTo),
    )
    .reduce((sum, { amount }) => sum + amount, 0n)
  return counted + one.amount > max
}
