// The operator's money on the command line: lists, the life of a payment, what is open, files that are whole, and revenue.
import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PAYMENT_COLUMNS } from '../../schemas/payment-record.ts'
import { newId } from '../../src/lib/ids.ts'
import { runCli } from '../support/cli.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { awayFromMidnight } from '../support/midnight.ts'
import { newClaim, settling, submission } from '../support/store.ts'

const BOOT = 'boot-of-the-test'
const DAY = 86_400_000
/** More than a page of an export. */
const MANY = 503

let gw: TestGateway
let out: string
beforeAll(async () => {
  // The payments of the first test are in the sums of the last one.
  await awayFromMidnight(120)
  gw = await startTestGateway()
  out = join(gw.dataDir, 'out')
  await mkdir(out)
})
afterAll(() => gw.close())

const cli = (...args: string[]) =>
  runCli(['payments', ...args], {
    GATEWAY_OPERATOR_KEY: gw.operatorKey,
    GATEWAY_DATA_DIR: gw.dataDir,
    GATEWAY_BASE_URL: gw.baseUrl,
  })
async function json(...args: string[]) {
  const { code, stdout, stderr } = await cli(...args, '--json')
  expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

async function claimed(over: Parameters<typeof newClaim>[0] = {}) {
  const now = Date.now()
  const claim = newClaim({ id: newId('clm', now), createdAt: now, ...over })
  await gw.store.claimPayment({ claim, bootId: BOOT })
  await gw.store.submitClaim({ ...submission(claim.id, BOOT), now })
  return claim
}
async function settled(over: Parameters<typeof newClaim>[0] = {}) {
  const claim = await claimed(over)
  await gw.store.settleClaim({ ...settling(claim.id), now: Date.now() })
  return claim
}
async function unknown(over: Parameters<typeof newClaim>[0] = {}) {
  const claim = await claimed(over)
  const move = { to: 'unknown', reason: 'timeout', transaction: null, now: Date.now() } as const
  await gw.store.moveClaim({ id: claim.id, ...move })
  return claim
}

describe('payments', () => {
  it('are listed newest first, narrowed, and shown whole', async () => {
    const payer = `0x${'a1'.repeat(20)}`
    const one = await settled({ payer, amount: '5000' })
    const two = await settled({ payer, amount: '70000', tool: 'gateway.pages.read' })
    const ids = async (...args: string[]) =>
      (await json('list', '--payer', payer.toUpperCase().replace('0X', '0x'), ...args)).payments.map(
        ({ claim_id: id }: { claim_id: string }) => id,
      )
    expect(await ids()).toEqual([two.id, one.id])
    expect(await ids('--tool', 'gateway.pages.read')).toEqual([two.id])
    expect(await ids('--max', '5000', '--from', new Date().toISOString().slice(0, 10))).toEqual([one.id])
    expect(await ids('--to', '2020-01-01')).toEqual([])
    const table = await cli('list', '--payer', payer, '--limit', '1', '--columns', 'amount,claim_id')
    expect(table.stdout).toBe(`AMOUNT    CLAIM ID\n0.070000  ${two.id}\n\nmore: --before ${two.id}\n`)
    const wrong = await cli('list', '--payer', payer, '--columns', 'amuont')
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('amount_atomic') })

    const life = await cli('show', one.id)
    expect(life.stdout).toMatch(/^settlement\.block +-$/m)
    expect(life.stdout).toMatch(/ {2}claimed {2}[^]* {2}submitted {2}[^]* {2}settled {2}/)
    expect((await cli('show', 'clm_none')).stderr).toContain('payments list')
    // What PostgreSQL would refuse never gets there.
    for (const path of ['?tool=%00', '?payer=a%00', '?resource=%00', '/%00/record', '?before=%00'])
      expect((await gw.rest('GET', `/v1/payments${path}`)).status, path).toBe(400)
  })

  it('are narrowed by nothing that no payment can have', async () => {
    for (const [args, words] of [
      [['list', '--from', '2026-02-30T00:00:00Z'], 'Write a day'],
      [['list', '--min', '5', '--max', '2'], 'smaller `min_atomic`'],
      [['list', '--payer', 'vitalik.eth'], 'address of a wallet'],
      [['list', '--payee', '0x12'], 'address of a wallet'],
      [['spend', 'zzz'], 'address of a wallet'],
    ] as const) {
      const { code, stderr } = await cli(...args)
      expect(code, args.join(' ')).toBeGreaterThan(0)
      expect(stderr.replaceAll(/\s+/g, ' '), args.join(' ')).toContain(words)
    }
    const solana = '7EYnhQoR9YM3N7UoaKRoA44Uy8JeaZV3qyouov87awMs'
    expect((await cli('list', '--payer', solana)).stdout).toContain('No payments.')
  })

  it('are nobody’s but the administrator’s', async () => {
    const { text } = await gw.rest('POST', '/v1/keys', { label: 'other', account: 'new' })
    const { key } = JSON.parse(text) as { key: string }
    for (const path of ['/v1/payments', '/v1/payments/clm_1/record', '/v1/revenue'])
      expect((await gw.rest('GET', path, undefined, key)).status, path).toBe(403)
    for (const path of ['reconcile', 'close'])
      expect((await gw.rest('POST', `/v1/payments/clm_1/${path}`, { reason: 'because' }, key)).status).toBe(
        403,
      )
  })

  it('that are open are asked about, and closed by hand only where nothing can move the money', async () => {
    const foreign = { network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', asset: 'usdc' }
    const gone = await unknown({ ...foreign, validBefore: Date.now() - DAY })
    const live = await unknown({ ...foreign, validBefore: Date.now() + DAY })
    const all = await cli('reconcile')
    expect(all.code).toBe(1)
    for (const { id } of [gone, live]) expect(all.stdout).toContain(id)
    expect((await cli('reconcile', gone.id)).stdout).toContain(
      `payments reconcile ${gone.id} --close --reason`,
    )
    expect(await cli('reconcile', live.id, '--close', '--reason', 'I think so')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('its buyer could pay twice'),
    })
    expect(await cli('reconcile', gone.id, '--close')).toMatchObject({ code: 2 })
    const closed = await json('reconcile', gone.id, '--close', '--reason', 'in no block')
    expect(closed).toMatchObject({
      payment: { state: 'failed' },
      closed: { reason: 'in no block', was: 'unknown' },
    })
    const audited = await gw.rest('GET', '/v1/audit/events?of=installation&limit=500')
    expect(audited.text).toContain('payment.closed')
    expect(audited.text).not.toContain('in no block')
  })

  it('come to sums by day, and by tool', async () => {
    const day = new Date().toISOString().slice(0, 10)
    const [{ of, payments }] = (await json('revenue')).revenue
    expect([of, payments]).toEqual([day, 2])
    const byTool = await cli('revenue', '--by', 'tool')
    expect(byTool.stdout).toMatch(/^TOOL +NETWORK +PAYMENTS +SETTLED/)
    expect(byTool.stdout).toMatch(/^gateway\.pages\.read .* 1 +0\.070000 +0\.000000 +0\.070000/m)
    expect(await cli('revenue', '--from', '2026-02-30')).toMatchObject({ code: 1 })
  })
})

