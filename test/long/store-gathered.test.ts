// A group of calls in one statement of PostgreSQL is what the reference does with them one after the other: the same answers and rows; and
// what the group leaves to be asked for alone is only what could not all be had.
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids.ts'
import { all, type Command, type Row } from '../../src/store/command.ts'
import type { Reservation } from '../../src/store/commands/attempts.ts'
import { storeOf } from '../../src/store/engine-store.ts'
import { debitTogether, settleTogether } from '../../src/store/postgres/gathered/charges.ts'
import { finishTogether } from '../../src/store/postgres/gathered/endings.ts'
import { reserveTogether } from '../../src/store/postgres/gathered/reservations.ts'
import { createPool, type Pool, runDirect } from '../../src/store/postgres/pool.ts'
import type { Store } from '../../src/store/ports.ts'
import { BUDGET_PERIODS, BUDGET_UNITS } from '../../src/store/ports/budgets.ts'
import { type DirectStore, openDirectStore } from '../support/direct-store.ts'
import { referenceCommands } from '../support/reference-commands.ts'
import {
  addAccount,
  addCapability,
  addCredential,
  addSetting,
  createPlace,
  ending,
  log,
  NOW,
  type Place,
  receiptFor,
  reservation,
  times,
} from '../support/store.ts'

const BOOT = 'boot-1'
const RUNS = 150

let reference: DirectStore
let place: Place
let pool: Pool
/** Does everything on the reference and on PostgreSQL. */
let both: Store
beforeAll(async () => {
  reference = await openDirectStore()
  place = await createPlace('postgres', 'gathered')
  const store = await place.open(BOOT)
  pool = createPool({ url: place.config.databaseUrl! }, log, 2)
  both = storeOf({
    engine: 'postgres',
    async run(name, args) {
      const start = referenceCommands[name] as (...args: unknown[]) => Command<unknown>
      const method = store[name] as (...args: unknown[]) => Promise<unknown>
      await method(...args)
      return reference.drive(start(...args))
    },
    health: () => store.health(),
    close: async () => {},
  })
})
afterAll(async () => {
  await pool.end()
  await place.remove()
  await reference.remove()
})

const rarely = <T>(usual: T, other: T) =>
  fc.oneof({ arbitrary: fc.constant(usual), weight: 15 }, { arbitrary: fc.constant(other), weight: 1 })
const limits = fc.uniqueArray(
  fc.record({
    unit: fc.constantFrom(...BUDGET_UNITS),
    period: fc.constantFrom(...BUDGET_PERIODS),
    max: fc.integer({ min: 1, max: 4 }),
  }),
  { selector: ({ unit, period }) => `${unit} ${period}`, maxLength: 2 },
)
const budgets = fc.oneof(
  fc.constant({ root: [], child: [], credential: [] }),
  fc.record({ root: limits, child: limits, credential: limits }),
)
const uses = fc.constantFrom(null, null, 1, 2, 3)
const worlds = fc.record({
  accounts: fc.tuple(
    ...[0, 1].map(() =>
      fc.record({
        credits: fc.integer({ min: 0, max: 4 }),
        rootUses: uses,
        childUses: uses,
        budgets,
        used: fc.integer({ min: 0, max: 1 }),
        lifetimeMs: rarely(1, 0),
        isChildRevoked: rarely(false, true),
        isRootRevoked: rarely(false, true),
        isRotated: rarely(false, true),
        isCredentialRevoked: rarely(false, true),
      }),
    ),
  ),
  calls: fc.array(
    fc.record({
      of: fc.integer({ min: 0, max: 1 }),
      by: fc.constantFrom('root', 'child', 'child'),
      /** How long before the hour, the day and the month begin. */
      beforeMs: rarely(0, 1),
      cost: fc.integer({ min: 0, max: 2 }),
      version: rarely(1, 2),
      account: rarely<string | undefined>(undefined, 'acct_none'),
      capability: rarely<string | undefined>(undefined, 'cap_none'),
      /** With the credential of the other account. */
      crosses: rarely(false, true),
    }),
    { minLength: 2, maxLength: 12 },
  ),
})
type World = typeof worlds extends fc.Arbitrary<infer W> ? W : never

