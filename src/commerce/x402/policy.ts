// x402: what the policy has to know of it.
import { isObject, member } from '../decode/value.ts'
import type { Found, Json, JsonObject, Place } from '../ports.ts'
import { toAddress, toNetwork } from '../policy/assets.ts'
import { reason, type Reason } from '../policy/reasons.ts'
import type { Terms } from '../policy/terms.ts'
import type { ProtocolPolicy, SpendIdentity, Stated } from '../protocol.ts'
import type { X402Authorization, X402Facts, X402Requirement } from './facts.ts'
import { SEALED } from './shape.ts'

/** More offers in one challenge are left unread. */
const MAX_TERMS = 32
/** Schemes in which what is signed pays payTo itself. Others pay an escrow or a channel first. */
const DIRECT_SCHEMES = new Set(['exact', 'upto'])

export const policy: ProtocolPolicy<X402Facts> = {
  pricedStages: new Set(['challenge', 'payment']),
  needsScheme: true,
  judge,
  listTerms: ({ layer, facts }) =>
    layer.stage === 'challenge' ? facts.accepts.slice(0, MAX_TERMS).map(termsOf) : [],
  listHosts: ({ facts: { resource, accepts } }) => [resource, ...accepts.map((one) => one.resource)],
  listExpected: ({ layer: { stage, document } }) =>
    stage === 'payment' && document !== undefined ? [`${document.at}/payload`] : [],
  needsWindow: ({ layer, facts }) => layer.stage === 'payment' && facts.authorization?.kind !== 'transaction',
  /** The seller may ask for less than the policy allows. */
  limitWindow({ facts }, { maxWindowSeconds }) {
    const asked = facts.accepted?.maxTimeoutSeconds
    return asked?.isInteger === true ? Math.min(Number(asked.value), maxWindowSeconds) : maxWindowSeconds
  },
  describeSpend,
  isArguable({ kind }, stated, isPrimary) {
    const scheme = (stated.facts.accepted ?? stated.facts.accepts[0])?.scheme
    return isPrimary && kind === 'payee' && scheme != null && !DIRECT_SCHEMES.has(scheme.value)
  },
}

function judge({ layer: { stage, document }, facts }: Stated<X402Facts>): Reason[] {
  // Settlements say no version.
  if (document === undefined || stage === 'settlement') return []
  const { version, authorization } = facts
  const found: Reason[] = judgeRequirements(facts, document.at)
  // `["1"]` is one to some programs and nothing to others.
  if (authorization !== null && holdsOther(signedPart(document, authorization.kind)))
    found.push(
      reason('MALFORMED', authorization.at, {
        message: 'What was signed holds a list or a truth where a text belongs.',
      }),
    )
  if (version === null || (version.value !== 1 && version.value !== 2))
    found.push(
      reason('UNKNOWN_PROTOCOL', version?.at ?? document.at, {
        message: 'It says no version of x402 that is known: what it means is a guess.',
      }),
    )
  for (const what of authorization?.alongside ?? [])
    found.push(
      reason('DUPLICATE_PAYMENT', authorization?.at ?? document.at, {
        message: `The transaction that was signed is no single payment: it holds ${what}.`,
      }),
    )
  if (stage === 'payment' && authorization?.isSealed === true)
    found.push(
      reason('POLICY_INPUT_MISSING', authorization.at, {
        message:
          'What was signed is sealed (a transaction or a delegation): its amount, payee and expiry are not read here.',
      }),
    )
  return found
}

/** A requirement says who is paid how much of what, and where (specs/x402-specification-v2.md, 5.1.2; v1 pays by scheme and network). */
const TERMS = ['scheme', 'network', 'amount', 'asset', 'payTo'] as const

/** What requirements do not say. A whole one beside them may be taken instead. */
function judgeRequirements({ stage, version, accepted, accepts }: X402Facts, at: Place): Reason[] {
  if (stage === 'payment') {
    const asked = version?.value === 1 ? TERMS.slice(0, 2) : TERMS
    return accepted === null
      ? [
          reason('REQUIREMENT_INCOMPLETE', at, {
            message: 'The payment does not say which requirement it pays.',
          }),
        ]
      : listUnsaid(accepted, asked)
  }
  const lists = accepts.slice(0, MAX_TERMS).map((one) => listUnsaid(one, TERMS))
  const isChoice = lists.some((unsaid) => unsaid.length === 0)
  return lists.flat().map((one) => (isChoice ? { ...one, severity: 'review' } : one))
}

const listUnsaid = (requirement: X402Requirement, terms: readonly (typeof TERMS)[number][]): Reason[] =>
  terms
    .filter((name) => requirement[name] === null)
    .map((name) =>
      reason('REQUIREMENT_INCOMPLETE', requirement.at, {
        message: `The requirement does not say its ${name}.`,
      }),
    )

/** A token takes each nonce of a payer once. Permit2 is at one address on every chain; the other is signed for one token on one. */
function describeSpend({
  layer: { document },
  facts: { authorization, accepted },
}: Stated<X402Facts>): SpendIdentity {
  if (authorization === null) return {}
  const { kind, from, nonce } = authorization
  if (kind === 'transaction') {
    const signed = readSealed(member(document?.value, 'payload'))
    return signed.length > 0 ? { name: ['x402', kind, ...signed] } : {}
  }
  if (nonce === null) return {}
  const where = kind === 'permit2' ? (accepted?.caip2 ?? accepted?.network?.value ?? '') : ''
  return { name: ['x402', kind, where, toAddress(from?.value ?? ''), toAddress(nonce.value)] }
}

/** What was signed as a whole, which is paid once. A delegation is none of these: many payments may be made under it. */
const readSealed = (payload: Json | undefined): readonly string[] =>
  SEALED.flatMap((name) => {
    const sealed = member(payload, name)
    return Array.isArray(sealed) ? sealed : [sealed]
  }).filter((one) => typeof one === 'string')

const signedPart = ({ value }: Found<JsonObject>, kind: X402Authorization['kind']): Json | undefined =>
  member(member(value, 'payload'), kind === 'eip3009' ? 'authorization' : 'permit2Authorization')

/** Anything but texts, numbers, nothing, and objects of them. Depth is that of JSON. */
const holdsOther = (value: Json | undefined): boolean =>
  Array.isArray(value) ||
  typeof value === 'boolean' ||
  (isObject(value) && Object.values(value).some(holdsOther))

function termsOf({ at, amount, asset, network, caip2, scheme, payTo }: X402Requirement): Terms {
  return {
    at,
    amount,
    isInteger: amount?.isInteger === true,
    currency: null,
    asset,
    network: network && { value: caip2 ?? toNetwork(network.value), at: network.at },
    scheme,
    payees: payTo === null ? [] : [payTo],
  }
}
