// x402: what the policy has to know of it.
import { isObject, member } from '../decode/value.ts'
import type { Found, Json, JsonObject } from '../ports.ts'
import { toNetwork } from '../policy/assets.ts'
import { reason, type Reason } from '../policy/reasons.ts'
import type { Terms } from '../policy/terms.ts'
import type { ProtocolPolicy, Stated } from '../protocol.ts'
import type { X402Authorization, X402Facts, X402Requirement } from './facts.ts'

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
  isArguable({ kind }, stated, isPrimary) {
    const scheme = (stated.facts.accepted ?? stated.facts.accepts[0])?.scheme
    return isPrimary && kind === 'payee' && scheme != null && !DIRECT_SCHEMES.has(scheme.value)
  },
}

function judge({
  layer: { stage, document },
  facts: { version, authorization },
}: Stated<X402Facts>): Reason[] {
  // Settlements say no version.
  if (document === undefined || stage === 'settlement') return []
  const found: Reason[] = []
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
  if (stage === 'payment' && authorization?.kind === 'transaction')
    found.push(
      reason('POLICY_INPUT_MISSING', authorization.at, {
        message:
          'What was signed is sealed (a transaction or a delegation): its amount, payee and expiry are not read here.',
      }),
    )
  return found
}

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
