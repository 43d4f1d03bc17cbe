// Stores to test against, on both engines, and rows to put into them.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { loadConfig } from '../../src/app/config.ts'
import type { Config } from '../../src/core/config.ts'
import { newId } from '../../src/lib/ids.ts'
import { createLogger } from '../../src/lib/log.ts'
import { openStore } from '../../src/store/index.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { LEDGER } from '../../src/store/sqlite/write-behind.ts'
import type {
  BudgetLimit,
  Capability,
  NewPaymentClaim,
  PaymentClaim,
  SealedCredential,
  Store,
  StoredReceipt,
} from '../../src/store/ports.ts'
import type { Attempt } from '../../src/store/model.ts'
import { databaseFor } from './postgres.ts'
import { removeFolder } from './remove-folder.ts'

export const ENGINES = ['sqlite', 'postgres'] as const
export type EngineName = (typeof ENGINES)[number]

export const log = createLogger('silent')

export interface Place {
  readonly config: Config
  /** A store of another process start on the same data. */
  readonly open: (bootId?: string) => Promise<Store>
  /** Rows of a statement that both engines understand, past the store. */
  readonly query: (text: string) => Promise<Record<string, unknown>[]>
  /** Closes what was opened and removes the data. */
  readonly remove: () => Promise<void>
}

/**
 * An empty place for data: a folder, or a database of its own on the run's server.
 * @param prepare changes that database, and says the URL that the gateway reaches it with
 */
export async function createPlace(
  engine: EngineName,
  name = 'store',
  prepare: (url: string) => Promise<string> = async (url) => url,
): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-store-'))
  const url = engine === 'postgres' ? await prepare(await databaseFor(name)) : undefined
  const config = loadConfig({ GATEWAY_DATA_DIR: folder, GATEWAY_DATABASE_URL: url })
  const opened: Store[] = []
  return {
    config,
    async open(bootId = randomUUID()) {
      const store = await openOn(config, bootId)
      opened.push(store)
      return store
    },
    query: queryOf(config),
    async remove() {
      await Promise.all(opened.map((store) => store.close()))
      await removeFolder(folder)
    },
  }
}

/** A suite is about what a store does, and not about how soon it gives up a server that other tests keep busy. */
const PATIENCE = { leaseCheckMs: 30_000, waitMs: 60_000 }
function openOn(config: Config, bootId: string): Promise<Store> {
  const { databaseUrl: url, databaseDirectUrl: directUrl } = config
  if (url === undefined) return openStore({ config, log, bootId })
  return openPostgresStore({ address: { url, directUrl }, log, bootId, ...PATIENCE })
}

