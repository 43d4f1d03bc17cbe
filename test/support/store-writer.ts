// A process that uses a store until it is killed and says what it was told: one line for every acknowledged step.
// Started by the crash suite: node store-writer.ts <json of {dataDir, databaseUrl, setting, grant, buyerId, callerId}>
import { randomUUID } from 'node:crypto'
import { loadConfig } from '../../src/app/config.ts'
import { openStore } from '../../src/store/index.ts'
import { addPermit, edgeCall, execution, type Grant } from './store-actions.ts'
import {
  ending,
  log,
  newClaim,
  nextTransaction,
  NOW,
  receiptFor,
  reservation,
  type Setting,
  settling,
  submission,
} from './store.ts'

interface Input {
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  readonly setting: Setting
  readonly grant: Grant
  readonly buyerId: string
  readonly callerId: string
}

const { dataDir, databaseUrl, setting, grant, buyerId, callerId } = JSON.parse(process.argv[2]!) as Input
const bootId = randomUUID()
const config = loadConfig({ GATEWAY_DATA_DIR: dataDir, GATEWAY_DATABASE_URL: databaseUrl })
const store = await openStore({ config, log, bootId })

// A pipe is written synchronously: what was acknowledged has been said before anything else happens.
const say = (...words: string[]) => process.stdout.write(`${words.join(' ')}\n`)

async function attempt(): Promise<never> {
  for (;;) {
    const input = reservation(setting, bootId)
    const result = await store.reserveAttempt(input)
    if (!result.ok) throw new Error(result.reason)
    await finish(input)
  }
}

async function finish({ attempt, now }: ReturnType<typeof reservation>): Promise<void> {
  const { id } = attempt
  say('reserved', id)
  if (!(await store.markSending({ id, bootId, now }))) throw new Error('not ours')
  say('sending', id)
  const end = ending(attempt, bootId)
  if (!(await store.finishAttempt(end)).ok) throw new Error('not finished')
  say('settled', id, end.receipt.id)
}

/** Permits and their executions, and an edge call after each. */
async function act(): Promise<never> {
  for (;;) {
    const permit = await addPermit(store, grant)
    say('ready', permit.id)
    const input = execution(permit, bootId)
    const result = await store.reserveAction(input)
    if (!result.ok) throw new Error(result.reason)
    say('executed', permit.id)
    await finish(input)
    const call = edgeCall(grant.accountId, bootId)
    if (!(await store.reserveEdgeCall(call)).ok) throw new Error('not paid')
    await finish(call)
  }
}

/** Every second payment buys credits: those settle another way. */
async function pay(): Promise<never> {
  for (let i = 0; ; i++) {
    const claim = newClaim({ purchase: i % 2 === 0 ? null : { accountId: buyerId, credits: 3 } })
    const { id } = claim
    if (!(await store.claimPayment({ claim, bootId })).ok) throw new Error('claimed by another')
    say('claimed', id)
    if (!(await store.submitClaim(submission(id, bootId)))) throw new Error('not ours')
    say('submitted', id)
    const end = settling(id)
    if (!(await store.settleClaim(end))) throw new Error('not settled')
    say('settled', id, end.receipt.id)
  }
}

/** Priced calls, which end in turn with a receipt, by being given back, and not at all. */
async function charge(): Promise<never> {
  for (let i = 0; ; i++) {
    const transactionId = nextTransaction()
    const debit = { accountId: callerId, amount: 2, transactionId, bootId, reference: 'call', now: NOW }
    if (!(await store.debitCredits(debit)).ok) throw new Error('not charged')
    say('charged', transactionId)
    if (i % 3 === 0) continue
    if (i % 3 === 1) {
      const receipt = receiptFor(callerId)
      if (!(await store.settleDebit({ transactionId, receipt }))) throw new Error('no receipt')
      say('receipted', transactionId, receipt.id)
      continue
    }
    if (!(await store.refundCredits({ transactionId, now: NOW })).ok) throw new Error('not given back')
    say('returned', transactionId)
  }
}
const work = [attempt, attempt, pay, pay, act, charge]
await Promise.all(Array.from({ length: 18 }, (_, i) => work[i % work.length]!()))
