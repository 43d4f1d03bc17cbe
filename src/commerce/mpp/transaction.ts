// MPP: what a signed transaction of an EVM does, as far as its calls are those that a payment makes. It is read and never verified: the
// signature over it is the server's to check.

/** One call of a transaction. Addresses and words in lower-case hex. */
export interface TransactionCall {
  /** `other`: it may move money in a way that is not read here. */
  readonly does: 'transfer' | 'deposit' | 'approve' | 'other'
  /** The contract that is called: of a transfer the token, of a deposit the escrow. */
  readonly to: string
  readonly payee: string | null
  /** Of a deposit that opens a channel; null where the call leaves it to the contract. */
  readonly token: string | null
  readonly amount: bigint | null
}

export interface Transaction {
  readonly chainId: bigint
  readonly calls: readonly TransactionCall[]
}

type Rlp = Uint8Array | readonly Rlp[]

/** More calls than a charge with ten splits can have make the whole unreadable. */
const MAX_ITEMS = 256
const MAX_DEPTH = 8
const EIP_1559 = 0x02
const TEMPO = 0x76

/** @returns undefined where the text is no transaction of EIP-1559 or of Tempo */
export function readTransaction(hex: string): Transaction | undefined {
  if (!/^0x(?:[\da-f]{2})+$/i.test(hex)) return undefined
  const bytes = Buffer.from(hex.slice(2), 'hex')
  const type = bytes[0]
  if (type !== EIP_1559 && type !== TEMPO) return undefined
  const fields = readRlp(bytes.subarray(1))
  if (fields === undefined || fields instanceof Uint8Array) return undefined
  return type === EIP_1559 ? readEip1559(fields) : readTempo(fields)
}

/** Chain, nonce, two fees, gas, to, value, data, access list, and the signature. */
function readEip1559(fields: readonly Rlp[]): Transaction | undefined {
  const [chain, , , , , to, value, data] = fields
  const call = readCall(to, value, data)
  return fields.length === 12 && chain instanceof Uint8Array && call !== undefined
    ? { chainId: toInteger(chain), calls: [call] }
    : undefined
}

/** Chain, two fees, gas, and calls of three members each; what follows moves no tokens. */
function readTempo(fields: readonly Rlp[]): Transaction | undefined {
  const [chain, , , , list] = fields
  if (!(chain instanceof Uint8Array) || list === undefined || list instanceof Uint8Array) return undefined
  const calls = list.map((call) =>
    call instanceof Uint8Array || call.length !== 3 ? undefined : readCall(call[0], call[1], call[2]),
  )
  const known = calls.filter((call) => call !== undefined)
  return fields.length >= 12 && known.length === calls.length
    ? { chainId: toInteger(chain), calls: known }
    : undefined
}

const SELECTORS: Readonly<Record<string, (words: readonly string[]) => Omit<TransactionCall, 'to'>>> = {
  // transfer(address,uint256) and transferWithMemo(address,uint256,bytes32)
  a9059cbb: ([payee, amount]) => ({
    does: 'transfer',
    payee: toAddress(payee),
    token: null,
    amount: toAmount(amount),
  }),
  '95777d59': ([payee, amount]) => ({
    does: 'transfer',
    payee: toAddress(payee),
    token: null,
    amount: toAmount(amount),
  }),
  // approve(address,uint256)
  '095ea7b3': ([spender, amount]) => ({
    does: 'approve',
    payee: toAddress(spender),
    token: null,
    amount: toAmount(amount),
  }),
  // open(address,address,uint128,bytes32,address)
  c79ea485: ([payee, token, amount]) => ({
    does: 'deposit',
    payee: toAddress(payee),
    token: toAddress(token),
    amount: toAmount(amount),
  }),
  // topUp(bytes32,uint128) and topUp(bytes32,uint256)
  '9f6f687a': ([, amount]) => ({ does: 'deposit', payee: null, token: null, amount: toAmount(amount) }),
  b67644b9: ([, amount]) => ({ does: 'deposit', payee: null, token: null, amount: toAmount(amount) }),
}

function readCall(
  to: Rlp | undefined,
  value: Rlp | undefined,
  data: Rlp | undefined,
): TransactionCall | undefined {
  if (!(to instanceof Uint8Array) || !(value instanceof Uint8Array) || !(data instanceof Uint8Array))
    return undefined
  if (to.length !== 20 && to.length !== 0) return undefined
  const hex = Buffer.from(data).toString('hex')
  const contract = `0x${Buffer.from(to).toString('hex')}`
  const selector = hex.slice(0, 8)
  const read = Object.hasOwn(SELECTORS, selector) ? SELECTORS[selector] : undefined
  const words = hex.slice(8).match(/.{64}/g) ?? []
  // Native money may go along with any call.
  const isPaid = toInteger(value) !== 0n
  if (read === undefined || isPaid || words.length < 2)
    return { does: 'other', to: contract, payee: null, token: null, amount: null }
  return { to: contract, ...read(words) }
}

const toAddress = (word: string | undefined): string | null =>
  word === undefined ? null : `0x${word.slice(24)}`
const toAmount = (word: string | undefined): bigint | null =>
  word === undefined ? null : BigInt(`0x${word}`)
const toInteger = (bytes: Uint8Array): bigint =>
  bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString('hex')}`)

/** The one item of RLP that the bytes are; undefined where they are none, or something stands behind it. */
function readRlp(bytes: Uint8Array): Rlp | undefined {
  let left = MAX_ITEMS
  const read = (at: number, depth: number): { readonly item: Rlp; readonly end: number } | undefined => {
    const first = bytes[at]
    left -= 1
    if (first === undefined || left < 0 || depth > MAX_DEPTH) return undefined
    if (first < 0x80) return { item: bytes.subarray(at, at + 1), end: at + 1 }
    const isList = first >= 0xc0
    const short = first - (isList ? 0xc0 : 0x80)
    const sizeBytes = Math.max(0, short - 55)
    if (sizeBytes > 3) return undefined
    const size = sizeBytes === 0 ? short : Number(toInteger(bytes.subarray(at + 1, at + 1 + sizeBytes)))
    const start = at + 1 + sizeBytes
    const end = start + size
    if (end > bytes.length) return undefined
    if (!isList) return { item: bytes.subarray(start, end), end }
    const items: Rlp[] = []
    for (let next = start; next < end;) {
      const inner = read(next, depth + 1)
      if (inner === undefined || inner.end > end) return undefined
      items.push(inner.item)
      next = inner.end
    }
    return { item: items, end }
  }
  const whole = read(0, 1)
  return whole?.end === bytes.length ? whole.item : undefined
}
