// x402, what a server answers: a challenge, and the settlement after it.
import { isAddressMalformed } from '../addresses.ts'
import type { X402Facts, X402Requirement } from './facts.ts'
import { findEnd } from './score.ts'
import { bindingOf, judgeBinding, secondsOf } from '../rubric/form.ts'
import {
  all,
  type Check,
  limit,
  none,
  type Rubric,
  some,
  type Subject,
  type Verdict,
} from '../rubric/model.ts'
import { targetCheck } from '../rubric/common.ts'

type X402 = Subject<X402Facts>

const V1_BLAME = 'x402 v1 has no field for it: no v1 challenge can do better. Use v2.'

const HTTP = 'x402 specs/transports-v2/http.md'
const SPEC = 'x402 specs/x402-specification-v2.md'
const IDENTIFIER = 'x402 specs/extensions/payment_identifier.md'
const OFFER_RECEIPT = 'x402 specs/extensions/extension-offer-and-receipt.md'

/** Points when every requirement has it, none when one has not. */
function judgeEvery(
  { facts: { accepts } }: X402,
  has: (requirement: X402Requirement) => boolean,
  finding: string,
): Verdict {
  const [first] = accepts
  if (!first) return none('There is nothing to accept.')
  const without = accepts.find((requirement) => !has(requirement))
  return without ? none(finding, without.at) : all(first.at)
}

function judgeOffers(subject: X402): Verdict {
  const { offers } = subject.facts
  if (offers.length === 0) return none('The offer is not signed: whoever relays it can rewrite it.')
  const unreadable = offers.find(({ terms, signature }) => !terms || !signature)
  if (unreadable) return none('A signed offer cannot be read.', unreadable.at)
  return judgeBinding(
    bindingOf(subject, 'offer'),
    { partial: 4, unverifiable: 4 },
    'The signed offer belongs to none of the requirements.',
  )
}

