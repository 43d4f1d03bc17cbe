// Controls that break what was found sound, behind the gateway's back: the check has to see each of them.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Agent } from 'undici'
import { must } from '../src/lib/must.ts'
import { UPSTREAM_HOST } from '../test/support/gateway.ts'
import { type CallScene, dataDirOf, SECRET } from './calls.ts'

const firstAcknowledged = ({ calls }: Pick<CallScene, 'calls'>) =>
  must(
    calls.find(({ state }) => state === 'acknowledged'),
    'an acknowledged call',
  )

/** Takes one acknowledged receipt out of the store. */
export const loseReceipt = {
  what: 'one acknowledged receipt deleted',
  async spoil(scene: CallScene): Promise<void> {
    await execute(scene, `DELETE FROM receipts WHERE id = '${firstAcknowledged(scene).receiptId}'`)
  },
}

/** Sends one acknowledged order once more, to this address. */
export async function sendTo(scene: CallScene, address: string): Promise<void> {
  const { world } = scene
  const { target } = firstAcknowledged(scene)
  const { headers } = must(
    world.upstream.requests.find((request) => request.target === target),
    'the order at the upstream',
  )
  const key = headers.filter(([name]) => name === 'idempotency-key')
  const dispatcher = new Agent({ connect: { ca: world.ca.pem, servername: UPSTREAM_HOST } })
  await dispatcher.request({
    origin: `https://${address}:${world.upstream.port}`,
    path: target,
    method: 'POST',
    headers: { host: UPSTREAM_HOST, ...Object.fromEntries(key) },
  })
  await dispatcher.close()
}

/** Sends one order once more. */
export const doubleOrder = {
  what: 'one order sent twice',
  spoil: (scene: CallScene): Promise<void> => sendTo(scene, '127.0.0.1'),
}

/** Takes a credit out of an account without a line in its ledger. */
export const takeCredit = {
  what: 'one credit taken without an entry',
  spoil: (scene: CallScene): Promise<void> =>
    execute(scene, 'UPDATE accounts SET balance = balance - 1 WHERE balance > 1000'),
}

/** Writes the secret where the gateway keeps its data. */
export const leakSecret = {
  what: 'the secret in a file',
  spoil: ({ world }: CallScene): Promise<void> => writeFile(join(dataDirOf(world), 'leak'), SECRET),
}

async function execute(scene: CallScene, statement: string): Promise<void> {
  if (scene.world.env['GATEWAY_DATABASE_URL'] !== undefined) {
    await scene.database().query(statement)
    return
  }
  const db = new DatabaseSync(join(dataDirOf(scene.world), 'gateway.db'), { timeout: 10_000 })
  db.exec(statement)
  db.close()
}
