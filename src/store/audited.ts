// Which changes of the store are security events. An event is written in the transaction of its change: neither is there without
// the other, whatever dies in between. Changes that are none say why in `NO_EVENT`; a test holds every command of `access` to one
// of the two.
import type { ApprovalRule } from '../../schemas/approval.ts'
import type { Actor } from '../lib/acting.ts'
import { about, type Describe, type Described } from './audit-description.ts'
import { budgetList, droppedDetail, rulesDetail, settingsList } from './audit-terms.ts'
import { SIGN_IN_EVENTS } from './audited-sign-in.ts'
import type { Command } from './command.ts'
import { appendEvent } from './commands/audit.ts'
import type { CommandName } from './commands/index.ts'
import type { Account, ServiceKey } from './ports/accounts.ts'
import type { Credential } from './ports/credentials.ts'
import { INSTALLATION_CHAIN } from './ports/audit.ts'
const list = (entries: readonly string[]) => [...entries]

/** As the command line takes them: `host:port=range`. */
function privateTargets({ settings }: Pick<Credential, 'settings'>): { private_targets?: string[] } {
  const targets = settings.unsafe_private_targets
  return targets ? { private_targets: targets.map(({ host, port, cidr }) => `${host}:${port}=${cidr}`) } : {}
}

/** Who has to approve, where that is said. */
const approvalDetail = (rule: ApprovalRule | null | undefined) =>
  rule
    ? { approval_by: rule.by, approval_people: rule.people, approval_fresh_sign_in: rule.fresh_sign_in }
    : {}

const approvalOf = ({ settings: { approval } }: Pick<Credential, 'settings'>) => approvalDetail(approval)

const accountCreated = ({ account, key }: { readonly account: Account; readonly key: ServiceKey }) => ({
  chain: account.id,
  at: account.createdAt,
  event: 'account.created',
  ...about('account', account.id),
  detail: { key_id: key.id, admin: key.admin },
})

const keyEvent = (kid: string, at: number, event: string) => ({
  chain: INSTALLATION_CHAIN,
  at,
  event,
  ...about('published_key', kid),
})

