// Sellers are paid on a real chain: what they are owed, with proofs that anybody can follow; who cannot be paid stays owed; refunds by
// sellers come from what they hold; a statement sums to the ledger.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/app/config.ts'
import { decodeJws, JWS_TYPES, verifyJws } from '../../src/receipts/types.ts'
import { startTestChain, type TestChain } from '../support/chain.ts'
import { runCli } from '../support/cli.ts'
import { createWorld, ENGINES, startTestGateway, type TestGateway, type World } from '../support/gateway.ts'
import { marketLedgerFaults } from '../support/market-money.ts'
import { BASE, BASE_USDC, seedSellers } from '../support/market-payouts.ts'
import { queryOf } from '../support/store.ts'

const KEY = `0x${0xeefd_0000_0011n.toString(16).padStart(64, '0')}` as const
const account = privateKeyToAccount(KEY)
const BLACKLISTER = '0x00000000000000000000000000000000005addc0'
const addressOf = (engine: string, i: number) =>
  `0x${(0x5e11_0000_0000n + (engine === 'sqlite' ? 0n : 0x1000n) + BigInt(i)).toString(16).padStart(40, '0')}`

let chain: TestChain
beforeAll(async () => void (chain = await startTestChain(8453)))
afterAll(() => chain.close())

describe.each(ENGINES)('payouts (%s)', (engine) => {
  const sellers = [
    { id: 'ada', payoutAddress: addressOf(engine, 1), sales: 3 },
    { id: 'barred', payoutAddress: addressOf(engine, 2), sales: 1 },
    { id: 'token', payoutAddress: BASE_USDC, sales: 1 },
    { id: 'small', payoutAddress: addressOf(engine, 3), sales: 1 },
  ] as const
  let world: World
  let gateway: TestGateway
  let seeded: Awaited<ReturnType<typeof seedSellers>>
  beforeAll(async () => {
    const created = await createWorld({ engine, env: chain.env })
    const file = join(created.dataDir, 'payout.key')
    await writeFile(file, KEY, { mode: 0o600 })
    world = {
      ...created,
      env: { ...created.env, GATEWAY_PAYOUT_KEY_FILE: file, GATEWAY_REFUND_KEY_FILE: file },
    }
    seeded = await seedSellers(world, sellers)
    await chain.fund(account.address, 100_000n)
    const blacklist = `0xf9f92be4${sellers[1].payoutAddress.slice(2).padStart(64, '0')}`
    await chain.submitAs(BLACKLISTER, { to: BASE_USDC, data: blacklist })
    gateway = await startTestGateway({ world })
  })
  afterAll(async () => {
    expect(await marketLedgerFaults({ query: queryOf(loadConfig(world.env)) })).toEqual([])
    await gateway.close()
    await world.close()
  })
  const keyOf = (i: number) => seeded[i]?.key ?? ''
  const claimOf = (i: number, sale = 0) => seeded[i]?.claims[sale] ?? ''
  const run = (body: object = {}) =>
    gateway.rest('POST', '/v1/marketplace/payouts/run', body, world.operatorKey)
  const statement = (i: number, query = '') =>
    gateway.rest('GET', `/v1/marketplace/seller/statement${query}`, undefined, keyOf(i))
  const refund = (i: number, body: object) =>
    gateway.rest('POST', '/v1/marketplace/seller/refunds', { reason: 'wrong', ...body }, keyOf(i))

  it("are the operator's to run and to verify, and a seller's key opens none of it", async () => {
    for (const [method, path] of [
      ['POST', '/run'],
      ['GET', '/state'],
      ['GET', '/verify'],
    ] as const) {
      const url = `${gateway.baseUrl}/v1/marketplace/payouts${path}`
      expect((await fetch(url, { method, ...(method === 'POST' && { body: '{}' }) })).status).toBe(401)
      const body = method === 'POST' ? {} : undefined
      expect((await gateway.rest(method, `/v1/marketplace/payouts${path}`, body, keyOf(0))).status).toBe(403)
    }
    expect(
      (await gateway.rest('GET', '/v1/marketplace/seller/statement', undefined, world.operatorKey)).status,
    ).toBe(404)
  })

  it('send what is owed, once, and say why the rest waits', async () => {
    const { status, body } = await run({ minimum_atomic: 971 })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body).toMatchObject({
      state: 'done',
      batches: [{ network: BASE, paid: 1, paid_atomic: '2910', failed: 0 }],
    })
    expect(await chain.usdcOf(sellers[0].payoutAddress)).toBe(2910n)
    expect((await run({ minimum_atomic: 970 })).body).toMatchObject({
      batches: [{ paid: 1, paid_atomic: '970' }],
    })
    expect(await chain.usdcOf(sellers[3].payoutAddress)).toBe(970n)
    expect((await run({ minimum_atomic: 1 })).body).toMatchObject({ batches: [{ paid: 0 }] })
    expect(await chain.transfersTo(sellers[0].payoutAddress)).toBe(1)
    expect(await chain.usdcOf(sellers[1].payoutAddress)).toBe(0n)
    const { body: state } = await gateway.rest(
      'GET',
      '/v1/marketplace/payouts/state',
      undefined,
      world.operatorKey,
    )
    expect(state).toMatchObject({
      account: account.address.toLowerCase(),
      networks: [{ network: BASE, owed_atomic: '1940', under_way_atomic: '0', fees_atomic: '180' }],
      kept: [
        { seller: 'barred', reason: 'recipient_refused_by_token' },
        { seller: 'token', reason: 'recipient_is_the_token' },
      ],
    })
    expect((await statement(1)).body).toMatchObject({
      kept_because: 'recipient_refused_by_token',
      closing_atomic: '970',
    })
  })

  it('are public, each with its transaction and a receipt that verifies', async () => {
    const { status, body } = await gateway.rest('GET', '/v1/marketplace/payouts?seller=ada')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      payouts: [{ seller: 'ada', amount_atomic: '2910', to: sellers[0].payoutAddress, network: BASE }],
      next: null,
    })
    const [{ transaction, receipt }] = body.payouts
    const keys = (await gateway.rest('GET', '/.well-known/jwks.json')).body
    expect(await verifyJws(receipt.jws, keys, JWS_TYPES.receipt)).toMatchObject({ ok: true })
    expect(decodeJws(receipt.jws).payload).toMatchObject({ kind: 'payout', amount: '2910', transaction })
    const read = await gateway.rest('GET', `/v1/receipts/${receipt.receipt_id}`)
    expect(read.body).toMatchObject({ jws: receipt.jws })
    const logs = await chain.rpc('eth_getTransactionReceipt', [transaction])
    expect(JSON.stringify(logs)).toContain(sellers[0].payoutAddress.slice(2))
  })

  it("are a seller's to refund from what it holds, to the buyer alone, with the fee in proportion", async () => {
    expect((await refund(3, { claim_id: claimOf(3), reference: '1' })).body).toMatchObject({
      code: 'state_conflict',
    })
    expect((await refund(1, { claim_id: claimOf(0), reference: '1' })).status).toBe(404)
    expect((await refund(1, { claim_id: claimOf(1), receipt_id: 'x', reference: '1' })).status).toBe(400)
    const half = { claim_id: claimOf(1), amount_atomic: '500', reference: 'half' }
    const { status, body } = await refund(1, half)
    expect(status, JSON.stringify(body)).toBe(201)
    expect(body).toMatchObject({
      state: 'settled',
      amount_atomic: '500',
      from_you_atomic: '485',
      fee_returned_atomic: '15',
      balance_atomic: '485',
      repeated: false,
    })
    expect((await refund(1, half)).body).toMatchObject({ repeated: true, balance_atomic: '485' })
    expect((await refund(1, { ...half, reference: 'more', amount_atomic: '501' })).body.code).toBe(
      'state_conflict',
    )
    const query = queryOf(loadConfig(world.env))
    const [claim] = await query(`SELECT payer, receipt_id FROM payment_claims WHERE id = '${claimOf(1)}'`)
    expect(await chain.usdcOf(String(claim?.['payer']))).toBe(500n)
  })

  it('and their refunds by the operator make a balance negative, which later sales fill', async () => {
    const body = { reason: 'wrong', reference: 'op', amount_atomic: '1000' }
    const answer = await gateway.rest('POST', `/v1/payments/${claimOf(0)}/refunds`, body, world.operatorKey)
    expect(answer.body).toMatchObject({ state: 'settled' })
    expect((await statement(0)).body).toMatchObject({ closing_atomic: '-970' })
    expect((await run({ minimum_atomic: 1 })).body.batches[0]).toMatchObject({ paid: 0 })
  })

  it('stand in a statement that sums up, in pages and as CSV, with claim, receipt and transaction', async () => {
    const { body } = await statement(0, '?format=csv')
    expect(
      body.lines.map(({ kind, amount_atomic }: Record<string, string>) => [kind, amount_atomic]),
    ).toEqual([
      ['sale', '970'],
      ['sale', '970'],
      ['sale', '970'],
      ['payout', '-2910'],
      ['refund', '-970'],
    ])
    for (const line of body.lines) {
      expect(line.transaction).toMatch(/^0x[0-9a-f]{64}$/)
      expect(line.receipt_id).toMatch(/^rcp_/)
    }
    const sum = body.lines.reduce(
      (total: number, line: Record<string, string>) => total + Number(line['amount_atomic']),
      0,
    )
    expect(Number(body.opening_atomic) + sum).toBe(Number(body.closing_atomic))
    const rows = body.csv.trimEnd().split('\r\n')
    expect(rows).toHaveLength(6)
    expect(rows[0]).toMatch(/^at,kind,amount_atomic,balance_atomic/)
    expect(rows[4]).toContain(',payout,-2910,0,2910,0,')
    const first = (await statement(0, '?limit=4')).body
    const second = (await statement(0, `?limit=4&cursor=${first.next}`)).body
    expect([...first.lines, ...second.lines]).toEqual(body.lines)
    expect(second.next).toBeNull()
    expect((await statement(0, '?from=2020-01&to=2020-03')).body).toMatchObject({
      opening_atomic: '0',
      closing_atomic: '0',
      lines: [],
    })
    expect((await statement(0, '?network=eip155:84532')).body).toMatchObject({ lines: [] })
    expect((await statement(0, '?cursor=abc')).status).toBe(400)
  })

  it('are proven against the chain by the command line, which fails where a transfer is not there', async () => {
    const env = { ...world.env, GATEWAY_BASE_URL: gateway.baseUrl }
    const shown = await runCli(['payouts', 'show', '--seller', 'ada'], env)
    expect(shown.stdout).toContain('2910')
    const keyFile = join(world.dataDir, 'ada.key')
    await writeFile(keyFile, keyOf(0), { mode: 0o600 })
    const csv = await runCli(['sellers', 'statement', '--csv', '--key-file', keyFile], env)
    expect(csv.stdout.trimEnd().split('\r\n'), csv.stderr).toHaveLength(6)
    const said = await runCli(['sellers', 'statement', '--key-file', keyFile], env)
    expect(said.stdout).toMatch(/^opening 0\n.*\nclosing -970\n$/s)
    const refused = await runCli(
      ['sellers', 'refund', claimOf(0, 1), '--reason', 'x', '--key-file', keyFile],
      env,
    )
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('state_conflict') })
    const again = await runCli(['payouts', 'run', '--minimum-atomic', '1'], env)
    expect(again).toMatchObject({ code: 0 })
    const good = await runCli(['payouts', 'verify', '--json'], env)
    expect(good.code, good.stderr).toBe(0)
    expect(JSON.parse(good.stdout)).toMatchObject({
      ok: true,
      payouts: [
        { chain: 'proven', receipt: 'valid' },
        { chain: 'proven', receipt: 'valid' },
      ],
    })
    await chain.reorg(5)
    const bad = await runCli(['payouts', 'verify'], env)
    expect(bad.stdout).toContain('missing')
    expect(bad.code).toBe(1)
  })
})
