// x402 on Solana: the payer signs a whole transaction, and what it moves stands in its instructions (specs/schemes/exact/scheme_exact_svm.md).
// This reads them, so that amount, token and payee are judged as they are signed, and nothing rides along. Pure; never throws.
import { hash } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519'
import { base58 } from '@scure/base'

/** A `TransferChecked` of the token program. Addresses in base58. */
export interface SolanaTransfer {
  readonly amount: bigint
  readonly mint: string
  /** Token account that is paid. */
  readonly destination: string
  /** Whoever signs for the account that pays. */
  readonly authority: string
  /** Program of the token: the old one or that of 2022. */
  readonly program: string
}

export interface SolanaTransaction {
  readonly transfers: readonly SolanaTransfer[]
  /** Whether an instruction does what no payment of the exact scheme may do. */
  readonly doesMore: boolean
}

/** A packet of the network. */
const MAX_BYTES = 1232
const TOKEN_PROGRAMS = new Set([
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
])
const ASSOCIATED_TOKEN = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
/** Price of the computation, notes, and the guard that wallets add: they move nothing. */
const HARMLESS = new Set([
  'ComputeBudget111111111111111111111111111111',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95',
])
const TRANSFER_CHECKED = 12

/** @returns undefined where it is no transaction, or names accounts by a table that only the chain has */
export function readSolanaTransaction(base64: string): SolanaTransaction | undefined {
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length === 0 || bytes.length > MAX_BYTES) return undefined
  try {
    return readBytes(createReader(bytes))
  } catch (thrown) {
    if (thrown instanceof RangeError) return undefined
    throw thrown
  }
}

function readBytes(reader: Reader): SolanaTransaction | undefined {
  reader.skip(64 * reader.count())
  const isVersioned = (reader.peek() & 0x80) !== 0
  // Version 0 is the only one there is.
  if (isVersioned && reader.byte() !== 0x80) return undefined
  reader.skip(3)
  const keys = reader.list(() => base58.encode(reader.take(32)))
  reader.skip(32)
  const instructions = reader.list(() => ({
    program: keys[reader.byte()],
    accounts: reader.list(() => keys[reader.byte()]),
    data: reader.take(reader.count()),
  }))
  const tables = isVersioned ? reader.count() : 0
  const transfers: SolanaTransfer[] = []
  let doesMore = false
  for (const { program, accounts, data } of instructions) {
    if (program === undefined) return undefined
    if (HARMLESS.has(program) || (program === ASSOCIATED_TOKEN && (data[0] ?? 0) <= 1)) continue
    if (!TOKEN_PROGRAMS.has(program) || data[0] !== TRANSFER_CHECKED || data.length !== 10) doesMore = true
    else {
      const [, mint, destination, authority] = accounts
      if (mint === undefined || destination === undefined || authority === undefined) return undefined
      transfers.push({ amount: data.readBigUInt64LE(1), mint, destination, authority, program })
    }
  }
  // Accounts behind a table are unknown here, and an instruction that names none of them has been read whole.
  return tables > 0 && transfers.length === 0 ? undefined : { transfers, doesMore }
}

interface Reader {
  byte(): number
  peek(): number
  /** Length in the compact form: seven bits a byte, three bytes at most. */
  count(): number
  take(length: number): Buffer
  skip(length: number): void
  list<T>(read: () => T): T[]
}

/** @throws {RangeError} past the end */
function createReader(bytes: Buffer): Reader {
  let at = 0
  const take = (length: number) => {
    if (at + length > bytes.length) throw new RangeError('past the end')
    return bytes.subarray(at, (at += length))
  }
  const byte = () => bytes.readUInt8(at++)
  const count = () => {
    let value = 0
    for (const shift of [0, 7, 14]) {
      const next = byte()
      value |= (next & 0x7f) << shift
      if (next < 0x80) return value
    }
    throw new RangeError('no length')
  }
  return {
    byte,
    count,
    take,
    peek: () => bytes.readUInt8(at),
    skip: (length) => void take(length),
    list: (read) => Array.from({ length: count() }, read),
  }
}

/**
 * The account in which an owner holds a token: an address that is no point of the curve, so that nobody has a key of it.
 * @returns undefined where one of them is no address
 */
export function findTokenAccount(
  owner: string,
  { mint, program }: Pick<SolanaTransfer, 'mint' | 'program'>,
): string | undefined {
  const seeds = [owner, program, mint].map(decodeAddress)
  if (!seeds.every((seed) => seed !== undefined)) return undefined
  const tail = [base58.decode(ASSOCIATED_TOKEN), Buffer.from('ProgramDerivedAddress')]
  for (let bump = 255; bump >= 0; bump--) {
    const address = hash('sha256', Buffer.concat([...seeds, Buffer.of(bump), ...tail]), 'buffer')
    if (!isOnCurve(address)) return base58.encode(address)
  }
  return undefined
}

function decodeAddress(text: string): Uint8Array | undefined {
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)) return undefined
  const bytes = base58.decode(text)
  return bytes.length === 32 ? bytes : undefined
}

function isOnCurve(bytes: Uint8Array): boolean {
  try {
    ed25519.ExtendedPoint.fromHex(bytes)
    return true
  } catch {
    return false
  }
}
