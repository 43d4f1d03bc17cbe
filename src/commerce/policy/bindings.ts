// Bindings -> reasons: what was compared once for everybody, in the words of the policy.
import type { Binding } from '../ports.ts'
import type { Rule } from './model.ts'
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

export const judgeBindings: Rule = ({ bindings }) =>
  bindings.flatMap(({ kind, verdict, at, message }): Reason[] => {
    const severity = severityOf(kind, verdict)
    return severity === undefined ? [] : [reason(CODES[kind], at, { severity, message })]
  })

function severityOf(kind: Binding['kind'], verdict: Binding['verdict']): Severity | undefined {
  if (verdict === 'match') return undefined
  if (verdict === 'mismatch') return 'deny'
  if (verdict === 'partial') return kind === 'host' ? 'info' : 'review'
  // A digest was given to be checked, and it could not be.
  return kind === 'digest' ? 'review' : 'info'
}
