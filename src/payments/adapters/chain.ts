// Shows one EVM chain as payments see it: what a payment would do now, and what became of one that was submitted.
import { BEHIND_MS, type Chain, ChainError, type ChainProbe, type ChainState } from '../chain-ports.ts'
import { type ChainRpcOptions, createChainRpc } from './chain-rpc.ts'
import { findAuthorizationStatus } from './authorization-status.ts'
import { findIncomingTransfers } from './incoming-transfers.ts'
import type { RpcCall, RpcReply } from './json-rpc.ts'
import { isObject } from '../../lib/json.ts'
import {
  exceedsGasWords,
  explainFailure,
  GENEROUS_GAS,
  readSimulation,
  SETTLEMENT_GAS,
  simulationOf,
} from './transfer-simulation.ts'
import {
  isHash,
  isMagicValue,
  packAuthorizationState,
  packBalanceOf,
  packPlainTransfer,
  packIsBlacklisted,
  packIsValidSignature,
  readFlag,
  readQuantity,
  readRevert,
  readWord,
} from './usdc-abi.ts'

/** The most that a stranger's contract may have a node compute for one question; passkey wallets need up to 400,000. */
const ERC1271_GAS = '0xf4240'
/** Nobody asks for the newest block while nothing is open. */
const HEAD_KNOWN_MS = 10 * 60_000

export interface ChainOptions extends ChainRpcOptions {
  /** The most gas that the transaction of a settlement gets; simulations get no more. */
  readonly settlementGas?: bigint | undefined
  /** As of `Chain`; false where nothing is said. */
  readonly minesOnDemand?: boolean | undefined
}