/** Reads the rows of a store, beside whoever has it open. */
export const queryOf =
  ({ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>): Place['query'] =>
  (text) =>
    databaseUrl === undefined ? querySqlite(dataDir, text) : queryPostgres(databaseUrl, text)

const MAIN_LEDGER = LEDGER.replaceAll('FROM ledger_', 'FROM main.ledger_')

async function querySqlite(folder: string, text: string): Promise<Record<string, unknown>[]> {
  const db = new DatabaseSync(join(folder, 'gateway.db'), { readOnly: true, timeout: 5000 })
  try {
    // The whole of it under the name that both engines know; an old release had nothing else.
    if (db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'ledger_arrivals'`).get())
      db.exec(`CREATE TEMP VIEW ledger_entries AS SELECT * FROM ${MAIN_LEDGER}`)
    return db.prepare(text).all()
  } finally {
    db.close()
  }
}

async function queryPostgres(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<Record<string, unknown>>(text)
    return rows
  } finally {
    await client.end()
  }
}

/** The sum of every ledger entry there is: zero, or money was made or lost. */
export async function sumOfLedger(place: Pick<Place, 'query'>): Promise<number> {
  const [row] = await place.query(
    'SELECT CAST(COALESCE(sum(amount), 0) AS BIGINT) AS total FROM ledger_entries',
  )
  return Number(row!['total'])
}

/** Accounts whose balance is not what their ledger adds up to. */
export async function unbalancedAccounts(place: Pick<Place, 'query'>): Promise<unknown[]> {
  return place.query(`SELECT a.id FROM accounts a WHERE a.balance < 0 OR a.balance <>
    (SELECT COALESCE(sum(amount), 0) FROM ledger_entries l WHERE l.account = a.id)`)
}

export const NOW = Date.UTC(2026, 5, 1)

export async function addAccount(store: Store, credits: number): Promise<string> {
  const id = newId('acct', NOW)
  await store.createAccount({
    account: { id, name: 'someone', createdAt: NOW },
    key: {
      id: newId('key', NOW),
      accountId: id,
      label: 'first',
      admin: false,
      role: 'operator',
      createdAt: NOW,
      revokedAt: null,
    },
    keyHash: randomBytes(32),
    grant: { transactionId: newId('txn', NOW), amount: credits, reference: 'free credits' },
  })
  return id
}

export const SCOPE = { hosts: ['api.example.com'], path_prefixes: ['/v1'], methods: ['GET' as const] }

export function sealedCredential(accountId: string, over: Partial<SealedCredential> = {}): SealedCredential {
  return {
    id: newId('cred', NOW),
    accountId,
    provider: 'custom',
    label: 'api',
    scope: SCOPE,
    header: 'authorization',
    scheme: 'Bearer',
    settings: {},
    version: 1,
    isBudgeted: false,
    createdAt: NOW,
    rotatedAt: null,
    editedAt: null,
    revokedAt: null,
    sealed: {
      ciphertext: 'Y2lwaGVy',
      iv: 'aXY',
      tag: 'dGFn',
      wrap: { kid: 'k1', enc: 'ZW5j', wrapped: 'd3JhcA' },
    },
    ...over,
  }
}

export async function addCredential(
  store: Store,
  accountId: string,
  budgets: readonly BudgetLimit[] = [],
): Promise<SealedCredential> {
  const credential = sealedCredential(accountId, { isBudgeted: budgets.length > 0 })
  await store.insertCredential(credential, budgets)
  return credential
}

export async function addCapability(
  store: Store,
  credential: { id: string; accountId: string },
  over: Partial<Capability> = {},
  budgets: readonly BudgetLimit[] = [],
): Promise<Capability & { tokenHash: Buffer }> {
  const tokenHash = randomBytes(32)
  const id = newId('cap', NOW)
  const capability: Capability = {
    id,
    accountId: credential.accountId,
    credentialId: credential.id,
    parentId: null,
    rootId: id,
    label: 'agent',
    scope: SCOPE,
    maxUses: null,
    uses: 0,
    isBudgeted: false,
    showsBalance: false,
    createdAt: NOW,
    expiresAt: NOW + 3_600_000,
    revokedAt: null,
    ...over,
  }
  await store.insertCapability({ capability, tokenHash, budgets, parentScope: SCOPE })
  return { ...capability, tokenHash }
}

let ticks = 0
/** Ids of one millisecond have no order; each of these gets a millisecond of its own. */
export const nextTransaction = () => newId('txn', NOW + ++ticks)

export interface Setting {
  readonly accountId: string
  readonly credential: SealedCredential
  readonly capability: Capability & { tokenHash: Buffer }
}

/** An account with credits, one credential and one capability on it. */
export async function addSetting(
  store: Store,
  credits: number,
  budgets: { credential?: readonly BudgetLimit[]; capability?: readonly BudgetLimit[] } = {},
): Promise<Setting> {
  const accountId = await addAccount(store, credits)
  const credential = await addCredential(store, accountId, budgets.credential)
  return { accountId, credential, capability: await addCapability(store, credential, {}, budgets.capability) }
}

/** How often a capability, and what was cut from it, was used. */
export async function usesOf(
  store: Pick<Store, 'listCapabilities'>,
  { id, accountId, credentialId }: Pick<Capability, 'id' | 'accountId' | 'credentialId'>,
): Promise<number | undefined> {
  const { items } = await store.listCapabilities(
    { accountId, credentialId: credentialId ?? undefined },
    { limit: 100 },
  )
  return items.find((capability) => capability.id === id)?.uses
}

export function reservation(
  setting: { accountId: string; credential: { id: string }; capability: { id: string } },
  bootId: string,
  over: Partial<Attempt> = {},
): Parameters<Store['reserveAttempt']>[0] {
  const attempt: Attempt = {
    id: newId('att', NOW),
    accountId: setting.accountId,
    kind: 'fetch',
    capabilityId: setting.capability.id,
    permitId: null,
    credentialId: setting.credential.id,
    credentialVersion: 1,
    state: 'reserved',
    method: 'POST',
    host: 'api.example.com',
    requestDigest: 'ZGlnZXN0',
    idempotencyKey: 'key-1',
    createdAt: NOW,
    sendingAt: null,
    finishedAt: null,
    upstreamStatus: null,
    responseDigest: null,
    outcome: null,
    receiptId: null,
    ...over,
  }
  return { attempt, bootId, transactionId: nextTransaction(), cost: 1, isBudgeted: false, now: NOW }
}

export function receiptFor(accountId: string): StoredReceipt {
  return { id: newId('rcp', NOW), accountId, jws: 'aGVhZA.Ym9keQ.c2ln', createdAt: NOW }
}

export function ending(
  attempt: Attempt,
  bootId: string,
  state: 'settled' | 'ambiguous' = 'settled',
): Parameters<Store['finishAttempt']>[0] {
  return {
    id: attempt.id,
    kind: attempt.kind,
    bootId,
    state,
    outcome: state === 'settled' ? 'delivered' : 'reset',
    upstreamStatus: state === 'settled' ? 200 : null,
    responseDigest: null,
    receipt: receiptFor(attempt.accountId),
    now: NOW,
  }
}

export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))

const hex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`

/** A payment of a new payer with a new nonce for a call of a tool. */
export function newClaim(over: Partial<NewPaymentClaim> = {}): NewPaymentClaim {
  return {
    id: newId('clm', NOW),
    origin: 'tool',
    network: 'eip155:84532',
    asset: '0x036cbd53842c5426634e7929541ec2318f3dcf7e',
    payer: hex(20),
    nonce: hex(32),
    payTo: hex(20),
    amount: '1000',
    validBefore: NOW + 300_000,
    tool: 'gateway.web.fetch',
    method: 'POST',
    resource: 'https://gateway.example/v1/tools/web.fetch',
    requestDigest: 'cmVxdWVzdA',
    requirementDigest: 'cmVxdWlyZW1lbnQ',
    presentationDigest: 'cHJlc2VudGF0aW9u',
    secret: null,
    identifier: null,
    purchase: null,
    accountId: null,
    createdAt: NOW,
    ...over,
  }
}

/** The claim as it stands after `claimPayment`. */
export const claimed = (claim: NewPaymentClaim): PaymentClaim => ({
  ...claim,
  state: 'claimed',
  upstream: null,
  transaction: null,
  reason: null,
  resultSha256: null,
  receiptId: null,
  submittedAt: null,
  finishedAt: null,
})

export const resultOf = (json = '{"ok":true,"receipt":null}') => ({
  json,
  sha256: createHash('sha256').update(json).digest('hex'),
  expiresAt: NOW + 86_400_000,
})

export const submission = (id: string, bootId: string): Parameters<Store['submitClaim']>[0] => ({
  id,
  bootId,
  upstream: 'local',
  result: resultOf(),
  now: NOW + 1,
})

export const settling = (id: string): Parameters<Store['settleClaim']>[0] => ({
  id,
  transaction: hex(32),
  receipt: receiptFor(''),
  transactionId: nextTransaction(),
  now: NOW + 2,
})
