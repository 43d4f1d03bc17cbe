// A cached row is right as long as nothing changed it: what the commands that forget nothing really write.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../src/lib/ids.ts'
import type { Command } from '../../../src/store/command.ts'
import { type CommandName, commandNames, type Commands, traitsOf } from '../../../src/store/commands/index.ts'
import { sqliteCommands } from '../../../src/store/sqlite/fused.ts'
import { addMember, newConnection, termsOn } from '../../support/connections.ts'
import { type DirectStore, openDirectStore } from '../../support/direct-store.ts'
import {
  addGrant,
  BOOT,
  byKey,
  edgeCall,
  execution,
  preparation,
  refundOf,
} from '../../support/store-actions.ts'
import { runPayoutCommands, saleOf } from '../../support/market-money.ts'
import { runSellerCommands } from '../../support/market-sellers.ts'
import {
  addCapability,
  addSetting,
  ending,
  newClaim,
  nextTransaction,
  NOW,
  receiptFor,
  reservation,
  resultOf,
  sealedCredential,
  settling,
  submission,
} from '../../support/store.ts'

const DAY = '2026-06-01'

let direct: DirectStore
/** Texts of every statement that a command ran, in all that was done with it. */
const ran = new Map<CommandName, Set<string>>()
const noted = (name: CommandName) => ran.get(name) ?? ran.set(name, new Set()).get(name)!

function run<K extends CommandName>(name: K, ...args: Parameters<Commands[K]>): void {
  const start = sqliteCommands[name] as (...args: unknown[]) => Command<unknown>
  for (const text of direct.record(start(...args))) noted(name).add(text)
}

function keepsRows(name: CommandName): boolean {
  const traits = traitsOf(name)
  return 'touches' in traits && traits.touches === 'records'
}

/** Of the tables that cached rows come from. */
const WRITE =
  /\b(?:INSERT (?:OR FAIL )?INTO|UPDATE|DELETE FROM) (?:service_keys|credentials|capabilities|connections|people|memberships|sessions)\b/
/** Columns that are in no cached row. */
const USES =
  /^UPDATE (?:capabilities SET uses = uses [+-] \$?1\s+|connections SET used_at = \$1 |sessions SET seen_at = \$1 )WHERE /
const changesRows = (text: string) => WRITE.test(text) && !USES.test(text)

