// A backup that a release makes of its own data while it serves, and what comes of it in an empty place of either engine.
import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../../src/lib/must.ts'
import { type Engine, ENGINES } from './gateway.ts'
import { clientAt, itKeeps, type Later } from './kept.ts'
import { databaseFor } from './postgres.ts'
import { createRestBuyer } from './rest-buyer.ts'
import { buyArticle, execute, type Holdings, type PaidCall } from './used-gateway.ts'

/** What a restore needs beside the backup. */
export const KEY_FILES = ['authority.jwk', 'signing.jwk', 'derivation.jwk', 'operator.key']

/**
 * Registers the tests of a backup and of its restore into each engine. They stop the gateway that is backed up, since all have one address.
 * @param engine of the gateway that is backed up: names the files
 */
export function describeRestores(engine: Engine, at: () => Later): void {
  describe('a backup', () => {
    let backup: string
    /** What the backup knows of, and a payment that it does not know of. */
    let held: Holdings
    let paidSince: PaidCall

    it('is made while the gateway serves, and no balance changes', async () => {
      const { by, env, holdings, serving, stage } = at()
      const client = await clientAt(at())
      const balance = await client.balance()
      backup = join(stage.folder, `backup-${engine}.gz`)
      const made = await by.run(['backup', '--out', backup, '--json'], env)
      expect(made.code, made.stderr).toBe(0)
      const { keys } = JSON.parse(made.stdout) as { keys: string[] }
      for (const name of ['authority.jwk', 'signing.jwk', 'derivation.jwk'])
        expect(keys).toContainEqual(expect.stringContaining(name))
      expect(await client.balance()).toBe(balance)
      held = copyOf({ ...holdings, balance })

      // Used after the backup: it is open there, and its chain alone knows of the payment.
      expect((await execute(client, held.openPermits[0]!)).status).toBe(200)
      paidSince = (await buyArticle(stage, serving.url)).call
      expect(await serving.stop()).toBe(0)
    })

    describe.each(ENGINES)('restored into an empty place on %s', (target) => {
      let restored: Later
      let report: { engine: string; receipts: { verified: number }; findings: string[]; ended: Ended }
      beforeAll(async () => {
        const { by, env: source, stage } = at()
        const database = target === 'postgres' ? await databaseFor('restored') : undefined
        const env = stage.envOf(`${engine}-restored-on-${target}`, database)
        await mkdir(folderOf(env), { mode: 0o700 })
        for (const name of KEY_FILES) await copyFile(join(folderOf(source), name), join(folderOf(env), name))
        const { code, stdout, stderr } = await by.run(['restore', backup, '--json'], env)
        expect(code, stderr).toBe(0)
        report = JSON.parse(stdout)
        restored = { stage, by, env, serving: await by.serve(env), holdings: copyOf(held) }
      })
      afterAll(async () => {
        await restored?.serving.stop()
      })

      it('every receipt was verified, every balance added up, and what works once was ended', () => {
        expect(report).toMatchObject({ engine: target, findings: [] })
        expect(report.receipts.verified).toBeGreaterThanOrEqual(held.receipts.length)
        expect(report.ended).toMatchObject({ permits: held.openPermits.length, payments_in_doubt: 0 })
      })

      itKeeps(() => restored)

      it('no permit and no payment works that may have been used since the backup', async () => {
        const { stage, serving } = restored
        const client = await clientAt(restored)
        const received = () => stage.chain.usdcOf(stage.chain.payTo)
        const before = [await client.balance(), await received()]
        for (const permit of held.openPermits)
          expect((await execute(client, permit)).body).toMatchObject({ code: 'permit_expired' })
        const { path, body, headers } = paidSince
        const answer = await createRestBuyer(serving.url, stage.chain.payers[0]!).send(path, body, headers)
        expect([answer.status, answer.body.code]).toEqual([402, 'payment_rejected'])
        expect([await client.balance(), await received()]).toEqual(before)
      })
    })
  })
}

interface Ended {
  readonly permits: number
  readonly payments_in_doubt: number
}

const folderOf = (env: Later['env']) => must(env['GATEWAY_DATA_DIR'], 'a data directory')

/** The lists of the one do not grow with those of the other. */
const copyOf = (holdings: Holdings): Holdings => ({
  ...holdings,
  receipts: [...holdings.receipts],
  payments: [...holdings.payments],
  openPermits: [...holdings.openPermits],
})