/** The event of each change. Ids and scopes, never a label or another text of a stranger; undefined where nothing changed. */
const EVENTS = {
  createAccount: (_, created) => accountCreated(created),
  createFirstAccount: (isCreated, created) => (isCreated ? accountCreated(created) : undefined),
  addKey: (isAdded, { key }) =>
    isAdded
      ? {
          chain: key.accountId,
          at: key.createdAt,
          event: 'key.created',
          ...about('key', key.id),
          detail: { admin: key.admin },
        }
      : undefined,
  revokeKey: (key, { now }) =>
    key?.revokedAt === now
      ? { chain: key.accountId, at: now, event: 'key.revoked', ...about('key', key.id) }
      : undefined,
  revokeEmailKey: (key, { now }) =>
    key?.revokedAt === now
      ? { chain: INSTALLATION_CHAIN, at: now, event: 'email_key.revoked', ...about('email_key', key.id) }
      : undefined,
  grant: (granted, { accountId, amount, now, transactionId }) =>
    granted && !granted.repeated
      ? {
          chain: accountId,
          at: now,
          event: 'credits.granted',
          ...about('transaction', transactionId),
          detail: { amount },
        }
      : undefined,

  ...SIGN_IN_EVENTS,

  insertCredential: (_, credential, budgets = []) => ({
    chain: credential.accountId,
    at: credential.createdAt,
    event: 'credential.created',
    ...about('credential', credential.id),
    detail: {
      provider: credential.provider,
      version: credential.version,
      hosts: list(credential.scope.hosts),
      path_prefixes: list(credential.scope.path_prefixes),
      methods: list(credential.scope.methods),
      budgets: budgetList(budgets),
      settings: settingsList(credential.settings),
      ...privateTargets(credential),
      ...approvalOf(credential),
    },
  }),
  rotateCredential: (isRotated, { id, accountId, fromVersion, now }) =>
    isRotated
      ? {
          chain: accountId,
          at: now,
          event: 'credential.rotated',
          ...about('credential', id),
          detail: { version: fromVersion + 1 },
        }
      : undefined,
  revokeCredential: (credential, { now }) =>
    credential?.revokedAt === now
      ? {
          chain: credential.accountId,
          at: now,
          event: 'credential.revoked',
          ...about('credential', credential.id),
          detail: { version: credential.version },
        }
      : undefined,

  deleteCredential: (credential, { now }) =>
    credential && {
      chain: credential.accountId,
      at: now,
      event: 'credential.deleted',
      ...about('credential', credential.id),
      detail: { version: credential.version },
    },
  editCredential: (credential, { budgets, dropped, now }) =>
    credential && {
      chain: credential.accountId,
      at: now,
      event: 'credential.edited',
      ...about('credential', credential.id),
      detail: {
        version: credential.version,
        hosts: list(credential.scope.hosts),
        path_prefixes: list(credential.scope.path_prefixes),
        methods: list(credential.scope.methods),
        // Without a word of them they stay as they were.
        ...(budgets && { budgets: budgetList(budgets) }),
        settings: settingsList(credential.settings),
        ...droppedDetail(dropped),
        ...privateTargets(credential),
        ...approvalOf(credential),
      },
    },

  insertCapability: (_, { capability, budgets = [] }) => ({
    chain: capability.accountId,
    at: capability.createdAt,
    event: capability.parentId === null ? 'capability.issued' : 'capability.narrowed',
    ...about('capability', capability.id),
    detail: {
      credential_id: capability.credentialId,
      parent_id: capability.parentId,
      hosts: list(capability.scope.hosts),
      path_prefixes: list(capability.scope.path_prefixes),
      methods: list(capability.scope.methods),
      ...rulesDetail(capability.scope),
      budgets: budgetList(budgets),
      shows_balance: capability.showsBalance,
      max_uses: capability.maxUses,
      expires_at: new Date(capability.expiresAt).toISOString(),
    },
  }),
  revokeCapability: (revoked, { id, accountId, now }) =>
    revoked
      ? {
          chain: accountId,
          at: now,
          event: 'capability.revoked',
          ...about('capability', id),
          detail: { revoked },
        }
      : undefined,

  insertMandate: (mandate, asked) =>
    mandate.id === asked.id
      ? {
          chain: mandate.accountId,
          at: mandate.createdAt,
          event: 'mandate.created',
          ...about('mandate', mandate.id),
          detail: {
            credential_id: mandate.credentialId,
            host: mandate.host,
            path_prefix: mandate.pathPrefix,
            methods: list(mandate.methods),
            max_calls: mandate.maxCalls,
            max_credits: mandate.maxCredits,
            expires_at: new Date(mandate.expiresAt).toISOString(),
            requires_approval: mandate.requiresApproval,
            ...approvalDetail(mandate.approval),
          },
        }
      : undefined,
  revokeMandate: (mandate, { now }) =>
    mandate?.revokedAt === now
      ? { chain: mandate.accountId, at: now, event: 'mandate.revoked', ...about('mandate', mandate.id) }
      : undefined,
  // The approval that lets it go out is `permit.approved`; one that another has to follow is told apart from it.
  decidePermit: (decided, { decision, by, now }) =>
    decided?.changed
      ? {
          chain: decided.permit.accountId,
          at: now,
          event:
            decision === 'refuse'
              ? 'permit.refused'
              : decided.missing > 0
                ? 'permit.approval_added'
                : 'permit.approved',
          ...about('permit', decided.permit.id),
          detail: {
            mandate_id: decided.permit.mandateId,
            request_digest: decided.permit.requestDigest,
            prepared_by: decided.permit.preparedBy,
            method: by.method,
            session_id: by.sessionId,
            ...(decision === 'approve' && {
              missing: decided.missing,
              evidence_kept: decided.permit.evidenceBytes !== null,
            }),
          },
        }
      : undefined,

  addNotificationTarget: (isAdded, { id, accountId, host, kinds, createdAt }) =>
    isAdded
      ? {
          chain: accountId,
          at: createdAt,
          event: 'notification.added',
          ...about('notification', id),
          detail: { host, kinds: list(kinds) },
        }
      : undefined,
  removeNotificationTarget: (target, { now }) =>
    target && {
      chain: target.accountId,
      at: now,
      event: 'notification.removed',
      ...about('notification', target.id),
      detail: { host: target.host },
    },

  publishKey: (isNew, { kid, purpose, notBefore }) =>
    isNew
      ? keyEvent(kid, notBefore, `${purpose === 'sign' ? 'signing' : 'wrapping'}_key.published`)
      : undefined,
  retireKey: (isChanged, kid, at) => (isChanged ? keyEvent(kid, at, 'published_key.retired') : undefined),
  retireSigningKeysBut: (isChanged, kid, at) =>
    isChanged ? keyEvent(kid, at, 'signing_key.took_over') : undefined,
  revokeSigningKey: (isChanged, kid, _reason, now) =>
    isChanged ? keyEvent(kid, now, 'signing_key.revoked') : undefined,
  reconcileAttempt: (reconciled, { id, decision, receipt, now }) =>
    reconciled.ok
      ? {
          chain: reconciled.accountId,
          at: now,
          event: 'attempt.reconciled',
          ...about('attempt', id),
          detail: { decision, was: reconciled.was, receipt_id: receipt.id },
        }
      : undefined,

  closeClaim: (closed, { id, now }) =>
    closed.ok
      ? {
          chain: INSTALLATION_CHAIN,
          at: now,
          event: 'payment.closed',
          ...about('payment', id),
          detail: {
            was: closed.was,
            network: closed.claim.network,
            asset: closed.claim.asset,
            amount: closed.claim.amount,
          },
        }
      : undefined,

  beginRotation: (begun, { fromKid, now }) =>
    begun.ok
      ? {
          chain: INSTALLATION_CHAIN,
          at: now,
          event: 'authority.rotation_started',
          ...about('rotation', begun.rotation.id),
          detail: { from_kid: fromKid },
        }
      : undefined,
  finishRotation: (rotation, { now }) =>
    rotation && {
      chain: INSTALLATION_CHAIN,
      at: now,
      event: rotation.state === 'done' ? 'authority.rotated' : 'authority.rotation_failed',
      ...about('rotation', rotation.id),
      detail: {
        kid: rotation.kid,
        retired: rotation.state === 'done' ? list(rotation.retired) : [],
        rewrapped: rotation.rewrapped,
        broken: rotation.broken,
        credential_ids: list(rotation.credentialIds),
      },
    },

  createSeller: (created, { seller, opening }) =>
    created.ok
      ? {
          chain: seller.accountId,
          at: seller.createdAt,
          event: 'seller.registered',
          ...about('seller', seller.id),
          detail: { payout_address: seller.payoutAddress, key_id: opening?.key.id ?? null },
        }
      : undefined,
  replaceSellerKeys: (isReplaced, { key, now }) =>
    isReplaced
      ? {
          chain: key.accountId,
          at: now,
          event: 'seller.keys_replaced',
          ...about('key', key.id),
        }
      : undefined,
  updateSeller: (seller, { now }) =>
    seller && {
      chain: seller.accountId,
      at: now,
      event: 'seller.edited',
      ...about('seller', seller.id),
      detail: { payout_address: seller.payoutAddress, version: seller.version },
    },
  setSellerState: (seller, { now }) =>
    seller && {
      chain: INSTALLATION_CHAIN,
      at: now,
      event: seller.state === 'suspended' ? 'seller.suspended' : 'seller.reinstated',
      ...about('seller', seller.id),
    },
  proveHost: (proven, { sellerId, host, method, signature, now }) =>
    proven.ok
      ? {
          chain: INSTALLATION_CHAIN,
          at: now,
          event: 'seller.host_proven',
          ...about('seller', sellerId),
          detail: { host, method, payout_address: signature.address },
        }
      : undefined,
  lapseHost: ({ changed, paused }, { sellerId, host, problem, now }) =>
    changed
      ? {
          chain: INSTALLATION_CHAIN,
          at: now,
          event: 'seller.host_lapsed',
          ...about('seller', sellerId),
          detail: { host, problem, paused },
        }
      : undefined,
  // The seller's own steps are no events: it could fill the log with them.
  setListingState: (listing, { from, to, approvedAt, now }) =>
    listing && (approvedAt !== undefined || to === 'suspended' || from.includes('suspended'))
      ? {
          chain: INSTALLATION_CHAIN,
          at: now,
          event: `listing.${to === 'suspended' ? 'suspended' : from.includes('suspended') ? 'reinstated' : 'approved'}`,
          ...about('listing', `${listing.sellerId}/${listing.serviceId}`),
          detail: { version: listing.version },
        }
      : undefined,
} as const satisfies Describe

