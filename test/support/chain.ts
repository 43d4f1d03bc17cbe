// A development chain of a test: real USDC at its canonical address, funded payers, and what tests do to chains. One
// per test file, closed by it.
import { randomBytes } from 'node:crypto'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { getAddress, type Hex, parseSignature } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type {
  PaymentPayloadV1,
  PaymentPayloadV2,
  PaymentRequirements,
  ResourceInfo,
} from '../../schemas/x402.ts'
import { createJsonRpc, type JsonRpc } from '../../src/payments/adapters/json-rpc.ts'
import { createNetworks } from '../../src/core/networks.ts'
import type { Eip3009Authorization } from '../../src/payments/chain-ports.ts'
import type { Payment } from '../../src/payments/ports.ts'
import type { PaymentNetwork } from '../../src/core/networks.ts'
import { Secret } from '../../src/lib/secret.ts'
import { startAnvil } from '../../src/sandbox/anvil.ts'
import { giveGas, installUsdc } from '../../src/sandbox/usdc.ts'
import { removeFolder } from './remove-folder.ts'

export interface TestChain {
  readonly rpcUrl: string
  readonly chainId: number
  readonly network: PaymentNetwork
  /** Ten accounts with 1000 USDC each and no gas. */
  readonly payers: readonly PrivateKeyAccount[]
  /** Three private keys with gas. */
  readonly settlerKeys: readonly Hex[]
  /** 0600, holds the first of them: GATEWAY_SETTLER_KEY_FILE. */
  readonly settlerKeyFile: string
  readonly payTo: Hex
  /** What a gateway is started with to use this chain: RPC, settler and payTo. */
  readonly env: Readonly<Record<string, string>>
  /** Any JSON-RPC method. */
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>
  /** Atomic units. */
  usdcOf(address: string): Promise<bigint>
  /** Transfers of the token that ended at this address, minting aside. */
  transfersTo(address: string): Promise<number>
  mine(blocks?: number): Promise<void>
  setAutomine(on: boolean): Promise<void>
  /** Mines a block each so many seconds, and none on demand; 0 stops that. */
  setBlockTime(seconds: number): Promise<void>
  /** Seconds since the epoch, of the latest block. */
  blockTime(): Promise<number>
  /** The payer takes the authorization back. */
  cancelAuthorization(payer: PrivateKeyAccount, nonce: string): Promise<void>
  /** Somebody else submits the authorization. Resolves to the transaction hash. */
  preempt(payload: PaymentPayloadV2): Promise<Hex>
  /** A transaction of a stranger. Resolves to its hash once it is mined; throws when it was reverted. */
  submit(transaction: { to: string; data: string }): Promise<Hex>
  /** The same as anybody, who needs no key and no gas. */
  submitAs(from: string, transaction: { to: string; data: string }): Promise<Hex>
  /** All its USDC goes elsewhere. */
  drain(payer: PrivateKeyAccount | string): Promise<void>
  /** More USDC for an account, from nothing. */
  fund(address: string, amount: bigint): Promise<void>
  /** Forgets the newest blocks and mines others in their place, without their transactions. */
  reorg(depth: number): Promise<void>
  snapshot(): Promise<string>
  revert(snapshot: string): Promise<void>
  /** The node stands still: connections open, no answer. */
  stop(): void
  resume(): void
  /** The node is gone. */
  kill(): Promise<void>
  close(): Promise<void>
}

export interface TestChainOptions {
  /** A token of a chain that nothing is pinned for; its code is that of USDC. */
  readonly network?: PaymentNetwork
  readonly blockTimeSeconds?: number
}

// Keys that nobody uses anywhere: every account of a test is derived from them.
const keyOf = (role: number, index: number): Hex =>
  `0x${(0xa9e17_0000_0000n + BigInt(role) * 0x10000n + BigInt(index) + 1n).toString(16).padStart(64, '0')}`
const accountsOf = (role: number, count: number) =>
  Array.from({ length: count }, (_, index) => privateKeyToAccount(keyOf(role, index)))