const idsOf = (lines: readonly string[]) => lines.map((line) => line.split(',')[0])

describe('a file of payments', () => {
  it('is whole, page by page, in stable columns, safe for a spreadsheet, and replaces no other', async () => {
    const payer = `0x${'b2'.repeat(20)}`
    // Settled: open ones are asked about after some seconds, and are others in the next export.
    for (let i = 0; i < MANY; i++) await settled({ payer, tool: i === 7 ? '=cmd()' : 'gateway.web.fetch' })
    const file = join(out, 'all.csv')
    const written = await cli('export', '--payer', payer, '--out', file)
    expect(written).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining(`${MANY} payments`),
    })
    const text = await readFile(file, 'utf8')
    const lines = text.split('\r\n')
    expect(lines[0]).toBe(PAYMENT_COLUMNS.join(','))
    expect(lines).toHaveLength(MANY + 2)
    expect(new Set(idsOf(lines)).size).toBe(MANY + 2)
    expect(text).toContain(",'=cmd(),")
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await cli('export', '--out', file)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('exists already'),
    })
    expect(await cli('export', '--out', join(out, 'none', 'x.csv'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be written'),
    })
    expect(await readdir(out)).toEqual(['all.csv'])

    const { stdout } = await cli('export', '--payer', payer, '--format', 'jsonl')
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { claim_id: string; amount_atomic: string; amount: string })
    expect(rows.map(({ claim_id: id }) => id)).toEqual(idsOf(lines).slice(1, -1))
    expect(rows[0]).toMatchObject({ amount_atomic: '1000', amount: '0.001000' })
    // Goes on where another one broke off.
    const rest = await cli('export', '--payer', payer, '--no-header', '--before', rows[300]!.claim_id)
    expect(rest.stdout).toBe(lines.slice(302).join('\r\n'))
  })

  describe('that breaks off', () => {
    let server: Server
    let asked = 0
    beforeAll(async () => {
      const page = JSON.parse((await gw.rest('GET', '/v1/payments?limit=3')).text)
      server = createServer((_req, res) => {
        asked++
        res.writeHead(asked % 2 === 1 ? 200 : 503, { 'content-type': 'application/json' })
        res.end(
          JSON.stringify(
            asked % 2 === 1
              ? page
              : { title: 'The store does not answer', code: 'store_unavailable', status: 503 },
          ),
        )
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    })
    afterAll(() => new Promise<unknown>((resolve) => server.close(resolve)))

    it('keeps its whole pages beside it, and names the cursor to go on with', async () => {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const file = join(out, 'broken.csv')
      const broken = await cli('export', '--url', url, '--out', file)
      expect(broken.code).toBe(1)
      const [, cursor] = /--no-header --before (clm_\w+)/.exec(broken.stderr) ?? []
      const kept = (await readFile(`${file}.part`, 'utf8')).split('\r\n')
      expect(kept).toHaveLength(1 + 3 + 1)
      expect(kept[3]?.startsWith(`${cursor},`)).toBe(true)
      expect((await readdir(out)).toSorted()).toEqual(['all.csv', 'broken.csv.part'])
    })
  })
})