async function addParty(party: World['accounts'][number]) {
  const accountId = await addAccount(both, party.credits)
  const credential = await addCredential(both, accountId, party.budgets.credential)
  const root = await addCapability(
    both,
    credential,
    { maxUses: party.rootUses, uses: party.used },
    party.budgets.root,
  )
  const below = { parentId: root.id, maxUses: party.childUses, expiresAt: NOW + party.lifetimeMs }
  const child = await addCapability(both, credential, below, party.budgets.child)
  if (party.isChildRevoked) await both.revokeCapability({ id: child.id, accountId, now: NOW })
  if (party.isRootRevoked) await both.revokeCapability({ id: root.id, accountId, now: NOW })
  const { id, sealed } = credential
  if (party.isRotated) await both.rotateCredential({ id, accountId, fromVersion: 1, sealed, now: NOW })
  if (party.isCredentialRevoked) await both.revokeCredential({ id, accountId, now: NOW })
  const isBudgeted = Object.values(party.budgets).some((of) => of.length > 0)
  return { accountId, credential, root, child, isBudgeted }
}

const textOf = (rows: readonly Row[]) =>
  rows
    .map(({ listed: _listed, ...row }) =>
      Object.entries(row)
        .map(
          ([name, value]) =>
            `${name} ${value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)}`,
        )
        .toSorted()
        .join(),
    )
    .toSorted()
/** Rows of these accounts, in both. */
async function expectSameRows(accountIds: readonly string[]): Promise<void> {
  const ids = accountIds.map((id) => `'${id}'`).join()
  const ofThem = {
    accounts: `id IN (${ids})`,
    capabilities: `account_id IN (${ids})`,
    attempts: `account_id IN (${ids})`,
    receipts: `account_id IN (${ids})`,
    budgets: `holder IN (SELECT id FROM capabilities WHERE account_id IN (${ids}) UNION ALL SELECT id FROM credentials WHERE account_id IN (${ids}))`,
    open_debits: `transaction_id IN (SELECT transaction_id FROM ledger_entries WHERE account IN (${ids}))`,
    ledger_entries: `account IN (${ids}) OR reference IN (SELECT id FROM attempts WHERE account_id IN (${ids}))`,
  }
  for (const [table, condition] of Object.entries(ofThem)) {
    const text = `SELECT * FROM ${table} WHERE ${condition}`
    expect(textOf((await pool.query<Row>(text)).rows), table).toEqual(textOf(reference.drive(all<Row>(text))))
  }
}

