// Asks the rest of the gateway about a transaction that is on its way to a merchant: the protocols it
// speaks, and what the policy of /v1/inspect says about it. Which of that holds here is written down in rules.ts.
import { analyse } from '../commerce/analysis.ts'
import type { Message } from '../commerce/ports.ts'
import type { Policy } from '../commerce/policy/document.ts'
import { type JudgedMessage, judgeMessage } from '../commerce/policy/judge.ts'
import { isAnswer } from '../commerce/policy/model.ts'
import { type Reason, REASONS } from '../commerce/policy/reasons.ts'
import type { Finding } from './ports.ts'
import { HOLDS } from './rules.ts'

/** The operator's policy for the merchant's account, and the time, in milliseconds since the epoch. */
export interface InspectionRules {
  readonly policy: Policy
  readonly now: number
}

export interface TransactionCheck {
  readonly protocols: readonly string[]
  readonly findings: readonly Finding[]
}

/** Those that money is asked for or paid with. */
const PAYING = new Set(['x402', 'mpp', 'ucp', 'acp', 'ap2'])

/** Judges a transaction for the edge: findings that block, and those that are noted. */
export function checkTransaction(message: Message, { policy, now }: InspectionRules): TransactionCheck {
  const judged = judgeMessage(analyse(message), policy, now)
  return {
    protocols: judged.subject.detection.layers.map(({ name }) => name).filter((name) => PAYING.has(name)),
    findings: judged.reasons.flatMap((reason) => toFinding(reason, judged.subject)),
  }
}

type Subject = JudgedMessage['subject']

/** A finding has the code of the reason, in words that hold nothing of the transaction. */
function toFinding(reason: Reason, subject: Subject): Finding[] {
  const { code, severity } = reason
  if (severity === 'info' || !isAsked(reason, subject)) return []
  const blocks = severity === 'deny' && (subject.policy.isWritten || holdsUnwritten(reason, subject))
  return [{ rule: code, blocks, detail: wordsFor(reason) }]
}

function isAsked({ code, path }: Reason, { policy }: Subject): boolean {
  switch (HOLDS[code]) {
    case 'if_opened':
      return path !== '/target'
    case 'with_protocol':
      return path !== ''
    case 'if_demanded':
      return policy.requiresKey
    default:
      return true
  }
}

/** Whether what is denied blocks where nobody wrote a policy. */
function holdsUnwritten({ code, path, isGuess }: Reason, subject: Subject): boolean {
  // A password or a token of the merchant's own looks like somebody else's secret.
  if (isGuess === true) return false
  switch (HOLDS[code]) {
    case 'written':
      return false
    case 'unless_keyed':
      return subject.detection.facts.idempotencyKey === null && !isAnswer(subject)
    case 'if_opened':
      return path !== subject.detection.facts.resource?.at
    case 'if_paying':
      return !isAnswer(subject)
    default:
      return true
  }
}

const wordsFor = ({ code, path }: Reason): string =>
  code === 'DETECT-CONFLICT' && path === '/body'
    ? 'Name every member of the JSON body once: readers differ on which counts.'
    : REASONS[code].message
