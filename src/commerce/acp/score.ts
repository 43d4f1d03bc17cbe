// ACP: checkout requests, delegated payments, and the merchant's webhooks.
import type { AcpFacts } from './facts.ts'
import { demandsKey } from './key.ts'
import { commonChecks, judgeAgent, judgeCorrelation, targetCheck } from '../rubric/common.ts'
import { isGuessable, isSafeMethod, judgeCredential, judgeKeyForm, placeOfJsonRpcId } from '../rubric/form.ts'
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

type Acp = Subject<AcpFacts>

const CHECKOUT = 'ACP rfcs/rfc.agentic_checkout.md'
const DELEGATE = 'ACP rfcs/rfc.delegate_payment.md'
const DAY_MS = 86_400_000

/** Every operation is a POST over MCP; what matters is whether it changes anything. */
const isRepeatable = (subject: Acp) =>
  subject.facts.operation === 'get' || (subject.layer.transport !== 'mcp' && isSafeMethod(subject))

function judgeSession({ facts: { operation, allowance, sessionId } }: Acp): Verdict | null {
  if (operation === 'create') return null
  if (operation !== 'delegate')
    return sessionId ? all(sessionId.at) : none('The request does not say which checkout it is for.')
  if (allowance?.sessionId && allowance.merchantId) return all(allowance.sessionId.at)
  const points = allowance?.sessionId ? 5 : allowance?.merchantId ? 4 : 0
  return some(points, 'The allowance is not bound to one checkout and one merchant.', allowance?.at)
}

function judgeAllowance({ facts: { operation, allowance } }: Acp): Verdict | null {
  if (operation !== 'delegate') return null
  if (allowance?.maxAmount?.isInteger && allowance.currency) return all(allowance.maxAmount.at)
  const points = allowance?.maxAmount?.isInteger ? 4 : allowance?.currency ? 2 : 0
  return some(points, 'The allowance has no whole maximum, or no currency.', allowance?.at)
}

function judgeEnd({ facts: { operation, allowance, timestampMs } }: Acp): Verdict | null {
  if (operation !== 'delegate') return null
  if (!allowance?.expiresAt) return none('The allowance never expires.', allowance?.at)
  const { expiresAt, expiresAtMs } = allowance
  if (expiresAtMs === null) return some(2, '`expires_at` is no RFC 3339 time.', expiresAt.at)
  if (timestampMs === null) return some(4, 'There is no Timestamp to measure it from.', expiresAt.at)
  if (expiresAtMs <= timestampMs) return some(2, 'The allowance ends before it begins.', expiresAt.at)
  return expiresAtMs - timestampMs <= DAY_MS
    ? all(expiresAt.at)
    : some(4, 'The allowance holds for more than a day.', expiresAt.at)
}

function judgeTimestamp({ facts: { timestamp, timestampMs } }: Acp): Verdict {
  if (!timestamp) return none('The request has no Timestamp.')
  return timestampMs === null ? some(3, 'Timestamp is no RFC 3339 time.', timestamp.at) : all(timestamp.at)
}