it('reserves and ends a group as the reference does one by one', async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(worlds, async ({ accounts, calls }) => {
      const parties: Awaited<ReturnType<typeof addParty>>[] = []
      for (const account of accounts) parties.push(await addParty(account))
      const accountIds = parties.map(({ accountId }) => accountId)
      const inputs = calls.map((call): Reservation => {
        const { accountId, credential, root, child, isBudgeted } = parties[call.of]!
        const setting = {
          accountId: call.account ?? accountId,
          credential: call.crosses ? parties[1 - call.of]!.credential : credential,
          capability: call.capability === undefined ? { root, child }[call.by] : { id: call.capability },
        }
        const over = {
          id: newId('att'),
          credentialVersion: call.version,
          state: 'sending' as const,
          sendingAt: NOW,
        }
        const now = NOW - call.beforeMs
        return { ...reservation(setting, BOOT, over), cost: call.cost, isBudgeted, now }
      })

      const answers = await runDirect(pool, () => reserveTogether(inputs))
      expect(answers).toHaveLength(inputs.length)
      // Whoever is refused came first.
      const told = [...answers.entries()].flatMap(([n, answer]) =>
        answer ? [{ input: inputs[n]!, answer }] : [],
      )
      for (const { input, answer } of told.toSorted((a, b) => Number(a.answer.ok) - Number(b.answer.ok))) {
        expect(reference.drive(referenceCommands.reserveAttempt(input))).toEqual(answer)
        seen.add(answer.ok ? 'paid' : answer.reason)
      }
      await expectSameRows(accountIds)

      const ends = inputs.map(({ attempt }) => ending(attempt, BOOT))
      const ended = await runDirect(pool, () => finishTogether(ends))
      for (const [n, end] of ends.entries()) {
        const expected = reference.drive(referenceCommands.finishAttempt(end))
        expect(ended[n]).toEqual(expected.ok ? expected : undefined)
      }
      await expectSameRows(accountIds)

      // Of those that were left alone some are refused, or there was no reason to leave them.
      const left = inputs.filter((_, n) => answers[n] === undefined)
      if (left.length === 0) return
      const results = []
      for (const input of left) results.push(await both.reserveAttempt(input))
      const refused = results.flatMap((result) => (result.ok ? [] : [result.reason]))
      // A group with budgets is of one hour; those of another one are left alone for that.
      const isOfOneHour = new Set(inputs.map(({ now }) => now)).size === 1
      if (isOfOneHour || !inputs.some(({ isBudgeted }) => isBudgeted)) expect(refused).not.toEqual([])
      for (const reason of refused) seen.add(`left alone: ${reason}`)
    }),
    { numRuns: RUNS },
  )
  expect([...seen]).toEqual(
    expect.arrayContaining([
      'paid',
      'credits',
      'credential_gone',
      'credential_changed',
      'capability_gone',
      'capability_used_up',
      'left alone: credits',
      'left alone: capability_used_up',
      'left alone: budget',
    ]),
  )
})

const debits = fc.record({
  credits: fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 })),
  calls: fc.array(
    fc.record({
      of: fc.integer({ min: 0, max: 1 }),
      amount: fc.integer({ min: 1, max: 3 }),
      by: fc.constantFrom('nobody', 'agent', 'agent', 'budgeted'),
      account: rarely<string | undefined>(undefined, 'acct_none'),
      /** Asked for in an earlier group, and perhaps given back since. */
      before: fc.constantFrom('never', 'never', 'never', 'never', 'never', 'never', 'debited', 'refunded'),
      isSettled: rarely(true, false),
    }),
    { minLength: 2, maxLength: 12 },
  ),
})

const FIND_ENTRY = 'SELECT 1 FROM ledger_entries WHERE transaction_id = $1'

