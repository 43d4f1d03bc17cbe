// UCP: checkout requests, signed as HTTP messages.
import type { UcpFacts } from './facts.ts'
import { commonChecks, judgeAgent, judgeCorrelation } from '../rubric/common.ts'
import {
  bindingOf,
  covers,
  isGuessable,
  isSafeMethod,
  judgeKeyForm,
  placeholder,
  placeOfJsonRpcId,
} from '../rubric/form.ts'
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

type Ucp = Subject<UcpFacts>

const SIGNATURES = 'UCP docs/specification/signatures.md'
const REST = 'UCP docs/specification/shopping/checkout/rest.md'
const AP2 = 'UCP docs/specification/ap2-mandates.md'

const isRest = ({ layer }: Ucp) => layer.transport === 'rest' || layer.transport === 'http'
const isRepeatable = (subject: Ucp) =>
  subject.facts.operation === 'get' || (isRest(subject) && isSafeMethod(subject))
const hasBody = ({ message }: Ucp) => message.body.kind !== 'absent'

/** Nothing is signed as an HTTP message over MCP and A2A; a signature that is there all the same counts. */
function judgeCoverage(subject: Ucp): Verdict | null {
  const { signature } = subject.facts
  const wanted = ['@method', '@authority', '@path', ...(hasBody(subject) ? ['content-digest'] : [])]
  const missing = wanted.filter((component) => !covers(signature, component))
  if (missing.length === 0) return all(signature?.at)
  if (!isRest(subject)) return null
  if (!signature?.value) return none('The request is not signed.', signature?.at)
  return some(
    Math.floor((9 * (wanted.length - missing.length)) / wanted.length),
    `The signature does not cover ${missing.join(', ')}.`,
    signature.at,
  )
}

function judgeDigest(subject: Ucp): Verdict | null {
  if (!hasBody(subject)) return null
  const binding = bindingOf(subject, 'digest')
  if (binding?.verdict === 'match') return all(binding.at)
  if (!isRest(subject)) return null
  if (!binding) {
    const there = subject.http.contentDigests[0]
    return there
      ? some(1, 'The digest cannot be held against the body.', there.at)
      : none('The body could be exchanged: there is no Content-Digest.')
  }
  if (binding.verdict === 'mismatch') return none(binding.message, binding.at)
  return some(covers(subject.facts.signature, 'content-digest') ? 2 : 1, binding.message, binding.at)
}

function judgeMandate({ detection: { layers } }: Ucp): Verdict | null {
  const ap2 = layers.find(({ name }) => name === 'ap2')
  if (!ap2) return null
  const at = ap2.document?.at ?? ap2.evidence[0]?.at
  return ap2.isUndecodable ? none('The AP2 mandate cannot be decoded.', at) : all(at)
}

function judgeProfile({ facts: { profile } }: Ucp): Verdict {
  if (!profile) return none('No profile says who the platform is.')
  return /^https:\/\/[^/]/.test(profile.value)
    ? all(profile.at)
    : some(1, 'The profile is not an https address.', profile.at)
}

