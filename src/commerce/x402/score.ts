// x402, a payment: what the payer signed, against what it pays for.
import { isAddressMalformed } from '../addresses.ts'
import type { Found } from '../ports.ts'
import { findWindowProblems } from '../window.ts'
import type { Numeral } from '../decode/value.ts'
import type { X402Authorization, X402Facts, X402Offer } from './facts.ts'
import { commonChecks, judgeAgent, judgeCorrelation } from '../rubric/common.ts'
import {
  bindingOf,
  isGuessable,
  isRandomWord,
  isUint256,
  judgeBinding,
  judgeCredential,
  placeOfJsonRpcId,
  secondsOf,
} from '../rubric/form.ts'
import {
  all,
  type CapHit,
  type Check,
  limit,
  none,
  type Rubric,
  some,
  type Subject,
  type Verdict,
} from '../rubric/model.ts'

type X402 = Subject<X402Facts>

const SPEC = 'x402 specs/x402-specification-v2.md'
const HTTP = 'x402 specs/transports-v2/http.md'
const IDENTIFIER = 'x402 specs/extensions/payment_identifier.md'
const OFFER_RECEIPT = 'x402 specs/extensions/extension-offer-and-receipt.md'

const isV1 = ({ facts }: X402) => facts.version?.value === 1
const V1_BLAME = 'x402 v1 has no field for it: no v1 payment can do better. Use v2.'

/** The payment identifier, where it is what the extension allows (payment_identifier.md). */
function identifierOf({ identifier }: X402Facts): Found<string> | null {
  const id = identifier?.id
  return id && /^[\w-]{16,128}$/.test(id.value) ? id : null
}

function judgeResource(subject: X402): Verdict {
  const { facts, layer } = subject
  if (isV1(subject)) return limit(0, `The payment does not say what it pays for. ${V1_BLAME}`)
  if (!facts.resource) return none('The payment does not say what it pays for.')
  const binding = bindingOf(subject, 'resource')
  if (layer.transport !== 'a2a')
    return judgeBinding(
      binding,
      { partial: 4, unverifiable: 4 },
      'The resource cannot be held against the target.',
    )
  // The address of the agent is not the resource over A2A: the task says what is paid for.
  if (binding?.verdict === 'mismatch') return none(binding.message, binding.at)
  return facts.taskId ? all(facts.resource.at) : some(4, 'No task is named.', facts.resource.at)
}

function judgePayee(subject: X402): Verdict {
  const { authorization, accepted } = subject.facts
  if (isV1(subject))
    return authorization?.to
      ? limit(3, `Only the signature names the payee. ${V1_BLAME}`, authorization.to.at)
      : none('The payment names no payee.')
  if (authorization?.kind === 'transaction')
    return accepted?.payTo
      ? some(4, 'The payee is inside an opaque transaction and cannot be compared.', authorization.at)
      : none('The payment names no payee.')
  return judgeBinding(
    bindingOf(subject, 'payee'),
    { partial: 3, unverifiable: 3 },
    'The payee of the requirement and of the signature are not both there.',
  )
}

function judgeAmount(subject: X402): Verdict {
  const { authorization, accepted } = subject.facts
  if (isV1(subject))
    return authorization?.amount?.isInteger
      ? limit(2, `Only the signature names the amount. ${V1_BLAME}`, authorization.amount.at)
      : none('The payment names no whole amount.')
  if (authorization?.kind === 'transaction')
    return accepted?.amount?.isInteger
      ? some(3, 'The amount is inside an opaque transaction and cannot be compared.', authorization.at)
      : none('The payment names no whole amount.')
  return judgeBinding(
    bindingOf(subject, 'amount'),
    { partial: 2, unverifiable: 2 },
    'The amount of the requirement and of the signature are not both there.',
  )
}