const checks: readonly Check<X402Facts>[] = [
  {
    id: 'X402-BIND-11',
    max: 7,
    asks: 'The challenge names the resource that was asked for.',
    remediation: 'Put the URL of exactly this endpoint into `resource.url`.',
    spec: HTTP,
    judge: (subject) =>
      subject.facts.resource
        ? judgeBinding(
            bindingOf(subject, 'resource'),
            { partial: 4, unverifiable: 4 },
            'The resource cannot be held against the target.',
          )
        : none('The challenge does not say what is sold.'),
  },
  {
    id: 'X402-BIND-12',
    max: 7,
    asks: 'Every requirement names a payee of the form of its network.',
    remediation: 'Give `payTo` in every requirement.',
    spec: SPEC,
    judge: (subject) =>
      judgeEvery(
        subject,
        ({ payTo, caip2 }) => payTo !== null && !isAddressMalformed(payTo.value, caip2),
        'A requirement has no payee, or one of another form.',
      ),
  },
  {
    id: 'X402-BIND-13',
    max: 8,
    asks: 'A signed offer equals the requirement it is for.',
    remediation: 'Sign `offers[]` over the very requirement that `acceptIndex` points to, and sign last.',
    spec: OFFER_RECEIPT,
    judge: judgeOffers,
  },
  {
    id: 'X402-BIND-14',
    max: 3,
    asks: 'Every network is written as CAIP-2, with an asset.',
    remediation: 'Write `eip155:8453`, not a name, and the token address as `asset`.',
    spec: SPEC,
    judge: (subject) => {
      const verdict = judgeEvery(
        subject,
        ({ isCaip2, asset }) => isCaip2 && asset !== null,
        'A network is not written as CAIP-2, or has no asset.',
      )
      const first = subject.facts.accepts[0]
      if (verdict.points !== 0 || !first?.caip2) return verdict
      return subject.facts.version?.value === 1
        ? limit(1, 'x402 v1 writes networks as names: no v1 challenge can do better.', first.at)
        : some(1, 'A network is not written as CAIP-2, or has no asset.', first.at)
    },
  },
  {
    id: 'X402-IDEM-11',
    max: 20,
    asks: 'The challenge advertises payment identifiers.',
    remediation:
      'Advertise `extensions["payment-identifier"]`, and answer a repeated id with the first result.',
    spec: IDENTIFIER,
    judge: ({ facts: { identifier, version } }) => {
      if (identifier?.hasInfo && identifier.required) return all(identifier.at)
      if (identifier) return some(10, 'The extension has no `info.required`.', identifier.at)
      const finding = 'A buyer cannot repeat a purchase safely: no payment identifier is taken.'
      return version?.value === 1 ? limit(0, `${finding} ${V1_BLAME}`) : none(finding)
    },
  },
  {
    id: 'X402-FRESH-11',
    max: 8,
    asks: 'Every requirement bounds the time to pay.',
    remediation: 'Give `maxTimeoutSeconds`, minutes not hours.',
    spec: SPEC,
    judge: (subject) =>
      judgeEvery(
        subject,
        ({ maxTimeoutSeconds }) => {
          const seconds = secondsOf(maxTimeoutSeconds)
          return seconds !== undefined && seconds > 0 && seconds <= 86_400
        },
        'A requirement has no maxTimeoutSeconds, or more than a day.',
      ),
  },
  {
    id: 'X402-FRESH-12',
    max: 7,
    asks: 'The signed offer says until when it holds.',
    remediation: 'Put `validUntil` into the signed offer.',
    spec: OFFER_RECEIPT,
    isWindow: true,
    judge: ({ facts: { offers } }) => {
      const until = findEnd(offers)
      return until ? all(until.at) : none('Nothing says until when this price holds.', offers[0]?.at)
    },
  },
  {
    id: 'X402-RETRY-11',
    max: 6,
    asks: 'A repeated payment is recognised.',
    remediation: 'Advertise `extensions["payment-identifier"]`.',
    spec: IDENTIFIER,
    judge: ({ facts: { identifier, version } }) => {
      if (identifier) return all(identifier.at)
      const finding = 'After a lost answer the buyer can only guess whether paying again pays twice.'
      return version?.value === 1 ? limit(0, `${finding} ${V1_BLAME}`) : none(finding)
    },
  },
  targetCheck('X402-RETRY-12', 2),
  {
    id: 'X402-RETRY-13',
    max: 2,
    asks: 'Every amount is an integer of the smallest unit.',
    remediation: 'Write `"10000"`, not `"0.01"`.',
    spec: SPEC,
    judge: (subject) =>
      judgeEvery(subject, ({ amount }) => amount?.isInteger === true, 'An amount is missing or no integer.'),
  },
  {
    id: 'X402-AUDIT-11',
    max: 10,
    asks: 'Signed offers and receipts are advertised.',
    remediation: 'Advertise `extensions["offer-receipt"]` and sign a receipt on success.',
    spec: OFFER_RECEIPT,
    judge: ({ facts: { offerReceipt } }) =>
      offerReceipt ? all(offerReceipt.at) : none('The buyer gets nothing signed that says what was bought.'),
  },
]

export const x402Challenge: Rubric<X402Facts> = {
  protocol: 'x402',
  covers: 'a challenge (402)',
  checks,
  caps: () => [],
}

export const x402Settlement: Rubric<X402Facts> = {
  protocol: 'x402',
  covers: 'a settlement response',
  checks: [
    targetCheck('X402-RETRY-21', 2),
    {
      id: 'X402-AUDIT-21',
      max: 5,
      asks: 'The settlement names its transaction and network.',
      remediation: 'Give `transaction` and `network` as they were settled.',
      spec: SPEC,
      judge: ({ facts: { settlement } }) => {
        if (!settlement?.transaction || settlement.transaction.value === '')
          return none('The settlement names no transaction.')
        return settlement.network
          ? all(settlement.transaction.at)
          : some(3, 'The settlement names no network.', settlement.transaction.at)
      },
    },
    {
      id: 'X402-AUDIT-22',
      max: 2,
      asks: 'The settlement names the payer.',
      remediation: 'Give `payer`.',
      spec: SPEC,
      judge: ({ facts: { settlement } }) =>
        settlement?.payer ? all(settlement.payer.at) : none('The settlement names no payer.'),
    },
    {
      id: 'X402-AUDIT-23',
      max: 3,
      asks: 'A signed receipt goes with it.',
      remediation: 'Put a receipt into `extensions["offer-receipt"].info.receipt`.',
      spec: OFFER_RECEIPT,
      judge: ({ facts: { settlement, offerReceipt } }) =>
        settlement?.hasReceipt ? all(offerReceipt?.at) : none('No signed receipt says what was bought.'),
    },
  ],
  caps: () => [],
}
