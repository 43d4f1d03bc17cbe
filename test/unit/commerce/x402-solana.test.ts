// A payment on Solana is a whole transaction: what it moves is judged as it was signed, and nothing may ride along.
import { base58 } from '@scure/base'
import { describe, expect, it } from 'vitest'
import { toPolicy } from '../../../src/commerce/policy/document.ts'
import { inspectTransaction } from '../../../src/commerce/policy/inspect.ts'
import { testTransaction } from '../../../src/commerce/rubric/report.ts'
import { findTokenAccount, readSolanaTransaction } from '../../../src/commerce/x402/solana.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { change, wire, type Change, type SampleSource } from '../../support/commerce.ts'

const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const COMPUTE = 'ComputeBudget111111111111111111111111111111'
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
const SYSTEM = '11111111111111111111111111111111'
const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'
const MINT = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'
const PAY_TO = '2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4'
const FEE_PAYER = 'EwWqGE4ZFKLofuestmU4LDdK7XM1N4ALgdZccwYugwGd'
const PAYER = base58.encode(Buffer.alloc(32, 7))
const SOURCE = base58.encode(Buffer.alloc(32, 8))
const STRANGER = base58.encode(Buffer.alloc(32, 9))
const DESTINATION = findTokenAccount(PAY_TO, { mint: MINT, program: TOKEN })!
const NOW = Date.UTC(2026, 8, 22)

interface Instruction {
  readonly program: string
  readonly accounts: readonly string[]
  readonly data: Buffer
}
const transfer = (amount: bigint, over: Partial<Record<'to' | 'mint' | 'by', string>> = {}): Instruction => {
  const data = Buffer.alloc(10, 6)
  data[0] = 12
  data.writeBigUInt64LE(amount, 1)
  const { to = DESTINATION, mint = MINT, by = PAYER } = over
  return { program: TOKEN, accounts: [SOURCE, mint, to, by], data }
}
const ORDINARY: readonly Instruction[] = [
  { program: COMPUTE, accounts: [], data: Buffer.from('0200000000', 'hex') },
  { program: COMPUTE, accounts: [], data: Buffer.from('030100000000000000', 'hex') },
]
const NOTE: Instruction = {
  program: MEMO,
  accounts: [],
  data: Buffer.from('5e71c0a49b3fd2867c1d4a9e03b85f62'),
}

/** Two signatures, a message of version 0, and all of its accounts named. */
function transactionOf(instructions: readonly Instruction[], tables = 0): string {
  const keys = [
    ...new Set([FEE_PAYER, PAYER, ...instructions.flatMap((one) => [...one.accounts, one.program])]),
  ]
  const list = (items: readonly Uint8Array[]) => Buffer.concat([Buffer.of(items.length), ...items])
  return Buffer.concat([
    list([Buffer.alloc(64), Buffer.alloc(64, 1)]),
    Buffer.of(0x80, 2, 0, 1),
    list(keys.map((key) => base58.decode(key))),
    Buffer.alloc(32, 5),
    list(
      instructions.map(({ program, accounts, data }) =>
        Buffer.concat([
          Buffer.of(keys.indexOf(program)),
          list(accounts.map((account) => Buffer.of(keys.indexOf(account)))),
          list([...data].map((byte) => Buffer.of(byte))),
        ]),
      ),
    ),
    Buffer.of(tables),
  ]).toString('base64')
}

const signed = (transaction: string, ...changes: Change[]): SampleSource =>
  change(SAMPLES['x402-solana']!, [
    { op: 'set', at: '/headers/PAYMENT-SIGNATURE/$base64/payload/transaction', value: transaction },
    ...changes,
  ])
const policy = toPolicy(
  {
    default: {
      caps: [{ asset: MINT, network: NETWORK, max: '30000' }],
      allowed_assets: [{ asset: MINT, network: NETWORK }],
      allowed_networks: [NETWORK],
    },
    accounts: {},
  },
  undefined,
)
const judge = (source: SampleSource) => {
  const { policy: judged, transaction } = inspectTransaction(wire(source), policy, NOW)
  return {
    decision: judged.decision,
    codes: judged.reasons.filter(({ severity }) => severity === 'deny').map(({ code }) => code),
    transaction,
  }
}