function judgeAsset(subject: X402): Verdict {
  const { accepted, authorization } = subject.facts
  if (!accepted?.network) return none('No network is named.')
  if (isV1(subject))
    return limit(
      1,
      `The network has a name of its own, and no asset is named. ${V1_BLAME}`,
      accepted.network.at,
    )
  if (!accepted.isCaip2) return some(1, 'The network is not written as CAIP-2.', accepted.network.at)
  const { asset, payTo, caip2 } = accepted
  if (!asset) return some(1, 'No asset is named.', accepted.network.at)
  const malformed = [asset, payTo, authorization?.from ?? null].find(
    (address) => address !== null && isAddressMalformed(address.value, caip2),
  )
  return malformed ? some(1, 'An address has not the form of its network.', malformed.at) : all(asset.at)
}

function judgeNonce({ facts: { authorization } }: X402): Verdict {
  if (!authorization) return none('Nothing was signed that has a nonce.')
  const { kind, nonce } = authorization
  if (kind === 'transaction')
    return limit(
      6,
      'The signed transaction is opaque: what makes it unique cannot be seen here.',
      authorization.at,
    )
  if (!nonce) return none('The authorization has no nonce.', authorization.at)
  if (kind === 'permit2' ? isUint256(nonce.value) : isRandomWord(nonce.value)) return all(nonce.at)
  return none('The nonce is not 32 random bytes.', nonce.at)
}

interface Window {
  readonly from: number
  readonly to: number
  readonly at: string
}

function windowOf(authorization: X402Authorization | null): Window | undefined {
  const { notBefore = null, expiresAt = null } = authorization ?? {}
  const [from, to] = [secondsOf(notBefore), secondsOf(expiresAt)]
  return from === undefined || to === undefined || expiresAt === null
    ? undefined
    : { from, to, at: expiresAt.at }
}

/** End of the first signed offer that says until when it holds. */
export const findEnd = (offers: readonly X402Offer[]): Numeral | undefined =>
  offers
    .map(({ terms }) => terms?.validUntil ?? null)
    .find((end): end is Numeral => secondsOf(end) !== undefined)

/** The window lasts at most so long from where it begins; without a clock nothing else can be said. */
const isOpenFor = ({ from, to }: Window, maxSeconds: number): boolean =>
  findWindowProblems(
    { notBefore: from, expiresAt: to },
    { latestStart: from, earliestEnd: from + 1, latestEnd: from + maxSeconds },
  ).length === 0

function judgeWindow({ facts: { authorization } }: X402): Verdict {
  if (authorization?.kind === 'transaction')
    return limit(
      2,
      'The signed transaction is opaque: how long it is valid cannot be seen here.',
      authorization.at,
    )
  const window = windowOf(authorization)
  if (!window) {
    const end = authorization?.expiresAt
    return secondsOf(end ?? null) === undefined
      ? none('The authorization never expires.')
      : some(2, 'The beginning of the window is missing or not whole seconds.', end?.at)
  }
  return isOpenFor(window, Number.POSITIVE_INFINITY)
    ? all(window.at)
    : none('The window ends before it begins.', window.at)
}

function judgeWidth(subject: X402): Verdict {
  const { authorization, accepted } = subject.facts
  if (authorization?.kind === 'transaction')
    return limit(
      2,
      'The signed transaction is opaque: how long it is valid cannot be seen here.',
      authorization.at,
    )
  const window = windowOf(authorization)
  if (!window || !isOpenFor(window, Number.POSITIVE_INFINITY)) return none('There is no window to measure.')
  if (isV1(subject))
    return limit(2, `The payment does not repeat how long the server asked for. ${V1_BLAME}`, window.at)
  const seconds = secondsOf(accepted?.maxTimeoutSeconds ?? null)
  if (seconds === undefined) return none('The requirement has no maxTimeoutSeconds.')
  return isOpenFor(window, seconds + 60)
    ? all(window.at)
    : none('The window is wider than maxTimeoutSeconds and a minute.', window.at)
}

function judgeBound({ facts: { authorization } }: X402): Verdict {
  if (authorization?.kind === 'transaction')
    return limit(
      1,
      'The signed transaction is opaque: how long it is valid cannot be seen here.',
      authorization.at,
    )
  const window = windowOf(authorization)
  if (!window || !isOpenFor(window, Number.POSITIVE_INFINITY)) return none('There is no window to measure.')
  return isOpenFor(window, 660) ? all(window.at) : none('The window is wider than 11 minutes.', window.at)
}

