// Claims a payment that was verified, where its payer's other payments leave room. Whether they do is decided by the store, in
// the transaction that claims (store/commands/standings.ts); what is in the way is said by the verifier, which looks again.
import type { Claimed } from '../store/commands/claims.ts'
import type { ClaimLimits, PaymentClaim } from '../store/ports.ts'
import { MAX_OPEN } from './verify.ts'
import type { Verdict } from './ports.ts'

type Passed = Extract<Verdict, { ok: true }>
type Refused = Extract<Verdict, { ok: false }>

export type Reservation =
  | { readonly state: 'claimed'; readonly claim: PaymentClaim }
  /** Another claim holds the payment or its identifier. */
  | { readonly state: 'taken'; readonly claim: PaymentClaim }
  | { readonly state: 'refused'; readonly verdict: Refused }

/**
 * A payment without company is verified without its payer's balance, so the first refusal says no more than that there is
 * company by now. Every further look reads the balance, and is refused only while others take what it read.
 */
const MAX_LOOKS = 4

/**
 * @param verdict of the look that let the payment pass
 * @param steps.verify looks again, and asks what the payer holds
 * @param steps.claim asks the store once
 */
export async function claimVerified(
  verdict: Passed,
  steps: {
    verify: () => Promise<Verdict>
    claim: (limits: ClaimLimits) => Promise<Claimed>
    maxOpen?: number | undefined
  },
): Promise<Reservation> {
  const { verify, claim, maxOpen = MAX_OPEN } = steps
  let passed = verdict
  for (let looks = 1; ; looks++) {
    const { funds, maxWorking } = passed
    const claimed = await claim({ funds, maxOpen: passed.maxOpen ?? maxOpen, maxWorking })
    if (claimed.ok) return { state: 'claimed', claim: claimed.claim }
    if (claimed.claim) return { state: 'taken', claim: claimed.claim }
    if (looks === MAX_LOOKS) return { state: 'refused', verdict: crowdedOut(passed.payer) }
    const again = await verify()
    if (!again.ok) return { state: 'refused', verdict: again }
    passed = again
  }
}

const crowdedOut = (payer: string): Refused => ({
  ok: false,
  check: 'balance',
  reason: 'insufficient_funds',
  message:
    'Other payments of this payer were claimed at the same moment, and what they leave of its balance is not enough for ' +
    'this one. Send it again when they are settled.',
  payer,
  isRetryable: false,
})