describe('a transaction of Solana', () => {
  it('is allowed where it pays what is asked for to whoever asks', () => {
    const { decision, transaction } = judge(signed(transactionOf([...ORDINARY, transfer(25_000n), NOTE])))
    expect(decision).toBe('allow')
    expect(transaction).toMatchObject({ amount: '25000', payee: PAY_TO, payer: PAYER, asset: MINT })
  })

  it.each<[string, readonly Instruction[], string]>([
    ['another amount', [transfer(95_000_000n)], 'BINDING_AMOUNT'],
    ['an amount over the cap', [transfer(95_000_000n)], 'AMOUNT_OVER_CAP'],
    ['another payee', [transfer(25_000n, { to: STRANGER })], 'BINDING_PAYEE'],
    ['another token', [transfer(25_000n, { mint: STRANGER })], 'BINDING_AMOUNT'],
    ['a second transfer', [transfer(25_000n), transfer(9n, { to: STRANGER })], 'DUPLICATE_PAYMENT'],
    [
      'a payment in the coin of the network',
      [transfer(25_000n), { program: SYSTEM, accounts: [PAYER, STRANGER], data: Buffer.alloc(12, 2) }],
      'DUPLICATE_PAYMENT',
    ],
    [
      'an approval for somebody',
      [transfer(25_000n), { program: TOKEN, accounts: [SOURCE, STRANGER, PAYER], data: Buffer.alloc(9, 4) }],
      'DUPLICATE_PAYMENT',
    ],
    ['no transfer', [NOTE], 'DUPLICATE_PAYMENT'],
    ['money of the fee payer', [transfer(25_000n, { by: FEE_PAYER })], 'DUPLICATE_PAYMENT'],
  ])('is denied with %s', (_what, instructions, code) => {
    const source = signed(transactionOf([...ORDINARY, ...instructions]))
    expect(judge(source)).toMatchObject({ decision: 'deny', codes: expect.arrayContaining([code]) })
    if (code !== 'AMOUNT_OVER_CAP') expect(testTransaction(wire(source)).score).toBeLessThanOrEqual(40)
  })

  it.each([
    ['is no transaction', Buffer.alloc(300, 0x5e).toString('base64')],
    [
      'is cut short',
      Buffer.from(transactionOf([transfer(1n)]), 'base64')
        .subarray(0, 200)
        .toString('base64'),
    ],
    [
      'is larger than a packet',
      Buffer.concat([Buffer.from(transactionOf([transfer(1n)]), 'base64'), Buffer.alloc(1200)]).toString(
        'base64',
      ),
    ],
    ['names its accounts by a table', transactionOf([NOTE], 1)],
  ])('is looked at by a person where it %s', (_what, transaction) => {
    expect(judge(signed(transaction)).decision).toBe('review')
  })

  it('names the account of an owner as the network does', () => {
    // Derived by another implementation.
    expect(
      findTokenAccount('8xqHcq8adETJTwNY8ckoaX7TF4nSfRJmPG3HZAJ8gzjw', {
        mint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
        program: TOKEN,
      }),
    ).toBe('DfGWgEN4bX3camkd7ms6A2LbjsVzW9YDJXwHQ2nydrXo')
    expect(findTokenAccount('0x1', { mint: MINT, program: TOKEN })).toBeUndefined()
  })

  it('never throws, whatever the bytes are', () => {
    const good = Buffer.from(transactionOf([...ORDINARY, transfer(25_000n), NOTE]), 'base64')
    for (let at = 0; at < good.length; at++)
      for (const byte of [0, 0x7f, 0x80, 0xff]) {
        const broken = Buffer.from(good)
        broken[at] = byte
        expect(() => readSolanaTransaction(broken.toString('base64'))).not.toThrow()
      }
  })
})
