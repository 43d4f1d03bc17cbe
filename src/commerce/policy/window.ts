// The time in which a transaction holds, against the clock: what has expired is refused here, while a test never asks what
// time it is.
import type { Place } from '../ports.ts'
import { findWindowProblems } from '../window.ts'
import { isAnswer, placeOfPayment, type Rule, type Subject } from './model.ts'
import { reason, type Reason } from './reasons.ts'

/** Clocks of two machines differ by this much, and answers take their time. */
const SKEW_SECONDS = 60

/** Expired, too early, too wide, never open, or without an end where one is needed. */
export const judgeWindow: Rule = (subject) => {
  const { detection, spoken, nowSeconds } = subject
  const { notBefore } = detection.facts
  const expiresAt = isRecord(subject) ? null : detection.facts.expiresAt
  const found: Reason[] = []
  const expiries = new Map<Place, number>()
  if (expiresAt !== null) expiries.set(expiresAt.at, expiresAt.value)
  for (const one of spoken.flatMap((stated) => stated.protocol.policy.listExpiries?.(stated) ?? []))
    if (one !== null) expiries.set(one.at, one.value)
  const bounds = {
    latestStart: nowSeconds + SKEW_SECONDS,
    earliestEnd: nowSeconds + 1,
    latestEnd: nowSeconds + limitOf(subject) + SKEW_SECONDS,
  }
  const problemsOf = (start: number | null, end: number | null) =>
    findWindowProblems({ notBefore: start, expiresAt: end }, bounds)
  for (const [at, value] of expiries)
    if (problemsOf(null, value).includes('ends_too_soon')) found.push(reason('WINDOW_EXPIRED', at))

  const problems = problemsOf(notBefore?.value ?? null, expiresAt?.value ?? null)
  if (notBefore !== null && problems.includes('starts_too_late'))
    found.push(reason('NOT_YET_VALID', notBefore.at))
  if (expiresAt !== null) {
    // However late it ends, a window that is never open is not too wide.
    if (problems.includes('is_never_open'))
      found.push(
        reason('WINDOW_EXPIRED', expiresAt.at, { message: 'It ends before it begins: it is never valid.' }),
      )
    else if (problems.includes('ends_too_late')) found.push(reason('WINDOW_TOO_WIDE', expiresAt.at))
  } else if (needsWindow(subject)) found.push(reason('WINDOW_MISSING', placeOfPayment(subject)))
  return found
}

/** A cart or session that a merchant answers with says when it ended: nobody is bound by that. */
const isRecord = ({ primary, detection: { stage } }: Subject): boolean =>
  primary?.protocol.role === 'checkout' && (stage === 'result' || stage === 'error')

function needsWindow(subject: Subject): boolean {
  const { primary } = subject
  if (primary === undefined || primary.layer.isUndecodable || isAnswer(subject)) return false
  return primary.protocol.policy.needsWindow?.(primary) === true
}

/** The tightest of what the policy allows and the seller asks for. */
function limitOf({ primary, policy }: Subject): number {
  if (primary === undefined) return policy.maxWindowSeconds
  return primary.protocol.policy.limitWindow?.(primary, policy) ?? policy.maxMandateSeconds
}
