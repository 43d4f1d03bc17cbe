// Inspection and scoring, as the rest of the gateway sees them.
import type { Logger } from '../lib/log.ts'
import type { Commerce } from './ports.ts'
import type { DocumentStore } from '../store/ports.ts'
import { createTransactionPolicyReader, type Policy } from './policy/document.ts'
import { analyse } from './analysis.ts'
import { readMessage } from './message.ts'
import { decide } from './policy/decide.ts'
import { reportInspection } from './policy/inspect.ts'
import { judgeMessage } from './policy/judge.ts'
import { listReasons } from './policy/reasons.ts'
import { testTransaction } from './rubric/report.ts'
import { describeRubrics } from './rubric/schema.ts'
import { judgeSpendWindows, type SpendStore } from './spend/windows.ts'

export interface CommerceParts {
  readonly documents: Pick<DocumentStore, 'read'>
  /** Spend windows; left out where there are no accounts. */
  readonly store?: SpendStore | undefined
  readonly log: Logger
  readonly now: () => number
}

/** Other parts hold the same policy against transactions of their own with it. */
export interface PolicySource {
  readPolicy(accountId: string | undefined): Promise<Policy>
}

/** Inspection and scoring over the policy document. The document is read again after a quarter of a second. */
export function createCommerce({ documents, store, log, now }: CommerceParts): Commerce & PolicySource {
  const readPolicy = createTransactionPolicyReader(
    documents,
    (problem) => log.warn({ reason: problem }, 'transaction-policy'),
    now,
  )
  let schema: Record<string, unknown> | undefined
  return {
    readPolicy,
    async inspect(transaction, caller) {
      const policy = await readPolicy(caller?.accountId)
      const at = now()
      const judged = judgeMessage(analyse(readMessage(transaction)), policy, at)
      if (caller === undefined || store === undefined) return reportInspection(judged, null)
      const spend = await judgeSpendWindows(judged, caller, store, at)
      return reportInspection({ ...judged, ...decide([...judged.reasons, ...spend.reasons]) }, spend.report)
    },
    test: testTransaction,
    testSchema: () => (schema ??= describeRubrics(listReasons())),
  }
}