/** Commands that say who may do what, or clean up after the dead, and are no events of their own. */
export const NO_EVENT: Readonly<Record<string, string>> = {
  replaceWrap: 'a rotation of the authority is one event at its start and one at its end',
  renamePerson: 'it is the word that people read, and opens nothing',
  useRecoveryCode: 'the session that it opens is the event',
  createEmailKey: 'everybody makes these, they open nothing but the free check, and limits count them',
  touchEmailKey: 'it is the day of the last use',
  dropAccessToken: 'the connection stays: the client forgot a token, or got a new one',
  recoverAttempts: 'it changes who may do nothing; each attempt has its receipt',
  recoverClaims: 'it changes who may do nothing',
  recoverDebits: 'it changes who may do nothing',
  listDeadOwners: 'it changes who may do nothing',
  sweep: 'what it removes had no effect any more',
}

type Start = (...args: unknown[]) => Command<unknown>

/** Whether the store writes an event with this change. Its last argument is then the acting party. */
export const isAudited = (name: string): name is keyof typeof EVENTS => Object.hasOwn(EVENTS, name)

/**
 * The command, and its event at its end.
 * @param start the command as the engine runs it; the result takes the acting party as one more argument
 */
export function audited(name: CommandName, start: Start): Start {
  if (!isAudited(name)) return start
  const describe = EVENTS[name] as (result: unknown, ...args: unknown[]) => Described
  return function* (...args) {
    const acting = args.pop() as Actor
    const result = yield* start(...args)
    const event = describe(result, ...args)
    if (event) yield* appendEvent(event, acting)
    return result
  }
}
