// AP2 0.1: mandates as data parts of A2A messages, signed or not. Much of what 0.2 binds had no field then.
import type { Ap2Facts } from './facts.ts'
import { commonChecks, judgeAgent, judgeCorrelation } from '../rubric/common.ts'
import { judgeCredential, placeOfJsonRpcId } from '../rubric/form.ts'
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

type Ap2 = Subject<Ap2Facts>

const SPEC = 'AP2 v0.1.0 docs/a2a-extension.md'
const INTENT_BLAME = 'AP2 0.1 has no field for it in an intent: use 0.2.'

function judgeReference({ facts: { v01, kind } }: Ap2): Verdict {
  const reference = v01?.reference
  if (!reference)
    return kind === 'intent'
      ? limit(0, `No cart or payment is referred to. ${INTENT_BLAME}`, v01?.document.at)
      : none('No cart or payment is referred to.', v01?.document.at)
  return v01.authorization
    ? all(reference.at)
    : some(3, 'The reference is not signed: anybody can point it elsewhere.', reference.at)
}

const isListed = (value: unknown) => Array.isArray(value) && value.length > 0

function judgeIntent({ facts: { v01, kind } }: Ap2): Verdict | null {
  if (kind !== 'intent' || !v01) return null
  const points =
    (isListed(v01.merchants?.value) ? 2 : 0) +
    (isListed(v01.skus?.value) ? 2 : 0) +
    (v01.confirmationRequired?.value === true ? 2 : 0)
  return points === 6
    ? all(v01.document.at)
    : some(points, 'The intent leaves merchants, goods or the last word of the person open.', v01.document.at)
}

const checks: readonly Check<Ap2Facts>[] = [
  {
    id: 'AP2-BIND-11',
    max: 8,
    asks: 'The mandate refers to its cart or payment (unsigned: 3).',
    remediation: 'Refer to the cart by its hash and sign it; better, use AP2 0.2.',
    spec: SPEC,
    judge: judgeReference,
  },
  {
    id: 'AP2-BIND-12',
    max: 6,
    asks: 'It is signed: user_authorization or merchant_authorization.',
    remediation: 'Send the authorization JWT along.',
    spec: SPEC,
    judge: ({ facts: { v01, kind } }) =>
      v01?.authorization || kind !== 'intent'
        ? judgeCredential(6, v01?.authorization ?? null, 32, 'authorization')
        : limit(0, `The intent is not signed. ${INTENT_BLAME}`, v01?.document.at),
  },
  {
    id: 'AP2-BIND-13',
    max: 6,
    asks: 'An intent bounds merchants (2), goods (2) and asks for confirmation (2).',
    remediation: 'Give `merchants` and `skus`, and `user_cart_confirmation_required: true`.',
    spec: SPEC,
    judge: judgeIntent,
  },
  {
    id: 'AP2-BIND-14',
    max: 3,
    asks: 'The message belongs to a task.',
    remediation: 'Send `taskId`.',
    spec: SPEC,
    judge: ({ facts: { taskId } }) => (taskId ? all(taskId.at) : none('The message belongs to no task.')),
  },
  {
    id: 'AP2-REPLAY-11',
    max: 10,
    asks: 'A signed jti.',
    remediation: 'Sign with a `jti`.',
    spec: SPEC,
    judge: ({ facts: { v01, kind } }) => {
      if (v01?.jti) return all(v01.jti.at)
      const finding = 'Nothing signed makes it different from a copy.'
      return kind === 'intent'
        ? limit(0, `${finding} ${INTENT_BLAME}`)
        : none(finding, v01?.authorization?.at)
    },
  },
  {
    id: 'AP2-REPLAY-12',
    max: 10,
    asks: 'An id of the mandate.',
    remediation: 'Give `payment_mandate_id`, or the `id` of the cart.',
    spec: SPEC,
    judge: ({ facts: { v01, kind } }) => {
      if (v01?.mandateId) return all(v01.mandateId.at)
      const finding = 'The mandate has no id.'
      return kind === 'intent' ? limit(0, `${finding} ${INTENT_BLAME}`) : none(finding, v01?.document.at)
    },
  },
  {
    id: 'AP2-IDEM-11',
    max: 8,
    asks: 'The mandate names what it is for.',
    remediation: 'Give `payment_mandate_id`, or the `id` of the cart.',
    spec: SPEC,
    judge: ({ facts: { v01, kind } }) => {
      if (v01?.mandateId) return all(v01.mandateId.at)
      const finding = 'A second mandate for the same thing cannot be told from this one.'
      return kind === 'intent' ? limit(0, `${finding} ${INTENT_BLAME}`) : none(finding, v01?.document.at)
    },
  },
  {
    id: 'AP2-IDEM-12',
    max: 12,
    asks: 'The transport carries an idempotency key.',
    remediation: 'Send `Idempotency-Key` (UUID v4) with the mandate: AP2 leaves this to the transport.',
    spec: null,
    judge: ({ facts: { transportKey } }) =>
      transportKey
        ? all(transportKey.at)
        : none('AP2 leaves this to the transport, and the transport has no key.'),
  },
  {
    id: 'AP2-FRESH-11',
    max: 9,
    asks: 'The mandate expires.',
    remediation: 'Give `intent_expiry` or `cart_expiry`.',
    spec: SPEC,
    isWindow: true,
    judge: ({ facts: { v01, kind } }) => {
      if (v01?.expiry) return all(v01.expiry.at)
      const finding = 'The mandate never expires.'
      return kind === 'payment'
        ? limit(0, `${finding} AP2 0.1 has no field for it in a payment mandate: use 0.2.`, v01?.document.at)
        : none(finding, v01?.document.at)
    },
  },
  {
    id: 'AP2-FRESH-12',
    max: 6,
    asks: 'The mandate says when it was made.',
    remediation: 'Give `timestamp`, or sign with `iat`.',
    spec: SPEC,
    judge: ({ facts: { v01, kind } }) => {
      if (v01?.createdAt) return all(v01.createdAt.at)
      const finding = 'The mandate does not say when it was made.'
      return kind === 'intent'
        ? limit(0, `${finding} ${INTENT_BLAME}`, v01?.document.at)
        : none(finding, v01?.document.at)
    },
  },
  ...commonChecks<Ap2Facts>('AP2', 1, { retry: SPEC, receipt: null }, (subject) => {
    const { facts, http } = subject
    const { v01 } = facts
    return {
      key: facts.transportKey,
      repeatable: null,
      ...(facts.kind !== 'intent' && { moneyBlame: 'AP2 0.1 writes money so: use 0.2.' }),
      identity: v01?.mandateId?.at ?? null,
      correlation: judgeCorrelation(
        [v01?.mandateId?.at, facts.taskId?.at, http.requestId?.at, http.traceparent?.at],
        placeOfJsonRpcId(subject),
      ),
      agent: judgeAgent(v01?.authorization?.at, 'Nothing says who authorised this.'),
      signature: judgeCredential(2, v01?.authorization ?? null, 32, 'authorization'),
    }
  }),
]

export const ap2V01: Rubric<Ap2Facts> = {
  protocol: 'ap2',
  covers: 'mandates of 0.1 (A2A)',
  checks,
  caps: ({ facts: { v01, kind } }) =>
    kind === 'payment' && !v01?.authorization ? [{ id: 'NO_PROOF', at: v01?.document.at ?? '' }] : [],
}