const PAYERS = 10
const SETTLERS = 3
const PAYER_USDC = 1_000_000_000n
export const TEST_PAY_TO = getAddress('0x00000000000000000000000000000000ca5cade5')
const STRANGER = '0x0000000000000000000000000000000005774139'
const SINK = '0x000000000000000000000000000000000000511c'
const ISSUER = '0x00000000000000000000000000000000005addc0'
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** @param chainId one that USDC is pinned on, unless options.network says what is there */
export async function startTestChain(chainId: number, options: TestChainOptions = {}): Promise<TestChain> {
  const network = options.network ?? createNetworks([chainId]).all[0]
  if (!network) throw new Error(`no asset is pinned for chain ${chainId}`)
  const asset = network.asset.address
  const folder = await mkdtemp(join(tmpdir(), 'agent-gateway-chain-'))
  const anvil = await startAnvil(['--chain-id', String(chainId)], folder)
  const client: JsonRpc = createJsonRpc({ network: network.network, url: anvil.rpcUrl, deadlineMs: 20_000 })
  await client.call('anvil_setLoggingEnabled', [false])
  const payers = accountsOf(1, PAYERS)
  const settlers = accountsOf(2, SETTLERS)
  await installUsdc(client, network, {
    usdc: Object.fromEntries(payers.map(({ address }) => [address, PAYER_USDC])),
    gas: [STRANGER, ...settlers.map(({ address }) => address)],
  })
  const settlerKeyFile = join(folder, 'settler.key')
  await writeFile(settlerKeyFile, `${keyOf(2, 0)}\n`, { mode: 0o600 })

  const rpc = async (method: string, params: readonly unknown[] = []) => {
    const [reply] = await client.batch([{ method, params }])
    if (!reply!.ok) throw new Error(`${method}: ${reply!.message}`)
    return reply!.result
  }
  let isMiningOnDemand = true
  const first = (await rpc('eth_blockNumber')) as Hex

  /** Sends as anyone, mined or not. */
  async function send(from: string, data: string, to: string = asset): Promise<Hex> {
    await client.batch([giveGas(from), { method: 'anvil_impersonateAccount', params: [from] }])
    return (await rpc('eth_sendTransaction', [{ from, to, data, gas: '0xf4240' }])) as Hex
  }
  async function sendAndMine(from: string, data: string, to?: string): Promise<Hex> {
    const hash = await send(from, data, to)
    if (!isMiningOnDemand) await rpc('evm_mine')
    for (;;) {
      const receipt = (await rpc('eth_getTransactionReceipt', [hash])) as { status: string } | null
      if (receipt?.status === '0x1') return hash
      if (receipt) throw new Error('the transaction was reverted')
      // The node answers before the block is there.
      await setImmediate()
    }
  }
  const usdcOf = async (address: string) =>
    BigInt((await rpc('eth_call', [{ to: asset, data: `0x70a08231${word(address)}` }, 'latest'])) as string)

  const setBlockTime = async (seconds: number) => {
    isMiningOnDemand = false
    await rpc('evm_setIntervalMining', [seconds])
  }
  if (options.blockTimeSeconds !== undefined) await setBlockTime(options.blockTimeSeconds)

  return {
    rpcUrl: anvil.rpcUrl,
    chainId,
    network,
    payers,
    settlerKeys: settlers.map((_, index) => keyOf(2, index)),
    settlerKeyFile,
    payTo: TEST_PAY_TO,
    env: {
      [`GATEWAY_RPC_${chainId}`]: anvil.rpcUrl,
      GATEWAY_SETTLER_KEY_FILE: settlerKeyFile,
      GATEWAY_PAY_TO: TEST_PAY_TO,
    },
    rpc,
    usdcOf,
    async transfersTo(address) {
      const filter = {
        fromBlock: first,
        toBlock: 'latest',
        address: asset,
        topics: [TRANSFER, null, topic(address)],
      }
      const logs = (await rpc('eth_getLogs', [filter])) as { topics: string[] }[]
      return logs.filter(({ topics }) => BigInt(topics[1]!) !== 0n).length
    },
    async mine(blocks = 1) {
      await rpc('anvil_mine', [`0x${blocks.toString(16)}`])
    },
    async setAutomine(on) {
      isMiningOnDemand = on
      await rpc('evm_setAutomine', [on])
    },
    setBlockTime,
    async blockTime() {
      return Number(((await rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: Hex }).timestamp)
    },
    async cancelAuthorization(payer, nonce) {
      const signature = await payer.signTypedData({
        domain: domainOf(network),
        types: {
          CancelAuthorization: [
            { name: 'authorizer', type: 'address' },
            { name: 'nonce', type: 'bytes32' },
          ],
        },
        primaryType: 'CancelAuthorization',
        message: { authorizer: payer.address, nonce: nonce as Hex },
      })
      await sendAndMine(
        STRANGER,
        `0x5a049a70${word(payer.address)}${word(nonce)}${splitSignature(signature)}`,
      )
    },
    preempt: (payload) => sendAndMine(STRANGER, transferCalldata(payload)),
    submitAs: (from, { to, data }) => sendAndMine(from, data, to),
    submit: ({ to, data }) => sendAndMine(STRANGER, data, to),
    async drain(payer) {
      const address = typeof payer === 'string' ? payer : payer.address
      await sendAndMine(
        address,
        `0xa9059cbb${word(SINK)}${(await usdcOf(address)).toString(16).padStart(64, '0')}`,
      )
    },
    async fund(address, amount) {
      const units = amount.toString(16).padStart(64, '0')
      await sendAndMine(ISSUER, `0x4e44d956${word(ISSUER)}${units}`)
      await sendAndMine(ISSUER, `0x40c10f19${word(address)}${units}`)
    },
    async reorg(depth) {
      await rpc('anvil_reorg', [depth, []])
    },
    snapshot: async () => (await rpc('evm_snapshot')) as string,
    async revert(snapshot) {
      await rpc('evm_revert', [snapshot])
    },
    stop: () => void process.kill(anvil.pid, 'SIGSTOP'),
    resume: () => void process.kill(anvil.pid, 'SIGCONT'),
    async kill() {
      process.kill(anvil.pid, 'SIGKILL')
      await anvil.ended
    },
    async close() {
      await client.close()
      await anvil.stop()
      await removeFolder(folder)
    },
  }
}

