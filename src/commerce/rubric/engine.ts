// Points to a score: dimensions, total, caps, level, notes. It knows no protocol and reads no field of a sample.
import type { z } from 'zod'
import { type CheckReport, DIMENSIONS, type DimensionName } from '../../../schemas/commerce.ts'
import type { Lack } from '../signed-members.ts'
import { isNeverOpen } from '../window.ts'
import { fragmentOf } from './fragments/index.ts'
import {
  CAPS,
  type CapHit,
  type Check,
  dimensionOf,
  LEVELS,
  type Rubric,
  type Sample,
  type Subject,
  type Verdict,
  WEIGHTS,
} from './model.ts'

type Checked = z.infer<typeof CheckReport>

export interface DimensionScore {
  readonly score: number
  readonly weight: number
  readonly applicable: boolean
}

export interface CapReport {
  readonly id: string
  readonly max: number
  readonly at: string
  readonly message: string
}

export interface Note {
  readonly id: string
  readonly at: string
  readonly message: string
}

export interface Scored {
  readonly score: number
  readonly level: (typeof LEVELS)[number]['level']
  readonly dimensions: Record<DimensionName, DimensionScore>
  readonly checks: Checked[]
  readonly caps: CapReport[]
  readonly notes: Note[]
}

/** x/y to the nearest percent, halves up, in integers. */
const percent = (earned: number, max: number) => Math.floor((200 * earned + max) / (2 * max))

/** Percent of the points of each dimension; a dimension without a check that applies is not applicable. */
export function scoreDimensions(
  checks: readonly Pick<Checked, 'dimension' | 'result' | 'points' | 'max'>[],
): Record<DimensionName, DimensionScore> {
  return Object.fromEntries(
    DIMENSIONS.map((name) => {
      const counted = checks.filter(
        ({ dimension, result }) => dimension === name && result !== 'not_applicable',
      )
      const max = counted.reduce((sum, check) => sum + check.max, 0)
      const earned = counted.reduce((sum, check) => sum + check.points, 0)
      return [
        name,
        { score: max === 0 ? 0 : percent(earned, max), weight: WEIGHTS[name], applicable: max > 0 },
      ]
    }),
  ) as Record<DimensionName, DimensionScore>
}

/** Weighted mean of the dimensions that apply, to the nearest percent, halves up. */
export function totalOf(dimensions: Readonly<Record<DimensionName, DimensionScore>>): number {
  const counted = DIMENSIONS.map((name) => dimensions[name]).filter(({ applicable }) => applicable)
  const weights = counted.reduce((sum, { weight }) => sum + weight, 0)
  const sum = counted.reduce((total, { score, weight }) => total + score * weight, 0)
  return weights === 0 ? 0 : Math.floor((2 * sum + weights) / (2 * weights))
}

/** @param score of 0 to 100 */
export const levelOf = (score: number): (typeof LEVELS)[number]['level'] =>
  LEVELS.find(({ min }) => score >= min)?.level ?? 'not_ready'

const SIGNATURE_NOTES = {
  match: 'SIGNATURE_VERIFIED',
  partial: 'SIGNATURE_UNVERIFIED',
  unverifiable: 'SIGNATURE_UNVERIFIED',
  mismatch: 'SIGNATURE_INVALID',
} as const

/** The whole score of a sample: checks, dimensions, caps, level and notes. */
export function scoreSample<F>(rubric: Rubric<F>, subject: Subject<F>): Scored {
  const outside = windowNote(subject)
  const judged = rubric.checks.map((check) => judge(check, subject, outside))
  const checks = judged.map(({ checked }) => checked)
  const caps = capsOf(rubric, subject)
  const dimensions = scoreDimensions(checks)
  const score = Math.min(totalOf(dimensions), ...caps.map(({ max }) => max))
  const notes = [
    ...subject.detection.conflicts.map(({ code, at, message }) => ({ id: code, at, message })),
    // Which signatures were verified: a reader of the score would think of all or of none.
    ...subject.bindings
      .filter(({ kind }) => kind === 'signature')
      .map(({ verdict, at, message }) => ({ id: SIGNATURE_NOTES[verdict], at, message })),
    ...judged.flatMap(({ note }) => note ?? []),
    ...(outside ? [outside] : []),
    ...ceilingNote(checks),
  ]
  return { score, level: levelOf(score), dimensions, checks, caps, notes }
}

