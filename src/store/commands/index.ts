// Every command of the port: what the modules beside this one define with `command(...)`, under its exported name.
import type { Command, Definition, PerEngine, Traits } from '../command.ts'
import * as accounts from './accounts.ts'
import * as actions from './actions.ts'
import * as attempts from './attempts.ts'
import * as audit from './audit.ts'
import * as budgets from './budgets.ts'
import * as capabilities from './capabilities.ts'
import * as charges from './charges.ts'
import * as claimClosures from './claim-closures.ts'
import * as claims from './claims.ts'
import * as connections from './connections.ts'
import * as connectionTerms from './connection-terms.ts'
import * as counts from './counts.ts'
import * as credentials from './credentials.ts'
import * as deadOwners from './dead-owners.ts'
import * as discovery from './discovery.ts'
import * as doubtfulClaims from './doubtful-claims.ts'
import * as edge from './edge.ts'
import * as email from './email.ts'
import * as figures from './figures.ts'
import * as idempotency from './idempotency.ts'
import * as invitations from './invitations.ts'
import * as marketLedger from './market-ledger.ts'
import * as marketSales from './market-sales.ts'
import * as mandates from './mandates.ts'
import * as marketEvidence from './market-evidence.ts'
import * as marketRecount from './market-recount.ts'
import * as marketShares from './market-shares.ts'
import * as marketTrust from './market-trust.ts'
import * as marketEvents from './market-events.ts'
import * as marketHosts from './market-hosts.ts'
import * as marketListings from './market-listings.ts'
import * as marketSellers from './market-sellers.ts'
import * as mintedTokens from './minted-tokens.ts'
import * as oauth from './oauth.ts'
import * as notifications from './notifications.ts'
import * as payoutBatches from './payout-batches.ts'
import * as payouts from './payouts.ts'
import * as people from './people.ts'
import * as passkeys from './passkeys.ts'
import * as permitDecisions from './permit-decisions.ts'
import * as permitEvidence from './permit-evidence.ts'
import * as permits from './permits.ts'
import * as policies from './policies.ts'
import * as pushConfigs from './push-configs.ts'
import * as reconciliations from './reconciliations.ts'
import * as records from './records.ts'
import * as refunds from './refunds.ts'
import * as reorganisations from './reorganisations.ts'
import * as rotations from './rotations.ts'
import * as searches from './searches.ts'
import * as sessions from './sessions.ts'
import * as settledListings from './settled-listings.ts'
import * as settlements from './settlements.ts'
import * as spendWindows from './spend-windows.ts'
import * as standings from './standings.ts'
import * as watchedClaims from './watched-claims.ts'

type DefinitionsOf<M> = {
  readonly [K in keyof M as M[K] extends Definition<never, unknown> ? K : never]: M[K]
}

/** Modules export helpers too; only what `command` made has traits. */
function definitionsOf<M extends object>(exported: M): DefinitionsOf<M> {
  const defined = Object.entries(exported).filter(
    ([, value]) => typeof value === 'function' && 'traits' in value,
  )
  return Object.fromEntries(defined) as DefinitionsOf<M>
}

export const commands = definitionsOf({
  ...accounts,
  ...actions,
  ...attempts,
  ...audit,
  ...budgets,
  ...capabilities,
  ...charges,
  ...connections,
  ...connectionTerms,
  ...claimClosures,
  ...claims,
  ...counts,
  ...credentials,
  ...deadOwners,
  ...discovery,
  ...doubtfulClaims,
  ...edge,
  ...email,
  ...figures,
  ...idempotency,
  ...invitations,
  ...mandates,
  ...marketLedger,
  ...marketSales,
  ...marketEvidence,
  ...marketRecount,
  ...marketShares,
  ...marketTrust,
  ...marketEvents,
  ...marketHosts,
  ...marketListings,
  ...marketSellers,
  ...mintedTokens,
  ...oauth,
  ...notifications,
  ...payoutBatches,
  ...payouts,
  ...passkeys,
  ...people,
  ...permitDecisions,
  ...permitEvidence,
  ...permits,
  ...policies,
  ...pushConfigs,
  ...reconciliations,
  ...records,
  ...refunds,
  ...reorganisations,
  ...rotations,
  ...searches,
  ...sessions,
  ...settledListings,
  ...settlements,
  ...spendWindows,
  ...standings,
  ...watchedClaims,
})

export type Definitions = typeof commands
export type CommandName = keyof Definitions
/** Those that an engine has to write itself. */
export type PerEngineName = {
  [K in CommandName]: Definitions[K] extends PerEngine<never, unknown> ? K : never
}[CommandName]
/** How one engine runs each command. */
export type Commands = {
  readonly [K in CommandName]: Definitions[K] extends (...args: infer A) => Command<infer T>
    ? (...args: A) => Command<T>
    : never
}

/** How the engines may run the command. */
export const traitsOf = (name: CommandName): Traits => commands[name].traits
export const commandNames = Object.keys(commands) as readonly CommandName[]

/** Whether the command changes nothing. */
export function isRead(name: CommandName): boolean {
  const { kind } = traitsOf(name)
  return kind === 'lookup' || kind === 'read'
}
/** What the command does to sealed secrets, if anything. */
export function sealsOf(name: CommandName): 'kept' | 'removed' | undefined {
  const traits = traitsOf(name)
  return 'seals' in traits ? traits.seals : undefined
}
/** Whether the command is atomic without a transaction around it. */
export const isSingle = (name: CommandName): boolean => traitsOf(name).kind !== 'transaction'