it('debits and settles a group as the reference does one by one', async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(debits, async ({ credits, calls }) => {
      const parties: { accountId: string; agent: string; budgeted: string }[] = []
      for (const amount of credits) {
        const accountId = await addAccount(both, amount)
        const credential = await addCredential(both, accountId)
        const agent = await addCapability(both, credential)
        const budgeted = await addCapability(both, credential, {}, [
          { unit: 'credits', period: 'day', max: 2 },
        ])
        parties.push({ accountId, agent: agent.id, budgeted: budgeted.id })
      }
      const accountIds = parties.map(({ accountId }) => accountId)
      const inputs = calls.map(({ of, amount, by, account }) => ({
        accountId: account ?? parties[of]!.accountId,
        amount,
        transactionId: newId('txn'),
        bootId: BOOT,
        reference: 'gateway.example.call',
        ...(by !== 'nobody' && { capabilityId: parties[of]![by] }),
        now: NOW,
      }))
      const known = new Set<number>()
      for (const [n, { before }] of calls.entries()) {
        if (before === 'never') continue
        await both.debitCredits(inputs[n]!)
        if ((await pool.query(FIND_ENTRY, [inputs[n]!.transactionId])).rows.length > 0) known.add(n)
        if (before === 'refunded')
          await both.refundCredits({ transactionId: inputs[n]!.transactionId, now: NOW })
      }

      const answers = await runDirect(pool, () => debitTogether(inputs))
      const told = [...answers.entries()].flatMap(([n, answer]) => (answer ? [{ n, answer }] : []))
      for (const { n, answer } of told.toSorted((a, b) => Number(a.answer.ok) - Number(b.answer.ok))) {
        expect(reference.drive(referenceCommands.debitCredits(inputs[n]!))).toEqual(answer)
        seen.add(answer.ok ? 'paid' : 'refused')
        expect(known).not.toContain(n)
        expect(calls[n]!.by).not.toBe('budgeted')
      }
      await expectSameRows(accountIds)

      const ends = calls.flatMap(({ isSettled }, n) =>
        isSettled
          ? [
              {
                transactionId: inputs[n]!.transactionId,
                receipt: receiptFor(parties[calls[n]!.of]!.accountId),
              },
            ]
          : [],
      )
      const ended = await runDirect(pool, () => settleTogether(ends))
      for (const [n, end] of ends.entries()) {
        expect(reference.drive(referenceCommands.settleDebit(end))).toBe(ended[n] ?? false)
        seen.add(ended[n] ? 'settled' : 'was not open')
      }
      await expectSameRows(accountIds)

      for (const [n, input] of inputs.entries()) {
        if (answers[n] !== undefined) continue
        const { ok, budget } = await both.debitCredits(input)
        seen.add(`left alone: ${budget ? 'budget' : ok}`)
      }
      await expectSameRows(accountIds)
    }),
    { numRuns: RUNS },
  )
  expect([...seen]).toEqual(
    expect.arrayContaining([
      'paid',
      'refused',
      'settled',
      'was not open',
      'left alone: true',
      'left alone: false',
      'left alone: budget',
    ]),
  )
})

it('tells every one of a group that is cut off that nobody knows, does it for none, and goes on', async () => {
  const store = await place.open('boot-2')
  const setting = await addSetting(store, 50)
  const other = await addSetting(store, 50)
  const blocker = new pg.Client({ connectionString: place.config.databaseUrl })
  await blocker.connect()
  try {
    await blocker.query('BEGIN')
    await blocker.query('SELECT balance FROM accounts WHERE id IN ($1, $2) ORDER BY id FOR UPDATE', [
      setting.accountId,
      other.accountId,
    ])
    let isOver = false
    const ends = Promise.allSettled(
      times(20, (i) => store.reserveAttempt(reservation(i % 2 === 0 ? setting : other, 'boot-2'))),
    ).finally(() => (isOver = true))
    // Whoever waits for the rows has his session ended by the server, until nobody does: a group that is not seen while it waits gives up,
    // and its owners wait apart. The server answers when those sessions are gone, so that none of them is used once more.
    let cut = 0
    await expect
      .poll(
        async () => {
          const { rows } = await pool.query<{ count: number }>(
            `SELECT count(pg_terminate_backend(pid, 10000)) AS count FROM pg_stat_activity
             WHERE wait_event_type = 'Lock' AND query LIKE '%json_to_recordset%' AND datname = current_database()`,
          )
          cut += rows[0]!.count
          return isOver
        },
        { interval: 10 },
      )
      .toBe(true)
    expect(cut).toBeGreaterThan(0)
    // By the end of the session, and not because somebody asked once more and waited in vain.
    const reason = { code: 'store_unavailable', reason: expect.stringMatching(/57P01|connection/) as string }
    for (const end of await ends) expect(end).toMatchObject({ status: 'rejected', reason })
    await blocker.query('ROLLBACK')
  } finally {
    await blocker.end()
  }
  for (const { accountId } of [setting, other]) expect(await store.balance(accountId)).toBe(50)
  const again = times(20, (i) => store.reserveAttempt(reservation(i % 2 === 0 ? setting : other, 'boot-2')))
  expect((await Promise.all(again)).every(({ ok }) => ok)).toBe(true)
  for (const { accountId } of [setting, other]) expect(await store.balance(accountId)).toBe(40)
})
