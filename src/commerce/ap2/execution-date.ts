// `payment.execution_date`: the day or instant of a payment against the window that a person set.
import { member, pickText } from '../decode/value.ts'
import type { Found, Json, JsonObject } from '../ports.ts'
import type { Judged } from './facts.ts'

/** First and last millisecond of what an ISO 8601 text names: a date is all of its day. */
type Span = readonly [first: number, last: number]

const DATE = /^\d{4}-\d\d-\d\d$/
const INSTANT = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/i
const DAY_MS = 86_400_000
/** Clocks of two machines differ by this much (the reference implementation allows it too). */
const SKEW_MS = 300_000

/** Undefined where the text is no date of the calendar. Without a zone it is UTC. */
function readSpan(text: string): Span | undefined {
  const match = DATE.test(text) ? [text, text, 'Z'] : INSTANT.exec(text)
  const [, day = '', zone] = match ?? []
  const midnight = Date.parse(`${day}T00:00:00Z`)
  // The engine takes the 31st of any month.
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) return undefined
  if (text === day) return [midnight, midnight + DAY_MS - 1]
  const ms = Date.parse(zone === undefined ? `${text}Z` : text)
  return Number.isNaN(ms) ? undefined : [ms, ms]
}

/** A payment without a date is executed at once, which is when the mandate was made. */
export function judgeExecution(
  constraint: Found<Json>,
  mandate: Found<JsonObject> | null,
  issuedAt: Found<number> | null,
): Judged {
  const type = 'payment.execution_date'
  const bounds = ['not_before', 'not_after'].map((name) => {
    const stated = member(constraint.value, name)
    return stated === undefined ? null : readSpan(typeof stated === 'string' ? stated : '')
  })
  const [notBefore = undefined, notAfter = undefined] = bounds
  if (notBefore === undefined || notAfter === undefined)
    return ['unverifiable', `${type}: an end of the window is no date.`]
  const stated = pickText(mandate, 'execution_date')
  const made = issuedAt === null ? null : issuedAt.value * 1000
  const span: Span | undefined =
    stated !== null ? readSpan(stated.value) : made === null ? undefined : [made - SKEW_MS, made + SKEW_MS]
  if (span === undefined)
    return ['unverifiable', `${type}: the mandate does not say in a date when it is executed.`]
  const [first, last] = span
  if (notBefore !== null && last < notBefore[0])
    return ['mismatch', 'The payment is executed before the window that was allowed.']
  return notAfter !== null && first > notAfter[1]
    ? ['mismatch', 'The payment is executed after the window that was allowed.']
    : ['match', 'The payment is executed in the window that was allowed.']
}
