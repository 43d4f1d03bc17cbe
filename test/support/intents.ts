// Sentences with what they ask for (test/data/intents.tsv or a table of somebody else), and how an understanding is scored against them.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { requestedSources } from '../../src/outcomes/sources/requested.ts'
import { resolve } from './uses.ts'

export interface IntentRow {
  /** A capability, `demo …`, `needs …`, `refused`, `unclear`, `unknown` or `conflict`. */
  readonly expected: string
  /** Addresses with a space between. */
  readonly sources: string
  readonly limit: string
  readonly query: string
  /** Ids of jobs. */
  readonly leftOut: readonly string[]
  readonly phrase: string
}

/** What came out for a phrase, in the words of the table. */
export type Understanding = Omit<IntentRow, 'phrase'>

/** The part of a row that was understood otherwise. */
export type Mistake = 'capability' | 'sources' | 'limit' | 'query' | 'left out'

const OWN = new URL('../data/intents.tsv', import.meta.url)

/** @throws {Error} with the line that has too few columns */
export function readIntents(file: URL | string = OWN): IntentRow[] {
  const lines = readFileSync(file, 'utf8').split(/\r?\n/)
  return lines.flatMap((line, i) => {
    if (line.trim() === '' || line.startsWith('#')) return []
    const [expected, sources, limit, query, leftOut, phrase] = line.split('\t')
    if (expected === undefined || !phrase)
      throw new Error(`line ${i + 1}: six columns, expected sources limit query left_out phrase`)
    return {
      expected,
      sources: sources ?? '',
      limit: limit ?? '',
      query: query ?? '',
      leftOut: (leftOut ?? '').split(' ').filter((id) => id !== ''),
      phrase: phrase.replaceAll('\\n', '\n'),
    }
  })
}

/** A third, by the words and nothing else: nobody looks at them while the rules are made. */
export const isHeldOut = ({ phrase }: IntentRow): boolean =>
  createHash('sha256').update(phrase).digest()[0]! % 3 === 0

export const isArabic = ({ phrase }: IntentRow): boolean => /[\u0600-\u06FF\uFB50-\uFEFC]/.test(phrase)

/** What sort of request a row is. */
export function kindOf({ expected, leftOut, query }: IntentRow): string {
  if (expected === 'refused') return 'not done here'
  if (/^(?:unknown|unclear|conflict)$/.test(expected)) return 'not understood'
  if (leftOut.length > 0) return 'partly done'
  if (expected.startsWith('demo ')) return 'demo'
  if (expected.startsWith('needs ')) return 'without a source'
  return query === '' ? expected : 'with a query'
}

export function understand(input: unknown): Understanding {
  const nothing = { sources: '', limit: '', query: '', leftOut: [] }
  const resolution = resolve(input)
  if (resolution.ok) {
    const { claims, kind, capability, leftOut } = resolution
    const sources = requestedSources(claims).map(({ url }) => url)
    return {
      expected: kind === 'demo' ? `demo ${capability}` : capability,
      sources: sources.join(' '),
      limit: String(claims.get('limit') ?? ''),
      query: String(claims.get('query') ?? ''),
      leftOut,
    }
  }
  switch (resolution.reason) {
    case 'missing':
      return { ...nothing, expected: `needs ${resolution.capability}`, leftOut: resolution.leftOut }
    case 'not_done':
      return { ...nothing, expected: 'refused', leftOut: resolution.jobs }
    case 'unknown':
      return { ...nothing, expected: resolution.between.length > 1 ? 'unclear' : 'unknown' }
    default:
      return { ...nothing, expected: resolution.reason }
  }
}

/** Whether it comes at a price. */
export const isOffered = ({ expected }: Understanding): boolean =>
  /^(?:web-extraction|product-offers|feed-digest)$/.test(expected)

/** Empty where everything is right. */
export function mistakesIn(
  row: IntentRow,
  got: Understanding = understand({ intent: row.phrase }),
): Mistake[] {
  // Whoever only says that nothing is understood accepts any refusal of the words.
  if (row.expected === 'unknown' && got.expected === 'refused') return []
  // Nothing is offered, as it should be, but which job is not done here is not said.
  if (row.expected === 'refused' && got.expected !== 'refused' && !isOffered(got)) return ['left out']
  if (row.expected !== got.expected) return ['capability']
  const isNamed =
    row.expected === 'refused'
      ? row.leftOut.every((id) => got.leftOut.includes(id))
      : [...row.leftOut].sort().join() === [...got.leftOut].sort().join()
  return [
    ...(row.sources === got.sources ? [] : ['sources' as const]),
    ...(row.limit === got.limit ? [] : ['limit' as const]),
    ...(row.query === got.query ? [] : ['query' as const]),
    ...(isNamed ? [] : ['left out' as const]),
  ]
}
