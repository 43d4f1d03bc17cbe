// A process that uses a store until it is killed and says what it was told: one line for every acknowledged step.
// Started by the crash suite: node store-writer.ts <json of {dataDir, databaseUrl, setting, buyerId}>
import { randomUUID } from 'node:crypto'
import { loadConfig } from '../../src/config.ts'
import { openStore } from '../../src/store/index.ts'
import { ending, log, newClaim, reservation, type Setting, settling, submission } from './store.ts'

interface Input {
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  readonly setting: Setting
  readonly buyerId: string
}

const { dataDir, databaseUrl, setting, buyerId } = JSON.parse(process.argv[2]!) as Input
const bootId = randomUUID()
const config = loadConfig({ GATEWAY_DATA_DIR: dataDir, GATEWAY_DATABASE_URL: databaseUrl })
const store = await openStore({ config, log, bootId })

// A pipe is written synchronously: what was acknowledged has been said before anything else happens.
const say = (...words: string[]) => process.stdout.write(`${words.join(' ')}\n`)

async function attempt(): Promise<never> {
  for (;;) {
    const input = reservation(setting, bootId)
    const { id } = input.attempt
    const result = await store.reserveAttempt(input)
    if (!result.ok) throw new Error(result.reason)
    say('reserved', id)
    if (!(await store.markSending({ id, bootId, now: input.now }))) throw new Error('not ours')
    say('sending', id)
    const end = ending(input.attempt, bootId)
    if (!(await store.finishAttempt(end)).ok) throw new Error('not finished')
    say('settled', id, end.receipt.id)
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
await Promise.all(Array.from({ length: 12 }, (_, i) => (i < 6 ? attempt() : pay())))
