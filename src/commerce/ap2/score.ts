// AP2 0.2: an open mandate that a person signed, and the closed one an agent made of it.
import type { Found, Place } from '../ports.ts'
import { isKnownType } from './constraints.ts'
import type { Ap2Constraint, Ap2Facts } from './facts.ts'
import { commonChecks, judgeAgent, judgeCorrelation } from '../rubric/common.ts'
import {
  bindingAt,
  GUESSABLE_BELOW_CHARS,
  isUnguessable,
  judgeBinding,
  judgeCredential,
  placeOfJsonRpcId,
} from '../rubric/form.ts'
import {
  all,
  type CapHit,
  type Check,
  none,
  type Rubric,
  some,
  type Subject,
  type Verdict,
} from '../rubric/model.ts'

type Ap2 = Subject<Ap2Facts>

const PAYMENT = 'AP2 docs/ap2/payment_mandate.md'
const AUTHORIZATION = 'AP2 docs/ap2/agent_authorization.md'
const DAY_SECONDS = 86_400
const NO_OPEN = 'The open mandate was not supplied: what the person allowed cannot be seen.'
const NO_CLOSED = 'There is no closed mandate.'

function judgeIdentity(subject: Ap2): Verdict {
  const id = subject.facts.transactionId
  if (!id) return none('The mandate does not say which checkout it is for.')
  const binding = bindingAt(subject, 'hash', id.at)
  if (binding?.verdict === 'match') return all(id.at)
  if (binding?.verdict === 'mismatch') return none(binding.message, id.at)
  return /^[\w-]{43}$/.test(id.value)
    ? some(5, 'The checkout that it is the hash of was not supplied.', id.at)
    : some(2, 'It is no SHA-256 in base64url.', id.at)
}

function judgeChain(subject: Ap2): Verdict {
  const hash = subject.facts.closed?.sdHash
  if (!hash) return none('The closed mandate is not bound to an open one.', subject.facts.closed?.at)
  return judgeBinding(
    bindingAt(subject, 'hash', hash.at),
    { partial: 3, unverifiable: 3 },
    'The open mandate that it is the hash of was not supplied.',
  )
}

/** The constraint of a kind, wherever the open mandate has it. */
const find = (constraints: readonly Ap2Constraint[], type: string) =>
  constraints.find((constraint) => constraint.type?.value === type)

/** Bounds of a mandate: three parts of two points, or two of three. */
function boundsOf({
  kind,
  constraints,
}: Ap2Facts): readonly { readonly points: number; readonly is: boolean }[] {
  const lists = (type: string) => {
    const found = find(constraints, type)
    return found !== undefined && found.allowed.length + found.undisclosed > 0
  }
  if (kind === 'checkout')
    return [
      { points: 3, is: lists('checkout.allowed_merchants') },
      { points: 3, is: find(constraints, 'checkout.line_items') !== undefined },
    ]
  const range = find(constraints, 'payment.amount_range') ?? find(constraints, 'payment.budget')
  return [
    { points: 2, is: range?.max?.isInteger === true },
    { points: 2, is: typeof range?.currency?.value === 'string' },
    { points: 2, is: lists('payment.allowed_payees') },
  ]
}

function judgeConstraints(subject: Ap2): Verdict {
  const { open, constraints } = subject.facts
  if (!open) return none(NO_OPEN)
  const at = constraints[0]?.at ?? open.at
  const held = subject.bindings.filter(({ kind }) => kind === 'constraint')
  const broken = held.find(({ verdict }) => verdict === 'mismatch')
  if (broken) return none(broken.message, broken.at)
  const points = boundsOf(subject.facts).reduce((sum, bound) => sum + (bound.is ? bound.points : 0), 0)
  if (points < 6) return some(points, 'The open mandate leaves amount, currency or payee unbounded.', at)
  // Whoever holds the mandate judges what else it refers to, unless it is of a type that nobody knows.
  const bounds = constraints.filter(
    ({ type }) => BOUNDS.has(type?.value ?? '') || !isKnownType(type?.value ?? ''),
  )
  const unknown = held.find(
    (binding) =>
      binding.verdict === 'unverifiable' &&
      bounds.some((bound) => isWithin(binding.at, bound.at) || isWithin(binding.with, bound.at)),
  )
  return unknown ? some(4, unknown.message, unknown.at) : all(at)
}

const BOUNDS: ReadonlySet<string> = new Set([
  'payment.amount_range',
  'payment.budget',
  'payment.allowed_payees',
  'checkout.allowed_merchants',
  'checkout.line_items',
])

const isWithin = (place: Place, around: Place) => place === around || place.startsWith(`${around}/`)

