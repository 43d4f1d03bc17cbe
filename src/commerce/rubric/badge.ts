// A score as a small picture for a README: no script, no font to fetch, no text from a sample.
import type { TestReport } from '../../../schemas/commerce.ts'

const COLOURS: Readonly<Record<TestReport['level'], string>> = {
  ready: '#18794e',
  gaps: '#8a6100',
  at_risk: '#b45309',
  not_ready: '#b42318',
}

const LABEL = 'transaction readiness'
const HEIGHT = 20
/** Verdana 11px, on average; `textLength` makes it exact in every viewer. */
const CHAR_WIDTH = 6.4
const PADDING = 8

const widthOf = (text: string) => Math.ceil(text.length * CHAR_WIDTH)

/** @returns an SVG of 20 pixels height */
export function drawBadge({
  score,
  level,
  applicable,
}: Pick<TestReport, 'score' | 'level' | 'applicable'>): string {
  const value = applicable ? `${score}/100 ${level.replace('_', ' ')}` : 'not applicable'
  const colour = applicable ? COLOURS[level] : '#57606a'
  const left = widthOf(LABEL) + 2 * PADDING
  const right = widthOf(value) + 2 * PADDING
  const words = (text: string, x: number) =>
    `<text x="${x + PADDING}" y="14" textLength="${widthOf(text)}">${text}</text>`
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${HEIGHT}" role="img" aria-label="${LABEL}: ${value}">` +
    `<title>${LABEL}: ${value}</title>` +
    `<clipPath id="r"><rect width="${left + right}" height="${HEIGHT}" rx="3"/></clipPath>` +
    `<g clip-path="url(#r)"><rect width="${left}" height="${HEIGHT}" fill="#333"/>` +
    `<rect x="${left}" width="${right}" height="${HEIGHT}" fill="${colour}"/></g>` +
    `<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${words(LABEL, 0)}${words(value, left)}</g>` +
    `</svg>\n`
  )
}
