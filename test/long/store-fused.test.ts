// What PostgreSQL does in one statement is what the reference does step by step: answers, reasons and rows are the same.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { all, type Command, type Row } from '../../src/store/command.ts'
import { storeOf } from '../../src/store/engine-store.ts'
import type { Store } from '../../src/store/ports.ts'
import { type DirectStore, openDirectStore } from '../support/direct-store.ts'
import { referenceCommands } from '../support/reference-commands.ts'
import {
  everyEnding,
  execute,
  executions,
  fetched,
  goThrough,
  situations,
} from '../support/store-situations.ts'
import { createPlace, NOW, type Place } from '../support/store.ts'

const RUNS = 100

let reference: DirectStore
let place: Place
let store: Store
/** Does everything on the reference and on PostgreSQL, and answers when they agree. */
let both: Store
beforeAll(async () => {
  reference = await openDirectStore()
  place = await createPlace('postgres', 'fused')
  store = await place.open('boot-1')
  both = storeOf({
    engine: 'postgres',
    async run(name, args) {
      const start = referenceCommands[name] as (...args: unknown[]) => Command<unknown>
      const method = store[name] as (...args: unknown[]) => Promise<unknown>
      const expected = reference.drive(start(...args))
      expect(await method(...args)).toEqual(expected)
      return expected
    },
    health: () => store.health(),
    close: async () => {},
  })
})
afterAll(async () => {
  await place.remove()
  await reference.remove()
})

async function revokeRow(id: string): Promise<void> {
  reference.drive(all('UPDATE credentials SET revoked_at = $1 WHERE id = $2', NOW, id))
  await place.query(`UPDATE credentials SET revoked_at = ${NOW} WHERE id = '${id}'`)
}

/** Rows as texts: one engine has integers of 64 bits and bytes of its own, the other has not. */
const toText = (value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)
const plain = (rows: readonly Row[]) =>
  rows
    .map(({ listed: _listed, ...row }) =>
      Object.entries(row)
        .map(([name, value]) => `${name} ${toText(value)}`)
        .toSorted()
        .join(),
    )
    .toSorted()

async function expectSameRows(): Promise<void> {
  for (const table of [
    'accounts',
    'capabilities',
    'mandates',
    'permits',
    'ledger_entries',
    'attempts',
    'receipts',
    'action_counts',
    'budgets',
  ]) {
    const expected = reference.drive(all<Row>(`SELECT * FROM ${table}`))
    expect(expected.length, table).toBeGreaterThan(0)
    expect(plain(await place.query(`SELECT * FROM ${table}`)), table).toEqual(plain(expected))
  }
}

describe('the fused statements of PostgreSQL', () => {
  it('answer and write what a fetch does step by step', async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(situations, async (situation) => {
        // The statement is that of fetches; no other command reserves with a capability.
        seen.add((await goThrough(both, { ...situation, kind: 'fetch' }, revokeRow)).slice(0, 2).join())
      }),
      { numRuns: RUNS + 1, examples: [[fetched]] },
    )
    expect(seen).toEqual(new Set(['true,true', 'true,false', 'false,false']))
  })

  it('answer and write what an execution does step by step', async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(executions, async (one) => {
        for (const result of await execute(both, { ...one, capabilityId: null })) seen.add(result)
      }),
      { numRuns: RUNS + everyEnding.length, examples: everyEnding.map((one) => [one]) },
    )
    expect(seen).toEqual(
      new Set(['ok', 'permit', 'mandate_gone', 'credential_gone', 'credential_changed', 'credits', 'budget']),
    )
    await expectSameRows()
  })
})
