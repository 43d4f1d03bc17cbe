// Proves on chain that a token is what we take it for: its code is there, it counts in six decimals, payments are signed for
// the very domain that we compute, and it moves money by EIP-3009 for its owner's signature and for nobody else's.
import { randomBytes } from 'node:crypto'
import { ASSET_DECIMALS, type PaymentNetwork } from '../../core/networks.ts'
import { Secret } from '../../lib/secret.ts'
import { decodeUtf8 } from '../../lib/utf8.ts'
import { createEip3009Hasher, hashDomain, TRANSFER_TYPE_HASH } from '../eip3009.ts'
import { ChainError, type Eip3009Authorization } from '../chain-ports.ts'
import type { TokenVerdict } from '../token-proofs.ts'
import { loadSecp256k1, type Secp256k1 } from '../secp256k1.ts'
import type { ChainRpc } from './chain-rpc.ts'
import type { RpcReply } from './json-rpc.ts'
import { packAuthorizationState, packTransfer, readFlag, readRevert, readWord } from './usdc-abi.ts'

/** The views of EIP-20, EIP-712, EIP-3009 and EIP-5267 that say what a token is. */
const VIEWS = {
  name: '0x06fdde03',
  version: '0x54fd4d50',
  decimals: '0x313ce567',
  DOMAIN_SEPARATOR: '0x3644e515',
  TRANSFER_WITH_AUTHORIZATION_TYPEHASH: '0xa0cc6a68',
  RECEIVE_WITH_AUTHORIZATION_TYPEHASH: '0x7f2eecc3',
  eip712Domain: '0x84b0196e',
} as const

/**
 * keccak-256 of "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256
 * validBefore,bytes32 nonce)".
 */
const RECEIVE_TYPE_HASH = 'd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de8'
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`
const ZERO_WORD = `0x${'0'.repeat(64)}`
const WORD = 32
/** A name or a version that is longer is none that a wallet would show. */
const MAX_TEXT_BYTES = 64
/** EIP-5267: name, version, chain id and contract, no salt. */
const FIELDS = 0x0f
/** A time that no test of ours lives to see; tokens compare it with the time of the block. */
const NEVER = 2n ** 40n

/**
 * @param rpc of a node that is asked for its chain id in the same request
 * @param network what its asset is expected to be; an empty name is read from the chain
 * @returns with a reason that reads on from the name of the network
 */
export async function proveToken(rpc: Pick<ChainRpc, 'ask'>, network: PaymentNetwork): Promise<TokenVerdict> {
  try {
    const curve = await loadSecp256k1()
    const domain = await readDomain(rpc, network, curve)
    if (!domain.ok) return domain
    const proven = { ...network, asset: { ...network.asset, ...domain.domain } }
    return (await tryTransfer(rpc, proven, curve)) ?? { ok: true, ...domain.domain }
  } catch (thrown) {
    if (!(thrown instanceof ChainError)) throw thrown
    if (thrown.reason === 'wrong_chain')
      return final(`the node answers for another chain than ${network.chainId}: check its address`)
    return { ok: false, isFinal: false, why: `the node gives no answer (${thrown.reason})` }
  }
}

interface Domain {
  readonly name: string
  readonly version: string
}

async function readDomain(
  rpc: Pick<ChainRpc, 'ask'>,
  network: PaymentNetwork,
  curve: Secp256k1,
): Promise<{ readonly ok: true; readonly domain: Domain } | Extract<TokenVerdict, { ok: false }>> {
  const { address, name: pinnedName, version: pinnedVersion } = network.asset
  const view = (data: string) => ({ method: 'eth_call', params: [{ to: address, data }, 'latest'] })
  const [code, name, version, decimals, separator, transferType, receiveType, domain, state] = await rpc.ask(
    [
      { method: 'eth_getCode', params: [address, 'latest'] },
      ...Object.values(VIEWS).map(view),
      view(packAuthorizationState(ZERO_ADDRESS, ZERO_WORD)),
    ],
    true,
  )
  const answerOf = (reply: RpcReply | undefined) => demand(reply, network)
  if (answerOf(code) === '0x') return final(`there is no contract at ${address}`)
  const places = readWord(answerOf(decimals))
  if (places === undefined) return final(`the contract at ${address} says no decimals: it is no token`)
  if (places !== BigInt(ASSET_DECIMALS))
    return final(
      `the token at ${address} has ${places} decimals, and amounts here have ${ASSET_DECIMALS}: it cannot be taken`,
    )
  const isOfEip3009 =
    readFlag(answerOf(state)) !== undefined &&
    answerOf(transferType) === `0x${TRANSFER_TYPE_HASH}` &&
    answerOf(receiveType) === `0x${RECEIVE_TYPE_HASH}`
  if (!isOfEip3009)
    return final(`the token at ${address} has no transfers by authorization (EIP-3009): it cannot be taken`)

  // EIP-5267 says what is signed for; `name` may have been changed for display alone.
  const told = domain?.ok ? readEip712Domain(answerOf(domain), network) : undefined
  // Few tokens have it. Where the node itself refused the question, a name or version that does not fit may be for display.
  const isUntold = domain?.ok === false && readRevert(domain) === undefined
  const refuse = (why: string) => ({ ok: false, isFinal: !isUntold, why }) as const
  if (told === 'differs')
    return final(`the token at ${address} describes a signing domain (EIP-5267) of another form or place`)
  const found = {
    name: told?.name ?? readText(answerOf(name)),
    version: told?.version ?? readText(answerOf(version)),
  }
  if (found.name === undefined) return refuse(`the token at ${address} says no name that can be read`)
  if (found.version === undefined) return refuse(`the token at ${address} says no version that can be read`)
  const read = { name: found.name, version: found.version }
  for (const [what, is, expected] of [
    ['name', read.name, pinnedName],
    ['version', read.version, pinnedVersion],
  ] as const)
    if (expected !== '' && is !== expected)
      return refuse(`the token at ${address} has the ${what} "${is}", and "${expected}" is known of it`)
  const computed = hashDomain({ ...network, asset: { ...network.asset, ...read } }, curve.keccak256)
  if (answerOf(separator) !== hexOf(computed))
    return refuse(
      `the token at ${address} signs for another domain than its name "${read.name}", version "${read.version}" and chain give`,
    )
  return { ok: true, domain: read }
}

/**
 * A transfer of nothing, which costs nobody anything and is not sent: signed by its payer it must go through, and signed by
 * another it must not. A token that lacks the function, or that takes any signature, shows here and not at the first payment.
 */
async function tryTransfer(
  rpc: Pick<ChainRpc, 'ask'>,
  network: PaymentNetwork,
  curve: Secp256k1,
): Promise<TokenVerdict | undefined> {
  const { address } = network.asset
  const hasher = createEip3009Hasher(curve.keccak256)
  const [payer, stranger] = [newAccount(curve), newAccount(curve)]
  const authorization: Eip3009Authorization = {
    from: payer.address,
    to: stranger.address,
    value: 0n,
    validAfter: 0n,
    validBefore: NEVER,
    nonce: hexOf(randomBytes(WORD)),
  }
  const digest = hasher.hash(network, authorization)
  const signedBy = ({ key }: Account) => {
    const data = packTransfer(authorization, new Secret(hexOf(curve.sign(digest, key))))
    return { method: 'eth_call', params: [{ to: address, data }, 'latest'] }
  }
  const [own, forged] = await rpc.ask([signedBy(payer), signedBy(stranger)], true)
  if (!own || !forged) throw new ChainError('malformed', network.network)
  if (!own.ok) {
    const revert = readRevert(own)
    if (revert === undefined) throw new ChainError('refused', network.network)
    const why = `the token at ${address} refuses a transfer that its payer signed: ${revert}`
    return { ok: false, isFinal: !/paus/i.test(revert), why }
  }
  if (own.result !== '0x') return final(`the token at ${address} answers a transfer with something`)
  if (forged.ok) return final(`the token at ${address} moves money without its owner's signature`)
  if (readRevert(forged) === undefined) throw new ChainError('refused', network.network)
  return undefined
}

