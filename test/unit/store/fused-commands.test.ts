// What the embedded store does in fewer statements is what the reference does step by step: both run on twins, in every case.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { all, type Command, type Row } from '../../../src/store/command.ts'
import type { CommandName } from '../../../src/store/commands/index.ts'
import { storeOf } from '../../../src/store/engine-store.ts'
import type { Store } from '../../../src/store/ports.ts'
import { LEDGER, mergeAttempts, mergeEntries } from '../../../src/store/sqlite/write-behind.ts'
import { sqliteCommands } from '../../../src/store/sqlite/fused.ts'
import { referenceCommands } from '../../support/reference-commands.ts'
import { type DirectStore, openDirectStore } from '../../support/direct-store.ts'
import { addSetting, ending, NOW, receiptFor, reservation } from '../../support/store.ts'
import { everyEnding, execute, executions, goThrough, situations } from '../../support/store-situations.ts'
import { addGrant, addPermit, execution } from '../../support/store-actions.ts'

const BOOT = 'boot-1'
type Start = (...args: unknown[]) => Command<unknown>

let twins: readonly [plain: DirectStore, fused: DirectStore]
/** Does everything on both, and answers when they agree. */
let both: Store
beforeAll(async () => {
  twins = [await openDirectStore(), await openDirectStore()]
  const [plain, fused] = twins
  both = storeOf({
    engine: 'sqlite',
    async run(name, args) {
      const expected = plain.drive((referenceCommands[name] as Start)(...args))
      expect(fused.drive((sqliteCommands[name] as Start)(...args))).toEqual(expected)
      mergeNow()
      return expected
    },
    health: async () => ({ ok: true, latencyMs: 0, detail: 'twins' }),
    close: async () => {},
  })
})
/** In the middle of everything, as the store's thread does. */
let ran = 0
function mergeNow(): void {
  ran++
  if (ran % 7 === 0) twins[1].drive(mergeEntries())
  if (ran % 11 === 0) twins[1].drive(mergeAttempts())
}
/** Texts that the embedded store runs for a command that both run. */
function recordBoth(name: CommandName, ...args: unknown[]): readonly string[] {
  twins[0].drive((referenceCommands[name] as Start)(...args))
  return twins[1].record((sqliteCommands[name] as Start)(...args))
}
afterAll(() => Promise.all(twins.map((twin) => twin.remove())))

async function revokeRow(id: string): Promise<void> {
  for (const twin of twins) twin.drive(all('UPDATE credentials SET revoked_at = $1 WHERE id = $2', NOW, id))
}

const TABLES = [
  'accounts',
  'capabilities',
  'mandates',
  'permits',
  'ledger_entries',
  'attempts',
  'receipts',
  'action_counts',
  'budgets',
  'kept_answers',
  'kept_bytes',
]
function expectSameRows(): void {
  const [plain, fused] = twins
  for (const table of TABLES) expect(rowsOf(fused, table), table).toEqual(rowsOf(plain, table))
}
function rowsOf(twin: DirectStore, table: string): readonly unknown[] {
  const from = table === 'ledger_entries' ? LEDGER : table
  // Whether it is listed already is how the embedded store works, not what it knows.
  return twin.drive(all<Row>(`SELECT * FROM ${from} ORDER BY 1, 2`)).map(({ listed: _listed, ...row }) => row)
}
describe('the commands of every fetch', () => {
  it('answer and write in fewer statements what they do step by step', async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(situations, async (situation) => {
        seen.add((await goThrough(both, situation, revokeRow)).slice(0, 2).join())
      }),
      { numRuns: 300 },
    )
    expect(seen).toEqual(new Set(['true,true', 'true,false', 'false,false']))
    expectSameRows()
  })

  it('look every row up by its key', async () => {
    const { accountId, credential, capability } = await addSetting(both, 5)
    const input = reservation({ accountId, credential, capability }, BOOT, { state: 'sending' })
    const texts = [
      ...recordBoth('reserveAttempt', input),
      ...recordBoth('finishAttempt', ending(input.attempt, BOOT)),
    ]
    expect(texts).toHaveLength(7)
    expectKeys(texts)
  })

  it('claim a key with the attempt, without a statement of its own, and look it up only where it is taken', async () => {
    const setting = await addSetting(both, 5)
    const once = { keyHash: 'a key', maxBytes: 1000 }
    const input = { ...reservation(setting, BOOT, { state: 'sending', sendingAt: NOW }), once }
    const claiming = recordBoth('reserveAttempt', input)
    expect(claiming).toHaveLength(5)
    const ends = recordBoth('finishAttempt', {
      ...ending(input.attempt, BOOT),
      answer: Buffer.from('sealed'),
    })
    expect(ends).toHaveLength(4)
    const repeated = recordBoth('reserveAttempt', { ...reservation(setting, BOOT), once })
    expect(repeated.filter((text) => text.includes('kept_answers'))).toHaveLength(1)
    const receipt = receiptFor(setting.accountId)
    const replayed = recordBoth('keepReplayReceipt', { attemptId: input.attempt.id, receipt })
    expectKeys([...claiming, ...ends, ...repeated, ...replayed])
    expectSameRows()
  })
})

describe('the command of every permit that is executed', () => {
  it('answers and writes in fewer statements what it does step by step', async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(executions, async (one) => {
        for (const result of await execute(both, one)) seen.add(result)
      }),
      { numRuns: 300 + everyEnding.length, examples: everyEnding.map((one) => [one]) },
    )
    expect(seen).toEqual(
      new Set(['ok', 'permit', 'mandate_gone', 'credential_gone', 'credential_changed', 'credits', 'budget']),
    )
    expectSameRows()
  })

  it('looks every row up by its key, in one SELECT', async () => {
    const texts = recordBoth('reserveAction', execution(await addPermit(both, await addGrant(both, 5))))
    expect(texts.filter((text) => text.startsWith('SELECT'))).toHaveLength(1)
    expect(texts).toHaveLength(6)
    expectKeys(texts)
  })
})

function expectKeys(texts: readonly string[]): void {
  for (const text of texts)
    for (const row of explain(twins[1], text))
      expect(row, text).not.toMatch(/^SCAN [a-z]|TEMP B-TREE|AUTOMATIC/)
}

function explain(twin: DirectStore, text: string): string[] {
  const values = [...text.matchAll(/\$\d+/g)].map(() => null)
  const rows = twin.drive(all<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, ...values))
  return rows.map(({ detail }) => detail)
}
