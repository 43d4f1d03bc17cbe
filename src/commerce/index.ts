// Inspection and scoring, as the rest of the gateway sees them.
import { GatewayError } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { Commerce } from '../services.ts'
import type { DocumentStore } from '../store/ports.ts'
import { testTransaction } from './rubric/report.ts'
import { describeRubrics } from './rubric/schema.ts'

export interface CommerceParts {
  readonly documents: Pick<DocumentStore, 'read'>
  readonly log: Logger
  readonly now: () => number
}

export function createCommerce(_parts: CommerceParts): Commerce {
  const missing = () => new GatewayError('tool_unavailable', 'Not built yet.')
  let schema: Record<string, unknown> | undefined
  return {
    inspect: () => Promise.reject(missing()),
    test: testTransaction,
    testSchema: () => (schema ??= describeRubrics([])),
  }
}
