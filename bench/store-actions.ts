// Permits in the store: prepared, executed and looked for, with few and with a million of them there; and edge calls,
// beside the debit of a fetch. Part of bench/store.ts.
import { join } from 'node:path'
import { newId } from '../src/lib/ids.ts'
import type { NewPermit, Store } from '../src/store/ports.ts'
import {
  addGrant,
  edgeCall,
  execution,
  type Grant,
  HOUR_MS,
  newPermit,
} from '../test/support/store-actions.ts'
import { addSetting, reservation, type Setting } from '../test/support/store.ts'
import { preloadPermits } from './preload.ts'
import { type Ask, type Candidate, cells, compare, head } from './rounds.ts'
import { printTable } from './support.ts'

const CLIENTS = 64
const CREDITS = 1_000_000_000
const BOOT = 'bench'
/** Executions that one client has permits for in a round. */
const PERMITS = 150

interface Holder {
  readonly setting: Setting
  readonly grant: Grant
  readonly permits: NewPermit[]
}

async function addHolders(store: Store, count: number): Promise<Holder[]> {
  const holders: Holder[] = []
  for (let i = 0; i < count; i++) {
    const limits = { maxCalls: null, maxCredits: CREDITS, expiresAt: Date.now() + HOUR_MS }
    const grant = await addGrant(store, CREDITS, limits)
    holders.push({ setting: await addSetting(store, CREDITS), grant, permits: [] })
  }
  return holders
}

const prepare = async (store: Store, grant: Grant): Promise<NewPermit> => {
  const now = Date.now()
  const permit = newPermit(grant, { id: newId('pmt', now), createdAt: now, expiresAt: now + 300_000 })
  const result = await store.preparePermit({ permit, needsBalance: 1, now })
  if (!result.ok) throw new Error(result.reason)
  return permit
}
const prepareThrough =
  (store: Store): Ask<Holder> =>
  ({ grant }) =>
    prepare(store, grant)

/** As a request finds it: the row of the capability, then the debit. */
const fetchThrough =
  (store: Store): Ask<Holder> =>
  async ({ setting }) => {
    if (!(await store.findCapability(setting.capability.tokenHash))) throw new Error('not found')
    const now = Date.now()
    const input = reservation(setting, BOOT, { id: newId('att', now), createdAt: now })
    // Capabilities of the test support are as old as its clock.
    const result = await store.reserveAttempt({ ...input, transactionId: newId('txn', now) })
    if (!result.ok) throw new Error(result.reason)
  }

/** As a request finds them: the row of the permit, then its debit. False when its permits are used up. */
const executeThrough =
  (store: Store): Ask<Holder> =>
  async ({ permits }) => {
    const permit = permits.pop()
    if (!permit) return false
    if (!(await store.getPermit(permit.id))) throw new Error('not found')
    const now = Date.now()
    const input = execution(permit, BOOT, { id: newId('att', now), createdAt: now })
    const result = await store.reserveAction({ ...input, transactionId: newId('txn', now), now })
    if (!result.ok) throw new Error(result.reason)
    return true
  }
const executing = (store: Store, settings: readonly Holder[]): Candidate<Holder> => ({
  settings,
  debit: executeThrough(store),
  fill: () =>
    Promise.all(
      settings.map(async ({ grant, permits }) => {
        while (permits.length < PERMITS) permits.push(await prepare(store, grant))
      }),
    ),
})

const edgeThrough =
  (store: Store): Ask<Holder> =>
  async ({ grant }) => {
    const now = Date.now()
    const input = edgeCall(grant.accountId, BOOT, { id: newId('att', now), createdAt: now })
    const result = await store.reserveEdgeCall({ ...input, transactionId: newId('txn', now), now })
    if (!result.ok) throw new Error(result.reason)
  }

/** What each kind of attempt costs until it is paid, beside the debit of a fetch. */
export async function benchActionsAcross(place: string, store: Store): Promise<void> {
  const holders = await addHolders(store, CLIENTS)
  const rounds = await compare([
    { settings: holders, debit: fetchThrough(store) },
    executing(store, holders),
    { settings: holders, debit: edgeThrough(store) },
    { settings: holders, debit: prepareThrough(store) },
  ])
  const names = [
    'fetch: findCapability + reserveAttempt',
    'execution: getPermit + reserveAction',
    'reserveEdgeCall',
    'preparePermit',
  ]
  printTable(
    `Debits by kind, ${place}, ${CLIENTS} clients (ratio of CPU)`,
    head,
    rounds.map((round, i) => cells(names[i]!, round, (round.cpuMs / rounds[0]!.cpuMs).toFixed(2))),
  )
}

/** SQLite: the kinds beside each other, then with 1,000 and 1,000,000 permits in the store. */
export async function benchActions(
  open: (name: string) => Promise<Store>,
  folder: string,
  sizes: readonly number[] = [1000, 1_000_000],
): Promise<void> {
  const filled: { store: Store; holders: Holder[] }[] = []
  for (const size of sizes) {
    const name = `permits-${size}`
    await (await open(name)).close()
    preloadPermits(join(folder, name), size)
    const store = await open(name)
    filled.push({ store, holders: await addHolders(store, 1) })
  }
  const table: string[][] = []
  const measure = async (name: string, candidates: readonly Candidate<Holder>[]) => {
    const rounds = await compare(candidates)
    for (const [i, round] of rounds.entries()) {
      const ratio = (round.p50Ms / rounds[0]!.p50Ms).toFixed(2)
      table.push(cells(`${name}, ${sizes[i]} permits stored`, round, ratio, 3))
    }
  }
  await measure(
    'execution, 1 client',
    filled.map(({ store, holders }) => executing(store, holders)),
  )
  await measure(
    'preparePermit, 1 client',
    filled.map(({ store, holders }) => ({ settings: holders, debit: prepareThrough(store) })),
  )
  await measure(
    'reserveEdgeCall, 1 client',
    filled.map(({ store, holders }) => ({ settings: holders, debit: edgeThrough(store) })),
  )
  printTable('Permits in the store (target: latency within 20 %; ratio of p50)', head, table)
  for (const { store } of filled) await store.close()
}
