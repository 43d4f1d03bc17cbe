// Bindings -> reasons: what was compared once for everybody, in the words of the policy.
import type { Binding } from '../ports.ts'
import { readAp2 } from '../ap2/read.ts'
import type { Rule, Subject } from './model.ts'
import { reason, type Reason, type ReasonCode, type Severity } from './reasons.ts'

const CODES: Readonly<Record<Binding['kind'], ReasonCode>> = {
  payee: 'BINDING_PAYEE',
  amount: 'BINDING_AMOUNT',
  resource: 'BINDING_RESOURCE',
  host: 'BINDING_HOST',
  digest: 'BINDING_DIGEST',
  hash: 'BINDING_HASH',
  header_body: 'HEADER_BODY_MISMATCH',
  offer: 'BINDING_OFFER',
  constraint: 'BINDING_CONSTRAINT',
  scheme_https: 'INSECURE_SCHEME',
}

export const judgeBindings: Rule = (subject) =>
  subject.bindings.flatMap((binding): Reason[] => {
    const { kind, verdict, at, message } = binding
    const severity =
      verdict === 'mismatch' && isArguable(binding, subject) ? 'review' : severityOf(kind, verdict)
    if (severity === undefined) return []
    const isGuess = kind === 'resource' && isElsewhere(binding, subject)
    return [reason(CODES[kind], at, { severity, message, ...(isGuess && { isGuess }) })]
  })

/** On another host everything is another resource: whose host that is, judgeDomains says. */
const isElsewhere = ({ at }: Binding, { bindings }: Subject): boolean =>
  bindings.some((other) => other.kind === 'host' && other.verdict === 'mismatch' && other.at === at)

/** Schemes in which what is signed pays payTo itself. Others pay an escrow or a channel first. */
const DIRECT_SCHEMES = new Set(['exact', 'upto'])

/** What differs there may well differ by design: somebody has to look. */
export function isArguable({ kind, at }: Binding, { detection, message }: Subject): boolean {
  const { primary, facts, layers } = detection
  if (kind === 'payee' && primary?.name === 'x402')
    return facts.scheme !== null && !DIRECT_SCHEMES.has(facts.scheme.value)
  // A mandate that comes along in a checkout is often for the payment provider behind the shop.
  return (
    kind === 'host' &&
    primary?.name !== 'ap2' &&
    layers.some((layer) => layer.name === 'ap2' && readAp2(layer, message).closed?.aud?.at === at)
  )
}

function severityOf(kind: Binding['kind'], verdict: Binding['verdict']): Severity | undefined {
  if (verdict === 'match') return undefined
  if (verdict === 'mismatch') return 'deny'
  if (verdict === 'partial') return kind === 'host' ? 'info' : 'review'
  // A digest was given to be checked, and it could not be.
  return kind === 'digest' ? 'review' : 'info'
}
