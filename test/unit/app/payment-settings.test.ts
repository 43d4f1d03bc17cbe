// What an operator configured about money: every fault is said before anything listens, and no key is ever quoted.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { toNamedAssets } from '../../../src/app/chain-variables.ts'
import { loadConfig } from '../../../src/app/config.ts'
import { ConfigError } from '../../../src/core/errors.ts'
import { readPaymentSetup } from '../../../src/app/payment-settings.ts'

const KEY = `0x${'5a'.repeat(32)}`
/** The first account of every development chain. */
const PUBLISHED_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const PRODUCTION = { GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'https://gateway.example' }
const RPC = { GATEWAY_RPC_8453: 'https://rpc.example' }

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'payment-setup-'))
  file = join(folder, 'settler.key')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const read = (env: Record<string, string>) => readPaymentSetup(loadConfig(env))
const readWith = (env: Record<string, string>) => read({ GATEWAY_SETTLER_KEY_FILE: file, ...env })
async function problemsOf(env: Record<string, string>): Promise<readonly string[]> {
  const thrown = await read(env).catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(ConfigError)
  return (thrown as ConfigError).problems
}
const keyProblems = (more: Record<string, string> = {}) =>
  problemsOf({ GATEWAY_SETTLER_KEY_FILE: file, ...more })

describe('the refund key file', () => {
  const refundProblems = () => problemsOf({ GATEWAY_REFUND_KEY_FILE: file })

  it('is read once, as a secret; without it there is none', async () => {
    writeFileSync(file, `${KEY}\n`, { mode: 0o600 })
    const { refundKey } = await read({ GATEWAY_REFUND_KEY_FILE: file })
    expect(refundKey?.use((key) => key)).toBe(KEY)
    expect(JSON.stringify({ refundKey })).not.toContain(KEY)
    expect((await read({})).refundKey).toBeUndefined()
  })

  it('of payouts is another one, and says what its account does', async () => {
    writeFileSync(file, KEY, { mode: 0o600 })
    const { payoutKey, refundKey } = await read({ GATEWAY_PAYOUT_KEY_FILE: file })
    expect(payoutKey?.use((key) => key)).toBe(KEY)
    expect(refundKey).toBeUndefined()
    expect(await problemsOf({ GATEWAY_PAYOUT_KEY_FILE: `${file}.none` })).toEqual([
      `GATEWAY_PAYOUT_KEY_FILE: ${file}.none does not exist: write the private key of the account that pays sellers into it (0600)`,
    ])
  })

  it('is refused by its own name, beside the problems of the settlers', async () => {
    expect(await refundProblems()).toEqual([
      `GATEWAY_REFUND_KEY_FILE: ${file} does not exist: write the private key of the account that refunds into it (0600)`,
    ])
    writeFileSync(file, 'no key', { mode: 0o600 })
    expect(await refundProblems()).toEqual([
      `GATEWAY_REFUND_KEY_FILE: ${file} must hold one private key: 0x and 64 hex digits`,
    ])
    chmodSync(file, 0o644)
    const both = { GATEWAY_REFUND_KEY_FILE: file, GATEWAY_SETTLER_KEY_FILE: file }
    expect(await problemsOf(both)).toEqual([
      expect.stringContaining('GATEWAY_SETTLER_KEY_FILE'),
      expect.stringContaining(`GATEWAY_REFUND_KEY_FILE: ${file} may be read by others`),
    ])
  })
})