const judgePresence = (field: Found<unknown> | null | undefined, finding: string): Verdict =>
  field ? all(field.at) : none(finding)

function judgeDisclosures({ facts: { chain } }: Ap2): Verdict {
  const bad = chain.find(
    ({ unmatchedDisclosures, unreadableDisclosures }) => unmatchedDisclosures + unreadableDisclosures > 0,
  )
  if (bad) return none('A disclosure belongs to no digest of its token.', bad.disclosuresAt)
  const first = chain.find(({ disclosures }) => disclosures > 0)
  return first ? all(first.disclosuresAt) : none('Nothing was disclosed.')
}

function judgeNonce({ facts: { closed } }: Ap2): Verdict {
  const nonce = closed?.nonce
  if (!nonce) return none('The closed mandate has no nonce.', closed?.at)
  if (nonce.value.length >= 22 && isUnguessable(nonce.value)) return all(nonce.at)
  return some(
    nonce.value.length >= 16 ? 5 : 0,
    'The nonce has less than 22 characters or one pattern.',
    nonce.at,
  )
}

function judgeOpenWindow({ facts: { open } }: Ap2): Verdict {
  if (!open) return none(NO_OPEN)
  const { issuedAt, expiresAt } = open
  if (issuedAt && expiresAt)
    return issuedAt.value < expiresAt.value
      ? all(expiresAt.at)
      : none('The open mandate ends before it begins.', expiresAt.at)
  const one = issuedAt ?? expiresAt
  return one
    ? some(3, 'The open mandate says only one end of its window.', one.at)
    : none('The open mandate never expires.', open.at)
}

function judgeOpenWidth({ facts: { open } }: Ap2): Verdict {
  if (!open?.issuedAt || !open.expiresAt) return none('There is no window to measure.', open?.at)
  const width = open.expiresAt.value - open.issuedAt.value
  return width > 0 && width <= DAY_SECONDS
    ? all(open.expiresAt.at)
    : none('The open mandate holds for more than a day.', open.expiresAt.at)
}

function judgeClosedTime({ facts: { open, closed } }: Ap2): Verdict {
  const made = closed?.issuedAt
  if (!made) return none('The closed mandate does not say when it was made.', closed?.at)
  if (!open?.issuedAt || !open.expiresAt)
    return some(2, 'There is no open window that it could lie in.', made.at)
  return made.value >= open.issuedAt.value && made.value <= open.expiresAt.value
    ? all(made.at)
    : none('The closed mandate was made outside the window of the open one.', made.at)
}