beforeAll(async () => {
  direct = await openDirectStore()
  const { store } = direct
  const setting = await addSetting(store, 50)
  const { accountId } = setting
  const child = await addCapability(store, setting.credential, { parentId: setting.capability.id })

  for (const finish of [true, false]) {
    const held = reservation({ ...setting, capability: child }, BOOT)
    run('reserveAttempt', held)
    run('markSending', { id: held.attempt.id, bootId: BOOT, now: NOW })
    if (finish) run('finishAttempt', ending(held.attempt, BOOT))
    else run('refundAttempt', refundOf(held.attempt.id))
    run('attachReceipt', { attemptId: held.attempt.id, receipt: receiptFor(accountId) })
  }
  run('reserveEdgeCall', edgeCall(accountId))

  const once = { keyHash: 'key-1', maxBytes: 1000 }
  const keyed = { ...reservation(setting, BOOT), once }
  run('reserveAttempt', keyed)
  const replay = { attemptId: keyed.attempt.id, receipt: receiptFor(accountId) }
  run('keepReplayReceipt', replay)

  const grant = await addGrant(store, 5)
  const prepared = preparation(grant)
  run('preparePermit', prepared)
  const executed = execution(prepared.permit)
  run('reserveAction', executed)
  run('finishAttempt', ending(executed.attempt, BOOT))

  const held = preparation(grant)
  run('preparePermit', held)
  run('usePermit', { id: held.permit.id, attemptId: executed.attempt.id, now: NOW })
  run('withdrawPermit', { id: held.permit.id, now: NOW })

  const [paid, doubtful, canceled] = [newClaim({ accountId }), newClaim(), newClaim()]
  for (const claim of [paid, doubtful, canceled]) run('claimPayment', { claim, bootId: BOOT })
  for (const { id } of [paid, doubtful]) run('submitClaim', { ...submission(id, BOOT), result: resultOf() })
  run('settleClaim', { ...settling(paid.id), isTrusted: true })
  for (const to of ['unknown', 'failed'] as const)
    run('moveClaim', { id: doubtful.id, to, reason: null, transaction: null, now: NOW })
  run('takeReference', { id: 'ref-1', claimId: doubtful.id, now: NOW })
  run('takeReference', { id: 'ref-1', claimId: canceled.id, now: NOW })
  run('cancelClaim', { id: canceled.id, bootId: BOOT, reason: 'x', now: NOW })

  const undecidable = newClaim({ origin: 'settle' })
  run('claimPayment', { claim: undecidable, bootId: BOOT })
  run('submitClaim', submission(undecidable.id, BOOT))
  run('moveClaim', { id: undecidable.id, to: 'unknown', reason: null, transaction: null, now: NOW })
  run('closeClaim', { id: undecidable.id, reason: 'in no block', closedBy: 'key_1', now: NOW })

  const priced = { accountId, amount: 2, bootId: BOOT, reference: 'call', now: NOW }
  const [settled, returned] = [nextTransaction(), nextTransaction()]
  for (const transactionId of [settled, returned]) run('debitCredits', { ...priced, transactionId })
  run('settleDebit', { transactionId: settled, receipt: receiptFor(accountId) })
  run('refundCredits', { transactionId: returned, now: NOW })
  const taking = {
    allowances: [{ holder: 'h', allowance: 1 }] as const,
    month: '2026-06',
    accountId,
    now: NOW,
  }
  for (const claimId of ['clm_1', 'clm_2'])
    run('takeSettlement', { ...taking, claimId, transactionId: nextTransaction() })
  for (const claimId of ['clm_2', 'clm_1'])
    run('returnSettlement', { claimId, transactionId: nextTransaction(), now: NOW })
  run('saveQuote', { id: 'q_1', jws: 'a.b.c', createdAt: NOW, expiresAt: NOW + 1 })

  const task = { id: newId('task', NOW), contextId: 'c', owner: accountId, state: 'OPEN', json: '{}' }
  for (const revision of [1, 2]) run('saveTask', { ...task, revision, updatedAt: NOW, expiresAt: NOW + 1 })
  const oauth = { rowHash: Buffer.alloc(32, 1), payload: '{}', grantId: 'grt_1', now: NOW }
  const unused = { model: 'Grant', clientId: undefined, lookupHash: undefined, expiresAt: NOW + 1 }
  for (const payload of ['{}', '{"a":1}']) run('putOauthRow', { ...oauth, ...unused, payload })
  run('answerOauthRow', oauth)
  run('consumeOauthRow', oauth)
  run('dropOauthGrant', 'grt_1')
  run('dropOauthRow', oauth.rowHash)
  run('takeEmailQuota', { keyId: 'ek_1', day: DAY, count: 3, limit: 9 })
  run('returnEmailQuota', { keyId: 'ek_1', day: DAY, count: 1 })
  for (const price of ['1', '2']) run('seeResources', { seen: [{ id: 'r', price }], keepPrices: 3, now: NOW })
  run('recordLiveness', { id: 'r', liveness: '{}' })
  run('forgetResources', { notSeenSince: NOW + 1, keep: 0, limit: 9 })

  const { accountId: told } = await addSetting(store, 0)
  const target = { id: 'ntg_1', accountId: told, host: 'h:443', kinds: ['approval'], admin: false } as const
  run(
    'addNotificationTarget',
    { ...target, sealed: new Uint8Array(1), createdAt: NOW, createdBy: 'key_1' },
    9,
  )
  const about = { kind: 'approval', about: 'pmt_1', body: '{}', againAfter: 1, now: NOW } as const
  run('queueNotifications', { accountId: told, ...about })
  run('takeNotifications', { now: NOW, busyUntil: NOW + 9, limit: 9 })
  for (const problem of [null, 'status_500'])
    run('finishNotification', { id: 'nty_1', targetId: 'ntg_1', problem, nextAt: null, now: NOW })
  run('forgetNotifications', { before: NOW + 1, limit: 9 })

  const listing = { id: 'l_1', payee: 'p', payer: '0xa', item: '{}', digest: 'd', now: NOW }
  for (const payer of ['0xa', '0xb'])
    run('noteSettledListing', { ...listing, payer, limits: { perPayee: 1, total: 1, payers: 1 } })
  run('forgetSettledListings', { notSettledSince: NOW + 1, limit: 9 })
  const service = { sellerId: 'acme', serviceId: 'quotes', environment: 'live', at: NOW } as const
  const { sellerId, serviceId } = service
  const [counted, missed] = [newClaim({ payer: '0xa' }), newClaim({ payer: '0xb' })]
  for (const claim of [counted, missed]) {
    run('claimPayment', { claim, bootId: BOOT, sale: saleOf(sellerId, { serviceId }) })
    run('submitClaim', submission(claim.id, BOOT))
    run('settleClaim', settling(claim.id))
  }
  const [payer, amount] = ['0xa', 1000]
  const sold = { ...service, kind: 'settled', payer, amount, latencyMs: 5, isSelf: false } as const
  run('recordServiceOutcomes', {
    outcomes: [
      { ...sold, claimId: counted.id },
      { ...service, kind: 'up' },
    ],
    now: NOW,
  })
  run('countMissedSales', { settledBefore: NOW + 3600_000, limit: 9, now: NOW })
  run('noteSellerAddress', { sellerId, address: '0xself', now: NOW })
  const funded = { funder: '0xf', block: 1, transactionHash: '0x1' }
  run('noteFunders', { payer: '0xa', funders: [funded], now: NOW })
  run('addRating', {
    claimId: 'clm_r',
    sellerId,
    serviceId,
    payer: '0xa',
    rating: 5,
    words: null,
    createdAt: NOW,
  })
  run('excludePayer', { sellerId, payer: '0xa', exclusion: 'ring', now: NOW })
  run('noteChallengeScore', { ...service, score: 70, now: NOW })

  run('grant', { accountId, amount: 1, reference: 'r', transactionId: nextTransaction(), now: NOW })
  run('saveEdgeHost', { token: 'token', host: 'shop.example', accountId, now: NOW })
  const asked = await addGrant(store, 5, { requiresApproval: true })
  for (const decision of ['approve', 'refuse'] as const) {
    const { permit } = preparation(asked)
    run('preparePermit', { permit, needsBalance: 0, now: NOW })
    run('decidePermit', {
      id: permit.id,
      accountId: asked.accountId,
      decision,
      ...byKey('key_1'),
      expiresAt: permit.expiresAt,
      now: NOW,
    })
  }
  const unknown = newClaim()
  run('claimPayment', { claim: unknown, bootId: BOOT })
  run('submitClaim', submission(unknown.id, BOOT))
  run('moveClaim', { id: unknown.id, to: 'unknown', reason: null, transaction: null, now: NOW })
  run('takeDoubtfulClaims', { limit: 9, now: NOW + 1 })
  const refused = { id: unknown.id, reason: null, transaction: null, now: NOW }
  run('moveClaim', { ...refused, to: 'failed', isWatched: true })
  run('takeWatchedClaims', { limit: 9, now: NOW + 1 })
  run('endWatch', unknown.id, NOW + 2)
  run('acceptSignIn', { id: paid.id, issuedAt: NOW })

  const refund = {
    claimId: paid.id,
    accountId,
    reason: 'it was not what was asked for',
    sender: '0xa',
    validBefore: NOW + 1,
    createdAt: NOW,
    amount: '1',
  }
  for (const id of ['rfd_1', 'rfd_2']) {
    run('recordRefund', { ...refund, id, reference: id, nonce: id })
    run('touchRefund', id, NOW)
    run('submitRefund', { id, tries: 0, now: NOW })
  }
  run('failRefund', { id: 'rfd_2', failure: 'expired', now: NOW })
  const refunded = settling(paid.id).receipt
  run('settleRefund', { id: 'rfd_1', transaction: '0xd', receipt: refunded, now: NOW })
  run('finalizeRefund', 'rfd_1', NOW)
  run('reopenRefund', { id: 'rfd_1', receiptId: refunded.id, now: NOW })

  const block = { number: 7, hash: '0xb' }
  run('moveToBlock', paid.id, block)
  const gone = newClaim({ purchase: { accountId, credits: 5 } })
  run('claimPayment', { claim: gone, bootId: BOOT })
  run('submitClaim', submission(gone.id, BOOT))
  const bought = settling(gone.id)
  run('settleClaim', bought)
  const { id: receiptId } = bought.receipt
  const reopening = { id: gone.id, receiptId, now: NOW }
  run('reopenClaim', reopening)
  const again = { ...reopening, transaction: '0xc', block }
  run('resettleClaim', { ...again, receipt: null })
  run('reopenClaim', reopening)
  const { receipt } = settling(gone.id)
  run('resettleClaim', { ...again, receipt })
  run('reopenClaim', { ...reopening, receiptId: receipt.id })
  run('reverseClaim', { id: gone.id, reason: 'authorization_expired', now: NOW })

  const { id: credentialId } = setting.credential
  for (const keyId of ['k_1', 'k_2'])
    run('claimMint', { credentialId, accountId, version: 1, keyId, claim: keyId, now: NOW, until: NOW + 1 })
  run('renewMintClaim', { credentialId, claim: 'k_2', until: NOW + 2 })
  run('endMintClaim', { credentialId, claim: 'k_2', failed: null })
  run('endMintClaim', { credentialId, claim: 'k_2', failed: { failure: '{}', retryAt: NOW } })
  const minted = {
    keyId: 'k_2',
    fromGeneration: 1,
    sealed: { ciphertext: 'a', iv: 'b', tag: 'c' },
    mintedAt: NOW,
  }
  run('saveMintedTokens', { credentialId, accountId, ...minted, usableUntil: NOW + 1 })
  const failed = { failure: '{}', retryAt: NOW }
  run('saveMintedTokens', {
    credentialId,
    accountId,
    ...minted,
    fromGeneration: 2,
    usableUntil: null,
    failed,
  })
  run('distrustMintedTokens', { credentialId, generation: 3, mintedBefore: NOW })

  const event = { chain: accountId, at: NOW, event: 'sign_in.failed' }
  run('appendAuditEvents', [event], { kind: 'gateway' })
  run('noteDocument', { name: 'egress-policy', digest: 'd', event, acting: { kind: 'gateway' } })
  const revision = {
    id: 'prv_1',
    name: 'egress-policy',
    at: NOW,
    way: 'by_hand',
    note: '',
    digest: 't',
  } as const
  run('addPolicyRevision', { ...revision, actorKind: 'gateway', actorId: null, before: null, after: '{}' })
  run('countSpend', {
    accountId,
    now: NOW,
    payment: { id: 'p', content: 'c', keptMs: 1 },
    counts: [{ scope: 's', amount: '1' }],
    windows: [],
    maxCounted: 9,
  })
  const unanswered = reservation({ ...setting, capability: child }, BOOT)
  run('reserveAttempt', unanswered)
  run('markSending', { id: unanswered.attempt.id, bootId: BOOT, now: NOW })
  run('finishAttempt', { ...ending(unanswered.attempt, BOOT), state: 'ambiguous' })
  run('reconcileAttempt', {
    id: unanswered.attempt.id,
    decision: 'did_not_happen',
    outcome: 'reconciled_did_not_happen',
    reason: 'not in their log',
    decidedBy: 'key_1',
    receipt: receiptFor(accountId),
    transactionId: nextTransaction(),
    now: NOW,
  })
  const rotation = { id: 'rot_1', bootId: BOOT, now: NOW }
  run('beginRotation', { fromKid: 'k1', bootId: BOOT, now: NOW })
  run('getRotation', 'rot_1')
  run('advanceRotation', { ...rotation, change: { step: 'key_made', kid: 'k2', total: 1 } })
  run('takeOverRotation', { bootId: 'boot_next', now: NOW })
  run('finishRotation', { ...rotation, state: 'done', credentialIds: [], broken: 0 })
  const push = {
    taskId: 'task_1',
    id: 'p',
    holder: accountId,
    url: 'https://a.example/',
    host: 'a.example:443',
  }
  const client = { scheme: null, sealed: null, wire: '1.0', toldState: null, toldRevision: 0 } as const
  const limits = { perTask: 5, perHolder: 5 }
  run('savePushConfig', { config: { ...push, ...client, createdAt: NOW }, limits })
  const ended = { id: 'task_1', contextId: 'c', owner: null, state: 'TASK_STATE_COMPLETED', json: '{}' }
  run('saveTask', { ...ended, revision: 1, updatedAt: NOW, expiresAt: NOW + 9 })
  const share = { perHost: 1, perHolder: 1 }
  run('takePushes', { now: NOW, busyUntil: NOW + 1, limit: 1, share, busy: [] })
  const taken = { ...push, nextAt: NOW + 1 }
  run('finishPush', { taken, nextAt: NOW + 1, now: NOW, ended: { problem: 'timeout', tries: 1 } })
  run('finishPush', { taken, nextAt: null, now: NOW, ended: { told: { state: ended.state, revision: 1 } } })
  run('deletePushConfig', push.taskId, push.id)
  const challenge = { hash: Buffer.alloc(32), purpose: 'sign_in', holder: '', now: NOW } as const
  run('insertChallenge', { ...challenge, expiresAt: NOW + 1 })
  run('takeChallenge', challenge)
  run('noteAuthenticatorUse', { id: 'psk_1', counter: 1, isBackedUp: false, now: NOW })
  run('touchSession', { id: 'ses_1', now: NOW })
  runSellerCommands(run as never)
  runPayoutCommands(run, BOOT)
  const connection = newConnection(accountId, await addMember(store, accountId))
  run('openConnection', { connection, terms: termsOn([setting.credential]) })
  const token = { tokenHash: Buffer.alloc(32), connectionId: connection.id }
  run('addAccessToken', { ...token, createdAt: NOW, expiresAt: NOW + 9 })
  run('touchConnection', { id: connection.id, now: NOW })
  run('recordAuditHead', { chain: accountId, seq: 1, jws: 'a.b.c', signedAt: NOW })
})
afterAll(() => direct.remove())