describe('the settler key file', () => {
  it('is read once, as a secret', async () => {
    writeFileSync(file, `${KEY}\n`, { mode: 0o600 })
    const { settlerKeys, warnings } = await readWith({})
    expect(settlerKeys.map((settlerKey) => settlerKey.use((key) => key))).toEqual([KEY])
    expect(JSON.stringify({ settlerKeys, warnings })).not.toContain(KEY)
  })

  it('may be several, one for each account, and each account once', async () => {
    const other = join(folder, 'other.key')
    const keys = [KEY, `0x${'a5'.repeat(32)}`]
    writeFileSync(file, keys[0]!, { mode: 0o600 })
    writeFileSync(other, keys[1]!, { mode: 0o600 })
    const { settlerKeys } = await read({ GATEWAY_SETTLER_KEY_FILE: `${file}, ${other}` })
    expect(settlerKeys.map((settlerKey) => settlerKey.use((key) => key))).toEqual(keys)
    writeFileSync(other, KEY.toUpperCase().replace('0X', '0x'))
    expect(await problemsOf({ GATEWAY_SETTLER_KEY_FILE: `${file},${other}` })).toEqual([
      `GATEWAY_SETTLER_KEY_FILE: ${file} and ${other} hold the same key: name each account once`,
    ])
    rmSync(file)
    rmSync(other)
    expect(await problemsOf({ GATEWAY_SETTLER_KEY_FILE: `${file},${other}` })).toEqual([
      expect.stringContaining(`${file} does not exist`),
      expect.stringContaining(`${other} does not exist`),
    ])
  })

  it('must be there, a file, and private', async () => {
    expect(await keyProblems()).toEqual([expect.stringContaining(`${file} does not exist`)])
    writeFileSync(file, KEY, { mode: 0o600 })
    chmodSync(file, 0o640)
    expect(await keyProblems()).toEqual([expect.stringContaining(`chmod 600 ${file}`)])
    rmSync(file)
    mkdirSync(file, { mode: 0o700 })
    expect(await keyProblems()).toEqual([expect.stringContaining('is not a file')])
  })

  it.each([
    ['nothing', ''],
    ['no prefix', KEY.slice(2)],
    ['too few digits', KEY.slice(0, -1)],
    ['two keys', `${KEY}\n${KEY}`],
    ['zero', `0x${'0'.repeat(64)}`],
    ['a number beyond the curve', `0x${'f'.repeat(64)}`],
  ])('is refused with %s in it, without a word of it', async (_, content) => {
    writeFileSync(file, content, { mode: 0o600 })
    const problems = await keyProblems()
    expect(problems).toEqual([expect.stringContaining('must hold one private key')])
    if (content !== '') expect(problems[0]).not.toContain(content.slice(2, 40))
  })

  it('may hold a development key in the sandbox only', async () => {
    writeFileSync(file, PUBLISHED_KEY.toUpperCase().replace('0X', '0x'), { mode: 0o600 })
    await expect(readWith({})).resolves.toBeDefined()
    expect(await keyProblems({ ...PRODUCTION, ...RPC })).toEqual([
      expect.stringContaining('development key that everybody knows'),
    ])
  })

  it('needs a chain in production', async () => {
    writeFileSync(file, KEY, { mode: 0o600 })
    expect(await keyProblems(PRODUCTION)).toEqual([expect.stringContaining('has no chain to settle on')])
  })
})

describe('what a settlement may cost', () => {
  it('is bounded by chain, in gwei, and in gas', () => {
    const { settlerMaxFees, settlementGas } = loadConfig({
      GATEWAY_SETTLER_MAX_FEE_GWEI: '8453:5, 137:900',
      GATEWAY_SETTLEMENT_GAS: '250000',
    })
    expect(settlerMaxFees).toEqual({ 8453: 5_000_000_000n, 137: 900_000_000_000n })
    expect(settlementGas).toBe(250_000n)
    expect(loadConfig({})).toMatchObject({ settlerMaxFees: {}, settlementGas: 120_000n })
  })

  it.each([
    ['GATEWAY_SETTLER_MAX_FEE_GWEI', '5'],
    ['GATEWAY_SETTLER_MAX_FEE_GWEI', '8453:0'],
    ['GATEWAY_SETTLER_MAX_FEE_GWEI', '8453:0.5'],
    ['GATEWAY_SETTLEMENT_GAS', '89999'],
    ['GATEWAY_SETTLEMENT_GAS', '1000001'],
  ])('is refused as %s=%s', async (name, value) => {
    expect(() => loadConfig({ [name]: value })).toThrow(name)
  })
})

describe('addresses and chains', () => {
  it.each([
    ['with a wrong capital', '0x833589fcD6eDb6E08f4c7C32D4f71b54bdA02913', 'mistyped'],
    ['of a development account', '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', 'development account'],
    ['zero', `0x${'0'.repeat(40)}`, 'development account'],
  ])('refuses a payee %s in production', async (_, address, words) => {
    expect(await problemsOf({ ...PRODUCTION, GATEWAY_PAY_TO: address })).toEqual([
      expect.stringContaining(words),
    ])
  })

  it('takes a payee with its checksum, and one without any', async () => {
    for (const address of [
      '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
    ])
      await expect(read({ ...PRODUCTION, GATEWAY_PAY_TO: address })).resolves.toBeDefined()
  })

  it('names a chain that no USDC is known on, beside every other problem', async () => {
    expect(await keyProblems({ GATEWAY_RPC_8543: 'https://rpc.example' })).toEqual([
      expect.stringMatching(/^GATEWAY_RPC_8543: .* known are 8453, 84532/),
      expect.stringContaining('does not exist'),
    ])
  })

  it('says of such a chain that a token of it can be named', async () => {
    expect(await problemsOf({ GATEWAY_RPC_8543: 'https://rpc.example' })).toEqual([
      expect.stringContaining('Name a token of it in GATEWAY_PAYMENT_ASSETS'),
    ])
  })
})

