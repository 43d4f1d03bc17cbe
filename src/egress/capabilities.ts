// Capabilities: what an agent holds instead of a credential. Always a subset, always shorter-lived, revocable.
import type { BudgetWish } from '../../schemas/budget.ts'
import type { CredentialSettings } from '../../schemas/credential-settings.ts'
import { charactersOf, MAX_RULE_CHARACTERS, type RuledScope } from '../../schemas/egress-rule.ts'
import type { Scope } from '../../schemas/http.ts'
import { GatewayError } from '../core/errors.ts'
import { newId } from '../lib/ids.ts'
import type { Egress, WantedCapability, WantedScope } from './ports.ts'
import type { Budget, Capability, NewCapability, Store } from '../store/ports.ts'
import { hashToken, newToken } from '../lib/tokens.ts'
import { groupByHolder, startedBudget, toHeldBudget, toLimits } from './limits/budgets.ts'
import { choosePart } from './choose-capability.ts'
import { credentialNotFound } from './refusals.ts'
import { refuseDeadRule } from './rules/judge.ts'
import { checkSubset } from './scope.ts'
import { toCapabilityRecord, toIssuedCapability } from './wire.ts'

export type Capabilities = Pick<
  Egress,
  'issueCapability' | 'narrowCapability' | 'listCapabilities' | 'revokeCapability' | 'listBudgets'
>

/** Issues, narrows, lists and revokes capabilities. A token is returned once; its hash alone is stored. */
export function createCapabilities(parts: { store: Store; now: () => number }): Capabilities {
  const { store, now } = parts

  async function insert(
    made: Omit<NewCapability, 'id' | 'uses' | 'createdAt' | 'revokedAt'>,
    wishes: readonly BudgetWish[] | undefined,
    createdAt: number,
    parentScope?: RuledScope,
  ) {
    const budgets = toLimits(wishes)
    const token = newToken('cap')
    const capability: NewCapability = {
      ...made,
      id: newId('cap', createdAt),
      uses: 0,
      createdAt,
      revokedAt: null,
    }
    await store.insertCapability({ capability, tokenHash: hashToken(token), budgets, parentScope })
    return toIssuedCapability(
      capability,
      budgets.map((limit) => startedBudget(capability.id, limit, createdAt)),
      token,
    )
  }

  /** Of those that have any of their own; a parent's are listed with the parent. */
  async function budgetsOf(items: readonly Capability[]): Promise<ReadonlyMap<string, readonly Budget[]>> {
    const holders = items.filter(({ isBudgeted }) => isBudgeted).map(({ id }) => id)
    return groupByHolder(await store.listBudgets(holders, now()))
  }

  return {
    async issueCapability(
      accountId,
      { credentialId, scope, ttlSeconds, maxUses, budgets, showsBalance, label },
    ) {
      const credential = await store.getCredential(credentialId, accountId)
      if (!credential) throw credentialNotFound()
      if (credential.revokedAt !== null)
        throw new GatewayError(
          'state_conflict',
          'This credential was revoked. Store a new one, then issue on it.',
        )
      const createdAt = now()
      return insert(
        {
          accountId,
          credentialId,
          parentId: null,
          label,
          scope: ruledScope(credential.scope, scope, credential.settings),
          maxUses,
          showsBalance: showsBalance ?? false,
          expiresAt: createdAt + ttlSeconds * 1000,
        },
        budgets,
        createdAt,
      )
    },

    async narrowCapability(from, { scope, ttlSeconds, maxUses, budgets, showsBalance, label }) {
      const outer = from.credentialId === null ? await choosePart(store, from, scope) : from
      const createdAt = now()
      const wanted = ttlSeconds === undefined ? from.expiresAt : createdAt + ttlSeconds * 1000
      return insert(
        {
          accountId: from.accountId,
          credentialId: outer.credentialId,
          parentId: outer.id,
          label,
          scope: ruledScope(outer.scope, scope, { encoded_slash: true }, 'capability'),
          maxUses,
          showsBalance: from.showsBalance && (showsBalance ?? true),
          expiresAt: Math.min(wanted, from.expiresAt),
        },
        budgets,
        createdAt,
        outer.scope,
      )
    },

    async listCapabilities(accountId, { credentialId }, page) {
      const { items, next } = await store.listCapabilities({ accountId, credentialId }, page)
      const budgets = await budgetsOf(items)
      return { items: items.map((item) => toCapabilityRecord(item, budgets.get(item.id))), next }
    },

    async listBudgets({ id }) {
      return (await store.lineageBudgets(id, now())).map(toHeldBudget)
    },

    async revokeCapability(accountId, capabilityId, heldBy) {
      const revoked = await store.revokeCapability({
        id: capabilityId,
        accountId,
        within: heldBy,
        now: now(),
      })
      if (revoked === undefined)
        throw new GatewayError(
          'capability_not_found',
          heldBy === undefined
            ? 'There is no capability of this id on your account.'
            : 'You may end your own capability (`self`) and those that were narrowed from it: there is none of this id.',
        )
      return { revoked }
    },
  }
}

/** Rules of its own come beside those that the outer one has: each list has to allow a request. */
function ruledScope(
  outer: RuledScope,
  wanted: WantedCapability,
  settings: Pick<CredentialSettings, 'encoded_slash'>,
  of: 'credential' | 'capability' = 'credential',
): RuledScope {
  const scope = narrowScope(outer, wanted, of)
  if (wanted.rules) refuseDeadRule(wanted.rules, '/rules', settings)
  const rules = [...(outer.rules ?? []), ...(wanted.rules ? [wanted.rules] : [])]
  if (charactersOf(rules) > MAX_RULE_CHARACTERS)
    throw new GatewayError(
      'input_invalid',
      `/rules: with those of the capability that this one is made from they have more than ${MAX_RULE_CHARACTERS} characters. Leave out what those say already.`,
    )
  return rules.length === 0 ? scope : { ...scope, rules }
}

/** Fields that were not asked for stay as the outer scope has them; those that were must lie within it. */
export function narrowScope(outer: Scope, wanted: WantedScope, of: 'credential' | 'capability'): Scope {
  const scope: Scope = {
    hosts: wanted.hosts ?? outer.hosts,
    path_prefixes: wanted.path_prefixes ?? outer.path_prefixes,
    methods: wanted.methods ?? outer.methods,
  }
  const verdict = checkSubset(scope, outer)
  if (verdict.ok) return scope
  throw new GatewayError(
    'scope_denied',
    `The ${of} does not cover ${verdict.value} in ${verdict.field}. Ask for less: what it covers is in \`scope\`.`,
    { reason: `subset_${verdict.field}`, extras: { refused_by: of, scope: outer } },
  )
}