describe('what is written without forgetting rows', () => {
  it.each(commandNames.filter(keepsRows))('%s writes, and nothing that is cached', (name) => {
    const texts = [...(ran.get(name) ?? [])]
    expect(texts.filter((text) => /\b(?:INSERT|UPDATE|DELETE)\b/.test(text))).not.toEqual([])
    expect(texts.filter(changesRows)).toEqual([])
  })

  it('would show what changes a row', async () => {
    const { accountId, credential, capability } = await addSetting(direct.store, 0)
    const [key] = (await direct.store.listKeys(accountId, { limit: 1 })).items
    const { wrap } = credential.sealed
    run('revokeKey', { id: key!.id, accountId, now: NOW })
    run('insertCredential', sealedCredential(accountId))
    run('rotateCredential', {
      id: credential.id,
      accountId,
      fromVersion: 1,
      sealed: credential.sealed,
      now: NOW,
    })
    run('replaceWrap', { id: credential.id, version: 2, from: wrap, to: { ...wrap, kid: 'k2' } })
    run('revokeCapability', { id: capability.id, accountId, now: NOW })
    const { id, label, scope, settings, sealed } = credential
    const edit = { id, accountId, fromVersion: 2, label, scope, settings, sealed, now: NOW }
    run('editCredential', edit)
    run('revokeCredential', { id: credential.id, accountId, now: NOW })
    run('deleteCredential', { id: credential.id, accountId, now: NOW })
    run('sweep', NOW)
    const writers = [...ran].flatMap(([name, texts]) => ([...texts].some(changesRows) ? [name] : []))
    expect(writers.toSorted()).toEqual(
      (
        [
          'deleteCredential',
          'editCredential',
          'insertCredential',
          'openConnection',
          'replaceWrap',
          'revokeCapability',
          'revokeCredential',
          'revokeKey',
          'rotateCredential',
          'sweep',
        ] satisfies CommandName[]
      ).toSorted(),
    )
  })
})
