// A chain of transfers that fits on a page: what the evidence reader and the transfers ask of one, with blocks that can be taken back.
import type { PaymentNetwork } from '../../src/core/networks.ts'
import type { Chain } from '../../src/payments/chain-ports.ts'
import type { Upstream, UpstreamRequest, UpstreamSettlement } from '../../src/payments/ports.ts'
import { exactKind, fakeChain, fakeUpstream } from './payment-fakes.ts'

interface Mined {
  readonly from: string | null
  readonly to: string
  readonly value: bigint
  readonly nonce: string | null
  readonly transaction: string
  readonly height: bigint
  readonly at: number
}

/** How the upstream treats what it is handed next. */
export type Mood = 'ok' | 'lost' | 'pending' | 'refused' | 'crash'

/** Blocks of the last ten minutes may be replaced, older ones never. */
const FINAL_MS = 10 * 60_000

export class ModelChain {
  readonly network: PaymentNetwork
  readonly now: () => number
  readonly balances = new Map<string, bigint>()
  readonly mined: Mined[] = []
  readonly waiting: UpstreamRequest[] = []
  moods: Mood[] = []
  #transactions = 0

  constructor(network: PaymentNetwork, now: () => number) {
    this.network = network
    this.now = now
  }

  balanceOf = (address: string) => this.balances.get(address.toLowerCase()) ?? 0n

  /** Money from nowhere, as a buyer's payment. @returns its transaction */
  mint(to: string, value: bigint): string {
    return this.#mine({ from: null, to, value, nonce: null })
  }

  #mine(transfer: Pick<Mined, 'from' | 'to' | 'value' | 'nonce'>): string {
    const transaction = `0x${(++this.#transactions).toString(16).padStart(64, '0')}`
    const height = BigInt(this.mined.length + 1)
    this.mined.push({ ...transfer, transaction, height, at: this.now() })
    this.#move(transfer, 1n)
    return transaction
  }

  #move({ from, to, value }: Pick<Mined, 'from' | 'to' | 'value'>, sign: bigint): void {
    this.balances.set(to, this.balanceOf(to) + sign * value)
    if (from !== null) this.balances.set(from, this.balanceOf(from) - sign * value)
  }

  /** @returns the transaction; undefined where the token would revert */
  execute({ payment: { kind } }: UpstreamRequest): string | undefined {
    if (kind.type !== 'eip3009') throw new Error('not a transfer')
    const { from, to, value, nonce, validBefore } = kind.authorization
    const isOver = BigInt(Math.floor(this.now() / 1000)) >= validBefore
    if (isOver || this.balanceOf(from) < value || this.mined.some((other) => other.nonce === nonce))
      return undefined
    return this.#mine({ from, to, value, nonce })
  }

  /** What waits gets into a block, or is forgotten. */
  empty(isMined: boolean): void {
    for (const request of this.waiting.splice(0)) if (isMined) this.execute(request)
  }

  /** @returns the transactions of the newest blocks, which are gone */
  reorg(blocks: number): readonly string[] {
    const gone: string[] = []
    for (let i = 0; i < blocks; i++) {
      const last = this.mined.at(-1)
      if (!last || last.at < this.now() - FINAL_MS) break
      this.mined.pop()
      this.#move(last, -1n)
      gone.push(last.transaction)
    }
    return gone
  }

  chain(): Chain {
    return {
      ...fakeChain(this.now, this.network),
      balanceOf: async (address) => this.balanceOf(address),
      findRefusal: async ({ from, value }) =>
        this.balanceOf(from) < value ? 'ERC20: transfer amount exceeds balance' : null,
      head: async () => ({ number: BigInt(this.mined.length), time: this.now() }),
      authorizationStatus: async ({ from, to, value, nonce }) => {
        const found = this.mined.find((other) => other.nonce === nonce)
        if (!found) return { state: 'unused' }
        const { transaction, height: number } = found
        const transferred = found.from === from && found.to === to && found.value === value
        const block = { number, hash: transaction }
        return { state: 'used', transaction, transferred, block, submittedBy: from }
      },
    }
  }

  upstream(): Upstream {
    const settle = async (request: UpstreamRequest): Promise<UpstreamSettlement> => {
      const mood = this.moods.shift() ?? 'ok'
      if (mood === 'refused') return { state: 'refused', reason: 'gas_price_above_cap' }
      if (mood === 'pending') {
        this.waiting.push(request)
        return { state: 'pending', transaction: `0x${'e'.repeat(64)}` }
      }
      const transaction = this.execute(request)
      if (mood === 'crash') throw new Error('the process ended here')
      if (transaction === undefined) return { state: 'refused', reason: 'invalid_transaction_state' }
      if (mood === 'lost') return { state: 'unknown', reason: 'upstream_timeout' }
      return { state: 'settled', transaction }
    }
    return { ...fakeUpstream('model', { kinds: [exactKind(this.network.network)] }), settle }
  }
}
