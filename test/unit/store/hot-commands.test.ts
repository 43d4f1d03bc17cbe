// What the embedded store does in fewer statements is what the commands say: both run on twins, in every case there is.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { all, type Command } from '../../../src/store/command.ts'
import { commands } from '../../../src/store/commands/index.ts'
import { storeOf } from '../../../src/store/facade.ts'
import type { AttemptKind, Store } from '../../../src/store/ports.ts'
import { sqliteCommands } from '../../../src/store/sqlite/hot.ts'
import { type DirectStore, openDirectStore } from '../../support/direct-store.ts'
import { addCapability, addSetting, ending, NOW, reservation } from '../../support/store.ts'

const BOOT = 'boot-1'
type Start = (...args: unknown[]) => Command<unknown>

let twins: readonly [plain: DirectStore, hot: DirectStore]
/** Does everything on both, and answers when they agree. */
let both: Store
beforeAll(async () => {
  twins = [await openDirectStore(), await openDirectStore()]
  const [plain, hot] = twins
  both = storeOf({
    engine: 'sqlite',
    async run(name, args) {
      const expected = plain.drive((commands[name] as Start)(...args))
      expect(hot.drive((sqliteCommands[name] as Start)(...args))).toEqual(expected)
      return expected
    },
    health: async () => ({ ok: true, latencyMs: 0, detail: 'twins' }),
    close: async () => {},
  })
})
afterAll(() => Promise.all(twins.map((twin) => twin.remove())))

const TABLES = ['accounts', 'capabilities', 'ledger_entries', 'attempts', 'receipts', 'action_counts']
function rowsOf(twin: DirectStore, table: string): readonly unknown[] {
  return twin.drive(all(`SELECT * FROM ${table} ORDER BY 1, 2`))
}

const rarely = <T>(usual: T, other: T) =>
  fc.oneof({ arbitrary: fc.constant(usual), weight: 5 }, { arbitrary: fc.constant(other), weight: 1 })
const situations = fc.record({
  credits: fc.integer({ min: 0, max: 3 }),
  costs: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 4 }),
  maxUses: fc.constantFrom(null, null, 1, 2),
  uses: fc.integer({ min: 0, max: 1 }),
  depth: fc.integer({ min: 1, max: 3 }),
  lifetimeMs: rarely(1, 0),
  parentLifetimeMs: rarely(1, 0),
  isCapabilityRevoked: rarely(false, true),
  isCredentialRotated: rarely(false, true),
  isCredentialRevoked: rarely(false, true),
  /** Without its capabilities, which a revocation takes with it. */
  isCredentialRowRevoked: rarely(false, true),
  capabilityId: rarely<string | undefined>(undefined, 'cap_none'),
  credentialId: rarely<string | undefined>(undefined, 'cred_none'),
  accountId: rarely<string | undefined>(undefined, 'acct_none'),
  state: fc.constantFrom('reserved' as const, 'sending' as const),
  kind: rarely<AttemptKind>('fetch', 'action'),
  endsAs: fc.constantFrom('settled' as const, 'ambiguous' as const),
  endsIn: rarely(BOOT, 'boot-2'),
  endsOtherKind: rarely(false, true),
  endsTwice: fc.boolean(),
})
type Situation = typeof situations extends fc.Arbitrary<infer S> ? S : never

async function goThrough(s: Situation): Promise<boolean[]> {
  const { accountId, credential, capability: root } = await addSetting(both, s.credits)
  const over = { maxUses: s.maxUses, uses: s.uses }
  let capability = root
  for (let depth = 1; depth < s.depth; depth++)
    capability = await addCapability(both, credential, {
      ...over,
      parentId: capability.id,
      expiresAt: NOW + s.parentLifetimeMs,
    })
  capability = await addCapability(both, credential, {
    ...over,
    parentId: s.depth === 1 ? null : capability.id,
    expiresAt: NOW + s.lifetimeMs,
  })
  if (s.isCapabilityRevoked) await both.revokeCapability({ id: root.id, accountId, now: NOW })
  if (s.isCredentialRotated) {
    const { id, sealed } = credential
    await both.rotateCredential({ id, accountId, fromVersion: 1, sealed, now: NOW })
  }
  if (s.isCredentialRevoked) await both.revokeCredential({ id: credential.id, accountId, now: NOW })
  if (s.isCredentialRowRevoked)
    for (const twin of twins)
      twin.drive(all('UPDATE credentials SET revoked_at = $1 WHERE id = $2', NOW, credential.id))

  const done: boolean[] = []
  for (const cost of s.costs) {
    const input = reservation({ accountId, credential, capability }, BOOT, {
      state: s.state,
      kind: s.kind,
      ...(s.accountId === undefined ? {} : { accountId: s.accountId }),
      ...(s.capabilityId === undefined ? {} : { capabilityId: s.capabilityId }),
      ...(s.credentialId === undefined ? {} : { credentialId: s.credentialId }),
    })
    done.push((await both.reserveAttempt({ ...input, cost })).ok)
    const end = ending(input.attempt, s.endsIn, s.endsAs)
    if (s.endsOtherKind) await both.finishAttempt({ ...end, kind: 'edge' })
    done.push((await both.finishAttempt(end)).ok)
    if (s.endsTwice) await both.finishAttempt(ending(input.attempt, s.endsIn))
  }
  return done
}

describe('the commands of every fetch', () => {
  it('answer and write in fewer statements what they do step by step', async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(situations, async (situation) => {
        seen.add((await goThrough(situation)).slice(0, 2).join())
      }),
      { numRuns: 300 },
    )
    expect(seen).toEqual(new Set(['true,true', 'true,false', 'false,false']))
    const [plain, hot] = twins
    for (const table of TABLES) expect(rowsOf(hot, table), table).toEqual(rowsOf(plain, table))
  }, 60_000)

  it('look every row up by its key', async () => {
    const { accountId, credential, capability } = await addSetting(both, 5)
    const input = reservation({ accountId, credential, capability }, BOOT, { state: 'sending' })
    const [, hot] = twins
    const texts = [
      ...hot.record(sqliteCommands.reserveAttempt(input)),
      ...hot.record(sqliteCommands.finishAttempt(ending(input.attempt, BOOT))),
    ]
    expect(texts).toHaveLength(8)
    for (const text of texts)
      for (const row of explain(hot, text)) expect(row, text).not.toMatch(/^SCAN [a-z]|TEMP B-TREE|AUTOMATIC/)
  })
})

function explain(twin: DirectStore, text: string): string[] {
  const values = [...text.matchAll(/\$\d+/g)].map(() => null)
  const rows = twin.drive(all<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, ...values))
  return rows.map(({ detail }) => detail)
}
