// All rules over one subject, and the decision: the worst of what they say.
import { judgeBindings } from './bindings.ts'
import { judgeCards } from './cards.ts'
import { judgeSecrets } from './content.ts'
import { judgeDomains } from './domains.ts'
import { judgeConflicts, judgeForm, judgeProtocols } from './form.ts'
import { judgeIdempotency } from './idempotency.ts'
import { judgeInjection } from './injection.ts'
import { judgeLacks } from './lacks.ts'
import type { Rule } from './model.ts'
import { judgeLookAlikes } from './look-alike.ts'
import { judgeMoney } from './money.ts'
import { reason, type Reason, type Severity } from './reasons.ts'
import { judgeTarget } from './target.ts'
import { judgeWindow } from './window.ts'

const judgeHalt: Rule = ({ policy }) => (policy.isHalted ? [reason('HALTED', '')] : [])

const RULES: readonly Rule[] = [
  judgeHalt,
  judgeForm,
  judgeConflicts,
  judgeLacks,
  judgeBindings,
  judgeDomains,
  judgeTarget,
  judgeLookAlikes,
  judgeMoney,
  judgeWindow,
  judgeIdempotency,
  judgeProtocols,
  judgeSecrets,
  judgeCards,
  judgeInjection,
]

export type Decision = 'allow' | 'review' | 'deny'

export interface Judgement {
  readonly decision: Decision
  /** The worst first; one of a code at a place. */
  readonly reasons: readonly Reason[]
}

const RANK: Readonly<Record<Severity, number>> = { deny: 0, review: 1, info: 2 }
/** More reasons of one code say nothing new. */
const MAX_OF_A_CODE = 16

/** All rules over one subject. Reasons are sorted, one of a code at a place, and at most 16 of a code. */
export function judge(subject: Parameters<Rule>[0]): Judgement {
  return decide(RULES.flatMap((rule) => rule(subject)))
}

/** Reasons in their order, and the worst of them. */
export function decide(found: readonly Reason[]): Judgement {
  const reasons = sortReasons(found)
  return { decision: decisionOf(reasons), reasons }
}

function sortReasons(found: readonly Reason[]): readonly Reason[] {
  const told = new Map<string, Set<string>>()
  return found.toSorted(order).filter(({ code, path }) => {
    const places = told.get(code) ?? new Set<string>()
    if (places.size >= MAX_OF_A_CODE || places.has(path)) return false
    told.set(code, places.add(path))
    return true
  })
}

const order = (a: Reason, b: Reason): number =>
  RANK[a.severity] - RANK[b.severity] ||
  compare(a.code, b.code) ||
  // However many guesses there are, none takes the place of what is certain.
  Number(a.isGuess === true) - Number(b.isGuess === true) ||
  compare(a.path, b.path)

const decisionOf = (reasons: readonly Reason[]): Decision =>
  reasons.some(({ severity }) => severity === 'deny')
    ? 'deny'
    : reasons.some(({ severity }) => severity === 'review')
      ? 'review'
      : 'allow'

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
