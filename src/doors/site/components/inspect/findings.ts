// What the two reports say of a transaction, as one list: the worst first, each with its place.
import type { InspectResult, TestReport } from '../../../../../schemas/commerce.ts'

export type Weight = 'stops' | 'costs' | 'tells'

export interface Finding {
  /** Under which rules it goes; several where they say the same of the same place. */
  readonly codes: readonly string[]
  readonly weight: Weight
  /** Points that it costs; 0 where it is no matter of points. */
  readonly lost: number
  readonly says: string
  readonly remedy: string | null
  /** How the remedy is written. */
  readonly fragment: string | null
  /** The protocol has no field for it. */
  readonly isLimit: boolean
  /** Document that asks for it. */
  readonly spec: string | null
  /** As in the reports; null where what is wrong is that nothing is there. */
  readonly place: string | null
}

const ORDER: Readonly<Record<Weight, number>> = { stops: 0, costs: 1, tells: 2 }

/** What stops the transaction, what costs points (most first), what is only told. */
export function listFindings(test: TestReport, inspect: InspectResult): Finding[] {
  const reasons = inspect.policy.reasons.map(({ code, severity, path, message }): Finding => ({
    ...PLAIN,
    codes: [code],
    weight: severity === 'deny' ? 'stops' : severity === 'review' ? 'costs' : 'tells',
    says: message,
    place: path,
  }))
  const caps = test.caps.map(({ id, at, message }): Finding => ({
    ...PLAIN,
    codes: [id],
    weight: 'stops',
    says: message,
    place: at,
  }))
  const checks = test.checks
    .filter(({ result }) => result === 'partial' || result === 'fail')
    .map(({ id, points, max, evidence, finding, protocol_limit, remediation, fragment, spec }): Finding => ({
      codes: [id],
      weight: protocol_limit ? 'tells' : 'costs',
      lost: max - points,
      says: finding ?? '',
      remedy: remediation,
      fragment,
      isLimit: protocol_limit,
      spec,
      place: evidence,
    }))
  const notes = test.notes.map(({ id, at, message }): Finding => ({
    ...PLAIN,
    codes: [id],
    weight: 'tells',
    says: message,
    place: at,
  }))
  return unite([...reasons, ...caps, ...checks, ...notes]).toSorted(
    (a, b) => ORDER[a.weight] - ORDER[b.weight] || b.lost - a.lost,
  )
}

/** Policy, caps and checks often see one fault: it is said once, with all that it costs. */
function unite(findings: readonly Finding[]): Finding[] {
  const united = new Map<string, Finding>()
  for (const finding of findings) {
    const key = `${finding.place ?? ''}\n${finding.says}`
    const known = united.get(key)
    united.set(
      key,
      known
        ? {
            codes: [...known.codes, ...finding.codes],
            weight: ORDER[known.weight] <= ORDER[finding.weight] ? known.weight : finding.weight,
            lost: known.lost + finding.lost,
            says: known.says,
            remedy: known.remedy ?? finding.remedy,
            fragment: known.fragment ?? finding.fragment,
            isLimit: known.isLimit || finding.isLimit,
            spec: known.spec ?? finding.spec,
            place: known.place,
          }
        : finding,
    )
  }
  return [...united.values()]
}

const PLAIN = { lost: 0, remedy: null, fragment: null, isLimit: false, spec: null } as const
