// A score as a small picture for a README: no script, no font to fetch, no text from a sample.
import type { TestReport } from '../../../schemas/commerce.ts'
import { levelOf } from './engine.ts'

const COLOURS: Readonly<Record<TestReport['level'], string>> = {
  ready: '#18794e',
  gaps: '#8a6100',
  at_risk: '#b45309',
  not_ready: '#b42318',
}

const GREY = '#57606a'
const HEIGHT = 20
/** Verdana 11px, on average; `textLength` makes it exact in every viewer. */
const CHAR_WIDTH = 6.4
const PADDING = 8

const widthOf = (text: string) => Math.ceil(text.length * CHAR_WIDTH)

/** The score of a sample. @returns an SVG of 20 pixels height */
export function drawBadge({
  score,
  level,
  applicable,
}: Pick<TestReport, 'score' | 'level' | 'applicable'>): string {
  const value = applicable ? wordsOf(score, level) : 'not applicable'
  return draw('transaction readiness', value, applicable ? COLOURS[level] : GREY)
}

/**
 * The score that a service's own payment challenge was given at the last look.
 * @param service `seller/service_id`: in the picture, so that it passes for no other service
 * @param score null: nobody looked yet
 * @param computedAt RFC 3339
 * @returns as `drawBadge`
 */
export function drawChallengeBadge(service: string, score: number | null, computedAt: string | null): string {
  const label = `${service} payment challenge`
  if (score === null) return draw(label, 'not tested yet', GREY)
  const level = levelOf(score)
  const value = wordsOf(score, level)
  return draw(label, computedAt === null ? value : `${value} · ${dayOf(computedAt)}`, COLOURS[level])
}

const dayOf = (moment: string) => moment.slice(0, 10)

export interface SampleBadge extends Pick<TestReport, 'protocol' | 'score' | 'level' | 'report_hash'> {
  /** RFC 3339. */
  readonly issuedAt: string
  /** Its time is over, or the rules changed since. */
  readonly isOutOfDate: boolean
  readonly isSandbox: boolean
}

const HASH_CHARS = 8

/**
 * The score of a sample that somebody pasted, signed by this gateway. It says in the picture that it is of a sample, when it was, and of
 * which report, so that it passes for no service and for no other day. @returns as `drawBadge`
 */
export function drawSampleBadge(badge: SampleBadge): string {
  const { protocol, score, level, report_hash, issuedAt, isOutOfDate, isSandbox } = badge
  const about = `${dayOf(issuedAt)} · ${report_hash.slice(0, HASH_CHARS)}`
  const label = `${isSandbox ? 'sandbox: ' : ''}pasted ${protocol} sample`
  return isOutOfDate
    ? draw(label, `out of date · ${about}`, GREY)
    : draw(label, `${wordsOf(score, level)} · ${about}`, COLOURS[level])
}

const wordsOf = (score: number, level: TestReport['level']) => `${score}/100 ${level.replace('_', ' ')}`

function draw(label: string, value: string, colour: string): string {
  const left = widthOf(label) + 2 * PADDING
  const right = widthOf(value) + 2 * PADDING
  const words = (text: string, x: number) =>
    `<text x="${x + PADDING}" y="14" textLength="${widthOf(text)}">${text}</text>`
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${HEIGHT}" role="img" aria-label="${label}: ${value}">` +
    `<title>${label}: ${value}</title>` +
    `<clipPath id="r"><rect width="${left + right}" height="${HEIGHT}" rx="3"/></clipPath>` +
    `<g clip-path="url(#r)"><rect width="${left}" height="${HEIGHT}" fill="#333"/>` +
    `<rect x="${left}" width="${right}" height="${HEIGHT}" fill="${colour}"/></g>` +
    `<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${words(label, 0)}${words(value, left)}</g>` +
    `</svg>\n`
  )
}
