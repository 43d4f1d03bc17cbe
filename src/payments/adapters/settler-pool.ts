// Chooses which account of the operator submits the next transaction on one chain: the one with least to do, of those that can
// pay for gas and do not wait for something older.
import type { Logger } from '../../lib/log.ts'
import type { Secret } from '../../lib/secret.ts'
import type { PaymentNetwork } from '../../core/networks.ts'
import type { SettlerState } from '../ports.ts'
import type { ChainRpc } from './chain-rpc.ts'
import type { Fees } from './fees.ts'
import { type Broadcast, openSettler, type Outgoing, type Settler } from './settler.ts'
import { readQuantity } from './usdc-abi.ts'

export interface SettlerPool {
  /** Checksummed. @throws when a key is no private key */
  addresses(): Promise<readonly string[]>
  /** Opens the accounts. Never throws. */
  prepare(): void
  /** @returns why no account can send anything now; undefined where one can. @throws when a key is no private key */
  findHindrance(): Promise<string | undefined>
  /**
   * Hands the transaction to one account; to another one where the first cannot send it. `refused` means that nothing left.
   * @param deadline of performance.now: no further account is tried after it
   */
  broadcast(outgoing: Outgoing, deadline: number): Promise<PoolBroadcast>
  /** Whether some account can pay for a settlement, as far as is known. */
  canPay(): Promise<boolean>
  /** Whether whatever came now would wait for its turn for too long, on every account that could send it. Nothing is asked for this. */
  isBusy(): boolean
  /** Nothing is asked for this. */
  states(): readonly SettlerState[]
  close(): Promise<void>
}

export type PoolBroadcast = Broadcast & {
  /** Every transaction by which it may have come into a block. */
  readonly hashes: () => readonly string[]
  /** It has a receipt, or its sender does not wait any longer for one. */
  readonly end: (isMined: boolean) => void
}

export interface SettlerPoolParts {
  /** Asked at first use, and again after a failure. */
  readonly keys: () => Promise<readonly Secret<string>[]>
  readonly network: PaymentNetwork
  readonly rpc: Pick<ChainRpc, 'ask' | 'submit'>
  readonly fees: () => Promise<Fees | undefined>
  readonly maxFeePerGas: bigint
  /** The most gas that one settlement burns. */
  readonly gas: bigint
  readonly now: () => number
  readonly log?: Pick<Logger, 'warn'> | undefined
}

interface Account {
  readonly settler: Settler
  /** Settlements that run. */
  running: number
  gas: { readonly balance: bigint; readonly settlements: bigint; readonly at: number } | undefined
  /** When a node said that it cannot pay. */
  brokeAt: number | undefined
}

/** A balance is read again after so long; sooner where it was too low, because the operator may have filled it up. */
const BALANCE_MS = 30_000
const LOW_BALANCE_MS = 3_000
export const FEW_SETTLEMENTS = 100n
/** Half of what a settlement has: work that is begun now still has to find its turn when it is done. */
const LONGEST_QUEUE_MS = 10_000
const ELSEWHERE = new Set(['out_of_gas', 'nonce_taken', 'not_signed'])