describe('tokens of further chains', () => {
  const LINEA = '0x176211869cA2b568f2A7D4EE941E073a821EE1ff'
  const asset = (text: string) => ({
    GATEWAY_RPC_59144: 'https://rpc.example',
    GATEWAY_PAYMENT_ASSETS: text,
  })

  it.each(['real', 'test'] as const)('are taken as %s money, as the operator says', async (money) => {
    const config = loadConfig(asset(`eip155:59144/erc20:${LINEA.toLowerCase()}=${money}`))
    await expect(readPaymentSetup(config)).resolves.toBeDefined()
    expect(await toNamedAssets(config.paymentAssets)).toEqual([
      { chainId: 59144, address: LINEA, revenue: money === 'real' },
    ])
  })

  it.each([
    ['without a word on what it is worth', `eip155:59144/erc20:${LINEA}`],
    ['with another word', `eip155:59144/erc20:${LINEA}=yes`],
    ['with an address that is too short', `eip155:59144/erc20:${LINEA.slice(0, -1)}=real`],
    ['of another family of chains', `solana:59144/erc20:${LINEA}=real`],
    ['of another kind', `eip155:59144/erc721:${LINEA}=real`],
  ])('are refused %s, with every other problem', (_, text) => {
    expect(() =>
      loadConfig({ ...asset(`eip155:59141/erc20:${LINEA}=test,${text}`), PORT: 'x' }),
    ).toThrowError(
      expect.objectContaining({
        problems: [
          expect.stringMatching(/^PORT/),
          expect.stringMatching(/^GATEWAY_PAYMENT_ASSETS: entry 2 must be eip155:<chain id>\/erc20:/),
        ],
      }),
    )
  })

  it.each([
    ['without their chain', `eip155:59141/erc20:${LINEA}=test`, 'needs GATEWAY_RPC_59141'],
    ['where USDC is known', `eip155:8453/erc20:${LINEA}=real`, 'where USDC is taken and nothing else'],
    ['twice', `eip155:59144/erc20:0x${'12'.repeat(20)}=real`, 'is the second one of chain 59144'],
    ['mistyped', `eip155:59145/erc20:${LINEA.replace('cA2b', 'CA2b')}=real`, 'is mistyped'],
  ])('are refused %s', async (_, second, words) => {
    const env = {
      ...asset(`eip155:59144/erc20:${LINEA}=real,${second}`),
      GATEWAY_RPC_59145: 'https://x.example',
    }
    const others = second.startsWith('eip155:59145') ? [] : [expect.stringMatching(/^GATEWAY_RPC_59145/)]
    expect(await problemsOf(env)).toEqual([
      ...others,
      expect.stringMatching(new RegExp(`^GATEWAY_PAYMENT_ASSETS: entry 2 .*${words}`)),
    ])
  })
})

describe('what will not work, but keeps nothing from starting', () => {
  it('is nothing in a sandbox', async () => {
    expect((await read({})).warnings).toEqual([])
  })

  it('is said in production: who is paid, what proves a payment, who settles', async () => {
    const { warnings } = await read(PRODUCTION)
    expect(warnings.map((warning) => /GATEWAY_[A-Z_]+/.exec(warning)![0])).toEqual([
      'GATEWAY_PAY_TO',
      'GATEWAY_RPC_',
      'GATEWAY_FACILITATORS',
    ])
    writeFileSync(file, KEY, { mode: 0o600 })
    const whole = { ...PRODUCTION, ...RPC, GATEWAY_PAY_TO: `0x${'1'.repeat(40)}` }
    expect((await readWith(whole)).warnings).toEqual([])
  })

  it('is said of a settler key beside facilitators', async () => {
    writeFileSync(file, KEY, { mode: 0o600 })
    const { warnings } = await readWith({ GATEWAY_FACILITATORS: 'https://facilitator.example' })
    expect(warnings).toEqual([expect.stringContaining('GATEWAY_SETTLER_KEY_FILE is not used')])
  })
})