const checks: readonly Check<AcpFacts>[] = [
  {
    id: 'ACP-BIND-01',
    max: 9,
    asks: 'It is bound to one checkout session; a delegated payment to session (5) and merchant (4).',
    remediation: 'Give `allowance.checkout_session_id` and `allowance.merchant_id`.',
    spec: DELEGATE,
    judge: judgeSession,
  },
  {
    id: 'ACP-BIND-02',
    max: 6,
    asks: 'A delegated payment names a whole maximum (4) and its currency (2).',
    remediation: 'Give `allowance.max_amount` in the smallest unit and `allowance.currency`.',
    spec: DELEGATE,
    judge: judgeAllowance,
  },
  {
    id: 'ACP-BIND-03',
    max: 6,
    asks: 'The request is signed.',
    remediation: 'Sign the canonical request and send it as `Signature` with `Timestamp`.',
    spec: CHECKOUT,
    judge: ({ facts: { signature } }) => judgeCredential(6, signature, 32, 'signature'),
  },
  {
    id: 'ACP-BIND-04',
    max: 2,
    asks: '`API-Version` is a date.',
    remediation: 'Send `API-Version: 2026-04-17`.',
    spec: CHECKOUT,
    judge: ({ facts: { apiVersion } }) => {
      if (!apiVersion) return none('The version is not said.')
      return /^\d{4}-\d{2}-\d{2}$/.test(apiVersion.value)
        ? all(apiVersion.at)
        : some(1, 'The version is no date.', apiVersion.at)
    },
  },
  {
    id: 'ACP-BIND-05',
    max: 2,
    asks: 'Completing names the payment handler.',
    remediation: 'Give `payment_data.handler_id`.',
    spec: CHECKOUT,
    judge: ({ facts: { operation, handlerId } }) => {
      if (operation !== 'complete') return null
      return handlerId ? all(handlerId.at) : none('No payment handler is named.')
    },
  },
  {
    id: 'ACP-REPLAY-01',
    max: 10,
    asks: 'An idempotency key of 128 bits.',
    remediation: 'UUID v4 on every POST.',
    spec: CHECKOUT,
    judge: (subject) =>
      isRepeatable(subject) ? null : judgeKeyForm(10, subject.facts.idempotencyKey, 'There is no key.'),
  },
  {
    id: 'ACP-REPLAY-02',
    max: 5,
    asks: 'A Timestamp, so that an old copy is recognised.',
    remediation: 'Send `Timestamp` in RFC 3339.',
    spec: CHECKOUT,
    judge: ({ facts: { timestamp } }) =>
      timestamp ? all(timestamp.at) : none('A copy of yesterday looks like a request of today.'),
  },
  {
    id: 'ACP-REPLAY-03',
    max: 5,
    asks: 'A signature over key and time.',
    remediation: 'Sign the canonical request and send it as `Signature` with `Timestamp`.',
    spec: CHECKOUT,
    judge: ({ facts: { signature } }) => judgeCredential(5, signature, 32, 'signature'),
  },
  {
    id: 'ACP-IDEM-01',
    max: 14,
    asks: '`Idempotency-Key` on every POST.',
    remediation: 'UUID v4 on every POST; same key + other body = 422.',
    spec: CHECKOUT,
    judge: (subject) => {
      const key = subject.facts.idempotencyKey
      if (key) return key.value.length <= 255 ? all(key.at) : some(7, 'The key is too long.', key.at)
      return isRepeatable(subject) ? all('/method') : none('The key that every POST must have is missing.')
    },
  },
  {
    id: 'ACP-IDEM-02',
    max: 6,
    asks: 'The key has 128 bits and at most 255 characters.',
    remediation: 'Use a UUID v4.',
    spec: CHECKOUT,
    judge: (subject) =>
      isRepeatable(subject) ? null : judgeKeyForm(6, subject.facts.idempotencyKey, 'There is no key.'),
  },
  {
    id: 'ACP-FRESH-01',
    max: 8,
    asks: 'A Timestamp in RFC 3339.',
    remediation: 'Send `Timestamp` in RFC 3339, and refuse what is older than minutes.',
    spec: CHECKOUT,
    judge: judgeTimestamp,
  },
  {
    id: 'ACP-FRESH-02',
    max: 7,
    asks: 'A delegated payment ends after the Timestamp, within a day.',
    remediation: '`allowance.expires_at` after the request Timestamp, at most 24 h.',
    spec: DELEGATE,
    isWindow: true,
    judge: judgeEnd,
  },
  ...commonChecks<AcpFacts>('ACP', 0, { retry: CHECKOUT, receipt: null }, (subject) => {
    const { facts, http } = subject
    return {
      key: facts.idempotencyKey,
      repeatable: isRepeatable(subject) ? { value: true, at: '/method' } : null,
      identity: facts.idempotencyKey?.at ?? (isRepeatable(subject) ? '/method' : null),
      correlation: judgeCorrelation([facts.requestId?.at, http.traceparent?.at], placeOfJsonRpcId(subject)),
      agent: judgeAgent(facts.authorization?.at, 'No Authorization says which agent acts.'),
      signature: limit(
        0,
        'ACP leaves the kind of signature to the parties: nobody else can tell what it proves.',
        facts.signature?.at,
      ),
    }
  }),
]

function capsOf(subject: Acp): readonly CapHit[] {
  const key = subject.facts.idempotencyKey
  if (isRepeatable(subject)) return []
  if (!key)
    return subject.layer.transport === 'rest' && demandsKey(subject.facts, subject.message.method)
      ? [{ id: 'NO_KEY', at: '/headers' }]
      : []
  return isGuessable(key) ? [{ id: 'GUESSABLE_ID', at: key.at }] : []
}

export const acpRequest: Rubric<AcpFacts> = {
  protocol: 'acp',
  covers: 'checkout and delegate_payment (REST, MCP)',
  checks,
  caps: capsOf,
}

export const acpWebhook: Rubric<AcpFacts> = {
  protocol: 'acp',
  covers: 'a webhook of the merchant',
  checks: [
    {
      id: 'ACP-BIND-21',
      max: 10,
      asks: '`Merchant-Signature: t=<seconds>,v1=<64 hex digits>` over time and body.',
      remediation: 'Sign `t.body` with HMAC-SHA256.',
      spec: CHECKOUT,
      judge: ({ facts: { merchantSignature } }) => {
        if (!merchantSignature) return none('The event is not signed.')
        return merchantSignature.isWellFormed
          ? all(merchantSignature.at)
          : some(4, 'The signature has not the form of one.', merchantSignature.at)
      },
    },
    {
      id: 'ACP-FRESH-21',
      max: 15,
      asks: 'The signature covers a time.',
      remediation: 'Send `t=`; receivers refuse what is older than 300 s.',
      spec: CHECKOUT,
      judge: ({ facts: { merchantSignature } }) =>
        merchantSignature?.timestamp
          ? all(merchantSignature.timestamp.at)
          : none('An old event looks like a new one.', merchantSignature?.at),
    },
    targetCheck('ACP-RETRY-21', 2),
    {
      id: 'ACP-AUDIT-21',
      max: 3,
      asks: 'The event can be found again.',
      remediation: 'Send `Request-Id`.',
      spec: CHECKOUT,
      judge: ({ facts, http }) => judgeCorrelation([facts.requestId?.at, http.traceparent?.at], null),
    },
  ],
  caps: ({ facts: { merchantSignature } }) => (merchantSignature ? [] : [{ id: 'NO_PROOF', at: '/headers' }]),
}
