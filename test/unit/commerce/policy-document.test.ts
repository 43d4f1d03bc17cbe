// transaction-policy.json: what it says, what holds where it says nothing, and what happens when a hand edit breaks it.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getAddress } from 'viem'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KNOWN_STABLECOINS } from '../../../src/commerce/policy/assets.ts'
import {
  createTransactionPolicyReader,
  toPolicy,
  transactionPolicyDocument,
} from '../../../src/commerce/policy/document.ts'
import { openFileDocuments } from '../../../src/store/documents/files.ts'
import type { DocumentStore } from '../../../src/store/ports.ts'

const ME = 'acct_0000000000000000000000000000000000a'
const OTHER = 'acct_0000000000000000000000000000000000b'
const BASE_USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const parse = transactionPolicyDocument.parse
const policyOf = (document: unknown, account?: string) => toPolicy(parse(document), account)

describe('the safe default', () => {
  const policy = policyOf({})
  it('knows the stablecoins, takes the scheme exact alone, and sets no cap', () => {
    expect(policy.allowsAsset(BASE_USDC.toLowerCase(), 'eip155:8453')).toBe(true)
    expect(policy.allowsAsset(BASE_USDC, 'base')).toBe(true)
    expect(policy.allowsAsset(BASE_USDC, 'eip155:1')).toBe(false)
    expect([policy.allowsNetwork('eip155:84532'), policy.allowsNetwork('eip155:31337')]).toEqual([
      true,
      false,
    ])
    expect([policy.allowsScheme('exact'), policy.allowsScheme('upto')]).toEqual([true, false])
    expect(policy.capOf(BASE_USDC, 'eip155:8453')).toBeUndefined()
    expect(policy.capOfCurrency('USD')).toBeUndefined()
    expect([policy.isHalted, policy.source]).toEqual([false, 'default'])
  })

  it('pins addresses without a slip of the pen, none twice', () => {
    const evm = KNOWN_STABLECOINS.filter(({ network }) => network.startsWith('eip155:'))
    for (const { asset } of evm) expect(getAddress(asset)).toBe(asset)
    expect(new Set(KNOWN_STABLECOINS.map(({ asset, network }) => `${network} ${asset}`)).size).toBe(
      KNOWN_STABLECOINS.length,
    )
    for (const { asset, network } of KNOWN_STABLECOINS)
      if (network.startsWith('solana:')) expect(asset).toMatch(/^[1-9A-HJ-NP-Za-km-z]{43,44}$/)
  })
})

describe('the rules of an account', () => {
  const document = {
    default: {
      caps: [{ currency: 'usd', max: '100' }],
      require_key: true,
      denied_recipients: [{ address: '0xAB' }],
    },
    accounts: {
      [ME]: {
        caps: [{ currency: 'USD', max: '7' }],
        denied_recipients: [{ address: '0xcd', network: 'base' }],
      },
    },
  }
  it('take the place of the default, member by member', () => {
    const mine = policyOf(document, ME)
    expect([mine.source, mine.capOfCurrency('usd'), mine.requiresKey]).toEqual(['account', 7n, true])
    const theirs = policyOf(document, OTHER)
    expect([theirs.source, theirs.capOfCurrency('USD')]).toEqual(['default', 100n])
    expect(policyOf(document).source).toBe('default')
  })

  it('never pay whom the default denies', () => {
    const mine = policyOf(document, ME)
    expect(mine.judgeRecipient('0xab', 'eip155:1')).toBe('denied')
    expect(mine.judgeRecipient('0xCD', 'eip155:8453')).toBe('denied')
    expect(mine.judgeRecipient('0xCD', 'eip155:1')).toBe('allowed')
    // Nobody says which network it is: then it may be the one.
    expect(mine.judgeRecipient('0xCD', undefined)).toBe('denied')
    expect(policyOf(document).judgeRecipient('0xcd', 'eip155:8453')).toBe('allowed')
  })

  it('are halted with everybody else, whatever they say', () => {
    expect(policyOf({ default: { halted: true }, accounts: { [ME]: { halted: false } } }, ME).isHalted).toBe(
      true,
    )
    expect(policyOf({ accounts: { [ME]: { halted: true } } }, ME).isHalted).toBe(true)
    expect(policyOf({ accounts: { [ME]: { halted: true } } }, OTHER).isHalted).toBe(false)
  })

  it('are found by their own name only', () => {
    for (const name of ['__proto__', 'constructor', 'toString', ''])
      expect(policyOf(document, name).source).toBe('default')
  })

  it('hold amounts that no double can', () => {
    const max = '115792089237316195423570985008687907853269984665640564039457584007913129639935'
    expect(
      policyOf({ default: { caps: [{ asset: '0xAA', network: 'base', max }] } }).capOf('0xaa', 'eip155:8453'),
    ).toBe(BigInt(max))
  })
})

