// GET /v1/test/schema: what is asked, generated from what asks it.
import { z } from 'zod'
import { Transaction } from '../../../schemas/commerce.ts'
import { CAPS, DIMENSIONS, dimensionOf, LEVELS, RULESET_VERSION, WEIGHTS } from './model.ts'
import { RUBRICS } from './rubrics.ts'

/** What detection tells apart. */
const PROTOCOLS = [
  {
    protocol: 'x402',
    versions: ['1', '2'],
    transports: ['http', 'mcp', 'a2a'],
    stages: ['challenge', 'payment', 'settlement'],
  },
  {
    protocol: 'mpp',
    versions: ['draft-httpauth-payment-00'],
    transports: ['http', 'mcp', 'jsonrpc'],
    stages: ['challenge', 'payment', 'settlement'],
  },
  {
    protocol: 'ap2',
    versions: ['0.1', '0.2'],
    transports: ['sd-jwt', 'a2a'],
    stages: ['intent', 'cart', 'checkout', 'payment'],
  },
  {
    protocol: 'ucp',
    versions: ['2026-01-11', '2026-01-23', '2026-04-08', '2026-08-25'],
    transports: ['rest', 'mcp', 'a2a'],
    stages: ['checkout.create', 'checkout.get', 'checkout.update', 'checkout.complete', 'checkout.cancel'],
  },
  {
    protocol: 'acp',
    versions: ['2025-09-29', '2025-12-12', '2026-01-16', '2026-01-30', '2026-04-17'],
    transports: ['rest', 'mcp', 'webhook'],
    stages: [
      'checkout.create',
      'checkout.get',
      'checkout.update',
      'checkout.complete',
      'checkout.cancel',
      'delegate',
      'webhook',
    ],
  },
  {
    protocol: 'mcp',
    versions: ['2025-11-25', '2026-07-28'],
    transports: ['streamable-http'],
    stages: ['tools/call'],
  },
] as const

export interface ReasonText {
  readonly code: string
  readonly severity: string
  readonly message: string
}

/** @param reasons of the policy of /v1/inspect */
export function describeRubrics(reasons: readonly ReasonText[]): Record<string, unknown> {
  const { $schema: _dialect, ...sample } = z.toJSONSchema(Transaction, { io: 'input' }) as Record<
    string,
    unknown
  >
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
    protocols: PROTOCOLS.map((entry) => ({
      ...entry,
      covers: RUBRICS.filter(({ protocol }) => protocol === entry.protocol).map(({ covers }) => covers),
    })),
    dimensions: DIMENSIONS.map((name) => ({ name, weight: WEIGHTS[name] })),
    checks: RUBRICS.flatMap(({ protocol, checks }) =>
      checks.map(({ id, max, asks, remediation, spec }) => ({
        id,
        protocol,
        dimension: dimensionOf(id),
        max,
        asks,
        remediation,
        spec,
      })),
    ),
    caps: Object.entries(CAPS).map(([id, { max, message }]) => ({ id, max, message })),
    levels: LEVELS.map(({ level, min }) => ({ level, min })),
    policy_reasons: reasons.map(({ code, severity, message }) => ({ code, severity, message })),
  }
}