const word = (hex: string) => hex.slice(2).toLowerCase().padStart(64, '0')
const topic = (address: string) => `0x${word(address)}`

const domainOf = ({ chainId, asset }: PaymentNetwork) => ({
  name: asset.name,
  version: asset.version,
  chainId,
  verifyingContract: asset.address as Hex,
})

function splitSignature(signature: Hex): string {
  const { r, s, yParity } = parseSignature(signature)
  return word(`0x${(27 + yParity).toString(16)}`) + word(r) + word(s)
}

/** Of `transferWithAuthorization` in its v, r, s form. */
export function transferCalldata(payload: PaymentPayloadV2 | PaymentPayloadV1): Hex {
  const { authorization: a, signature } = payload.payload as unknown as ExactPayload
  const numbers = [a.value, a.validAfter, a.validBefore].map((n) => BigInt(n).toString(16).padStart(64, '0'))
  return `0xe3ee160e${word(a.from)}${word(a.to)}${numbers.join('')}${word(a.nonce)}${splitSignature(signature)}`
}

export interface ExactPayload {
  readonly signature: Hex
  readonly authorization: {
    readonly from: Hex
    readonly to: Hex
    readonly value: string
    readonly validAfter: string
    readonly validBefore: string
    readonly nonce: Hex
  }
}

/** The way to pay `amount` atomic units to the chain's payTo, as our challenges name it. */
export function requirementsOf(
  chain: Pick<TestChain, 'network' | 'payTo'>,
  amount: bigint | string = '1000',
): PaymentRequirements {
  const { network, asset } = chain.network
  return {
    scheme: 'exact',
    network,
    amount: String(amount),
    asset: asset.address,
    payTo: chain.payTo,
    maxTimeoutSeconds: 300,
    extra: { name: asset.name, version: asset.version },
  }
}

export interface SignOptions {
  readonly account: PrivateKeyAccount
  readonly requirements: PaymentRequirements
  readonly resource?: ResourceInfo
  readonly extensions?: Readonly<Record<string, unknown>>
  /** What the payer does otherwise than asked: signed so, unless it is `accepted` or `signature`. */
  readonly overrides?: Partial<ExactPayload['authorization']> & {
    readonly domain?: {
      readonly name?: string
      readonly version?: string
      readonly chainId?: number
      readonly verifyingContract?: Hex
    }
    readonly accepted?: Partial<PaymentRequirements>
    readonly signature?: (signature: Hex) => string
  }
}

/** As stock clients do: validAfter 0, validBefore now + maxTimeoutSeconds, a random nonce. */
export async function signPayment(options: SignOptions): Promise<PaymentPayloadV2> {
  const { requirements, resource, extensions, overrides } = options
  return {
    x402Version: 2,
    ...(resource && { resource }),
    accepted: { ...requirements, ...overrides?.accepted },
    payload: { ...(await signExact(options)) },
    ...(extensions && { extensions }),
  }
}

