// What was held before has to be good for what it was good for: after an upgrade, and in a restored place. Each promise is a test of its own.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { JWS_TYPES, type KeyDocument, verifyJws } from '../../src/receipts/types.ts'
import type { Installed, Serving, Variables } from './installed.ts'
import {
  buyArticle,
  clientOf,
  execute,
  type Holdings,
  type Receipt,
  type Stage,
  WHOAMI,
} from './used-gateway.ts'
import { createRestBuyer } from './rest-buyer.ts'

export interface Later {
  readonly stage: Stage
  readonly by: Installed
  readonly env: Variables
  readonly serving: Serving
  readonly holdings: Holdings
}

/** A client of the operator, at the gateway of later. */
export const clientAt = ({ serving, env }: Later) => clientOf(serving.url, env['GATEWAY_DATA_DIR']!)

/**
 * By the command of the release.
 * @param keys `--keys FILE`, or `--url URL` for those that a gateway publishes
 */
async function expectVerified({ stage, by, env }: Later, receipts: readonly Receipt[], ...keys: string[]) {
  const verdicts = receipts.map(async ({ id, jws }) => {
    const file = join(stage.folder, `${id}.jws`)
    await writeFile(file, jws)
    const { code, stdout, stderr } = await by.run(['receipts', 'verify', file, ...keys, '--json'], env)
    expect(code, stdout + stderr).toBe(0)
    return JSON.parse(stdout) as object
  })
  expect(await Promise.all(verdicts)).toEqual(receipts.map(() => expect.objectContaining({ verified: true })))
}

/** As anybody does who has the keys. */
async function expectSigned(keysFile: string, receipts: readonly Receipt[]) {
  const keys = JSON.parse(await readFile(keysFile, 'utf8')) as KeyDocument
  for (const { jws } of receipts)
    expect(await verifyJws(jws, keys, JWS_TYPES.receipt)).toMatchObject({ ok: true })
}

/** One of a call, and one of a payment: each is a process. */
const oneOfEach = ({ receipts }: Holdings) => [receipts[0]!, receipts[3]!]

let audits = 0

/** Registers a test of each promise. The first reads the balance, before the others spend of it. */
export function itKeeps(at: () => Later): void {
  it('the balance is what it was', async () => {
    const { holdings } = at()
    expect(await (await clientAt(at())).balance()).toBe(holdings.balance)
  })

  it('receipts verify offline, by keys that were saved before', async () => {
    const { holdings } = at()
    await expectSigned(holdings.keysFile, holdings.receipts)
    await expectVerified(at(), oneOfEach(holdings), '--keys', holdings.keysFile)
  })

  it('receipts are shown as they were given, and verify by the keys that are published', async () => {
    const { holdings, serving } = at()
    const { rest } = await clientAt(at())
    for (const { id, jws } of holdings.receipts)
      expect((await rest('GET', `/v1/receipts/${id}`, undefined, '')).body).toMatchObject({
        receipt_id: id,
        jws,
        status: 'valid',
      })
    await expectVerified(at(), oneOfEach(holdings).slice(0, 1), '--url', serving.url)
  })

  it('a capability of before sends calls under the credential that was stored then', async () => {
    const { holdings } = at()
    const { fetch, balance } = await clientAt(at())
    const before = await balance()
    const { status, body } = await fetch(holdings.capability, WHOAMI)
    expect([status, body]).toEqual([200, expect.objectContaining({ upstream: expect.any(Object) })])
    expect(JSON.parse(body.upstream.body)).toMatchObject({ authenticated: true })
    expect(await balance()).toBe(before - 1)
    holdings.receipts.push({ id: body.receipt.receipt_id, jws: body.receipt.jws })
  })

  it('a call under an idempotency key of before is answered from before, and nothing is charged', async () => {
    const { holdings } = at()
    const { fetch, balance } = await clientAt(at())
    const before = await balance()
    const { status, body } = await fetch(holdings.capability, holdings.keyed.call)
    expect([status, body.attempt_id]).toEqual([200, holdings.keyed.attemptId])
    expect(await balance()).toBe(before)
  })

  it('a permit that was executed, and payments that were made, do nothing again', async () => {
    const { holdings, stage, serving } = at()
    const client = await clientAt(at())
    const received = () => stage.chain.usdcOf(stage.chain.payTo)
    const before = [await client.balance(), await received()]
    const again = await execute(client, holdings.usedPermit.permit)
    expect([again.status, again.body]).toEqual([
      409,
      expect.objectContaining({ code: 'permit_used', attempt_id: holdings.usedPermit.attemptId }),
    ])
    const { send } = createRestBuyer(serving.url, stage.chain.payers[0]!)
    for (const { path, body, headers } of holdings.payments) {
      const answer = await send(path, body, headers)
      expect([answer.status, answer.body.code]).toEqual([409, 'payment_claimed'])
    }
    expect([await client.balance(), await received()]).toEqual(before)
  })

  it('a key that was revoked stays so, and another has the role that it had', async () => {
    const { holdings } = at()
    const { rest } = await clientAt(at())
    expect((await rest('GET', '/v1/keys', undefined, holdings.revokedKey)).status).toBe(401)
    expect((await rest('GET', '/v1/keys', undefined, holdings.auditorKey)).status).toBe(200)
    const made = await rest('POST', '/v1/keys', { label: 'more' }, holdings.auditorKey)
    expect([made.status, made.body.code]).toEqual([403, 'role_required'])
  })

  it('the audit log goes on from what was exported before', async () => {
    const { holdings, by, env, stage } = at()
    const file = join(stage.folder, `audit-${++audits}.jsonl`)
    const exported = await by.run(['audit', 'export', '--out', file], env)
    expect(exported.code, exported.stderr).toBe(0)
    const witnesses = ['--keys', holdings.keysFile, '--witness', holdings.auditFile]
    const { code, stdout, stderr } = await by.run(['audit', 'verify', file, ...witnesses], {})
    expect(code, stdout + stderr).toBe(0)
  })

  it('it sells', async () => {
    const { holdings, stage, serving } = at()
    const before = await stage.chain.usdcOf(stage.chain.payTo)
    const { call, receipt } = await buyArticle(stage, serving.url)
    expect(await stage.chain.usdcOf(stage.chain.payTo)).toBeGreaterThan(before)
    await expectSigned(holdings.keysFile, [receipt])
    holdings.receipts.push(receipt)
    holdings.payments.push(call)
  })
}
