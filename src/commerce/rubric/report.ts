// The report of POST /v1/test. Same input, same bytes: no clock, no network, no key.
import { hash } from 'node:crypto'
import { DIMENSIONS, ProtocolName, type TestReport } from '../../../schemas/commerce.ts'
import { toCanonicalJson } from '../../lib/canonical-json.ts'
import { analyse, type Analysis } from '../analysis.ts'
import { readMessage } from '../message.ts'
import { toPolicy } from '../policy/document.ts'
import { judgeMessage } from '../policy/judge.ts'
import { isDoubt, isFault } from '../policy/reasons.ts'
import type { Detection, TransactionInput } from '../ports.ts'
import { hideNames } from '../secrets/places.ts'
import { type Scored, scoreSample } from './engine.ts'
import { RULESET_VERSION, type ToolAnnotations, WEIGHTS } from './model.ts'

export interface TestOptions {
  /** Milliseconds; windows are held against it where given. */
  readonly evaluateAt?: number | undefined
  readonly annotations?: ToolAnnotations | undefined
}

/** Same input and options, same bytes. */
export function testTransaction(input: TransactionInput, options: TestOptions = {}): TestReport {
  const analysis = analyse(readMessage(input))
  const { detection } = analysis
  const { evaluateAt } = options
  const scored = scoreAnalysis(analysis, options)
  const body = toWellFormed({
    protocol: ProtocolName.parse(detection.protocol),
    version: detection.version,
    transport: detection.transport,
    stage: detection.stage,
    applicable: scored !== undefined,
    ...hidePlaces(scored ?? notScored(detection)),
    layers: listLayers(detection),
    evaluate_at: evaluateAt === undefined ? null : new Date(evaluateAt).toISOString(),
    structural: true as const,
    verified: false as const,
    contacted: false as const,
    ruleset_version: RULESET_VERSION,
  })
  return { ...body, report_hash: hash('sha256', toCanonicalJson(body)) }
}

/** Stages that say something about a protocol, but are no transaction. */
const NO_TRANSACTIONS: ReadonlySet<string> = new Set(['discovery', 'error', 'result'])

/** @returns undefined where no protocol was recognised, or what was is no transaction */
export function scoreAnalysis(analysis: Analysis, options: TestOptions = {}): Scored | undefined {
  const { primary } = analysis
  if (primary === undefined || NO_TRANSACTIONS.has(primary.layer.stage)) return undefined
  const { evaluateAt, annotations = {} } = options
  const { protocol, layer, facts } = primary
  const { reasons } = judgeMessage(analysis, NO_POLICY, 0)
  return scoreSample(protocol.score.choose(primary), {
    ...analysis,
    denials: reasons.filter(isFault),
    doubts: reasons.filter(isDoubt),
    evaluateAt,
    annotations,
    layer,
    facts,
  })
}

/** Inspection is asked without anybody's policy. Its reasons about money and time are left out. */
const NO_POLICY = toPolicy({ default: {}, accounts: {} }, undefined)

const listLayers = ({ layers }: Detection): TestReport['layers'] =>
  layers.map(({ name, version, transport, stage, confidence, evidence }) => ({
    name,
    version,
    transport,
    stage,
    confidence,
    evidence: evidence.map(({ mark, at }) => ({ mark, at: hideNames(at) })),
  }))

const hidePlaces = ({ checks, caps, notes, ...scored }: Scored): Scored => ({
  ...scored,
  checks: checks.map((check) =>
    check.evidence === null ? check : { ...check, evidence: hideNames(check.evidence) },
  ),
  caps: caps.map((cap) => ({ ...cap, at: hideNames(cap.at) })),
  notes: notes.map((note) => ({ ...note, at: hideNames(note.at) })),
})

const notScored = ({ protocol }: Detection): Scored => ({
  score: 0,
  level: 'not_ready',
  dimensions: Object.fromEntries(
    DIMENSIONS.map((name) => [name, { score: 0, weight: WEIGHTS[name], applicable: false }]),
  ) as Scored['dimensions'],
  checks: [],
  caps: [],
  notes: [
    protocol === 'unknown'
      ? {
          id: 'UNKNOWN_PROTOCOL',
          at: '',
          message:
            'Nothing of x402, MPP, AP2, UCP, ACP or MCP was recognised. Send the payment headers and the body as they go over the wire.',
        }
      : {
          id: 'NO_TRANSACTION',
          at: '',
          message: `This is ${protocol}, but no transaction: there is nothing to score.`,
        },
  ],
})

/** Names of headers and members are in the pointers of a report, and half a surrogate pair is no JSON text. */
function toWellFormed<T>(value: T): T {
  if (typeof value === 'string') return value.toWellFormed() as T
  if (Array.isArray(value)) return value.map(toWellFormed) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toWellFormed(inner)])) as T
}