interface Account {
  readonly key: Uint8Array
  readonly address: string
}

function newAccount(curve: Secp256k1): Account {
  const key = randomBytes(WORD)
  const digest = randomBytes(WORD)
  const address = curve.recoverAddress(digest, curve.sign(digest, key))
  if (address === undefined) throw new Error('a signature of ours has no signer')
  return { key, address }
}

const final = (why: string) => ({ ok: false, isFinal: true, why }) as const
const hexOf = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`

/** @returns what the contract answered, in lower case; `0x` where it has no such function @throws {ChainError} */
function demand(reply: RpcReply | undefined, { network }: PaymentNetwork): string {
  if (!reply) throw new ChainError('malformed', network)
  if (reply.ok) {
    if (typeof reply.result !== 'string' || !/^0x(?:[0-9a-fA-F]{2})*$/.test(reply.result))
      throw new ChainError('malformed', network)
    return reply.result.toLowerCase()
  }
  // A node that did not run the call says nothing about the token.
  if (readRevert(reply) === undefined) throw new ChainError('refused', network)
  return '0x'
}

/** The ABI form of one text. */
function readText(answer: string): string | undefined {
  return textAt(Buffer.from(answer.slice(2), 'hex'), 0)
}

/** @param at where the word with the offset of the text stands */
function textAt(data: Buffer, at: number): string | undefined {
  const start = numberAt(data, at)
  const length = start === undefined ? undefined : numberAt(data, start)
  if (start === undefined || length === undefined || length === 0 || length > MAX_TEXT_BYTES) return undefined
  const bytes = data.subarray(start + WORD, start + WORD + length)
  const text = bytes.length === length ? decodeUtf8(bytes) : undefined
  // Invisible characters would make two names look like one.
  return text === undefined || /[\p{C}\p{Zl}\p{Zp}]/u.test(text) ? undefined : text
}

/** A word that counts bytes within the answer. */
function numberAt(data: Buffer, at: number): number | undefined {
  const word = data.subarray(at, at + WORD)
  if (word.length < WORD) return undefined
  const value = BigInt(hexOf(word))
  return value <= BigInt(data.length) ? Number(value) : undefined
}

/** @returns undefined where the token does not say it; `differs` where what it says is not the domain of this token here */
function readEip712Domain(
  answer: string,
  { chainId, asset }: PaymentNetwork,
): Domain | 'differs' | undefined {
  const data = Buffer.from(answer.slice(2), 'hex')
  const [name, version] = [textAt(data, WORD), textAt(data, 2 * WORD)]
  if (data.length < 7 * WORD || name === undefined || version === undefined) return undefined
  const wordOf = (index: number) => BigInt(hexOf(data.subarray(index * WORD, (index + 1) * WORD)))
  const isOfThisToken =
    data[0] === FIELDS &&
    wordOf(3) === BigInt(chainId) &&
    wordOf(4) === BigInt(asset.address) &&
    wordOf(5) === 0n &&
    numberAt(data, Number(numberAt(data, 6 * WORD) ?? data.length)) === 0
  return isOfThisToken ? { name, version } : 'differs'
}