const checks: readonly Check<Ap2Facts>[] = [
  {
    id: 'AP2-BIND-01',
    max: 8,
    asks: 'transaction_id or checkout_hash is the hash of the checkout (checkout not supplied: 5).',
    remediation: 'Set it to base64url(sha256(checkout_jwt)), and send the checkout along.',
    spec: PAYMENT,
    judge: judgeIdentity,
  },
  {
    id: 'AP2-BIND-02',
    max: 6,
    asks: 'sd_hash is the hash of the open mandate (not supplied: 3).',
    remediation: 'Sign the closed mandate over sha256(open~) and stay inside the constraints.',
    spec: AUTHORIZATION,
    judge: judgeChain,
  },
  {
    id: 'AP2-BIND-03',
    max: 6,
    asks: 'The open mandate bounds amount, currency and payee (checkout: merchants and items), and the closed one stays inside.',
    remediation: 'Sign the closed mandate over sha256(open~) and stay inside the constraints.',
    spec: AUTHORIZATION,
    judge: judgeConstraints,
  },
  {
    id: 'AP2-BIND-04',
    max: 3,
    asks: 'The closed mandate says for whom it is (`aud`).',
    remediation: 'Set `aud` to the verifier.',
    spec: AUTHORIZATION,
    judge: ({ facts: { closed } }) => judgePresence(closed?.aud, closed ? 'There is no `aud`.' : NO_CLOSED),
  },
  {
    id: 'AP2-BIND-05',
    max: 2,
    asks: 'Every disclosure belongs to a digest.',
    remediation: 'Send the disclosures as they were issued.',
    spec: AUTHORIZATION,
    judge: judgeDisclosures,
  },
  {
    id: 'AP2-REPLAY-01',
    max: 10,
    asks: 'The closed mandate has a nonce of at least 22 characters.',
    remediation: 'Use the nonce that the verifier gave, or 128 random bits.',
    spec: AUTHORIZATION,
    judge: judgeNonce,
  },
  {
    id: 'AP2-REPLAY-02',
    max: 4,
    asks: 'It is for one audience.',
    remediation: 'Set `aud` to the verifier.',
    spec: AUTHORIZATION,
    judge: ({ facts: { closed } }) => judgePresence(closed?.aud, closed ? 'There is no `aud`.' : NO_CLOSED),
  },
  {
    id: 'AP2-REPLAY-03',
    max: 6,
    asks: 'It is one of its kind: sd_hash or jti.',
    remediation: 'Sign the closed mandate over sha256(open~).',
    spec: AUTHORIZATION,
    judge: ({ facts: { closed } }) =>
      judgePresence(closed?.sdHash ?? closed?.jti, closed ? 'There is neither sd_hash nor jti.' : NO_CLOSED),
  },
  {
    id: 'AP2-IDEM-01',
    max: 8,
    asks: 'The mandate names its transaction.',
    remediation: 'Set `transaction_id` (or `checkout_hash`).',
    spec: PAYMENT,
    judge: ({ facts: { transactionId } }) =>
      judgePresence(transactionId, 'The mandate names no transaction.'),
  },
  {
    id: 'AP2-IDEM-02',
    max: 12,
    asks: 'The transport carries an idempotency key.',
    remediation: 'Send `Idempotency-Key` (UUID v4) with the mandate: AP2 leaves this to the transport.',
    spec: null,
    judge: ({ facts: { transportKey } }) => {
      if (!transportKey) return none('AP2 leaves this to the transport, and the transport has no key.')
      return isUnguessable(transportKey.value)
        ? all(transportKey.at)
        : some(8, 'The key has less than 128 bits.', transportKey.at)
    },
  },
  {
    id: 'AP2-FRESH-01',
    max: 6,
    asks: 'The open mandate has iat and exp.',
    remediation: 'Give the open mandate `iat` and `exp`.',
    spec: AUTHORIZATION,
    isWindow: true,
    judge: judgeOpenWindow,
  },
  {
    id: 'AP2-FRESH-02',
    max: 3,
    asks: 'It holds for at most a day.',
    remediation: 'Let the open mandate expire within a day.',
    spec: null,
    judge: judgeOpenWidth,
  },
  {
    id: 'AP2-FRESH-03',
    max: 3,
    asks: 'The closed mandate was made inside that window.',
    remediation: 'Give the closed mandate `iat`, within the window of the open one.',
    spec: AUTHORIZATION,
    judge: judgeClosedTime,
  },
  {
    id: 'AP2-FRESH-04',
    max: 3,
    asks: 'The closed mandate expires.',
    remediation: 'Give the closed mandate `exp`, minutes after `iat`.',
    spec: PAYMENT,
    judge: ({ facts: { closed } }) =>
      judgePresence(closed?.expiresAt, closed ? 'The closed mandate never expires.' : NO_CLOSED),
  },
  ...commonChecks<Ap2Facts>('AP2', 0, { retry: PAYMENT, receipt: null }, (subject) => {
    const { facts, http } = subject
    const mandate = facts.open?.mandate
    return {
      key: facts.transportKey,
      repeatable: null,
      identity: facts.transactionId?.at ?? null,
      correlation: judgeCorrelation(
        [facts.transactionId?.at, facts.taskId?.at, http.requestId?.at, http.traceparent?.at],
        placeOfJsonRpcId(subject),
      ),
      agent: judgeAgent(
        mandate?.value['cnf'] === undefined ? null : mandate.at,
        'The open mandate binds no key of an agent (`cnf`).',
      ),
      signature: judgeSignature(subject),
    }
  }),
]

/** By its form, unless its key is there and says that it is none. */
function judgeSignature({ facts, bindings }: Ap2): Verdict {
  const wrong = bindings.find(({ kind, verdict }) => kind === 'signature' && verdict === 'mismatch')
  return wrong === undefined
    ? judgeCredential(2, facts.closed?.signature ?? facts.open?.signature ?? null, 32, 'signature')
    : none(wrong.message, wrong.at)
}

function capsOf({ facts: { open, closed } }: Ap2): readonly CapHit[] {
  const hits: CapHit[] = []
  const last = closed ?? open
  if (!last?.signature) hits.push({ id: 'NO_PROOF', at: last?.at ?? '' })
  if (closed && !closed.nonce) hits.push({ id: 'NO_NONCE', at: closed.at })
  else if (closed?.nonce && closed.nonce.value.length < GUESSABLE_BELOW_CHARS)
    hits.push({ id: 'GUESSABLE_ID', at: closed.nonce.at })
  return hits
}

export const ap2Chain: Rubric<Ap2Facts> = {
  protocol: 'ap2',
  covers: 'mandates of 0.2 (SD-JWT)',
  checks,
  caps: capsOf,
}