/** The same payment as a v1 client sends it. @param networkName e.g. `base-sepolia` */
export async function signPaymentV1(options: SignOptions, networkName?: string): Promise<PaymentPayloadV1> {
  const chainId = Number(options.requirements.network.split(':')[1])
  const network = networkName ?? createNetworks([chainId]).all[0]?.v1Name
  if (network === undefined) throw new Error(`v1 has no name for chain ${chainId}`)
  return {
    x402Version: 1,
    scheme: options.requirements.scheme,
    network,
    payload: { ...(await signExact(options)) },
  }
}

/** Value of Payment-Signature (v2) and X-PAYMENT (v1). */
export const toHeader = (payload: unknown) => Buffer.from(JSON.stringify(payload)).toString('base64')

async function signExact({ account, requirements, overrides = {} }: SignOptions): Promise<ExactPayload> {
  const { domain, accepted: _accepted, signature: change, ...authorization } = overrides
  const message: ExactPayload['authorization'] = {
    from: account.address,
    to: requirements.payTo as Hex,
    value: requirements.amount,
    validAfter: '0',
    validBefore: String(Math.floor(Date.now() / 1000) + requirements.maxTimeoutSeconds),
    nonce: `0x${randomBytes(32).toString('hex')}`,
    ...authorization,
  }
  const signature = await account.signTypedData({
    domain: {
      name: String(requirements.extra?.['name']),
      version: String(requirements.extra?.['version']),
      chainId: Number(requirements.network.split(':')[1]),
      verifyingContract: requirements.asset.toLowerCase() as Hex,
      ...domain,
    },
    types: {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'TransferWithAuthorization',
    message: {
      ...message,
      // Whatever case it has: a payer may write an address with a wrong checksum, and the digest is the same.
      from: message.from.toLowerCase() as Hex,
      to: message.to.toLowerCase() as Hex,
      value: BigInt(message.value),
      validAfter: BigInt(message.validAfter),
      validBefore: BigInt(message.validBefore),
    },
  })
  return { signature: (change?.(signature) ?? signature) as Hex, authorization: message }
}

/** A decoded payment as the verifier hands it on, and the question about its status. */
export function paymentOf(payload: PaymentPayloadV2, network: PaymentNetwork) {
  const { authorization: a, signature } = payload.payload as unknown as ExactPayload
  const authorization: Eip3009Authorization = {
    from: a.from.toLowerCase(),
    to: a.to.toLowerCase(),
    value: BigInt(a.value),
    validAfter: BigInt(a.validAfter),
    validBefore: BigInt(a.validBefore),
    nonce: a.nonce.toLowerCase(),
  }
  const payment: Payment = {
    x402Version: 2,
    scheme: 'exact',
    network: network.network,
    accepted: payload.accepted,
    resourceUrl: payload.resource?.url ?? null,
    extensions: payload.extensions ?? {},
    kind: { type: 'eip3009', authorization, signature: new Secret<string>(signature) },
    payer: authorization.from,
    nonce: authorization.nonce,
    validBefore: Number(authorization.validBefore) * 1000,
    presented: new Secret(payload),
    wire: new Secret(payload),
  }
  const { from, to, value, nonce } = authorization
  return {
    payment,
    requirements: payload.accepted,
    authorization,
    signature: new Secret<string>(signature),
    question: { from, to, value, nonce, since: Date.now() },
  }
}

/** 1000 atomic units from a sandbox account. */
export const signForAccount = (
  { privateKey }: { privateKey: Secret<string> },
  network: PaymentNetwork,
  payTo: string,
) =>
  signPayment({
    account: privateKey.use((key) => privateKeyToAccount(key as Hex)),
    requirements: requirementsOf({ network, payTo: payTo as Hex }),
  })

/** Atomic units, asked of a node directly. */
export async function usdcAt(rpcUrl: string, network: PaymentNetwork, address: string): Promise<bigint> {
  const client = createJsonRpc({ network: network.network, url: rpcUrl })
  const call = { to: network.asset.address, data: `0x70a08231${word(address)}` }
  const result = await client.call('eth_call', [call, 'latest']).finally(() => client.close())
  return BigInt(result as string)
}