const checks: readonly Check<X402Facts>[] = [
  {
    id: 'X402-BIND-01',
    max: 7,
    asks: 'The payment names the resource it is for: the target itself, the MCP tool, or the A2A task.',
    remediation:
      'Put `resource.url` of exactly this endpoint into the payload; server: compare it with the request URL before settling.',
    spec: HTTP,
    judge: judgeResource,
  },
  {
    id: 'X402-BIND-02',
    max: 7,
    asks: 'The signed payee is the one the server asked for.',
    remediation: 'Sign `to` (or `witness.to`) equal to `accepted.payTo`.',
    spec: SPEC,
    judge: judgePayee,
  },
  {
    id: 'X402-BIND-03',
    max: 5,
    asks: 'The signed amount is the one the server asked for (upto: at least).',
    remediation: 'Sign `value` equal to `accepted.amount`.',
    spec: SPEC,
    judge: judgeAmount,
  },
  {
    id: 'X402-BIND-04',
    max: 3,
    asks: 'Network as CAIP-2, asset, and addresses of the form of that network.',
    remediation: 'Write `eip155:8453`, not a name, and the token address as `asset`.',
    spec: SPEC,
    judge: judgeAsset,
  },
  {
    id: 'X402-BIND-05',
    max: 3,
    asks: 'Over HTTP: the body that is paid for is bound by `Content-Digest`.',
    remediation: 'Send `Content-Digest: sha-256=:…:` of the exact bytes of the body (RFC 9530).',
    spec: null,
    judge: (subject) =>
      subject.layer.transport !== 'http' || subject.message.body.kind === 'absent'
        ? null
        : judgeBinding(
            bindingOf(subject, 'digest'),
            { partial: 1, unverifiable: 1 },
            'The body could be exchanged: nothing binds it.',
          ),
  },
  {
    id: 'X402-REPLAY-01',
    max: 12,
    asks: 'A nonce of 32 random bytes (Permit2: a uint256).',
    remediation: '32 random bytes from a CSPRNG per authorization.',
    spec: SPEC,
    judge: judgeNonce,
  },
  {
    id: 'X402-REPLAY-02',
    max: 5,
    asks: 'A signature of the right form.',
    remediation: 'Send the signature of the payer over the authorization, as the wallet gave it.',
    spec: SPEC,
    judge: ({ facts }) => judgeCredential(5, facts.signature, 64, 'signature'),
  },
  {
    id: 'X402-REPLAY-03',
    max: 3,
    asks: 'A payment identifier besides the nonce.',
    remediation: 'Send `extensions["payment-identifier"].info.id`.',
    spec: IDENTIFIER,
    judge: (subject) => {
      const valid = identifierOf(subject.facts)
      if (valid) return all(valid.at)
      const id = subject.facts.identifier?.id
      const finding = id
        ? 'The payment identifier is not 16 to 128 of [A-Za-z0-9_-].'
        : 'There is no payment identifier.'
      return isV1(subject) ? limit(0, `${finding} ${V1_BLAME}`, id?.at) : none(finding, id?.at)
    },
  },
  {
    id: 'X402-IDEM-01',
    max: 14,
    asks: 'A payment identifier that retries repeat (`Idempotency-Key` alone: 10).',
    remediation:
      'Send `extensions["payment-identifier"].info.id` (16-128 of [A-Za-z0-9_-]) made once per purchase, and repeat it with the same payload on each retry; do not sign a new nonce after a timeout before asking the server.',
    spec: IDENTIFIER,
    judge: (subject) => {
      const { facts, http } = subject
      const id = identifierOf(facts)
      if (id) return all(id.at)
      if (http.idempotencyKey)
        return some(10, 'The key stands in a header, apart from the payment.', http.idempotencyKey.at)
      const finding = 'A retry after a timeout signs a new nonce, and may pay twice.'
      return isV1(subject) ? limit(0, `${finding} ${V1_BLAME}`) : none(finding, facts.identifier?.at)
    },
  },
  {
    id: 'X402-IDEM-02',
    max: 6,
    asks: 'The extension is well-formed: `info.required` is a boolean.',
    remediation: 'Echo the extension as the server advertised it, with the `id` added.',
    spec: IDENTIFIER,
    judge: (subject) => {
      const identifier = subject.facts.identifier
      if (identifier?.required) return all(identifier.required.at)
      const finding = identifier ? '`info.required` is no boolean.' : 'The extension is not there.'
      return isV1(subject)
        ? limit(0, `${finding} ${V1_BLAME}`, identifier?.at)
        : none(finding, identifier?.at)
    },
  },
  {
    id: 'X402-FRESH-01',
    max: 5,
    asks: 'A window in whole seconds that ends after it begins.',
    remediation: 'Sign `validAfter` and `validBefore` as seconds.',
    spec: SPEC,
    isWindow: true,
    judge: judgeWindow,
  },
  {
    id: 'X402-FRESH-02',
    max: 5,
    asks: 'The window is at most maxTimeoutSeconds and a minute.',
    remediation: '`validBefore` <= now + maxTimeoutSeconds.',
    spec: SPEC,
    judge: judgeWidth,
  },
  {
    id: 'X402-FRESH-03',
    max: 3,
    asks: 'The window is at most eleven minutes.',
    remediation: 'Sign for minutes: an unused authorization is money lying about.',
    spec: null,
    judge: judgeBound,
  },
  {
    id: 'X402-FRESH-04',
    max: 2,
    asks: 'A signed offer says until when it holds.',
    remediation: 'Server: put `validUntil` into the signed offer.',
    spec: OFFER_RECEIPT,
    judge: ({ facts: { offers, offerReceipt } }) => {
      if (!offerReceipt) return null
      const until = findEnd(offers)
      return until ? all(until.at) : none('The offer never expires.', (offers[0] ?? offerReceipt).at)
    },
  },
  ...commonChecks<X402Facts>('X402', 0, { retry: IDENTIFIER, receipt: OFFER_RECEIPT }, (subject) => {
    const { facts, http } = subject
    const id = identifierOf(facts)
    return {
      key: id ?? http.idempotencyKey,
      repeatable: null,
      blame: isV1(subject) ? V1_BLAME : undefined,
      identity: id?.at ?? http.idempotencyKey?.at ?? null,
      correlation: judgeCorrelation(
        [id?.at, http.requestId?.at, http.traceparent?.at, facts.taskId?.at],
        placeOfJsonRpcId(subject),
      ),
      agent:
        facts.authorization?.kind === 'transaction'
          ? limit(0, 'The payer is inside an opaque transaction.', facts.authorization.at)
          : judgeAgent(facts.authorization?.from?.at, 'The payer is not named.'),
      signature: judgeCredential(2, facts.signature, 64, 'signature'),
      receipt: facts.offerReceipt
        ? all(facts.offerReceipt.at)
        : none('No signed receipt was offered: only the chain says that it was paid, and not what for.'),
    }
  }),
]

function capsOf({ facts }: X402): readonly CapHit[] {
  const { authorization, signature, identifier } = facts
  const hits: CapHit[] = []
  const isOpaque = authorization?.kind === 'transaction'
  const nonce = authorization?.nonce
  if (!isOpaque && !nonce) hits.push({ id: 'NO_NONCE', at: authorization?.at ?? '' })
  // One repeated digit is a nonce that anybody can guess.
  else if (nonce && authorization.kind === 'eip3009' && new Set(nonce.value.slice(2)).size <= 4)
    hits.push({ id: 'GUESSABLE_ID', at: nonce.at })
  if (!signature) hits.push({ id: 'NO_PROOF', at: authorization?.at ?? '' })
  const id = identifier?.id ?? null
  if (isGuessable(id)) hits.push({ id: 'GUESSABLE_ID', at: id.at })
  return hits
}

export const x402Payment: Rubric<X402Facts> = {
  protocol: 'x402',
  covers: 'a payment (v1 and v2; HTTP, MCP, A2A)',
  checks,
  caps: capsOf,
}
