// What an operator wrote by hand beside the database: a running gateway says in its log that it uses something else, and here it is said too.
import { statSync } from 'node:fs'
import { transactionPolicyDocument } from '../../commerce/policy/document.ts'
import { egressPolicyDocument } from '../../egress/policy.ts'
import { emailDomainsDocument } from '../../email/lists.ts'
import { marketSettingsDocument } from '../../market/settings.ts'
import { paymentPolicyDocument } from '../../payments/policy.ts'
import { runtimeSettingsDocument } from '../runtime-settings.ts'
import { openDocumentStore } from '../../store/index.ts'
import type { DocumentKind } from '../../store/ports.ts'
import { createLogger } from '../../lib/log.ts'
import { type Check, fail, ok } from './finding.ts'

const KINDS: readonly DocumentKind<unknown>[] = [
  egressPolicyDocument,
  transactionPolicyDocument,
  paymentPolicyDocument,
  marketSettingsDocument,
  emailDomainsDocument,
  runtimeSettingsDocument,
]

/** Reads each of the operator's documents as the gateway does; in PostgreSQL nobody edits them by hand. */
export const checkDocuments: Check = async ({ config }) => {
  if (config.databaseUrl !== undefined) return []
  // Where there is no directory another check says so.
  if (!statSync(config.dataDir, { throwIfNoEntry: false })?.isDirectory()) return []
  const documents = await openDocumentStore({ config, log: createLogger('silent') })
  try {
    const problems: string[] = []
    for (const kind of KINDS) {
      const { problem } = await documents.read(kind)
      if (problem !== undefined) problems.push(problem)
    }
    return problems.length === 0
      ? [ok('documents', KINDS.map(({ name }) => `${name}.json`).join(', '))]
      : problems.map((problem) =>
          fail(
            'documents',
            problem,
            `Correct the file in ${config.dataDir}: a running gateway reads it at once.`,
          ),
        )
  } finally {
    await documents.close()
  }
}
