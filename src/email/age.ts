// Reads when a domain was registered, out of what an operator configures: an RDAP answer (RFC 9083) or lines of a file.
import { isObject } from '../lib/json.ts'
import { toAscii } from './domain.ts'

/** @returns Unix milliseconds; undefined where the answer does not say */
export function readRegistration(answer: unknown): number | undefined {
  if (!isObject(answer) || !Array.isArray(answer['events'])) return undefined
  for (const event of answer['events']) {
    if (!isObject(event) || event['eventAction'] !== 'registration') continue
    const at = typeof event['eventDate'] === 'string' ? Date.parse(event['eventDate']) : NaN
    if (Number.isFinite(at)) return at
  }
  return undefined
}

/** More of them would cost a gateway tens of megabytes. */
export const MAX_DATED_DOMAINS = 200_000

export interface DatedDomains {
  /** Unix milliseconds by registrable domain, lower-case A-labels. */
  readonly dates: ReadonlyMap<string, number>
  /** Lines that are neither a domain with a date, nor empty, nor a comment. */
  readonly ignored: number
}

/**
 * @param text a line each of domain and day (2026-11-21, or a whole timestamp), parted by blanks, a comma or a semicolon; `#`
 *   begins a comment
 * @throws {RangeError} more than MAX_DATED_DOMAINS
 */
export function readDatedDomains(text: string): DatedDomains {
  const dates = new Map<string, number>()
  let ignored = 0
  for (const line of text.split('\n')) {
    const [name = '', date = ''] = line.replace(/#.*/, '').trim().split(LINE_PARTS)
    if (name === '') continue
    const domain = toAscii(name)
    const at = DAY.test(date) ? Date.parse(date) : NaN
    if (domain === undefined || !Number.isFinite(at)) ignored++
    else dates.set(domain, at)
    if (dates.size > MAX_DATED_DOMAINS) throw new RangeError(`it has more than ${MAX_DATED_DOMAINS} domains`)
  }
  return { dates, ignored }
}

const LINE_PARTS = /[ \t,;]+/
const DAY = /^\d{4}-\d{2}-\d{2}(?:T|$)/
