// What the embedded store does in fewer statements is what the reference does step by step: both run on twins, in every case.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { all, type Command, type Row } from '../../../src/store/command.ts'
import type { CommandName } from '../../../src/store/commands/index.ts'
import { storeOf } from '../../../src/store/engine-store.ts'
import type { Store } from '../../../src/store/ports.ts'
import type { AttemptKind, Page, PageRequest } from '../../../src/store/model.ts'
import { LEDGER, mergeAttempts, mergeEntries } from '../../../src/store/sqlite/write-behind.ts'
import { sqliteCommands } from '../../../src/store/sqlite/fused.ts'
import { referenceCommands } from '../../support/reference-commands.ts'
import { type DirectStore, openDirectStore } from '../../support/direct-store.ts'
import { addCapability, addCredential, addSetting, ending, NOW, reservation } from '../../support/store.ts'
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

const TABLES = [
  'accounts',
  'capabilities',
  'mandates',
  'permits',
  'ledger_entries',
  'attempts',
  'receipts',
  'action_counts',
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
const STATES = ['reserved', 'sending', 'settled', 'ambiguous', 'refunded'] as const
/** Both read every page the same. */
async function readLists(accountId: string, capabilityId?: string): Promise<void> {
  const pages: ((page: PageRequest) => Promise<Page<unknown>>)[] = [
    (page) => both.ledger(accountId, page),
    (page) => both.listAttempts({ accountId }, page),
    (page) => both.listAttempts({ accountId, capabilityId }, page),
    ...STATES.map((state) => (page: PageRequest) => both.listAttempts({ accountId, state }, page)),
    (page) => both.listAttempts({ accountId, capabilityId, state: 'ambiguous' }, page),
  ]
  for (const read of pages)
    for (let before: string | undefined; ;) {
      const { next } = await read({ limit: 2, before })
      if (next === null) break
      before = next
    }
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
  await readLists(accountId, capability.id)
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
    expectSameRows()
  }, 60_000)

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
})

const executions = fc.record({
  credits: fc.integer({ min: 1, max: 3 }),
  costs: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 2 }),
  needsApproval: fc.boolean(),
  decision: fc.constantFrom('approve' as const, 'approve' as const, 'refuse' as const, undefined),
  lifetimeMs: rarely(1, 0),
  isMandateRevoked: rarely(false, true),
  isCredentialRevoked: rarely(false, true),
  isCredentialRotated: rarely(false, true),
  /** As asked for: what it was when the permit was prepared, or what a rotation makes it. */
  credentialVersion: rarely(1, 2),
  isOtherCredential: rarely(false, true),
  permitId: fc.oneof(
    { arbitrary: fc.constant(undefined), weight: 8 },
    fc.constantFrom<(string | null)[]>(null, 'pmt_none'),
  ),
  isOtherAccount: rarely(false, true),
  state: fc.constantFrom('reserved' as const, 'sending' as const),
  capabilityId: rarely<string | null>(null, 'cap_none'),
  endsAs: fc.constantFrom('settled' as const, 'ambiguous' as const),
})
type Execution = typeof executions extends fc.Arbitrary<infer S> ? S : never

async function execute(s: Execution): Promise<string[]> {
  const grant = await addGrant(both, s.credits, { requiresApproval: s.needsApproval })
  const { accountId, credentialId, mandate } = grant
  const otherCredential = await addCredential(both, accountId)
  const stranger = await addGrant(both, 5)
  const permit = await addPermit(both, grant, { expiresAt: NOW + s.lifetimeMs })
  if (s.needsApproval && s.decision)
    await both.decidePermit({
      id: permit.id,
      accountId,
      decision: s.decision,
      keyId: 'key_1',
      expiresAt: permit.expiresAt,
      now: NOW - 1,
    })
  if (s.isMandateRevoked) await both.revokeMandate({ id: mandate.id, accountId, now: NOW })
  if (s.isCredentialRotated) {
    const { sealed } = otherCredential
    await both.rotateCredential({ id: credentialId, accountId, fromVersion: 1, sealed, now: NOW })
  }
  if (s.isCredentialRevoked) await both.revokeCredential({ id: credentialId, accountId, now: NOW })

  const done: string[] = []
  // The second one finds the permit used where the first one went through.
  for (const cost of s.costs) {
    const input = execution(permit, BOOT, {
      state: s.state,
      capabilityId: s.capabilityId,
      credentialVersion: s.credentialVersion,
      ...(s.permitId === undefined ? {} : { permitId: s.permitId }),
      ...(s.isOtherCredential ? { credentialId: otherCredential.id } : {}),
      ...(s.isOtherAccount ? { accountId: stranger.accountId } : {}),
    })
    const result = await both.reserveAction({ ...input, cost })
    done.push(result.ok ? 'ok' : result.reason)
    await both.finishAttempt(ending(input.attempt, BOOT, s.endsAs))
  }
  await readLists(accountId)
  return done
}

describe('the command of every permit that is executed', () => {
  it('answers and writes in fewer statements what it does step by step', async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(executions, async (one) => {
        for (const result of await execute(one)) seen.add(result)
      }),
      { numRuns: 300 },
    )
    expect(seen).toEqual(
      new Set(['ok', 'permit', 'mandate_gone', 'credential_gone', 'credential_changed', 'credits']),
    )
    expectSameRows()
  }, 60_000)

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
