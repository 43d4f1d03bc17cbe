// Durable double-entry debits: group commit in the store thread against one commit per operation on the main thread
// (same engine, file system and commands, rounds interleaved), against PostgreSQL, with 10,000 and 1,000,000 attempts
// in the store, with 1,000 and 1,000,000 payment claims, and with as many permits. `node bench/store.ts`
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../src/app/config.ts'
import { newId } from '../src/lib/ids.ts'
import { createLogger } from '../src/lib/log.ts'
import { Undo } from '../src/store/command.ts'
import { openStore } from '../src/store/index.ts'
import type { Store } from '../src/store/ports.ts'
import { createMerger } from '../src/store/sqlite/write-behind.ts'
import { openDatabase } from '../src/store/sqlite/database.ts'
import { sqliteCommands } from '../src/store/sqlite/fused.ts'
import { startPostgres } from '../test/support/postgres.ts'
import {
  addSetting,
  ending,
  newClaim,
  reservation,
  resultOf,
  type Setting,
  settling,
  submission,
} from '../test/support/store.ts'
import { preload, preloadClaims, preloadedPayment } from './preload.ts'
import { type Ask, cells, compare, head, type Round, ROUNDS } from './rounds.ts'
import { benchActions, benchActionsAcross } from './store-actions.ts'
import { printTable } from './support.ts'

const CLIENTS = 64
const CREDITS = 1_000_000_000
const BOOT = 'bench'
const log = createLogger('silent')

type Debit = Ask<Setting>

async function addSettings(store: Store, count: number): Promise<Setting[]> {
  const settings: Setting[] = []
  for (let i = 0; i < count; i++) settings.push(await addSetting(store, CREDITS))
  return settings
}

/** Ids of now: the order in which rows arrive is part of what is measured. */
const nextReservation = (setting: Setting) => reservation(setting, BOOT, { id: newId('att') })

const debitThrough =
  (store: Store): Debit =>
  async (setting) => {
    const result = await store.reserveAttempt(nextReservation(setting))
    if (!result.ok) throw new Error(result.reason)
  }

/** Double entry and nothing else: a balance and two ledger rows, without an attempt, a capability or a credential. */
const nextMovement = ({ accountId }: Setting) => ({
  accountId,
  amount: 1,
  reference: newId('att'),
  transactionId: newId('txn'),
  now: Date.now(),
})
const moveThrough =
  (store: Store): Debit =>
  (setting) =>
    store.grant(nextMovement(setting))

/** All three transactions of an attempt. */
const attemptThrough =
  (store: Store): Debit =>
  async (setting) => {
    const input = nextReservation(setting)
    await store.reserveAttempt(input)
    await store.markSending({ id: input.attempt.id, bootId: BOOT, now: input.now })
    const last = ending(input.attempt, BOOT)
    const end = await store.finishAttempt({ ...last, receipt: { ...last.receipt, id: newId('rcp') } })
    if (!end.ok) throw new Error('not finished')
  }

const open = (dataDir: string, databaseUrl?: string) =>
  openStore({
    config: loadConfig({ GATEWAY_DATA_DIR: dataDir, GATEWAY_DATABASE_URL: databaseUrl }),
    log,
    bootId: BOOT,
  })

/** The naive way: the same commands on the thread that serves requests, a COMMIT (and its fsync) for each. */
async function openMainThread(dataDir: string) {
  const store = await open(dataDir)
  const settings = await addSettings(store, CLIENTS)
  await store.close()
  const db = openDatabase(join(dataDir, 'gateway.db'))
  const merge = createMerger(db)
  async function commitEach(run: () => void): Promise<void> {
    db.begin()
    try {
      run()
      db.commit()
    } catch (thrown) {
      db.rollback()
      throw thrown
    }
    merge(1)
    // As a server would: the next request is read in another turn of the loop.
    await new Promise((resolve) => setImmediate(resolve))
  }
  const debit: Debit = (setting) =>
    commitEach(() => {
      const result = db.drive(sqliteCommands.reserveAttempt(nextReservation(setting)))
      if (!result.ok) throw new Undo(result)
    })
  const move: Debit = (setting) => commitEach(() => db.drive(sqliteCommands.grant(nextMovement(setting))))
  return { settings, debit, move, close: () => db.close() }
}

const nextClaim = () => newClaim({ id: newId('clm') })
/** What every payment asks first, and what takes it: has anyone else used it, and now nobody else can. */
const claimThrough =
  (store: Store): Debit =>
  async () => {
    const claim = nextClaim()
    if (await store.findClaim(claim)) throw new Error('found')
    if (!(await store.claimPayment({ claim, bootId: BOOT })).ok) throw new Error('not claimed')
  }
const lookThrough =
  (store: Store): Debit =>
  async () => {
    if (await store.findClaim(nextClaim())) throw new Error('found')
  }
const findThrough =
  (store: Store, stored: number): Debit =>
  async () => {
    if (!(await store.findClaim(preloadedPayment(Math.floor(Math.random() * stored)))))
      throw new Error('not found')
  }
/** All writes of a paid call: claimed, submitted with a result of 4 KB, settled with a receipt. */
const payThrough = (store: Store): Debit => {
  const result = resultOf(JSON.stringify({ content: 'x'.repeat(4000), receipt: null }))
  return async () => {
    const claim = nextClaim()
    await store.claimPayment({ claim, bootId: BOOT })
    await store.submitClaim({ ...submission(claim.id, BOOT), result })
    const end = settling(claim.id)
    const receipt = { ...end.receipt, id: newId('rcp') }
    if (!(await store.settleClaim({ ...end, receipt }))) throw new Error('not settled')
  }
}