describe('a document that is wrong', () => {
  it.each<[string, unknown]>([
    ['a member that nobody knows', { default: { cap: [] } }],
    ['a cap that is a number', { default: { caps: [{ currency: 'USD', max: 5 }] } }],
    ['a cap with a fraction', { default: { caps: [{ currency: 'USD', max: '5.00' }] } }],
    ['a cap below zero', { default: { caps: [{ currency: 'USD', max: '-5' }] } }],
    ['a cap of an asset on no network', { default: { caps: [{ asset: '0xaa', max: '5' }] } }],
    ['an account that is none', { accounts: { me: {} } }],
    ['a window without end', { default: { max_window_seconds: 0 } }],
    ['a switch that is text', { default: { halted: 'yes' } }],
    ['a list', []],
  ])('%s is refused whole', (_what, document) => {
    expect(() => parse(document)).toThrow()
  })
})

describe('reading it', () => {
  let dir: string
  let documents: DocumentStore
  let now = 0
  const file = () => join(dir, 'transaction-policy.json')
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'policy-'))
    documents = openFileDocuments(dir)
    now = 0
  })
  afterEach(async () => {
    await documents.close()
    await rm(dir, { recursive: true, force: true })
  })

  it('sees an edit, keeps the last good copy when the next one breaks it, and says so once', async () => {
    const problems: string[] = []
    const read = createTransactionPolicyReader(
      documents,
      (problem) => problems.push(problem),
      () => now,
    )
    const capNow = async () => {
      now += 1000
      return (await read(ME)).capOfCurrency('USD')
    }
    expect(await capNow()).toBeUndefined()
    await writeFile(file(), JSON.stringify({ accounts: { [ME]: { caps: [{ currency: 'USD', max: '7' }] } } }))
    expect(await capNow()).toBe(7n)
    expect((await read(OTHER)).capOfCurrency('USD')).toBeUndefined()
    await writeFile(file(), '{"accounts": {')
    expect(await capNow()).toBe(7n)
    expect(await capNow()).toBe(7n)
    expect(problems).toEqual([
      'transaction-policy.json is not valid; the last valid version is used. It is not JSON: look at line 1, column 15.',
    ])
    await writeFile(file(), JSON.stringify({ accounts: { [ME]: { caps: [{ currency: 'USD', max: '8' }] } } }))
    expect(await capNow()).toBe(8n)
  })

  it('asks for it once in a quarter of a second, and again after a failure', async () => {
    let reads = 0
    let isBroken = true
    const read = createTransactionPolicyReader(
      {
        read: async ({ initial }) => {
          reads++
          if (isBroken) throw new Error('disk')
          return { value: initial }
        },
      },
      () => undefined,
      () => now,
    )
    await expect(read(undefined)).rejects.toThrow('disk')
    isBroken = false
    await read(undefined)
    await read(ME)
    expect(reads).toBe(2)
    now += 250
    await read(ME)
    expect(reads).toBe(3)
  })
})
