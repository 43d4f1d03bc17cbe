// GET /v1/test/schema: what is asked, generated from what asks it.
import { Transaction } from '../../../schemas/commerce.ts'
import { advertise } from '../../core/advertised-schema.ts'
import { PROTOCOLS } from '../protocols.ts'
import { fragmentOf } from './fragments/index.ts'
import { CAPS, DIMENSIONS, dimensionOf, LEVELS, RULESET_VERSION, WEIGHTS } from './model.ts'

const RUBRICS = PROTOCOLS.flatMap(({ score }) => score.rubrics)

export interface ReasonText {
  readonly code: string
  readonly severity: string
  readonly message: string
}

/** @param reasons of the policy of /v1/inspect */
export function describeRubrics(reasons: readonly ReasonText[]): Record<string, unknown> {
  const sample = advertise(Transaction)
  return {
    ruleset_version: RULESET_VERSION,
    sample: {
      ...sample,
      properties: {
        ...(sample['properties'] as Record<string, unknown>),
        evaluate_at: {
          type: 'string',
          format: 'date-time',
          description: 'Windows are held against it; without it they are judged by their own bounds',
        },
        tool_annotations: {
          type: 'object',
          description: 'Of an MCP tool, as tools/list says',
          properties: { readOnlyHint: { type: 'boolean' }, idempotentHint: { type: 'boolean' } },
        },
      },
    },
    protocols: PROTOCOLS.map(({ name, covers, score }) => ({
      protocol: name,
      ...covers,
      covers: score.rubrics.map((rubric) => rubric.covers),
    })),
    dimensions: DIMENSIONS.map((name) => ({ name, weight: WEIGHTS[name] })),
    checks: RUBRICS.flatMap(({ protocol, checks }) =>
      checks.map(({ id, max, asks, remediation, fragment, spec }) => ({
        id,
        protocol,
        dimension: dimensionOf(id),
        max,
        asks,
        remediation,
        fragment: fragment ?? fragmentOf(id),
        spec,
      })),
    ),
    caps: Object.entries(CAPS).map(([id, { max, message }]) => ({ id, max, message })),
    levels: LEVELS.map(({ level, min }) => ({ level, min })),
    policy_reasons: reasons.map(({ code, severity, message }) => ({ code, severity, message })),
  }
}

/** What earns the points of each check, and what each cap says, by id. */
export const listRules = (): ReadonlyMap<string, string> =>
  new Map([
    ...RUBRICS.flatMap(({ checks }) => checks.map(({ id, asks }) => [id, asks] as const)),
    ...Object.entries(CAPS).map(([id, { message }]) => [id, message] as const),
  ])
