// The transaction policy in words, and what it would say if an agent asked about the payments that are on record.
import {
  BUILT_IN,
  type FullRules,
  fullRules,
  type TransactionPolicyDocument,
  transactionPolicyDocument,
  toPolicy,
} from '../commerce/policy/document.ts'
import { judgeTransfer } from '../commerce/policy/money.ts'
import type { PaymentClaim } from '../store/ports.ts'
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
    return {
      decisions: items.map((claim) => ({
        at: claim.createdAt,
        what: describeClaim(claim),
        judge: (document) => judge(document, claim),
      })),
      gaps: ['inspections', 'contents'],
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

function judge(document: TransactionPolicyDocument, claim: PaymentClaim): Judged {
  const { network, asset, amount, payTo } = claim
  const policy = toPolicy(document, claim.accountId ?? claim.purchase?.accountId)
  if (policy.isHalted) return { verdict: 'deny', reasons: ['HALTED'] }
  const reasons = judgeTransfer({ network, asset, amount, payTo, scheme: 'exact' }, policy)
  const severities = reasons.map(({ severity }) => severity)
  return {
    verdict: severities.includes('deny') ? 'deny' : severities.includes('review') ? 'review' : 'allow',
    reasons: [...new Set(reasons.map(({ code }) => code))],
  }
}