function judge<F>(
  check: Check<F>,
  subject: Subject<F>,
  outside: Note | undefined,
): { readonly checked: Checked; readonly note?: Note } {
  const { id, max, remediation, spec } = check
  const dimension = dimensionOf(id)
  const given = check.judge(subject)
  if (!given)
    return {
      checked: {
        id,
        dimension,
        result: 'not_applicable',
        points: 0,
        max,
        evidence: null,
        finding: null,
        protocol_limit: false,
        remediation: null,
        fragment: null,
        spec,
      },
    }
  const verdict: Verdict =
    outside && check.isWindow ? { points: 0, at: outside.at, finding: outside.message } : given
  const points = verdict.points === 'all' ? max : Math.min(max, verdict.points)
  const passed = points === max
  return {
    checked: {
      id,
      dimension,
      result: passed ? 'pass' : points > 0 ? 'partial' : 'fail',
      points,
      max,
      evidence: verdict.at ?? null,
      finding: passed ? null : (verdict.finding ?? null),
      protocol_limit: !passed && verdict.isLimit === true,
      remediation: passed ? null : remediation,
      fragment: passed ? null : (check.fragment ?? fragmentOf(id)),
      spec,
    },
    ...(verdict.isPlaceholder && {
      note: { id: 'PLACEHOLDER', at: verdict.at ?? '', message: `${id}: ${verdict.finding}` },
    }),
  }
}

/** The note is given only where the caller said when: this endpoint has no clock. */
function windowNote({ evaluateAt, detection: { facts } }: Sample): Note | undefined {
  if (evaluateAt === undefined) return undefined
  const seconds = Math.floor(evaluateAt / 1000)
  if (facts.expiresAt && facts.expiresAt.value <= seconds)
    return { id: 'EXPIRED', at: facts.expiresAt.at, message: 'It has expired at `evaluate_at`.' }
  if (facts.notBefore && facts.notBefore.value > seconds)
    return { id: 'NOT_YET_VALID', at: facts.notBefore.at, message: 'It is not yet valid at `evaluate_at`.' }
  return undefined
}

/** Ceiling of the best sample of this kind, where the protocol itself stands in the way. */
function ceilingNote(checks: readonly Checked[]): Note[] {
  const limited = checks.filter((check) => check.protocol_limit)
  if (limited.length === 0) return []
  const best = checks.map((check) =>
    check.result === 'not_applicable' || check.protocol_limit ? check : { ...check, points: check.max },
  )
  return [
    {
      id: 'PROTOCOL_LIMIT',
      at: '',
      message:
        `No sample like this one can score more than ${totalOf(scoreDimensions(best))} without a field that the protocol ` +
        `does not have (${limited.map(({ id }) => id).join(', ')}).`,
    },
  ]
}

/** A cap of one kind is said once a place; the worst come first. */
function capsOf<F>(rubric: Rubric<F>, subject: Subject<F>): CapReport[] {
  const hits: CapHit[] = [
    ...subject.detection.layers
      .filter(({ isUndecodable }) => isUndecodable)
      .map(({ evidence }): CapHit => ({ id: 'UNDECODABLE', at: evidence[0]?.at ?? '' })),
    ...subject.bindings
      .filter(({ verdict }) => verdict === 'mismatch')
      .map(({ kind, at, message }): CapHit =>
        kind === 'scheme_https' ? { id: 'PLAIN_HTTP', at } : { id: 'MISMATCH', at, message },
      ),
    ...subject.lacks.flatMap(toCapHit),
    ...listNeverValid(subject),
    ...subject.doubts.map(({ path, message }): CapHit => ({ id: 'DOUBTFUL', at: path, message })),
    // Nothing else can be said of what cannot be decoded.
    ...(subject.layer.isUndecodable ? [] : rubric.caps(subject)),
  ]
  // What another cap says is not said again as what inspection thinks of it.
  if (!hits.some(({ id }) => CAPS[id].max <= CAPS.DENIED.max))
    hits.push(...subject.denials.map(({ path, message }): CapHit => ({ id: 'DENIED', at: path, message })))
  const seen = new Set<string>()
  return hits
    .filter(({ id, at }) => !seen.has(`${id} ${at}`) && seen.add(`${id} ${at}`))
    .map(({ id, at, message }) => ({ id, max: CAPS[id].max, at, message: message ?? CAPS[id].message }))
    .toSorted((a, b) => a.max - b.max || compare(a.id, b.id) || compare(a.at, b.at))
}

/** Two times of the sample itself are held against each other, so that no clock is asked. */
function listNeverValid({ detection: { facts } }: Sample): CapHit[] {
  const { notBefore, expiresAt } = facts
  if (notBefore === null || expiresAt === null) return []
  return isNeverOpen({ notBefore: notBefore.value, expiresAt: expiresAt.value })
    ? [{ id: 'NEVER_VALID', at: expiresAt.at }]
    : []
}

/** An example's ellipsis loses points where it stands. */
const toCapHit = ({ member, is, at }: Lack): CapHit[] =>
  is === 'placeholder'
    ? []
    : [
        {
          id: 'INCOMPLETE',
          at,
          message: `What is signed ${is === 'missing' ? 'lacks' : 'says no usable'} ${member}.`,
        },
      ]

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
