// From when until when a transaction holds, against the clock: what has expired is refused here, while a test never asks what
// time it is.
import { findWindowProblems } from '../x402/bind-rules.ts'
import { readAcp } from '../acp/read.ts'
import { readAp2 } from '../ap2/read.ts'
import { readX402 } from '../x402/read.ts'
import type { Found, Place } from '../ports.ts'
import { isAnswer, type Rule, type Subject } from './model.ts'
import { reason, type Reason } from './reasons.ts'

/** Clocks of two machines differ by this much, and answers take their time. */
const SKEW_SECONDS = 60

const NOTHING: readonly Reason[] = []

export const judgeWindow: Rule = (subject) => {
  const { detection, nowSeconds } = subject
  const { expiresAt, notBefore } = detection.facts
  // Where nothing shows itself, nothing says until when.
  if (expiresAt === null && notBefore === null && detection.layers.length === 0) return NOTHING
  const found: Reason[] = []
  const expiries = new Map<Place, number>()
  if (expiresAt !== null) expiries.set(expiresAt.at, expiresAt.value)
  for (const { value, at } of listMandateExpiries(subject)) expiries.set(at, value)
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
    if (problems.includes('ends_too_late')) found.push(reason('WINDOW_TOO_WIDE', expiresAt.at))
    else if (problems.includes('is_never_open'))
      found.push(
        reason('WINDOW_EXPIRED', expiresAt.at, { message: 'It ends before it begins: it is never valid.' }),
      )
  } else if (needsWindow(subject)) found.push(reason('WINDOW_MISSING', placeOfPayment(subject)))
  return found
}

const placeOfPayment = ({ detection }: Subject): Place =>
  detection.primary?.document?.at ?? detection.primary?.evidence[0]?.at ?? ''

/** Open mandates expire too, and a closed one is worth nothing after that. */
function listMandateExpiries({ detection, message }: Subject): Found<number>[] {
  return detection.layers
    .filter(({ name }) => name === 'ap2')
    .flatMap((layer) => readAp2(layer, message).chain.map(({ expiresAt }) => expiresAt))
    .filter((one) => one !== null)
}

function needsWindow(subject: Subject): boolean {
  const { detection, message } = subject
  const { primary, stage } = detection
  if (primary === undefined || primary.isUndecodable || isAnswer(subject)) return false
  if (primary.name === 'acp') return readAcp(primary, message).operation === 'delegate'
  if (primary.name === 'x402')
    return stage === 'payment' && readX402(primary, message).authorization?.kind !== 'transaction'
  return primary.name === 'mpp' || primary.name === 'ap2'
}

/** The tightest of what the policy allows and the seller asks for. */
function limitOf({ detection, message, policy }: Subject): number {
  const { primary } = detection
  if (primary?.name === 'x402') {
    const asked = readX402(primary, message).accepted?.maxTimeoutSeconds ?? null
    const seconds = asked?.isInteger === true ? Number(asked.value) : Number.POSITIVE_INFINITY
    return Math.min(seconds, policy.maxWindowSeconds)
  }
  return primary?.name === 'mpp' || primary === undefined ? policy.maxWindowSeconds : policy.maxMandateSeconds
}
