// This rule asks whether the transaction may be sent again after a lost answer.
import { SAFE_METHODS } from '../message.ts'
import { isAnswer, type Rule, type Subject } from './model.ts'
import { reason } from './reasons.ts'

/** Messages without a key that change something when they are sent twice. */
export const judgeIdempotency: Rule = (subject) => {
  const { detection, primary, policy } = subject
  if (detection.facts.idempotencyKey !== null || !isRisky(subject)) return []
  const demand = primary?.protocol.policy.demandsKey?.(primary)
  if (demand !== undefined)
    return [reason('UNSAFE_WITHOUT_IDEMPOTENCY', '/headers', { severity: 'deny', message: demand })]
  return [
    reason(
      'UNSAFE_WITHOUT_IDEMPOTENCY',
      primary?.layer.document?.at ?? '/headers',
      policy.requiresKey ? { severity: 'deny' } : {},
    ),
  ]
}

function isRisky(subject: Subject): boolean {
  const { detection, message, primary } = subject
  const { stage } = detection
  if (isAnswer(subject) || stage === 'webhook') return false
  if (stage === 'payment') return true
  const known = primary?.protocol.policy.isRisky?.(primary)
  if (known !== undefined) return known
  if (stage !== null && /\.get$|^(?:discovery|catalog)$/.test(stage)) return false
  return !SAFE_METHODS.has(message.method)
}
