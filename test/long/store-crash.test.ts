// kill -9 at any moment loses nothing that was acknowledged, and what was under way is settled at the next start.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import type { ClaimState, PermitState, Store } from '../../src/store/ports.ts'
import type { AttemptState } from '../../src/store/model.ts'
import { addAccount, addSetting, NOW, type Place, resultOf, type Setting, usesOf } from '../support/store.ts'
import { addGrant, type Grant } from '../support/store-actions.ts'
import { expectSound } from '../support/sound.ts'
import { createPlaceWith, PLACES } from '../support/useless-locks.ts'

const MORE_KILLS = 6
const writer = new URL('../support/store-writer.ts', import.meta.url).pathname
const children = new Set<ChildProcess>()
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
})

interface Acknowledged {
  readonly state: AttemptState | ClaimState | PermitState | 'charged' | 'receipted' | 'returned'
  readonly receiptId: string | undefined
}

/** Lets a process write and kills it in the middle, after `count` acknowledgements. */
async function writeAndKill(
  place: Place,
  accounts: { setting: Setting; grant: Grant; buyerId: string; callerId: string },
  count: number,
): Promise<Map<string, Acknowledged>> {
  const { dataDir, databaseUrl } = place.config
  const input = JSON.stringify({ dataDir, databaseUrl, ...accounts })
  const child = spawn(process.execPath, [writer, input], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.add(child)
  const exited = once(child, 'exit')
  const known = new Map<string, Acknowledged>()
  let left = count
  for await (const line of createInterface({ input: child.stdout })) {
    const [state, id, receiptId] = line.split(' ')
    known.set(id!, { state: state as Acknowledged['state'], receiptId })
    // Lines that were written before the kill are still read: they count as acknowledged too.
    if (--left === 0) child.kill('SIGKILL')
  }
  expect(await exited).toEqual([null, 'SIGKILL'])
  children.delete(child)
  return known
}

/** A permit that was acknowledged is there, and one whose execution was acknowledged can never be executed again. */
async function checkPermits(store: Store, known: Map<string, Acknowledged>): Promise<void> {
  for (const [id, { state }] of known) {
    const permit = await store.getPermit(id)
    expect(state === 'executed' ? ['executed'] : ['ready', 'executed'], id).toContain(permit?.state)
  }
}

/** A charge stands where it has a receipt, and nowhere else: then it is neither taken nor given back again. */
async function checkCharges(
  store: Store,
  accountId: string,
  known: Map<string, Acknowledged>,
): Promise<void> {
  const debit = { accountId, amount: 2, bootId: 'check', reference: 'call', now: NOW }
  const balance = await store.balance(accountId)
  for (const [transactionId, { state, receiptId }] of known) {
    const { ok } = await store.debitCredits({ ...debit, transactionId })
    if (state === 'receipted') expect(ok, transactionId).toBe(true)
    if (state === 'returned') expect(ok, transactionId).toBe(false)
    if (receiptId !== undefined) expect(await store.getReceipt(receiptId), transactionId).toBeDefined()
    expect((await store.refundCredits({ transactionId, now: NOW })).ok, transactionId).toBe(false)
  }
  expect(await store.balance(accountId)).toBe(balance)
}

/** What was acknowledged of payments is there; what was under way is canceled, or unknown with its result. */
async function checkClaims(store: Store, known: Map<string, Acknowledged>): Promise<void> {
  for (const [id, { state, receiptId }] of known) {
    const claim = await store.getClaim(id)
    expect(claim, `${state} ${id}`).toBeDefined()
    if (state === 'claimed') expect(['canceled', 'unknown', 'settled']).toContain(claim!.state)
    if (state === 'submitted') expect(['unknown', 'settled']).toContain(claim!.state)
    if (state === 'settled') expect(claim).toMatchObject({ state, receiptId })
    if (claim!.state === 'canceled') expect(await store.findClaim(claim!)).toBeUndefined()
    else {
      expect(await store.findClaim(claim!)).toEqual(claim)
      expect(await store.getClaimResult(id)).toEqual(resultOf())
    }
    if (claim!.receiptId !== null) expect(await store.getReceipt(claim!.receiptId)).toBeDefined()
  }
}

// Where leases are rows, each time takes as long as a lease lasts.
const KILLS = { 'its own': 22, 'of use': 5, void: 2 }

describe.each(PLACES)('kill -9 with %s and locks that are %s', (...kind) => {
  const [engine, locks] = kind
  const kills = KILLS[locks]
  it(`keeps everything acknowledged, ${kills} times`, async () => {
    const place = await createPlaceWith(kind, 'crash')
    try {
      const first = await place.open()
      const setting = await addSetting(first, 1_000_000)
      const { accountId, capability } = setting
      const unlimited = { maxCalls: null, maxCredits: 1_000_000, expiresAt: NOW + 86_400_000 }
      const grant = await addGrant(first, 1_000_000, unlimited)
      const buyerId = await addAccount(first, 0)
      const callerId = await addAccount(first, 1_000_000)
      await first.close()
      let charged = 0
      let executed = 0
      let paid = 0
      let called = 0
      // Some of each kind, or the checks saw nothing. How many come in a given time is the machine's affair: it goes on longer.
      const hasSeenAll = () => charged > 0 && executed > 0 && paid > 0 && called > 0
      for (let kill = 0; kill < kills || (kill < kills + MORE_KILLS && !hasSeenAll()); kill++) {
        // A different moment each time, in the start-up phase of the file as well as in the middle of its life.
        const count = kill < kills ? 1 + ((kill * 37) % 211) : 500 * (kill - kills + 1)
        const known = await writeAndKill(place, { setting, grant, buyerId, callerId }, count)
        const bootId = `check-${kill}`
        const store = await place.open(bootId)
        const recovered = { refunded: 0, ambiguous: 0, canceled: 0, unknown: 0 }
        // PostgreSQL notices a dead client when it next turns to it: its last transaction may still be ending.
        await expect
          .poll(async () => {
            const { refunded, ambiguous } = await store.recoverAttempts({ bootId, now: NOW })
            recovered.refunded += refunded.length
            recovered.ambiguous += ambiguous.length
            const { canceled, unknown } = await store.recoverClaims({ bootId, now: NOW })
            recovered.canceled += canceled
            recovered.unknown += unknown
            await store.recoverDebits({ bootId, now: NOW })
            const unfinished = await place.query(
              `SELECT id FROM attempts WHERE state IN ('reserved', 'sending')
               UNION ALL SELECT id FROM payment_claims WHERE state IN ('claimed', 'submitted')
               UNION ALL SELECT transaction_id FROM open_debits`,
            )
            return unfinished.length
          })
          .toBe(0)
        const of = (prefix: string) => new Map([...known].filter(([id]) => id.startsWith(prefix)))
        await checkClaims(store, of('clm_'))
        await checkPermits(store, of('pmt_'))
        await checkCharges(store, callerId, of('txn_'))
        for (const [id, { state, receiptId }] of of('att_')) {
          const attempt =
            (await store.getAttempt(id, accountId)) ?? (await store.getAttempt(id, grant.accountId))
          expect(attempt, `${state} ${id}`).toBeDefined()
          // A later step may have been committed without having been acknowledged.
          if (state === 'settled') expect(attempt).toMatchObject({ state, receiptId })
          if (state === 'sending') expect(['ambiguous', 'settled']).toContain(attempt!.state)
          if (attempt!.receiptId !== null) expect(await store.getReceipt(attempt!.receiptId)).toBeDefined()
        }
        const countCharged = async (payer: string) => {
          const [row] = await place.query(
            `SELECT CAST(count(*) AS INTEGER) AS count FROM attempts
             WHERE state IN ('settled', 'ambiguous') AND account_id = '${payer}'`,
          )
          return Number(row!['count'])
        }
        charged = await countCharged(accountId)
        expect(await store.balance(accountId)).toBe(1_000_000 - charged)
        executed = await countCharged(grant.accountId)
        expect(await store.balance(grant.accountId)).toBe(1_000_000 - executed)
        const settled = await place.query(
          `SELECT CAST(count(*) AS INTEGER) AS count, CAST(COALESCE(sum(purchase_credits), 0) AS INTEGER) AS credits
           FROM payment_claims WHERE state = 'settled'`,
        )
        paid = Number(settled[0]!['count'])
        expect(await store.balance(buyerId)).toBe(Number(settled[0]!['credits']))
        // Whatever was under way: one receipt, one charge.
        const receipts = await place.query(
          `SELECT CAST(count(*) AS INTEGER) AS count FROM receipts WHERE account_id = '${callerId}'`,
        )
        called = Number(receipts[0]!['count'])
        expect(await store.balance(callerId)).toBe(1_000_000 - 2 * called)
        expect(await usesOf(store, capability)).toBeGreaterThanOrEqual(charged)
        await expectSound(place)
        expect(recovered.refunded + recovered.ambiguous).toBeLessThanOrEqual(9)
        expect(recovered.canceled + recovered.unknown).toBeLessThanOrEqual(6)
        await store.close()
        if (engine === 'sqlite')
          expect(await place.query('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
      }
      expect({ charged, executed, paid, called, hasSeenAll: hasSeenAll() }).toMatchObject({
        hasSeenAll: true,
      })
    } finally {
      await place.remove()
    }
  })
})

describe('the store thread', () => {
  it('takes the process with it when it fails, with a non-zero exit code', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-worker-'))
    try {
      // A thread that starts well and fails at its first command.
      const workerFile = join(folder, 'worker.mjs')
      await writeFile(
        workerFile,
        `import { workerData } from 'node:worker_threads'
         import { DatabaseSync } from 'node:sqlite'
         new DatabaseSync(workerData.file).exec('PRAGMA journal_mode = WAL')
         workerData.port.on('message', () => { throw new Error('disk on fire') })
         workerData.port.postMessage({ ready: true })`,
      )
      const storeModule = new URL('../../src/store/sqlite/store.ts', import.meta.url).href
      const logModule = new URL('../../src/lib/log.ts', import.meta.url).href
      const program = `
        import { openSqliteStore } from ${JSON.stringify(storeModule)}
        import { createLogger } from ${JSON.stringify(logModule)}
        const store = await openSqliteStore({
          dataDir: ${JSON.stringify(folder)}, log: createLogger('info'),
          workerUrl: new URL(${JSON.stringify(`file://${workerFile}`)}),
        })
        process.on('unhandledRejection', () => {})
        setInterval(() => {}, 1000)
        console.log('answered', await store.listPublishedKeys())`
      const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      children.add(child)
      const [said, logged, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'exit') as Promise<[number | null]>,
      ])
      children.delete(child)
      expect(said).toBe('')
      expect(logged).toMatch(/the store thread failed: the process ends/)
      expect(logged).not.toMatch(/disk on fire/)
      expect(code).toBe(70)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
