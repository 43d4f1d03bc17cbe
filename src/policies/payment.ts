// The payment policy in words, and what it says of the payments that were presented lately.
import { type PaymentPolicyDocument, paymentPolicyDocument, toPolicy } from '../payments/policy.ts'
import type { PaymentClaim } from '../store/ports.ts'
import type { Judged, PolicyKind } from './ports.ts'
import { listed, say } from './statements.ts'

export const paymentPolicy: PolicyKind<PaymentPolicyDocument> = {
  name: 'payment',
  document: paymentPolicyDocument,
  explain: ({ paused, denied_payers, denied_payees, known_payees }) => [
    say(paused ? 'payments_paused' : 'payments_open'),
    ...(denied_payers.length > 0 ? [say('payers_denied', { list: listed(denied_payers) })] : []),
    ...(denied_payees.length > 0 ? [say('payees_denied', { list: listed(denied_payees) })] : []),
    known_payees.length > 0 ? say('payees_known', { list: listed(known_payees) }) : say('nobody_known'),
  ],
  async past(store, _accountId, limit) {
    const { items } = await store.searchClaims({}, { limit })
    return {
      decisions: items.map((claim) => ({
        at: claim.createdAt,
        what: describeClaim(claim),
        judge: (document) => judge(document, claim),
      })),
      gaps: ['payments_refused', 'pause_only'],
    }
  },
}

/** A payment in one line: what for, how much, from whom to whom. */
export const describeClaim = ({ tool, amount, asset, network, payer, payTo }: PaymentClaim): string =>
  `${tool}: ${amount} of ${asset} on ${network}, ${payer} → ${payTo}`

function judge(document: PaymentPolicyDocument, { payer, payTo }: PaymentClaim): Judged {
  const policy = toPolicy(document)
  const reasons = [
    ...(policy.isPaused ? ['paused'] : []),
    ...(policy.isDeniedPayer(payer) ? ['denied_payer'] : []),
    ...(policy.isDeniedPayee(payTo) ? ['denied_payee'] : []),
  ]
  return { verdict: reasons.length > 0 ? 'deny' : 'allow', reasons }
}
