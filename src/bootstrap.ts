// The first account: made on the first start, so that a newcomer has a working service key without a step of their own.
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { newId } from './ids.ts'
import type { Store } from './store/ports.ts'
import { hashToken, newToken, parseToken } from './tokens.ts'

/** Where a generated first key is kept, 0600, for the CLI on the same machine. */
export const operatorKeyFile = (dataDir: string) => join(dataDir, 'operator.key')

/** @returns the key, when this start generated it */
export async function bootstrapOperator(parts: {
  config: Config
  store: Store
  now: () => number
}): Promise<string | undefined> {
  const { config, store, now } = parts
  const file = operatorKeyFile(config.dataDir)
  const kept = config.operatorKey ?? (await readKey(file))
  // Another replica (or an earlier data directory) made the first account: a second administrator would surprise.
  const isFirstStart = (await store.listKeys(undefined, { limit: 1 })).items.length === 0
  if (kept === undefined && !isFirstStart) return undefined
  const token = kept ?? newToken('sk')
  const keyHash = hashToken(token)
  if (await store.findKey(keyHash)) return undefined

  // The file comes first: a crash in between leaves a key that the next start will register.
  if (kept === undefined) {
    await writeFile(file, `${token}\n`, { mode: 0o600 })
    await chmod(file, 0o600)
  }
  const createdAt = now()
  const account = { id: newId('acct', createdAt), name: 'operator', createdAt }
  await store.createAccount({
    account,
    key: {
      id: newId('key', createdAt),
      accountId: account.id,
      label: 'first key',
      admin: true,
      createdAt,
      revokedAt: null,
    },
    keyHash,
    grant: {
      transactionId: newId('txn', createdAt),
      amount: config.serviceKeyCredits,
      reference: 'free credits',
    },
  })
  return kept === undefined ? token : undefined
}

async function readKey(file: string): Promise<string | undefined> {
  try {
    const token = (await readFile(file, 'utf8')).trim()
    return parseToken(token)?.kind === 'sk' ? token : undefined
  } catch {
    return undefined
  }
}
