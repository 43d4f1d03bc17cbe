// What a report says against a sample, as one list with places in its file: the same for every format that marks places.
import type { TestReport } from '../../../schemas/commerce.ts'
import { type Faulty, firstLine, isFaulty, type Judged } from './outcome.ts'
import { locateIn, type Region } from './places.ts'

export interface Finding {
  /** Of the check, the cap or the note. */
  readonly id: string
  readonly level: 'error' | 'warning' | 'note'
  /** JSON Pointer into the sample. */
  readonly place: string
  readonly region: Region
  readonly says: string
  readonly remedy: string | null
  /** The part as it should look, in JSON or as a header; its values are placeholders. */
  readonly fragment: string | null
  /** Document of the protocol. */
  readonly spec: string | null
  /** Points that it costs; 0 for caps and notes. */
  readonly lost: number
}

export const NOT_A_SAMPLE = 'NOT_A_SAMPLE'

/**
 * Caps first, then checks by the points they cost. What a protocol has no field for is left out: nobody can mend it in the file.
 */
export function listFindings(file: Judged | Faulty): Finding[] {
  if (isFaulty(file)) return [faultOf(file)]
  const { report, text } = file
  const locate = locateIn(text)
  return [...capsOf(report), ...checksOf(report), ...(report.applicable ? [] : notesOf(report))].map(
    (finding) => ({ ...finding, region: locate(finding.place) }),
  )
}

type Placeless = Omit<Finding, 'region'>

const capsOf = ({ caps }: TestReport): Placeless[] =>
  caps.map(({ id, max, at, message }) => ({
    id,
    level: 'error',
    place: at,
    says: `The score is at most ${max}: ${message}`,
    remedy: null,
    fragment: null,
    spec: null,
    lost: 0,
  }))

const checksOf = ({ checks }: TestReport): Placeless[] =>
  checks
    .filter(({ result, protocol_limit: isLimit }) => (result === 'fail' || result === 'partial') && !isLimit)
    .map(({ id, result, points, max, evidence, finding, remediation, fragment, spec }): Placeless => ({
      id,
      level: result === 'fail' ? 'warning' : 'note',
      place: evidence ?? '',
      says: finding ?? '',
      remedy: remediation,
      fragment,
      spec,
      lost: max - points,
    }))
    .toSorted((a, b) => b.lost - a.lost)

const notesOf = ({ notes }: TestReport): Placeless[] =>
  notes.map(({ id, at, message }) => ({
    id,
    level: 'warning',
    place: at,
    says: message,
    remedy: null,
    fragment: null,
    spec: null,
    lost: 0,
  }))

function faultOf({ failure }: Faulty): Finding {
  // The place of a fault of JSON stands in its words.
  const [, line = '1', column = '1'] = /\bline (\d+), column (\d+)/.exec(failure.message) ?? []
  const region = {
    line: Number(line),
    column: Number(column),
    endLine: Number(line),
    endColumn: Number(column) + 1,
  }
  return {
    id: NOT_A_SAMPLE,
    level: 'error',
    place: '',
    region,
    says: firstLine(failure),
    remedy: null,
    fragment: null,
    spec: null,
    lost: 0,
  }
}
