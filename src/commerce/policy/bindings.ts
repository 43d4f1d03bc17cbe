// Bindings -> reasons: what was compared once for everybody, in the words of the policy.
import type { Binding } from '../ports.ts'
import type { Rule, Subject } from './model.ts'
import { reason, type Reason, type ReasonCode, type Severity } from './reasons.ts'

const CODES: Readonly<Record<Binding['kind'], ReasonCode>> = {
  payee: 'BINDING_PAYEE',
  spender: 'BINDING_PAYEE',
  amount: 'BINDING_AMOUNT',
  resource: 'BINDING_RESOURCE',
  host: 'BINDING_HOST',
  digest: 'BINDING_DIGEST',
  hash: 'BINDING_HASH',
  signature: 'SIGNATURE_INVALID',
  header_body: 'HEADER_BODY_MISMATCH',
  offer: 'BINDING_OFFER',
  constraint: 'BINDING_CONSTRAINT',
  scheme_https: 'INSECURE_SCHEME',
}

/** A mismatch is denied unless it may be by design; a partial match, and a digest or a bound that cannot be checked, are reviewed. */
export const judgeBindings: Rule = (subject) =>
  subject.bindings.flatMap((binding): Reason[] => {
    const { kind, verdict, at, message } = binding
    const severity =
      verdict === 'mismatch' && isArguable(binding, subject) ? 'review' : severityOf(kind, verdict)
    if (severity === undefined) return []
    const isGuess = kind === 'resource' && isElsewhere(binding, subject)
    return [reason(CODES[kind], at, { severity, message, ...(isGuess && { isGuess }) })]
  })

/** Everything on another host is another resource: whose host that is, judgeDomains says. */
const isElsewhere = ({ at }: Binding, { bindings }: Subject): boolean =>
  bindings.some((other) => other.kind === 'host' && other.verdict === 'mismatch' && other.at === at)

/** Some things may well differ by design, so that somebody has to look. */
export const isArguable = (binding: Binding, { spoken, primary }: Subject): boolean =>
  spoken.some((one) => one.protocol.policy.isArguable?.(binding, one, one === primary) === true)

function severityOf(kind: Binding['kind'], verdict: Binding['verdict']): Severity | undefined {
  if (verdict === 'match') return undefined
  if (verdict === 'mismatch') return 'deny'
  if (verdict === 'partial') return kind === 'host' ? 'info' : 'review'
  // A digest, a signature or a bound was given to be checked, and it could not be.
  return kind === 'digest' || kind === 'signature' || kind === 'constraint' ? 'review' : 'info'
}
