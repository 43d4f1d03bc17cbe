// MPP: the challenge a server binds its id to, and the credential that answers it.
import type { MppChallenge, MppFacts } from './facts.ts'
import { commonChecks, judgeCorrelation, judgeAgent, targetCheck } from '../rubric/common.ts'
import {
  bigOf,
  bindingAt,
  bindingOf,
  isGuessable,
  isSafeMethod,
  judgeBinding,
  judgeCredential,
  judgeKeyForm,
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

type Mpp = Subject<MppFacts>

const CORE = 'MPP draft-httpauth-payment-00'
const NO_CHALLENGE = 'The credential does not echo the challenge it answers.'
const HOUR_MS = 3_600_000
/** Characters of 128 bits in base64url. */
const UNIQUE_CHARS = 22

const isRepeatable = (subject: Mpp) => !subject.facts.isJsonRpc && isSafeMethod(subject)

function judgeRealm(subject: Mpp): Verdict {
  const realm = subject.facts.challenge?.realm
  if (!realm) return none('No realm is named.')
  return judgeBinding(
    bindingAt(subject, 'host', realm.at),
    { partial: 3, unverifiable: 3 },
    'The realm cannot be held against the target.',
  )
}

function judgeRequest({ facts: { challenge } }: Mpp): Verdict {
  if (!challenge?.requestAt) return none('There is no payment request.')
  const { requestAt, isRequestReadable, amount, stated: currency, recipient } = challenge
  if (!isRequestReadable) return none('The payment request cannot be decoded.', requestAt)
  if (!amount || !currency)
    return some(amount || currency ? 2 : 0, 'Amount or currency is missing.', requestAt)
  return recipient
    ? all(requestAt)
    : some(4, 'No recipient is named: only the account of the server says who is paid.', requestAt)
}

function judgeMembers({ facts: { challenge, isLegacy } }: Mpp): Verdict {
  if (isLegacy || !challenge) return none(NO_CHALLENGE)
  const { id, realm, method, intent, requestAt } = challenge
  const present = [id, realm, method, intent, requestAt].filter((member) => member !== null).length
  return present === 5
    ? all(challenge.at)
    : some(Math.max(0, present - 1), 'A member that the id is bound to is missing.', challenge.at)
}

function judgeDigest(subject: Mpp): Verdict | null {
  const { challenge, isJsonRpc } = subject.facts
  if (isJsonRpc || subject.message.body.kind === 'absent') return null
  if (!challenge?.digest)
    return bindingOf(subject, 'digest')?.verdict === 'match'
      ? some(3, 'Only the client says what the body is: the challenge has no digest.')
      : none('The body could be exchanged: the challenge has no digest of it.')
  return judgeBinding(
    bindingAt(subject, 'digest', challenge.digest.at),
    { partial: 3, unverifiable: 3 },
    'The digest cannot be held against the body.',
  )
}

function judgeSplits({ facts: { challenge } }: Mpp): Verdict | null {
  if (!challenge?.splitsAt) return null
  const { splits, splitsAt } = challenge
  const total = bigOf(challenge.amount)
  const parts = splits.flatMap(({ amount }) => bigOf(amount) ?? [])
  // There is nothing to add up without an amount, which is asked for elsewhere, or without a split.
  if (total === undefined || splits.length === 0) return null
  if (parts.length < splits.length) return none('A split is no integer.', splitsAt)
  if (splits.length > 10) return none('There are more than ten splits.', splitsAt)
  const sum = parts.reduce((left, right) => left + right, 0n)
  return sum < total ? all(splitsAt) : none('The splits leave nothing for the recipient.', splitsAt)
}

const bind: readonly Check<MppFacts>[] = [
  {
    id: 'MPP-BIND-01',
    max: 6,
    asks: 'The realm is the host of the target.',
    remediation: 'Server: set `realm` to the host that answers. Client: pay only where they agree.',
    spec: CORE,
    judge: judgeRealm,
  },
  {
    id: 'MPP-BIND-02',
    max: 6,
    asks: 'The payment request decodes and names amount, currency and recipient.',
    remediation: 'Put `amount`, `currency` and `recipient` into `request`.',
    spec: CORE,
    judge: judgeRequest,
  },
  {
    id: 'MPP-BIND-03',
    max: 4,
    asks: 'id, realm, method, intent and request are all there.',
    remediation: 'Echo every member of the challenge unchanged.',
    spec: CORE,
    judge: judgeMembers,
  },
  {
    id: 'MPP-BIND-04',
    max: 6,
    asks: 'The challenge has a digest of the body, and it is equal.',
    remediation: 'Server adds `digest`; client sends exactly those bytes.',
    spec: CORE,
    judge: judgeDigest,
  },
  {
    id: 'MPP-BIND-05',
    max: 3,
    asks: 'Splits sum to less than the amount; ten at most.',
    remediation: 'Leave the recipient a part, and check every split before paying.',
    spec: 'MPP draft-tempo-charge-00',
    judge: judgeSplits,
  },
]

const uniqueId: Check<MppFacts> = {
  id: 'MPP-REPLAY-01',
  max: 8,
  asks: 'The challenge id has at least 22 characters.',
  remediation: 'Server: compute the id as HMAC-SHA256 over the challenge.',
  spec: CORE,
  judge: ({ facts: { challenge } }) => {
    const id = challenge?.id
    if (!id) return none('There is no challenge id.')
    return id.value.length >= UNIQUE_CHARS
      ? all(id.at)
      : none('The challenge id is short enough to be guessed.', id.at)
  },
}

const computedId: Check<MppFacts> = {
  id: 'MPP-REPLAY-03',
  max: 4,
  asks: 'The id has the form of an HMAC-SHA256: 43 characters of base64url.',
  remediation: 'Compute the id as the specification recommends.',
  spec: CORE,
  judge: ({ facts: { challenge } }) => {
    const id = challenge?.id
    if (!id) return none('There is no challenge id.')
    if (/^[\w-]{43}$/.test(id.value)) return all(id.at)
    return some(id.value.length >= UNIQUE_CHARS ? 2 : 0, 'The id does not look computed.', id.at)
  },
}

const fresh: readonly Check<MppFacts>[] = [
  {
    id: 'MPP-FRESH-01',
    max: 10,
    asks: 'The challenge expires.',
    remediation: '`expires` in the challenge, minutes not hours.',
    spec: CORE,
    isWindow: true,
    judge: ({ facts: { challenge } }) =>
      challenge?.expires ? all(challenge.expires.at) : none('The challenge never expires.'),
  },
  {
    id: 'MPP-FRESH-02',
    max: 2,
    asks: '`expires` is an RFC 3339 time.',
    remediation: 'Write `2026-01-15T12:05:00Z`.',
    spec: CORE,
    judge: ({ facts: { challenge } }) => {
      if (!challenge?.expires) return none('The challenge never expires.')
      return challenge.expiresAtMs === null
        ? none('`expires` is no RFC 3339 time.', challenge.expires.at)
        : all(challenge.expires.at)
    },
  },
  {
    id: 'MPP-FRESH-03',
    max: 3,
    asks: 'With evaluate_at: it expires within an hour of then.',
    remediation: '`expires` in the challenge, minutes not hours.',
    spec: null,
    judge: ({ facts: { challenge }, evaluateAt }) =>
      evaluateAt === undefined ? null : judgeDistance(challenge, evaluateAt),
  },
]

function judgeDistance(challenge: MppChallenge | null, evaluateAt: number): Verdict {
  const { expires, expiresAtMs } = challenge ?? {}
  if (expires == null || expiresAtMs == null) return none('The challenge never expires.')
  const distance = expiresAtMs - evaluateAt
  return distance > 0 && distance <= HOUR_MS
    ? all(expires.at)
    : none('It has expired at `evaluate_at`, or is valid for more than an hour.', expires.at)
}

function judgeKey(subject: Mpp): Verdict {
  const { facts } = subject
  if (isRepeatable(subject)) return all(facts.idempotencyKey?.at ?? '/method')
  if (facts.idempotencyKey) return all(facts.idempotencyKey.at)
  return facts.challenge?.id
    ? some(8, 'Only the challenge id could tell a retry from a second purchase.', facts.challenge.id.at)
    : none('A retry cannot be told from a second purchase.')
}

const payment: readonly Check<MppFacts>[] = [
  ...bind,
  uniqueId,
  {
    id: 'MPP-REPLAY-02',
    max: 8,
    asks: 'A proof that can be used once.',
    remediation: 'Put the proof of the payment method into `payload`.',
    spec: CORE,
    judge: ({ facts: { proof } }) => judgeCredential(8, proof, 12, 'proof'),
  },
  computedId,
  {
    id: 'MPP-IDEM-01',
    max: 16,
    asks: 'A method that is safe to repeat, or an `Idempotency-Key` (challenge id alone: 8).',
    remediation: '`Idempotency-Key` (UUID v4) on POST/PUT/DELETE, stored with the response.',
    spec: CORE,
    judge: judgeKey,
  },
  {
    id: 'MPP-IDEM-02',
    max: 4,
    asks: 'The key has 128 bits.',
    remediation: 'Use a UUID v4.',
    spec: CORE,
    judge: (subject) =>
      isRepeatable(subject) ? null : judgeKeyForm(4, subject.facts.idempotencyKey, 'There is no key.'),
  },
  ...fresh,
  ...commonChecks<MppFacts>('MPP', 0, { retry: CORE, receipt: null }, (subject) => {
    const { facts, http } = subject
    const id = facts.challenge?.id
    return {
      key: facts.idempotencyKey,
      repeatable: isRepeatable(subject) ? { value: true, at: '/method' } : null,
      // A short id may come back for another payment.
      identity: id && id.value.length >= UNIQUE_CHARS ? id.at : null,
      correlation: judgeCorrelation(
        [http.requestId?.at, http.traceparent?.at, id?.at],
        placeOfJsonRpcId(subject),
      ),
      agent: judgeAgent(facts.source?.at, 'The credential does not say who pays (`source`).'),
      signature: judgeProof(facts),
    }
  }),
]

/** A token proves what its issuer says; only what was signed with the payer's key proves it to others. */
function judgeProof({ proof }: MppFacts): Verdict {
  if (!proof || proof.isPlaceholder) return judgeCredential(2, proof, 64, 'signature')
  return (proof.form === 'hex' || proof.form === 'jws') && (proof.bytes ?? 64) >= 64
    ? all(proof.at)
    : none('The proof is a token or a hash, not a signature of the payer.', proof.at)
}

function capsOf({ facts: { challenge, proof, payloadAt } }: Mpp): readonly CapHit[] {
  const hits: CapHit[] = []
  const id = challenge?.id ?? null
  if (!id) hits.push({ id: 'NO_NONCE', at: challenge?.at ?? '' })
  if (isGuessable(id)) hits.push({ id: 'GUESSABLE_ID', at: id.at })
  if (!proof) hits.push({ id: 'NO_PROOF', at: payloadAt ?? '' })
  return hits
}

export const mppPayment: Rubric<MppFacts> = {
  protocol: 'mpp',
  covers: 'a credential (HTTP, JSON-RPC)',
  checks: payment,
  caps: capsOf,
}

export const mppChallenge: Rubric<MppFacts> = {
  protocol: 'mpp',
  covers: 'a challenge (402)',
  checks: [
    ...bind
      .filter(({ id }) => id !== 'MPP-BIND-04')
      .map((check) => ({ ...check, id: check.id.replace('BIND-0', 'BIND-1') })),
    ...[uniqueId, computedId].map((check) => ({ ...check, id: check.id.replace('REPLAY-0', 'REPLAY-1') })),
    ...fresh.map((check) => ({ ...check, id: check.id.replace('FRESH-0', 'FRESH-1') })),
    targetCheck('MPP-RETRY-11', 2),
  ],
  caps: ({ facts }) => capsOf({ facts } as Mpp).filter(({ id }) => id !== 'NO_PROOF'),
}

export const mppReceipt: Rubric<MppFacts> = {
  protocol: 'mpp',
  covers: 'a receipt',
  checks: [
    targetCheck('MPP-RETRY-21', 2),
    {
      id: 'MPP-AUDIT-21',
      max: 5,
      asks: 'The receipt names what it is a receipt of.',
      remediation: 'Give `reference`: the transaction or charge of the payment method.',
      spec: CORE,
      judge: ({ facts: { receipt } }) =>
        receipt?.reference ? all(receipt.reference.at) : none('The receipt has no reference.', receipt?.at),
    },
    {
      id: 'MPP-AUDIT-22',
      max: 3,
      asks: 'The receipt says when.',
      remediation: 'Give `timestamp` in RFC 3339.',
      spec: CORE,
      judge: ({ facts: { receipt } }) =>
        receipt?.timestamp ? all(receipt.timestamp.at) : none('The receipt has no time.', receipt?.at),
    },
    {
      id: 'MPP-AUDIT-23',
      max: 2,
      asks: 'The receipt says how it was paid, and that it was.',
      remediation: 'Give `method` and `status`.',
      spec: CORE,
      judge: ({ facts: { receipt } }) =>
        receipt?.method && receipt.status
          ? all(receipt.method.at)
          : none('Method or status is missing.', receipt?.at),
    },
  ],
  caps: () => [],
}
