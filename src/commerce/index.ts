// Inspection and scoring, as the rest of the gateway sees them.
import type { Logger } from '../lib/log.ts'
import type { Commerce } from './ports.ts'
import type { DocumentStore } from '../store/ports.ts'
import { createTransactionPolicyReader, type Policy } from './policy/document.ts'
import { inspectTransaction } from './policy/inspect.ts'
import { listReasons } from './policy/reasons.ts'
import { testTransaction } from './rubric/report.ts'
import { describeRubrics } from './rubric/schema.ts'

export interface CommerceParts {
  readonly documents: Pick<DocumentStore, 'read'>
  readonly log: Logger
  readonly now: () => number
}

/** Other parts hold the same policy against transactions of their own with it. */
export interface PolicySource {
  readPolicy(accountId: string | undefined): Promise<Policy>
}

/** Inspection and scoring over the policy document. The document is read again after a quarter of a second. */
export function createCommerce({ documents, log, now }: CommerceParts): Commerce & PolicySource {
  const readPolicy = createTransactionPolicyReader(
    documents,
    (problem) => log.warn({ reason: problem }, 'transaction-policy'),
    now,
  )
  let schema: Record<string, unknown> | undefined
  return {
    readPolicy,
    inspect: async (transaction, accountId) =>
      inspectTransaction(transaction, await readPolicy(accountId), now()),
    test: testTransaction,
    testSchema: () => (schema ??= describeRubrics(listReasons())),
  }
}
