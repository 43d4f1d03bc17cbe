// Everything that can come before a fetch and before the execution of a permit, for suites that run a store beside the
// reference and want both to answer the same.
import fc from 'fast-check'
import type { AttemptKind, Page, PageRequest } from '../../src/store/model.ts'
import type { Store } from '../../src/store/ports.ts'
import { BUDGET_PERIODS, BUDGET_UNITS, type BudgetLimit } from '../../src/store/ports/budgets.ts'
import {
  addCapability,
  addCredential,
  addSetting,
  ending,
  nextTransaction,
  NOW,
  reservation,
} from './store.ts'
import { addGrant, addPermit, byKey, execution } from './store-actions.ts'

const BOOT = 'boot-1'

const STATES = ['reserved', 'sending', 'settled', 'ambiguous', 'refunded'] as const
/** Reads every page of what an account did. */
async function readLists(both: Store, accountId: string, capabilityId?: string): Promise<void> {
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

/** Small enough to be reached, of the units that attempts use and of one that they do not. */
const limits = fc.uniqueArray(
  fc.record({
    unit: fc.constantFrom(...BUDGET_UNITS),
    period: fc.constantFrom(...BUDGET_PERIODS),
    max: fc.integer({ min: 1, max: 3 }),
  }),
  { selector: ({ unit, period }) => `${unit} ${period}`, maxLength: 2 },
)
const rarely = <T>(usual: T, other: T) =>
  fc.oneof({ arbitrary: fc.constant(usual), weight: 5 }, { arbitrary: fc.constant(other), weight: 1 })
export const situations = fc.record({
  credits: fc.integer({ min: 0, max: 3 }),
  costs: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 4 }),
  /** Of the first capability, of the last one, and of the credential. */
  budgets: fc.oneof(
    fc.constant({ root: [], last: [], credential: [] }),
    fc.record({ root: limits, last: limits, credential: limits }),
  ),
  /** How many of the reservations come a millisecond before the hour, the day and the month begin. */
  before: fc.integer({ min: 0, max: 2 }),
  isFirstRefunded: rarely(false, true),
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
export type Situation = typeof situations extends fc.Arbitrary<infer S> ? S : never

/** A fetch that goes through, and so does its end. */
export const fetched: Situation = {
  credits: 3,
  costs: [1],
  budgets: { root: [], last: [], credential: [] },
  before: 0,
  isFirstRefunded: false,
  maxUses: null,
  uses: 0,
  depth: 1,
  lifetimeMs: 1,
  parentLifetimeMs: 1,
  isCapabilityRevoked: false,
  isCredentialRotated: false,
  isCredentialRevoked: false,
  isCredentialRowRevoked: false,
  capabilityId: undefined,
  credentialId: undefined,
  accountId: undefined,
  state: 'sending',
  kind: 'fetch',
  endsAs: 'settled',
  endsIn: BOOT,
  endsOtherKind: false,
  endsTwice: false,
}

/**
 * A capability as the situation has it, and a fetch under it for each cost.
 * @param revokeRow revokes a credential without its capabilities, past the store
 * @returns whether each reservation, and then its end, went through
 */
export async function goThrough(
  both: Store,
  s: Situation,
  revokeRow: (credentialId: string) => Promise<unknown>,
): Promise<boolean[]> {
  const {
    accountId,
    credential,
    capability: root,
  } = await addSetting(both, s.credits, {
    capability: s.budgets.root,
    credential: s.budgets.credential,
  })
  const over = { maxUses: s.maxUses, uses: s.uses }
  let capability = root
  for (let depth = 1; depth < s.depth; depth++)
    capability = await addCapability(both, credential, {
      ...over,
      parentId: capability.id,
      expiresAt: NOW + s.parentLifetimeMs,
    })
  const parentId = s.depth === 1 ? null : capability.id
  // None ends after the one that it is cut from.
  const lifetimeMs = parentId === null ? s.lifetimeMs : Math.min(s.lifetimeMs, s.parentLifetimeMs)
  const last = { ...over, parentId, expiresAt: NOW + lifetimeMs }
  capability = await addCapability(both, credential, last, s.budgets.last)
  if (s.isCapabilityRevoked) await both.revokeCapability({ id: root.id, accountId, now: NOW })
  if (s.isCredentialRotated) {
    const { id, sealed } = credential
    await both.rotateCredential({ id, accountId, fromVersion: 1, sealed, now: NOW })
  }
  if (s.isCredentialRevoked) await both.revokeCredential({ id: credential.id, accountId, now: NOW })
  if (s.isCredentialRowRevoked) await revokeRow(credential.id)

  const done: boolean[] = []
  const isBudgeted = Object.values(s.budgets).some((budgets) => budgets.length > 0)
  for (const [index, cost] of s.costs.entries()) {
    const now = index < s.before ? NOW - 1 : NOW
    const input = reservation({ accountId, credential, capability }, BOOT, {
      createdAt: now,
      state: s.state,
      kind: s.kind,
      ...(s.accountId === undefined ? {} : { accountId: s.accountId }),
      ...(s.capabilityId === undefined ? {} : { capabilityId: s.capabilityId }),
      ...(s.credentialId === undefined ? {} : { credentialId: s.credentialId }),
    })
    done.push((await both.reserveAttempt({ ...input, cost, isBudgeted, now })).ok)
    if (s.isFirstRefunded && index === 0) {
      const { id } = input.attempt
      await both.refundAttempt({ id, bootId: BOOT, outcome: 'x', transactionId: nextTransaction(), now: NOW })
    }
    const end = ending(input.attempt, s.endsIn, s.endsAs)
    if (s.endsOtherKind) await both.finishAttempt({ ...end, kind: 'edge' })
    done.push((await both.finishAttempt(end)).ok)
    if (s.endsTwice) await both.finishAttempt(ending(input.attempt, s.endsIn))
  }
  await readLists(both, accountId, capability.id)
  await both.lineageBudgets(capability.id, NOW)
  return done
}

export const executions = fc.record({
  credits: fc.integer({ min: 1, max: 3 }),
  budgets: fc.constantFrom<BudgetLimit[]>(
    [],
    [{ unit: 'credits', period: 'day', max: 1 }],
    [
      { unit: 'calls', period: 'hour', max: 1 },
      { unit: 'usdc', period: 'month', max: 1 },
    ],
  ),
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
export type Execution = typeof executions extends fc.Arbitrary<infer S> ? S : never

const STANDING: Execution = {
  credits: 3,
  budgets: [],
  costs: [1],
  needsApproval: false,
  decision: undefined,
  lifetimeMs: 1,
  isMandateRevoked: false,
  isCredentialRevoked: false,
  isCredentialRotated: false,
  credentialVersion: 1,
  isOtherCredential: false,
  permitId: undefined,
  isOtherAccount: false,
  state: 'sending',
  capabilityId: null,
  endsAs: 'settled',
}
/** One for each way in which an execution ends: some are rarer than a hundred draws can be relied on to bring. */
export const everyEnding: readonly Execution[] = [
  STANDING,
  { ...STANDING, permitId: 'pmt_none' },
  { ...STANDING, isMandateRevoked: true },
  { ...STANDING, isCredentialRevoked: true },
  { ...STANDING, isCredentialRotated: true },
  { ...STANDING, credits: 1, costs: [4] },
  { ...STANDING, budgets: [{ unit: 'credits', period: 'day', max: 1 }], costs: [2] },
]

/** A permit as the situation has it, and its execution for each cost.
 * @returns what became of each */
export async function execute(both: Store, s: Execution): Promise<string[]> {
  const grant = await addGrant(both, s.credits, { requiresApproval: s.needsApproval }, s.budgets)
  const { accountId, credentialId, mandate } = grant
  const otherCredential = await addCredential(both, accountId)
  const stranger = await addGrant(both, 5)
  const permit = await addPermit(both, grant, { expiresAt: NOW + s.lifetimeMs })
  if (s.needsApproval && s.decision)
    await both.decidePermit({
      id: permit.id,
      accountId,
      decision: s.decision,
      ...byKey('key_1'),
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
    const result = await both.reserveAction({ ...input, cost, isBudgeted: s.budgets.length > 0 })
    done.push(result.ok ? 'ok' : result.reason)
    await both.finishAttempt(ending(input.attempt, BOOT, s.endsAs))
  }
  await readLists(both, accountId)
  return done
}
