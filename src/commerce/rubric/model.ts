// A rubric is checks as data with one small function each, the points they give, and what lies above points.
// Weights, caps and levels stand here and nowhere else; /v1/test/schema reads them from here.
import { DIMENSIONS, type DimensionName } from '../../../schemas/commerce.ts'
import type { Reason } from '../policy/reasons.ts'
import type { Binding, Detection, Layer, Place } from '../ports.ts'
import type { Reading } from '../reading.ts'
import type { Lack } from '../signed-members.ts'

/** Changes whenever a check, weight, cap or word of a report changes. */
export const RULESET_VERSION = 'gateway-test/2026-11-23'

export const WEIGHTS: Readonly<Record<DimensionName, number>> = {
  context_binding: 25,
  replay_uniqueness: 20,
  idempotency: 20,
  freshness: 15,
  retry_safety: 10,
  auditability: 10,
}

export const LEVELS = [
  { level: 'ready', min: 90 },
  { level: 'gaps', min: 75 },
  { level: 'at_risk', min: 50 },
  { level: 'not_ready', min: 0 },
] as const

/** Contradictions beat points: whatever else is right, the score is at most `max`. */
export const CAPS = {
  UNDECODABLE: { max: 20, message: 'A payment or mandate is there, but it cannot be decoded.' },
  MISMATCH: { max: 40, message: 'Two statements of the transaction contradict each other.' },
  INCOMPLETE: { max: 40, message: 'What is signed is not whole: nobody can be held to it.' },
  DENIED: { max: 40, message: 'Inspection denies it, whatever the policy of an account and the clock say.' },
  NEVER_VALID: { max: 40, message: 'It ends before it begins: there is no time at which it is valid.' },
  PLAIN_HTTP: { max: 40, message: 'The target is plain http: anybody on the way can read and change it.' },
  DOUBTFUL: {
    max: 60,
    message:
      'It may pay somebody else or mean something else than it is meant to: inspection would have it looked at.',
  },
  NO_NONCE: { max: 60, message: 'Nothing makes this payment different from a copy of it.' },
  NO_PROOF: { max: 60, message: 'Nothing proves that the payer agreed to this payment.' },
  GUESSABLE_ID: { max: 60, message: 'An identifier that has to be unique can be guessed.' },
  NO_KEY: { max: 60, message: 'The protocol demands an idempotency key, and there is none.' },
} as const
export type CapId = keyof typeof CAPS

/** Hints that the server declares for an MCP tool; they are not part of a request, so the caller may supply them. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean | undefined
  readonly idempotentHint?: boolean | undefined
}

export interface Sample extends Reading {
  readonly detection: Detection
  readonly bindings: readonly Binding[]
  readonly lacks: readonly Lack[]
  /** Reasons of inspection that deny it under every policy and at every time. */
  readonly denials: readonly Reason[]
  /** Reasons for which it may pay somebody else, or mean something else, than it is meant to. */
  readonly doubts: readonly Reason[]
  /** Milliseconds; undefined: windows are judged by their own bounds. */
  readonly evaluateAt: number | undefined
  readonly annotations: ToolAnnotations
}

/** Checks see the sample, and what its primary protocol says. */
export interface Subject<F> extends Sample {
  readonly layer: Layer
  readonly facts: F
}

export interface Verdict {
  readonly points: number | 'all'
  readonly at?: Place | undefined
  readonly finding?: string
  /** The protocol has no field for what is missing. */
  readonly isLimit?: boolean
  /** The value is an example's ellipsis. */
  readonly isPlaceholder?: boolean
}

export interface Check<F> {
  /** `<PROTOCOL>-<BIND|REPLAY|IDEM|FRESH|RETRY|AUDIT>-<nn>`. */
  readonly id: string
  readonly max: number
  /** Condition that earns the points. */
  readonly asks: string
  readonly remediation: string
  /** How that is written; of the table in fragments/ unless the check brings its own. */
  readonly fragment?: string
  /** Document of the protocol; null where the rule is ours. */
  readonly spec: string | null
  /** Whether it judges the window of validity, which `evaluate_at` may lie outside of. */
  readonly isWindow?: boolean
  /** Null: does not apply to this sample. */
  judge(subject: Subject<F>): Verdict | null
}

export interface CapHit {
  readonly id: CapId
  readonly at: Place
  readonly message?: string
}

export interface Rubric<F> {
  readonly protocol: string
  /** Samples of the protocol that the rubric covers, in words. */
  readonly covers: string
  readonly checks: readonly Check<F>[]
  /** Caps of this protocol, beside those that hold for every one. */
  caps(subject: Subject<F>): readonly CapHit[]
}

const INFIX: Readonly<Record<string, DimensionName>> = {
  BIND: 'context_binding',
  REPLAY: 'replay_uniqueness',
  IDEM: 'idempotency',
  FRESH: 'freshness',
  RETRY: 'retry_safety',
  AUDIT: 'auditability',
}

/** The dimension is part of a check's id. */
export function dimensionOf(id: string): DimensionName {
  const dimension = INFIX[id.split('-')[1] ?? '']
  if (!dimension) throw new Error(`check ${id} belongs to no dimension`)
  return dimension
}

export { DIMENSIONS }

/** All points. */
export const all = (at?: Place): Verdict => ({ points: 'all', at })
/** Some of the points, and why not all. */
export const some = (points: number, finding: string, at?: Place): Verdict => ({ points, finding, at })
/** The check gives no points, and says why. */
export const none = (finding: string, at?: Place): Verdict => ({ points: 0, finding, at })
/** The protocol cannot say what is missing. */
export const limit = (points: number, finding: string, at?: Place): Verdict => ({
  points,
  finding,
  at,
  isLimit: true,
})
