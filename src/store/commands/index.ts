// Every command by the name of the port method it implements.
import type { Command } from '../command.ts'
import type { Store } from '../ports.ts'
import * as accounts from './accounts.ts'
import * as actions from './actions.ts'
import * as attempts from './attempts.ts'
import * as charges from './charges.ts'
import * as claims from './claims.ts'
import * as counts from './counts.ts'
import * as credentials from './credentials.ts'
import * as discovery from './discovery.ts'
import * as edge from './edge.ts'
import * as email from './email.ts'
import * as mandates from './mandates.ts'
import * as permits from './permits.ts'
import * as records from './records.ts'
import * as settlements from './settlements.ts'

/** The port's methods that are transactions; the rest (`health`, `close`, `engine`) belong to the engine. */
export type CommandName = Exclude<keyof Store, 'engine' | 'health' | 'close'>
export type Commands = {
  readonly [K in CommandName]: (...args: Parameters<Store[K]>) => Command<Awaited<ReturnType<Store[K]>>>
}

const { createAccount, addKey, findKey, listKeys, revokeKey, getAccount, balance, ledger, grant } = accounts
const { debitCredits, refundCredits } = charges
const { insertCredential, getCredential, listCredentials, rotateCredential, revokeCredential } = credentials
const { listWrapsNotUnder, replaceWrap } = credentials
const { insertCapability, findCapability, listCapabilities, revokeCapability } = credentials
const { reserveAttempt, markSending, finishAttempt, refundAttempt, getAttempt, listAttempts } = attempts
const { recoverAttempts, attachReceipt, listAttemptsWithoutReceipt, getReceipt } = attempts
const { claimPayment, getClaim, findClaim, findIdentifiedClaim, submitClaim, settleClaim, moveClaim } = claims
const { cancelClaim, recoverClaims, takeDoubtfulClaims, getClaimResult, countOpenClaims } = claims
const { takeSettlement, returnSettlement, saveQuote } = settlements
const { takeReference, seeResources, recordLiveness, forgetResources } = discovery
const { insertMandate, getMandate, listMandates, revokeMandate } = mandates
const { preparePermit, getPermit, listPermits, decidePermit } = permits
const { reserveAction } = actions
const { countActions } = counts
const { saveEdgeHost, findEdgeHost, reserveEdgeCall } = edge
const { createEmailKey, findEmailKey, listEmailKeys, touchEmailKey, revokeEmailKey } = email
const { takeEmailQuota, returnEmailQuota } = email
const { publishKey, retireKey, listPublishedKeys, saveTask, getTask, listTasks, sweep } = records

export const commands: Commands = {
  createAccount,
  addKey,
  findKey,
  listKeys,
  revokeKey,
  getAccount,
  balance,
  ledger,
  grant,
  debitCredits,
  refundCredits,
  insertCredential,
  getCredential,
  listCredentials,
  rotateCredential,
  revokeCredential,
  listWrapsNotUnder,
  replaceWrap,
  insertCapability,
  findCapability,
  listCapabilities,
  revokeCapability,
  reserveAttempt,
  markSending,
  finishAttempt,
  refundAttempt,
  getAttempt,
  listAttempts,
  recoverAttempts,
  attachReceipt,
  listAttemptsWithoutReceipt,
  getReceipt,
  claimPayment,
  getClaim,
  findClaim,
  findIdentifiedClaim,
  submitClaim,
  settleClaim,
  moveClaim,
  cancelClaim,
  recoverClaims,
  takeDoubtfulClaims,
  getClaimResult,
  countOpenClaims,
  takeSettlement,
  returnSettlement,
  saveQuote,
  insertMandate,
  getMandate,
  listMandates,
  revokeMandate,
  preparePermit,
  getPermit,
  listPermits,
  decidePermit,
  reserveAction,
  countActions,
  saveEdgeHost,
  findEdgeHost,
  reserveEdgeCall,
  createEmailKey,
  findEmailKey,
  listEmailKeys,
  touchEmailKey,
  revokeEmailKey,
  takeEmailQuota,
  returnEmailQuota,
  takeReference,
  seeResources,
  recordLiveness,
  forgetResources,
  publishKey,
  retireKey,
  listPublishedKeys,
  saveTask,
  getTask,
  listTasks,
  sweep,
}

/** One indexed row each: cheap enough for the thread that serves requests. */
export const pointReads: ReadonlySet<CommandName> = new Set<CommandName>([
  'findKey',
  'getAccount',
  'balance',
  'getCredential',
  'findCapability',
  'getAttempt',
  'getReceipt',
  'getClaim',
  'findClaim',
  'findIdentifiedClaim',
  'getClaimResult',
  'getMandate',
  'getPermit',
  'findEdgeHost',
  'findEmailKey',
  'getTask',
])

/** Commands that change nothing: they need no transaction of their own. */
export const reads: ReadonlySet<CommandName> = new Set<CommandName>([
  ...pointReads,
  'listKeys',
  'ledger',
  'listCredentials',
  'listWrapsNotUnder',
  'listCapabilities',
  'listAttempts',
  'listAttemptsWithoutReceipt',
  'countOpenClaims',
  'listMandates',
  'listPermits',
  'countActions',
  'listEmailKeys',
  'listPublishedKeys',
  'listTasks',
])

/** One statement each, which is atomic by itself. */
export const singleStatements: ReadonlySet<CommandName> = new Set<CommandName>([
  'revokeKey',
  'rotateCredential',
  'replaceWrap',
  'markSending',
  'claimPayment',
  'cancelClaim',
  'saveQuote',
  'insertMandate',
  'revokeMandate',
  'saveEdgeHost',
  'touchEmailKey',
  'revokeEmailKey',
  'returnEmailQuota',
  'recordLiveness',
  'publishKey',
  'retireKey',
  'saveTask',
])
