// `agent-gateway demo`, as a newcomer runs it: beside a running sandbox, and alone.
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { tools } from '../../tools/index.ts'
import { type GatewayProcess, runCli, startGatewayProcess } from '../support/cli.ts'
import { removeFolder } from '../support/remove-folder.ts'

let folder: string
let gateway: GatewayProcess | undefined
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'demo-'))
})
afterEach(async () => {
  gateway?.kill('SIGTERM')
  await gateway?.ended
  gateway = undefined
  await removeFolder(folder)
})

interface Shown {
  readonly url: string
  readonly steps: {
    tool: string
    bought: string
    path: string
    network: string
    paid: string
    verifies: boolean
  }[]
  readonly permit: {
    permit: string
    attempt: string
    status: number
    credits: number
    verifies: boolean
    repeated: { code: string; attempt: string }
  }
  readonly market: {
    paid: string
    answer: Record<string, unknown>
    payout: { amount: string; transaction: string }
    verifies: boolean
  }
  readonly balances: { network: string; who: string; before: string; after: string; change: string }[]
}

const env = () => ({ GATEWAY_DATA_DIR: join(folder, 'data'), GATEWAY_LOG_LEVEL: 'silent' })
/** One of each thing that is sold: a tool that sells several names them. */
const purchases = tools
  .filter(({ price }) => price.kind === 'x402')
  .flatMap(({ name, title, rest, sold = [{ name: title }] }) =>
    rest
      .filter(({ isRaw }) => !isRaw)
      .flatMap(({ path }) => sold.map((one) => `${one.name}: ${name} ${path}`)),
  )
const OUTCOMES = { 'Web extraction': '0.003000', 'Product offers': '0.006000', 'Feed digest': '0.002000' }

describe('demo', () => {
  it('pays for every paid route of a running sandbox, and the balances move by exactly what was paid', async () => {
    gateway = startGatewayProcess({ ...env(), PORT: '0' })
    const url = await gateway.listening
    const finished = await runCli(['demo', '--json'], env())
    expect(finished.stderr).toBe('')
    expect(finished.code).toBe(0)
    const shown = JSON.parse(finished.stdout) as Shown
    expect(shown.url).toBe(url)
    expect(shown.steps.map(({ bought, tool, path }) => `${bought}: ${tool} ${path}`)).toEqual(purchases)
    const outcomes = shown.steps.filter(({ tool }) => tool === 'gateway_execute')
    expect(Object.fromEntries(outcomes.map(({ bought, paid }) => [bought, paid]))).toEqual(OUTCOMES)
    expect(new Set(outcomes.map(({ network }) => network))).toEqual(new Set(['eip155:8453']))
    expect(shown.steps.every(({ verifies }) => verifies)).toBe(true)
    expect(shown.permit).toMatchObject({
      status: 200,
      credits: 1,
      verifies: true,
      repeated: { code: 'permit_used', attempt: shown.permit.attempt },
    })
    const { market } = shown
    expect(market).toMatchObject({
      paid: '0.020000',
      answer: { name: 'Sencha', cups: 2 },
      payout: { amount: '0.019400', transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
      verifies: true,
    })
    for (const network of ['eip155:8453', 'eip155:84532']) {
      const isLive = network === 'eip155:8453'
      const paid = shown.steps
        .filter((step) => step.network === network)
        .reduce((sum, step) => sum + atomic(step.paid), isLive ? atomic(market.paid) : 0n)
      const paidOut = isLive ? atomic(market.payout.amount) : 0n
      const changes = shown.balances.filter((row) => row.network === network)
      expect(paid).toBeGreaterThan(0n)
      expect(changes.map(({ who, change }) => [who, atomic(change)])).toEqual([
        ['payer', -paid],
        ['paid to', paid - paidOut],
      ])
    }
  })

  it('brings a sandbox of its own where none runs, and leaves nothing running', async () => {
    const finished = await runCli(['demo'], env())
    expect(finished.stderr).toBe('')
    expect(finished.code).toBe(0)
    expect(finished.stdout).toMatch(/^SANDBOX at http:\/\/localhost:\d+: test money only/)
    expect(finished.stdout.match(/ verifies$/gm)).toHaveLength(purchases.length + 1)
    expect(finished.stdout).toMatch(/^ {2}sent again: 409 permit_used, naming att_/m)
    expect(finished.stdout).toMatch(/^eip155:8453 +payer +1000\.000000/m)
    expect(finished.stdout).toMatch(/^ {2}payouts verify$/m)
    expect(existsSync(join(folder, 'data', 'gateway.json'))).toBe(false)
    expect(existsSync(join(folder, 'data', 'chains', '8453.running'))).toBe(false)
  })

  it('runs again, with the seller of the first time', async () => {
    expect((await runCli(['demo'], env())).code).toBe(0)
    const again = await runCli(['demo', '--json'], env())
    expect([again.code, again.stderr]).toEqual([0, ''])
    expect((JSON.parse(again.stdout) as Shown).market.payout.amount).toBe('0.019400')
  })

  it('refuses to touch a gateway in production', async () => {
    const finished = await runCli(['demo'], {
      ...env(),
      GATEWAY_MODE: 'production',
      GATEWAY_BASE_URL: 'https://gateway.example',
    })
    expect(finished.code).toBe(2)
    expect(finished.stderr).toContain('needs a sandbox')
  })
})

/** "-0.101000" -> -101000n */
const atomic = (text: string) =>
  BigInt(
    text
      .replace('.', '')
      .replace(/^([+-]?)0+(?=\d)/, '$1')
      .replace('+', ''),
  )
