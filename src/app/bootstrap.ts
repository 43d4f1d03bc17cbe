// The first account: made on the first start, so that a newcomer has a working service key without a step of their own.
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../core/config.ts'
import { newId } from '../lib/ids.ts'
import type { Logger } from '../lib/log.ts'
import type { Store } from '../store/ports.ts'
import { hashToken, newToken, parseToken } from '../lib/tokens.ts'

/** The file that keeps a generated first key, mode 0600, for the CLI on the same machine. */
export const operatorKeyFile = (dataDir: string) => join(dataDir, 'operator.key')

/** @returns the key, when this start generated it */
export async function bootstrapOperator(parts: {
  config: Pick<Config, 'dataDir' | 'operatorKey' | 'serviceKeyCredits'>
  store: Pick<Store, 'listKeys' | 'findKey' | 'createAccount'>
  log: Logger
  now: () => number
}): Promise<string | undefined> {
  const { config, store, log } = parts
  const file = operatorKeyFile(config.dataDir)
  const kept = config.operatorKey ?? (await readKey(file))
  if (kept !== undefined && (await store.findKey(hashToken(kept)))) return undefined
  if ((await store.listKeys(undefined, { limit: 1 })).items.length > 0) {
    // Another replica made the first account, or the kept key was revoked. Whoever revoked a key meant it: a restart
    // must neither bring it back nor appoint a second administrator.
    if (kept !== undefined)
      log.warn(
        'the configured or kept operator key is not a live key of this installation; it stays unusable',
      )
    return undefined
  }

  const token = kept ?? newToken('sk')
  // The file comes first: a crash in between leaves a key that the next start will register.
  if (kept === undefined) {
    await writeFile(file, `${token}\n`, { mode: 0o600 })
    await chmod(file, 0o600)
  }
  try {
    await createFirstAccount(parts, token)
  } catch (thrown) {
    // Two replicas with one configured key may both get here; the second finds the work done.
    if (!(await store.findKey(hashToken(token)))) throw thrown
  }
  return kept === undefined ? token : undefined
}

async function createFirstAccount(
  { config, store, now }: Parameters<typeof bootstrapOperator>[0],
  token: string,
): Promise<void> {
  const createdAt = now()
  const account = { id: newId('acct', createdAt), name: 'operator', createdAt }
  await store.createAccount({
    account,
    key: {
      id: newId('key', createdAt),
      accountId: account.id,
      label: 'first key',
      admin: true,
      role: 'owner',
      createdAt,
      revokedAt: null,
    },
    keyHash: hashToken(token),
    grant: {
      transactionId: newId('txn', createdAt),
      amount: config.serviceKeyCredits,
      reference: 'free credits',
    },
  })
}

/** The key in the file; undefined where there is none. */
export async function readKey(file: string): Promise<string | undefined> {
  try {
    const token = (await readFile(file, 'utf8')).trim()
    return parseToken(token)?.kind === 'sk' ? token : undefined
  } catch {
    return undefined
  }
}