/** @param options.rpcUrl is asked at first use and after a failure; its errors become {@link ChainError} */
export function createChain(options: ChainOptions): Chain {
  const { network, settlementGas = SETTLEMENT_GAS, minesOnDemand = false, now } = options
  const rpc = createChainRpc(options)
  // Another chain says `unused` or `over by its clock` of a payment that is neither on this one.
  const decisive = { ask: (calls: readonly RpcCall[]) => rpc.ask(calls, true) }
  const asset = network.asset.address
  /** How old the newest block was when it was last asked for, and when that was. */
  let head = { ageMs: 0, askedAt: 0 }
  const malformed = () => new ChainError('malformed', network.network)
  const readToken = (data: string) => ({ method: 'eth_call', params: [{ to: asset, data }, 'latest'] })

  /** @throws {ChainError} when the node has no answer to this very question */
  function demand<T>(reply: RpcReply | undefined, read: (result: unknown) => T | undefined): T {
    if (!reply?.ok) throw new ChainError('refused', network.network)
    const value = read(reply.result)
    if (value === undefined) throw malformed()
    return value
  }

  const probe: Chain['probe'] = async (authorization, signature, options): Promise<ChainProbe> => {
    const { from, nonce } = authorization
    const { ask } = options?.isDecisive === true ? decisive : rpc
    const transferred = { asset, authorization, signature }
    const calls: RpcCall[] = [
      { method: 'eth_getCode', params: [from, 'latest'] },
      simulationOf(transferred, settlementGas),
    ]
    const asksBalance = options?.withBalance === true
    if (asksBalance) calls.push(readToken(packBalanceOf(from)))
    const [code, transfer, held] = await ask(calls)
    const payerHasCode = demand(code, readCode) !== '0x'
    if (!transfer) throw malformed()
    if (transfer.ok) {
      // The function returns nothing, so a contract that returns anything is not the token.
      if (transfer.result !== '0x') throw malformed()
      const balance = asksBalance ? demand(held, readWord) : null
      return { nonceUsed: false, balance, payerHasCode, revert: null }
    }
    const limited = readSimulation(transfer)
    // The node did not run the transfer: that says nothing about the payment.
    if (limited.state === 'unanswered') throw new ChainError('refused', network.network)
    // A plain account fails for another reason than gas, so that is asked of contract wallets alone.
    const mayNeedGas = payerHasCode || limited.state === 'exceeds_gas'
    const [state, balance, generous] = await ask([
      readToken(packAuthorizationState(from, nonce)),
      readToken(packBalanceOf(from)),
      ...(mayNeedGas ? [simulationOf(transferred, GENEROUS_GAS)] : []),
    ])
    const failure = mayNeedGas ? explainFailure(limited, readSimulation(generous)) : limited
    const exceedsGas = failure.state === 'exceeds_gas'
    return {
      nonceUsed: demand(state, readFlag),
      balance: demand(balance, readWord),
      payerHasCode,
      revert: failure.state === 'reverts' ? failure.reason : exceedsGasWords(settlementGas),
      ...(exceedsGas && { exceedsGas }),
    }
  }

  function state(): ChainState {
    const known = rpc.state()
    const isKnown = now() - head.askedAt < HEAD_KNOWN_MS
    if (known.state !== 'ok' || minesOnDemand || !isKnown || head.ageMs <= BEHIND_MS) return known
    const minutes = Math.round(head.ageMs / 60_000)
    return { ...known, detail: `is behind its chain: its newest block was ${minutes} minutes old` }
  }

  return {
    network,
    minesOnDemand,
    async probe(authorization, signature, asked) {
      try {
        return await probe(authorization, signature, asked)
      } catch (thrown) {
        // A node that takes its next block meanwhile has no answer for the one before, so it is asked once more.
        if (!(thrown instanceof ChainError) || thrown.reason !== 'refused') throw thrown
        return probe(authorization, signature, asked)
      }
    },
    async acceptsSignature({ account, digest, signature }) {
      const data = packIsValidSignature(digest, signature)
      const call = { method: 'eth_call', params: [{ to: account, data, gas: ERC1271_GAS }, 'latest'] }
      const [reply] = await decisive.ask([call])
      if (reply?.ok) return isMagicValue(reply.result)
      // A contract that reverts says no; a node that did not run it says nothing.
      if (reply && readRevert(reply) !== undefined) return false
      throw new ChainError('refused', network.network)
    },
    async balanceOf(address) {
      const [balance] = await rpc.ask([readToken(packBalanceOf(address))])
      return demand(balance, readWord)
    },
    async findRefusal({ from, to, value }) {
      const gas = `0x${settlementGas.toString(16)}`
      const call = { from, to: asset, data: packPlainTransfer(to, value), gas }
      const [reply] = await decisive.ask([{ method: 'eth_call', params: [call, 'latest'] }])
      const simulated = readSimulation(reply)
      if (simulated.state === 'reverts') return simulated.reason
      if (simulated.state === 'exceeds_gas') return 'out of gas'
      // A token answers true; one that answers false has refused without a word.
      return demand(reply, readWord) === 1n ? null : 'the token answers false'
    },
    async accountFacts(address) {
      const [code, blacklisted] = await rpc.ask([
        { method: 'eth_getCode', params: [address, 'latest'] },
        readToken(packIsBlacklisted(address)),
      ])
      return {
        hasCode: demand(code, readCode) !== '0x',
        isBlacklisted: demand(blacklisted, readFlag),
      }
    },
    authorizationStatus: (input) => findAuthorizationStatus({ rpc: decisive, network, demand }, input),
    incomingTransfers: (account) => findIncomingTransfers({ rpc, network, demand }, account),
    async blockHashes(heights) {
      if (heights.length === 0) return []
      const replies = await decisive.ask(
        heights.map((height) => ({
          method: 'eth_getBlockByNumber',
          params: [`0x${height.toString(16)}`, false],
        })),
      )
      return heights.map((_, i) => demand(replies[i], readBlockHash))
    },
    async head() {
      const [block] = await decisive.ask([{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
      const newest = demand(block, readBlock)
      head = { ageMs: now() - newest.time, askedAt: now() }
      return newest
    },
    state,
    close: rpc.close,
  }
}

const readCode = (result: unknown) =>
  typeof result === 'string' && /^0x(?:[0-9a-fA-F]{2})*$/.test(result) ? result : undefined

/** null when there is no such block; undefined when the answer is no block. */
function readBlockHash(result: unknown): string | null | undefined {
  if (result === null) return null
  const { hash } = isObject(result) ? result : {}
  return isHash(hash) ? hash.toLowerCase() : undefined
}

function readBlock(result: unknown) {
  if (typeof result !== 'object' || result === null) return undefined
  const { number, timestamp } = result as Record<string, unknown>
  const [height, seconds] = [readQuantity(number), readQuantity(timestamp)]
  return height === undefined || seconds === undefined
    ? undefined
    : { number: height, time: Number(seconds) * 1000 }
}
