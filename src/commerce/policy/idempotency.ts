// Whether the transaction may be sent again after a lost answer.
import { readAcp } from '../acp/read.ts'
import { isAnswer, type Rule, type Subject } from './model.ts'
import { reason } from './reasons.ts'

const UNSAFE: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

export const judgeIdempotency: Rule = (subject) => {
  const { detection, policy } = subject
  if (detection.facts.idempotencyKey !== null || !isRisky(subject)) return []
  if (isAcpWrite(subject))
    return [
      reason('UNSAFE_WITHOUT_IDEMPOTENCY', '/headers', {
        severity: 'deny',
        message: 'ACP demands an Idempotency-Key on every POST, and there is none.',
      }),
    ]
  return [
    reason('UNSAFE_WITHOUT_IDEMPOTENCY', placeOf(subject), policy.requiresKey ? { severity: 'deny' } : {}),
  ]
}

const placeOf = ({ detection }: Subject) => detection.primary?.document?.at ?? '/headers'

function isRisky(subject: Subject): boolean {
  const { detection, message } = subject
  const { protocol, stage } = detection
  if (isAnswer(subject) || stage === 'webhook') return false
  if (stage === 'payment') return true
  // Over JSON-RPC everything is a POST; what only reads is told by its name.
  if (protocol === 'mcp') return stage === 'tools/call'
  if (stage !== null && /\.get$|^(?:discovery|catalog)$/.test(stage)) return false
  return UNSAFE.has(message.method)
}

function isAcpWrite({ detection, message }: Subject): boolean {
  const { primary } = detection
  if (primary?.name !== 'acp') return false
  const { operation } = readAcp(primary, message)
  return operation !== 'get' && operation !== 'webhook'
}