export function createSettlerPool(parts: SettlerPoolParts): SettlerPool {
  const { keys, network, rpc, gas, now } = parts
  let opened: readonly Account[] = []
  let reading: Promise<void> | undefined

  const open = openOnce(async () => {
    const settlers = await Promise.all((await keys()).map((key) => openSettler({ ...parts, key })))
    opened = settlers.map((settler) => ({ settler, running: 0, gas: undefined, brokeAt: undefined }))
    return opened
  })

  const isBroke = ({ gas: known, brokeAt }: Account) =>
    known?.settlements === 0n || (brokeAt !== undefined && now() - brokeAt < LOW_BALANCE_MS)
  const isDue = (account: Account) =>
    now() - (account.gas?.at ?? -Infinity) > (isBroke(account) ? LOW_BALANCE_MS : BALANCE_MS)

  /** Nothing is changed where the node does not say. */
  async function readBalances(accounts: readonly Account[]): Promise<void> {
    const [asked, ...replies] = await rpc.ask([
      { method: 'eth_gasPrice', params: [] },
      ...accounts.map(({ settler }) => ({ method: 'eth_getBalance', params: [settler.address, 'latest'] })),
    ])
    // A node wants to see the whole of what a transaction may cost, though most of it is never taken: twice the price of now.
    const doubled = asked?.ok ? 2n * (readQuantity(asked.result) ?? 0n) : 0n
    const price = gas * (doubled > 0n && doubled < parts.maxFeePerGas ? doubled : parts.maxFeePerGas)
    for (const [i, account] of accounts.entries()) {
      const reply = replies[i]
      const balance = reply?.ok ? readQuantity(reply.result) : undefined
      if (balance === undefined) continue
      account.gas = { balance, settlements: balance / (price > 0n ? price : 1n), at: now() }
      if (account.gas.settlements > 0n) account.brokeAt = undefined
    }
  }

  async function refresh(): Promise<void> {
    const due = (await open()).filter(isDue)
    if (due.length === 0) return
    reading ??= readBalances(due)
      .catch(() => undefined)
      .finally(() => (reading = undefined))
    await reading
  }

  const workOf = ({ running, settler }: Account) => running + settler.load().waiting

  /** Gives those that wait for too long a chance to be free again, and those that could not pay. */
  async function review(): Promise<void> {
    const accounts = await open()
    const stuck = accounts.filter(({ settler }) => settler.isStuck())
    const reviews = Promise.all(stuck.map(({ settler }) => settler.review()))
    if (stuck.length === accounts.length) await reviews
    if (accounts.some(isBroke)) await refresh()
  }

  /** @returns why there is none, where there is none */
  function choose(excluded: ReadonlySet<Account>): Account | string {
    const free = opened.filter((account) => !excluded.has(account) && !account.settler.isStuck())
    const [chosen] = free.filter((account) => !isBroke(account)).sort((a, b) => workOf(a) - workOf(b))
    return chosen ?? (free.length > 0 ? 'out_of_gas' : 'settlers_stuck')
  }

  /** An account looks after it already, however long it takes: what a second one sends could only be reverted. */
  function follow(data: string): PoolBroadcast | undefined {
    for (const { settler } of opened) {
      const transaction = settler.carrying(data)
      if (transaction === undefined) continue
      const end = (isMined: boolean) => {
        if (isMined) settler.forget(transaction)
      }
      return { state: 'sent', transaction, hashes: settler.follow(transaction), end }
    }
    return undefined
  }

  function stateOf({ settler, gas: known, brokeAt, running }: Account): SettlerState {
    const { waiting, oldestMs } = settler.load()
    const isOut = known?.settlements === 0n || brokeAt !== undefined
    const isLow = known !== undefined && known.settlements < FEW_SETTLEMENTS
    return {
      address: settler.address,
      network: network.network,
      state: settler.isStuck()
        ? 'stuck'
        : isOut
          ? 'out_of_gas'
          : isLow
            ? 'low_on_gas'
            : known
              ? 'ok'
              : 'unknown',
      waiting: Math.max(waiting, running),
      oldest_ms: waiting === 0 ? null : oldestMs,
      gas_wei: known ? known.balance.toString() : null,
      settlements_left: known ? Number(known.settlements) : null,
    }
  }

  return {
    addresses: async () => (await open()).map(({ settler }) => settler.address),
    prepare: () => void open().catch(() => undefined),
    async findHindrance() {
      await review()
      const chosen = choose(new Set())
      return typeof chosen === 'string' ? chosen : undefined
    },
    async broadcast(outgoing, deadline) {
      const tried = new Set<Account>()
      let reason = 'settlers_stuck'
      const refused = (why: string): PoolBroadcast => ({
        state: 'refused',
        reason: why,
        hashes: () => [],
        end: () => undefined,
      })
      await open()
      const carried = follow(outgoing.data)
      if (carried) return carried
      do {
        const account = choose(tried)
        if (typeof account === 'string') return refused(tried.size > 0 ? reason : account)
        const { settler } = account
        tried.add(account)
        account.running++
        const broadcast = await settler.broadcast(outgoing)
        if (broadcast.state !== 'refused') {
          const { transaction } = broadcast
          return {
            ...broadcast,
            hashes: settler.follow(transaction),
            end(isMined) {
              account.running--
              if (isMined) settler.forget(transaction)
            },
          }
        }
        account.running--
        reason = broadcast.reason
        if (reason === 'out_of_gas') Object.assign(account, { brokeAt: now(), gas: undefined })
        if (!ELSEWHERE.has(reason)) break
      } while (performance.now() < deadline)
      return refused(reason)
    },
    async canPay() {
      await refresh()
      return (await open()).some((account) => !isBroke(account))
    },
    isBusy() {
      const able = opened.filter((account) => !account.settler.isStuck() && !isBroke(account))
      return able.length > 0 && able.every(({ settler }) => settler.load().queueMs > LONGEST_QUEUE_MS)
    },
    states: () => opened.map(stateOf),
    async close() {
      for (const { settler } of opened) settler.close()
    },
  }
}

/** Opens once for all who ask; a failure is not kept. */
function openOnce<T>(work: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined
  return () => {
    opened ??= work().catch((thrown: unknown) => {
      opened = undefined
      throw thrown
    })
    return opened
  }
}
