// The first account: made on the first start, so that a newcomer has a working service key without a step of their own.
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../core/config.ts'
import { ConfigError } from '../core/errors.ts'
import { newId } from '../lib/ids.ts'
import type { Logger } from '../lib/log.ts'
import { createFile } from '../receipts/adapters/key-file.ts'
import type { Store } from '../store/ports.ts'
import { hashToken, newToken, parseToken } from '../lib/tokens.ts'

/** The file that keeps a generated first key, mode 0600, for the CLI on the same machine. */
export const operatorKeyFile = (dataDir: string) => join(dataDir, 'operator.key')

/**
 * Makes the first account where the database has none. Of replicas that start at once one makes it, and those that share its data directory share its key.
 * @returns the key, when this start generated it
 * @throws {ConfigError} where the key file is there and holds no key
 */
export async function bootstrapOperator(parts: {
  config: Pick<Config, 'dataDir' | 'operatorKey' | 'serviceKeyCredits'>
  store: Pick<Store, 'listKeys' | 'findKey' | 'createFirstAccount'>
  log: Logger
  now: () => number
}): Promise<string | undefined> {
  const { config, store, log } = parts
  const file = operatorKeyFile(config.dataDir)
  const kept = config.operatorKey ?? (await readKey(file))
  if (kept !== undefined && (await store.findKey(hashToken(kept)))) return undefined
  const isBegun = (await store.listKeys(undefined, { limit: 1 })).items.length > 0
  if (isBegun && kept === undefined) return undefined

  const own = newToken('sk')
  // The file comes first: a crash in between leaves a key that the next start will register.
  const token = kept ?? (await keepKey(file, own))
  if (!isBegun && (await createFirstAccount(parts, token))) return token === own ? own : undefined
  // A replica that shares the file, or the configured key, was faster.
  if (await store.findKey(hashToken(token))) return token === own ? own : undefined
  // Another replica made the first account, or the kept key was revoked. Whoever revoked a key meant it: a restart
  // must neither bring it back nor appoint a second administrator.
  if (token === own) await rm(file, { force: true })
  if (kept !== undefined)
    log.warn('the configured or kept operator key is not a live key of this installation; it stays unusable')
  return undefined
}

/** Writes the key unless another replica has: then it is the other's. @returns the key in the file */
async function keepKey(file: string, token: string): Promise<string> {
  await createFile(file, `${token}\n`)
  const kept = await readKey(file)
  if (kept === undefined)
    throw new ConfigError([
      `GATEWAY_DATA_DIR: ${file} holds no service key that this user can read. Remove it, and the next start makes one; or put the key of this installation there`,
    ])
  return kept
}

/** @returns false where another start made it */
async function createFirstAccount(
  { config, store, now }: Parameters<typeof bootstrapOperator>[0],
  token: string,
): Promise<boolean> {
  const createdAt = now()
  const account = { id: newId('acct', createdAt), name: 'operator', createdAt }
  return store.createFirstAccount({
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
