// A process that does with a store what it is told on its standard input, and says how it went: one line for each.
// Started by the suite of stopped processes: node store-told.ts <json of {dataDir, databaseUrl, setting, bootId}>
import { createInterface } from 'node:readline'
import { loadConfig } from '../../src/app/config.ts'
import { GatewayError } from '../../src/core/errors.ts'
import { openStore } from '../../src/store/index.ts'
import { ending, log, NOW, reservation, type Setting } from './store.ts'

interface Input {
  readonly dataDir: string
  readonly databaseUrl: string
  readonly setting: Setting
  readonly bootId: string
}

const { dataDir, databaseUrl, setting, bootId } = JSON.parse(process.argv[2]!) as Input
const config = loadConfig({ GATEWAY_DATA_DIR: dataDir, GATEWAY_DATABASE_URL: databaseUrl })
const store = await openStore({ config, log, bootId })
let last = reservation(setting, bootId)

const verbs: Record<string, () => Promise<unknown>> = {
  async reserve() {
    const next = reservation(setting, bootId)
    const { ok } = await store.reserveAttempt(next)
    last = next
    return ok
  },
  send: () => store.markSending({ id: last.attempt.id, bootId, now: NOW }),
  finish: async () => (await store.finishAttempt(ending(last.attempt, bootId))).ok,
}
const say = (word: string) => process.stdout.write(`${word}\n`)

say('open')
for await (const verb of createInterface({ input: process.stdin }))
  await verbs[verb]!().then(
    (answer) => say(String(answer)),
    (thrown: unknown) =>
      say(thrown instanceof GatewayError ? (thrown.reason ?? thrown.code) : String(thrown)),
  )
await store.close()
