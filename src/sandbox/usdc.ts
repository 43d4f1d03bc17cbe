// Puts the real USDC code at its canonical address of a development node, initialised as the issuer does it, and funds
// accounts. One recipe for the sandbox and the tests.
import type { JsonRpc, RpcCall, RpcReply } from '../payments/adapters/json-rpc.ts'
import type { PaymentNetwork } from '../core/networks.ts'
import { type ContractCode, readContracts } from './contracts.ts'

export interface Funding {
  /** Address -> atomic units of USDC. */
  readonly usdc: Readonly<Record<string, bigint>>
  /** Accounts that pay for gas. */
  readonly gas: readonly string[]
}

const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11'
/** Holds every role of the token. Nobody has its key: the node lets it send without one. */
const ISSUER = '0x00000000000000000000000000000000005addc0'
const LIBRARY = '0x00000000000000000000000000000000005151c0'
const LOST_AND_FOUND = '0x00000000000000000000000000000000000010f0'
const ETHER = 10n ** 18n
const SELECTORS = {
  initialize: '0x3357162b',
  initializeV2: '0xd608ea64',
  initializeV2_1: '0x2fc81e09',
  initializeV2_2: '0x430239b4',
  configureMinter: '0x4e44d956',
  mint: '0x40c10f19',
} as const

/** True when the recipe has run to its end on this node: the last thing it does is Multicall3. */
export async function isPrepared(rpc: JsonRpc): Promise<boolean> {
  return (await rpc.call('eth_getCode', [MULTICALL3, 'latest'])) !== '0x'
}

/** @throws when a step fails: the node is then of no use */
export async function installUsdc(rpc: JsonRpc, network: PaymentNetwork, funding: Funding): Promise<void> {
  const { address, name, decimals } = network.asset
  const { token, signatureChecker, multicall3 } = readContracts()
  const [multicall] = demand(
    await rpc.batch([
      // A constructor's answer is the code it would leave.
      { method: 'eth_call', params: [{ data: multicall3 }, 'latest'] },
      { method: 'anvil_setCode', params: [LIBRARY, asLibrary(signatureChecker.deployedBytecode)] },
      { method: 'anvil_setCode', params: [address, link(token)] },
      { method: 'anvil_impersonateAccount', params: [ISSUER] },
      // One block for all: mined one by one, a later step could be looked for before it is there.
      { method: 'evm_setAutomine', params: [false] },
      ...[ISSUER, ...funding.gas].map(giveGas),
    ]),
  )
  const total = Object.values(funding.usdc).reduce((sum, amount) => sum + amount, 0n)
  const issuer = BigInt(ISSUER)
  const calls = [
    encode(SELECTORS.initialize, [name, 'USDC', 'USD', BigInt(decimals), issuer, issuer, issuer, issuer]),
    encode(SELECTORS.initializeV2, [name]),
    encode(SELECTORS.initializeV2_1, [BigInt(LOST_AND_FOUND)]),
    encode(SELECTORS.initializeV2_2, [[], 'USDC']),
    encode(SELECTORS.configureMinter, [issuer, total]),
    ...Object.entries(funding.usdc).map(([to, amount]) => encode(SELECTORS.mint, [BigInt(to), amount])),
  ]
  const hashes = demand(await rpc.batch(calls.map((data, nonce) => send(address, data, nonce))))
  await rpc.call('evm_mine', [])
  const receipts = demand(
    await rpc.batch(hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))),
  ) as ({ status: string } | null)[]
  const failed = receipts.findIndex((receipt) => receipt?.status !== '0x1')
  if (failed >= 0) throw new Error(`the test token was not set up: step ${failed} failed`)
  demand(
    await rpc.batch([
      { method: 'evm_setAutomine', params: [true] },
      { method: 'anvil_stopImpersonatingAccount', params: [ISSUER] },
      { method: 'anvil_setCode', params: [MULTICALL3, multicall] },
    ]),
  )
}

/** The call that sets the balance of an account to 1,000 ether on a development node. */
export const giveGas = (address: string): RpcCall => ({
  method: 'anvil_setBalance',
  params: [address, `0x${(1_000n * ETHER).toString(16)}`],
})

function send(to: string, data: string, nonce: number): RpcCall {
  // The nonce keeps the order: a node may take the calls of one batch in any.
  const request = { from: ISSUER, to, data, gas: '0xf4240', nonce: `0x${nonce.toString(16)}` }
  return { method: 'eth_sendTransaction', params: [request] }
}

function demand(replies: readonly RpcReply[]): unknown[] {
  return replies.map((reply) => {
    if (!reply.ok) throw new Error(`the development node refused: ${reply.message.slice(0, 200)}`)
    return reply.result
  })
}

function link({ deployedBytecode, links }: ContractCode): string {
  let code = deployedBytecode
  for (const { start, length } of links)
    code = code.slice(0, 2 + start * 2) + LIBRARY.slice(2) + code.slice(2 + (start + length) * 2)
  return code
}

/** A library knows its own address: its first instruction pushes it. */
const asLibrary = (code: string) => `0x73${LIBRARY.slice(2)}${code.slice(44)}`

/** ABI encoding of whole numbers, strings and the empty array. */
function encode(selector: string, args: readonly (bigint | string | readonly [])[]): string {
  let tail = ''
  const head = args.map((arg) => {
    if (typeof arg === 'bigint') return word(arg)
    const offset = word(BigInt(args.length * 32 + tail.length / 2))
    const bytes = Buffer.from(typeof arg === 'string' ? arg : '', 'utf8').toString('hex')
    tail += word(BigInt(bytes.length / 2)) + bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0')
    return offset
  })
  return selector + head.join('') + tail
}

const word = (value: bigint) => value.toString(16).padStart(64, '0')