const checks: readonly Check<UcpFacts>[] = [
  {
    id: 'UCP-BIND-01',
    max: 9,
    asks: 'The signature covers @method, @authority, @path and content-digest.',
    remediation: 'Sign `@method @authority @path idempotency-key content-digest content-type`.',
    spec: SIGNATURES,
    judge: judgeCoverage,
  },
  {
    id: 'UCP-BIND-02',
    max: 6,
    asks: 'Content-Digest equals the raw body.',
    remediation: 'Send `Content-Digest: sha-256=:…:` of exactly the bytes that are sent.',
    spec: SIGNATURES,
    judge: judgeDigest,
  },
  {
    id: 'UCP-BIND-03',
    max: 4,
    asks: 'The request names its checkout.',
    remediation: 'Put the checkout id into the path, or into the arguments.',
    spec: REST,
    judge: ({ facts: { operation, checkoutId } }) => {
      if (operation === 'create' || operation === null) return null
      return checkoutId ? all(checkoutId.at) : none('The request does not say which checkout it is for.')
    },
  },
  {
    id: 'UCP-BIND-04',
    max: 3,
    asks: 'The platform names its profile, at an https address.',
    remediation: 'Send `UCP-Agent: profile="https://…"`.',
    spec: REST,
    judge: judgeProfile,
  },
  {
    id: 'UCP-BIND-05',
    max: 3,
    asks: 'An AP2 mandate that is there can be decoded.',
    remediation: 'Send the mandate as the wallet gave it.',
    spec: AP2,
    judge: judgeMandate,
  },
  {
    id: 'UCP-REPLAY-01',
    max: 12,
    asks: 'An idempotency key of 128 bits.',
    remediation: 'Send a UUID v4 as `Idempotency-Key`; a fresh one whenever the payload changes.',
    spec: SIGNATURES,
    judge: (subject) =>
      isRepeatable(subject) ? null : judgeKeyForm(12, subject.facts.idempotencyKey, 'There is no key.'),
  },
  {
    id: 'UCP-REPLAY-02',
    max: 8,
    asks: 'The signature covers the key.',
    remediation: 'Sign `@method @authority @path idempotency-key content-digest content-type`.',
    spec: SIGNATURES,
    judge: (subject) => {
      const { signature, idempotencyKey } = subject.facts
      if (isRepeatable(subject)) return null
      if (idempotencyKey && covers(signature, 'idempotency-key')) return all(signature.at)
      return isRest(subject)
        ? none('Whoever copies the request can give it another key.', signature?.at)
        : null
    },
  },
  {
    id: 'UCP-IDEM-01',
    max: 14,
    asks: 'An idempotency key on everything that changes something.',
    remediation: 'Send a UUID v4 as `Idempotency-Key` (over MCP: `meta["idempotency-key"]`).',
    spec: SIGNATURES,
    judge: (subject) => {
      const key = subject.facts.idempotencyKey
      if (key) return all(key.at)
      return isRepeatable(subject) ? all('/method') : none('A retry cannot be told from a second order.')
    },
  },
  {
    id: 'UCP-IDEM-02',
    max: 6,
    asks: 'The key has 128 bits.',
    remediation: 'Use a UUID v4.',
    spec: SIGNATURES,
    judge: (subject) =>
      isRepeatable(subject) ? null : judgeKeyForm(6, subject.facts.idempotencyKey, 'There is no key.'),
  },
  {
    id: 'UCP-FRESH-01',
    max: 8,
    asks: 'The signature says when it was made (without it, a signed key: 3).',
    remediation: 'Use the Web Bot Auth shape: created, expires, nonce, tag.',
    spec: SIGNATURES,
    judge: (subject) => {
      const { signature, idempotencyKey } = subject.facts
      if (signature?.value && signature.created) return all(signature.created.at)
      if (!isRest(subject))
        return limit(0, 'UCP over MCP has no field for a time: no such request can do better.')
      return idempotencyKey && covers(signature, 'idempotency-key')
        ? some(3, 'Only the signed key tells an old request from a new one.', signature.at)
        : none('A copy of yesterday looks like a request of today.', signature?.at)
    },
  },
  {
    id: 'UCP-FRESH-02',
    max: 7,
    asks: 'The signature expires.',
    remediation: 'Use the Web Bot Auth shape: created, expires, nonce, tag.',
    spec: SIGNATURES,
    isWindow: true,
    judge: (subject) => {
      const { signature } = subject.facts
      if (signature?.value && signature.expires) return all(signature.expires.at)
      const finding = 'The signature never expires.'
      return isRest(subject)
        ? none(finding, signature?.at)
        : limit(0, 'UCP over MCP has no field for a time: no such request can do better.')
    },
  },
  ...commonChecks<UcpFacts>('UCP', 0, { retry: SIGNATURES, receipt: null }, (subject) => {
    const { facts, http } = subject
    return {
      key: facts.idempotencyKey,
      repeatable: isRepeatable(subject) ? { value: true, at: '/method' } : null,
      identity: facts.idempotencyKey?.at ?? (isRepeatable(subject) ? '/method' : null),
      correlation: judgeCorrelation(
        [facts.requestId?.at, facts.webhookId?.at, http.traceparent?.at],
        placeOfJsonRpcId(subject),
      ),
      agent: judgeAgent(facts.profile?.at, 'No profile says which platform acts.'),
      signature: judgeSignature(subject),
    }
  }),
]

function judgeSignature(subject: Ucp): Verdict | null {
  const value = subject.facts.signature?.value
  if (!value) return isRest(subject) ? none('The request is not signed.') : null
  if (value.isPlaceholder) return placeholder(2, value.at, 'signature')
  return value.bytes >= 32 ? all(value.at) : some(1, 'The signature is too short to be one.', value.at)
}

export const ucpRequest: Rubric<UcpFacts> = {
  protocol: 'ucp',
  covers: 'checkout requests (REST, MCP, A2A)',
  checks,
  caps: ({ facts: { idempotencyKey } }) =>
    isGuessable(idempotencyKey) ? [{ id: 'GUESSABLE_ID', at: idempotencyKey.at }] : [],
}