async function benchClaims(): Promise<void> {
  const sizes = [1000, 1_000_000]
  const filled: Store[] = []
  for (const size of sizes) {
    const dataDir = join(folder, `claims-${size}`)
    await (await open(dataDir)).close()
    preloadClaims(dataDir, size)
    filled.push(await open(dataDir))
  }
  const settings = await addSettings(filled[0]!, CLIENTS)
  const table: string[][] = []
  const measure = async (name: string, clients: number, debit: (store: Store, stored: number) => Debit) => {
    const own = settings.slice(0, clients)
    const rounds = await compare(
      filled.map((store, i) => ({ settings: own, debit: debit(store, sizes[i]!) })),
    )
    for (const [i, round] of rounds.entries()) {
      const ratio = (round.p50Ms / rounds[0]!.p50Ms).toFixed(2)
      table.push(cells(`${name}, ${sizes[i]} claims stored`, round, ratio, 3))
    }
  }
  await measure('findClaim of a new payment, 1 client', 1, lookThrough)
  await measure('findClaim of a random stored one, 1 client', 1, findThrough)
  await measure('findClaim + claimPayment, 1 client', 1, claimThrough)
  await measure('findClaim + claimPayment, 64 clients', CLIENTS, claimThrough)
  await measure('claim, submit, settle, 1 client', 1, payThrough)
  printTable('Payment claims in the store (target: latency within 20 %; ratio of p50)', head, table)
  for (const store of filled) await store.close()
}

const folder = await mkdtemp(join(tmpdir(), 'gateway-bench-'))

try {
  const grouped = await open(join(folder, 'grouped'))
  const groupedSettings = await addSettings(grouped, CLIENTS)
  const single = await openMainThread(join(folder, 'single'))
  const groupDebit = debitThrough(grouped)
  const [s, g, hotSingle, hotGroup, moveSingle, moveGroup] = await compare([
    { settings: single.settings, debit: single.debit },
    { settings: groupedSettings, debit: groupDebit },
    { settings: single.settings.map(() => single.settings[0]!), debit: single.debit },
    { settings: groupedSettings.map(() => groupedSettings[0]!), debit: groupDebit },
    { settings: single.settings, debit: single.move },
    { settings: groupedSettings, debit: moveThrough(grouped) },
  ])
  printTable(
    `Durable double-entry debits (reserveAttempt), SQLite, ${CLIENTS} clients, medians of ${ROUNDS} interleaved rounds\n` +
      '(target: at least 4 times, loop p99 under 10 ms)',
    head,
    [
      cells('64 accounts: one commit per debit, main thread', s!, '1.00'),
      cells('64 accounts: group commit, store thread', g!, (g!.perSecond / s!.perSecond).toFixed(2)),
      cells('one account: one commit per debit, main thread', hotSingle!, '1.00'),
      cells(
        'one account: group commit, store thread',
        hotGroup!,
        (hotGroup!.perSecond / hotSingle!.perSecond).toFixed(2),
      ),
      cells('64 accounts, double entry alone: one commit each, main thread', moveSingle!, '1.00'),
      cells(
        '64 accounts, double entry alone: group commit, store thread',
        moveGroup!,
        (moveGroup!.perSecond / moveSingle!.perSecond).toFixed(2),
      ),
    ],
  )
  single.close()
  await benchActionsAcross('SQLite', grouped)
  await grouped.close()

  const sizes = [10_000, 1_000_000]
  const filled: Store[] = []
  for (const size of sizes) {
    const dataDir = join(folder, `filled-${size}`)
    await (await open(dataDir)).close()
    preload(dataDir, size)
    filled.push(await open(dataDir))
  }
  const settings = await Promise.all(filled.map((store) => addSettings(store, CLIENTS)))
  const many = await compare(
    filled.map((store, i) => ({ settings: settings[i]!, debit: debitThrough(store) })),
  )
  const one = await compare(
    filled.map((store, i) => ({ settings: settings[i]!.slice(0, 1), debit: attemptThrough(store) })),
  )
  const rows = (rounds: readonly Round[], name: string) =>
    rounds.map((round, i) =>
      cells(`${name}, ${sizes[i]} attempts stored`, round, (round.p50Ms / rounds[0]!.p50Ms).toFixed(2)),
    )
  printTable('The same with attempts in the store (target: latency within 20 %; ratio of p50)', head, [
    ...rows(many, 'debit, 64 clients'),
    ...rows(one, 'whole attempt, 1 client'),
  ])
  for (const store of filled) await store.close()

  await benchClaims()
  await benchActions((name) => open(join(folder, name)), folder)

  const server = await startPostgres()
  try {
    const postgres = await open(join(folder, 'postgres'), server.url)
    const own = await addSettings(postgres, CLIENTS)
    const hot = own.map(() => own[0]!)
    const debit = debitThrough(postgres)
    const [apart, together] = await compare([
      { settings: own, debit },
      { settings: hot, debit },
    ])
    printTable(`PostgreSQL on the same machine, ${CLIENTS} clients (CPU of the gateway only)`, head, [
      cells('debit, an account per client', apart!),
      cells('debit, one hot account', together!),
    ])
    await benchActionsAcross('PostgreSQL on the same machine', postgres)
    await postgres.close()
  } finally {
    await server.stop()
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
