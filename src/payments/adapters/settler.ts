// Submits transactions of one account on one chain, each with the next nonce, and looks after them until each is in a block:
// what the node dropped is sent again, what waits too long offers more, a nonce that nobody uses is filled, and what lost its
// nonce to somebody else gets another. An authorization moves money once, however often it is put out.
import type { Logger } from '../../lib/log.ts'
import type { Secret } from '../../lib/secret.ts'
import { ChainError } from '../chain-ports.ts'
import type { PaymentNetwork } from '../../core/networks.ts'
import type { ChainRpc } from './chain-rpc.ts'
import type { Fees } from './fees.ts'
import { type Judgement, judgeSubmission } from './node-replies.ts'
import {
  type Counts,
  decideStep,
  type Entry,
  findObstacle,
  isRipe,
  nonceOf,
  raiseFees,
  type Version,
} from './outgoing.ts'
import { type Call, openTransactionSigner } from './transaction-signer.ts'
import { createTurns } from './turns.ts'
import { readQuantity, readReceipt } from './usdc-abi.ts'

/** The state of a transaction after the first attempt to put it out. Its hash is known before it leaves. */
export type Broadcast =
  | { readonly state: 'sent'; readonly transaction: string }
  /** The node may have it, or somebody behind the node. */
  | { readonly state: 'doubtful'; readonly transaction: string; readonly reason: string }
  /** Nothing left, or the node said clearly that it did not take it. */
  | { readonly state: 'refused'; readonly reason: string }

export interface Outgoing extends Call {
  readonly fees: Fees
  /** Whether it would still do what it is for: asked before it is put out again. @throws {ChainError} */
  readonly isWanted: () => Promise<boolean>
  /** Why it must not leave any more: asked when its turn has come, which may be long after it was handed over. */
  readonly findLateness?: (() => string | undefined) | undefined
}

export interface SettlerLoad {
  /** How many of its transactions are in no block yet, and for how long the oldest waits. */
  readonly waiting: number
  readonly oldestMs: number
  /** How long the next one would wait until it can leave, as things went lately. */
  readonly queueMs: number
}

export interface Settler {
  /** Checksummed. */
  readonly address: string
  load(): SettlerLoad
  /** Its oldest transaction has waited too long: others would queue behind it. */
  isStuck(): boolean
  /** Never throws; what it does not refuse it looks after, until it is in a block or not wanted any more. */
  broadcast(transaction: Outgoing): Promise<Broadcast>
  /** @returns the transaction that makes this very call and is in no block yet; undefined where none does */
  carrying(data: string): string | undefined
  /** @returns every transaction by which this one may have come into a block, the newest first, also later on */
  follow(transaction: string): () => readonly string[]
  /** The transaction has a receipt. */
  forget(transaction: string): void
  /** Looks after what waits, now. Never throws. */
  review(): Promise<void>
  close(): void
}

export interface SettlerParts {
  readonly key: Secret<string>
  readonly network: PaymentNetwork
  readonly rpc: Pick<ChainRpc, 'ask' | 'submit'>
  /** What the next blocks ask; undefined when that is above the cap. @throws {ChainError} */
  readonly fees: () => Promise<Fees | undefined>
  /** The most that a transaction offers for one unit of gas, in wei. */
  readonly maxFeePerGas: bigint
  readonly now: () => number
  readonly log?: Pick<Logger, 'warn'> | undefined
}

const STUCK_MS = 45_000
const REVIEW_EVERY_MS = 1_000
/** Processes that share the account take a nonce or two between our question and our transaction. */
const MAX_NONCES_TRIED = 12
/** They would go on in step, each a nonce behind the other, without a pause of another length for each; it grows with every turn. */
const MAX_PAUSE_MS = 20
/** Authorizations that lose their nonce again and again are left to expire: each attempt may cost gas. */
const MAX_MOVES = 5
/** Another process that shares the account may be about to use the nonce. */
const GAP_MS = 4_000
/** A transfer of nothing costs little; a gap larger than this is a node's mistake, and is not filled. */
const MAX_GAP = 16n
/** A transaction that is not ours and holds up ours for so long is replaced: the account is the gateway's. */
const OCCUPIED_MS = 120_000
/** More than the 21,000 that it burns: some chains count their own costs as gas, and what is not burnt comes back. */
const FILLER_GAS = 100_000n

/** @throws when the key is no private key */
export async function openSettler(parts: SettlerParts): Promise<Settler> {
  const { network, rpc, now, log, maxFeePerGas } = parts
  const signer = await openTransactionSigner(parts.key, network.chainId)
  const { address } = signer
  /** The node is asked for it while this is undefined. */
  let nextNonce: bigint | undefined
  /** Nonces below are used, as a node said that refused one of them. */
  let floor = 0n
  /** Broadcasts leave one after the other, because each changes which nonce is next. */
  const { take: enqueue, isSlow, waitMs } = createTurns()
  let entries: readonly Entry[] = []
  let obstacle: { readonly key: string; readonly since: number; readonly fees: Fees | undefined } | undefined
  let reviewing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function remember(entry: Entry): void {
    entries = [...entries, entry]
    watch()
  }
  function drop(entry: Entry): void {
    entries = entries.filter((other) => other !== entry)
  }
  function watch(): void {
    if (isClosed || timer !== undefined || entries.length === 0) return
    timer = setTimeout(() => {
      timer = undefined
      void review().finally(watch)
    }, REVIEW_EVERY_MS).unref()
  }
  const find = (transaction: string) =>
    entries.find(({ versions }) => versions.some((version) => version.transaction === transaction))
  const tell = (entry: Entry, words: string) =>
    log?.warn({ chain: network.chainId, settler: address, nonce: Number(nonceOf(entry)) }, words)

  // Sending ----------------------------------------------------------------------------------------------------------

  /** @throws {ChainError} */
  async function readNonce(): Promise<bigint> {
    const [reply] = await rpc.ask([{ method: 'eth_getTransactionCount', params: [address, 'pending'] }])
    const counted = reply?.ok ? readQuantity(reply.result) : undefined
    if (counted === undefined) throw new ChainError('refused', network.network)
    // A node may not count yet what another one took a moment ago.
    return entries.reduce((next, entry) => greater(next, nonceOf(entry) + 1n), greater(counted, floor))
  }

  /** Whether a receipt of one of these shows; false where the node does not say. */
  async function isMined(versions: readonly Version[]): Promise<boolean> {
    const calls = versions.map(({ transaction }) => receiptOf(transaction))
    const replies = await rpc.ask(calls).catch(() => [])
    return replies.some((reply) => reply.ok && readReceipt(reply.result))
  }

  /** @throws when there is nothing that could be mined */
  function entryOf(
    call: Call,
    [newest, ...older]: readonly Version[],
    isWanted: Entry['isWanted'],
    isDoubtful: boolean,
  ): Entry {
    if (!newest) throw new Error('no version of the transaction was signed')
    const at = now()
    return {
      call,
      isFiller: false,
      isWanted,
      versions: [newest, ...older],
      since: at,
      sentAt: at,
      isDoubtful,
      isAwaited: false,
      isOccupied: false,
      moves: 0,
      isMissed: false,
    }
  }

  const submit = async ({ raw }: Version) =>
    judgeSubmission(
      await rpc.submit('eth_sendRawTransaction', [raw]).catch(() => ({ state: 'not_sent' as const })),
    )
  const signUnder = (call: Call, nonce: bigint, fees: Fees): Version => ({
    ...signer.sign(call, nonce, fees),
    nonce,
    fees,
  })

  type Put =
    | {
        readonly state: 'taken' | 'doubtful'
        readonly reason?: string
        readonly versions: readonly Version[]
      }
    | { readonly state: 'refused'; readonly reason: string }
    /** It has to have another nonce, and others have gone on. */
    | { readonly state: 'again'; readonly versions: readonly Version[] }

  /**
   * Puts out a call under the next free nonce, and under further ones where others use the account too.
   * @param used what was refused because its nonce was used: a relay may have asked twice, and one of these is what used it
   * @param onSilence told when the node takes its time and others wait: from then on they may have the nonces that follow
   */
  async function put(
    call: Call,
    fees: Fees,
    used: readonly Version[] = [],
    onSilence?: (versions: readonly Version[]) => void,
  ): Promise<Put> {
    const giveUp = (reason: string): Put =>
      used.length === 0
        ? { state: 'refused', reason }
        : { state: 'doubtful', reason: 'nonce_too_low', versions: used }
    for (let turn = 0; turn < MAX_NONCES_TRIED; turn++) {
      let version: Version
      try {
        nextNonce ??= await readNonce()
        version = signUnder(call, nextNonce, fees)
      } catch {
        nextNonce = undefined
        return giveUp('not_signed')
      }
      const answer = submit(version)
      if (onSilence && (await isSlow(answer))) {
        nextNonce = version.nonce + 1n
        onSilence([version, ...used])
        return putLate(version, used, await answer)
      }
      const judged = await answer
      nextNonce = undefined
      switch (judged.state) {
        case 'taken':
        case 'doubtful':
          nextNonce = version.nonce + 1n
          return landed(judged, [version, ...used])
        case 'refused':
          // A node that refuses nonces too far ahead would refuse every one after a wrong answer about a used one.
          floor = 0n
          return giveUp(judged.reason)
        case 'nonce_used':
          used = [version, ...used]
          if (await isMined(used)) return { state: 'taken', versions: used }
          break
        case 'nonce_taken':
      }
      floor = greater(floor, version.nonce + 1n)
      if (turn > 0) await pause(Math.random() * MAX_PAUSE_MS * turn)
    }
    return giveUp('nonce_taken')
  }

  const landed = (
    judged: Extract<Judgement, { state: 'taken' | 'doubtful' }>,
    versions: readonly Version[],
  ): Put => {
    if (judged.state === 'doubtful') return { state: 'doubtful', reason: judged.reason, versions }
    return judged.wasKnown
      ? { state: 'doubtful', reason: 'already_known', versions }
      : { state: 'taken', versions }
  }

  /** Reads an answer that came when others had gone on. */
  async function putLate(version: Version, used: readonly Version[], judged: Judgement): Promise<Put> {
    const versions = [version, ...used]
    if (judged.state === 'taken' || judged.state === 'doubtful') return landed(judged, versions)
    if (judged.state === 'refused') {
      if (nextNonce === version.nonce + 1n) nextNonce = undefined
      return used.length > 0
        ? { state: 'doubtful', reason: 'nonce_too_low', versions }
        : { state: 'refused', reason: judged.reason }
    }
    floor = greater(floor, version.nonce + 1n)
    if (judged.state === 'nonce_taken') return { state: 'again', versions: used }
    return (await isMined(versions)) ? { state: 'taken', versions } : { state: 'again', versions }
  }

  /**
   * @param handOver lets the next one begin: a node that takes its time holds up this one alone
   * @param used as of {@link put}
   */
  async function send(
    outgoing: Outgoing,
    handOver: () => void,
    used: readonly Version[] = [],
  ): Promise<Broadcast> {
    const { fees, isWanted, findLateness, ...call } = outgoing
    const late = used.length === 0 ? findLateness?.() : undefined
    if (late !== undefined) return { state: 'refused', reason: late }
    let silent: Entry | undefined
    const done = await put(call, fees, used, (versions) => {
      silent = { ...entryOf(call, versions, isWanted, true), isAwaited: true }
      remember(silent)
      handOver()
    })
    if (silent) return concludeSilence(silent, done, outgoing)
    if (done.state === 'refused') return done
    if (done.state === 'again') throw new Error('nobody went on while the node answered')
    const { state, reason = 'unclear_answer', versions } = done
    const entry = entryOf(call, versions, isWanted, state === 'doubtful' && reason !== 'already_known')
    remember(entry)
    const [{ transaction }] = entry.versions
    return state === 'taken' ? { state: 'sent', transaction } : { state, reason, transaction }
  }

  /** What was looked after while its node was silent goes on as what the answer says that it is. */
  async function concludeSilence(entry: Entry, done: Put, outgoing: Outgoing): Promise<Broadcast> {
    const [{ transaction }] = entry.versions
    entry.isAwaited = false
    if (done.state === 'taken') {
      entry.isDoubtful = false
      return { state: 'sent', transaction }
    }
    if (done.state === 'doubtful') {
      if (done.reason === 'already_known') entry.isDoubtful = false
      return { state: 'doubtful', reason: done.reason ?? 'unclear_answer', transaction }
    }
    // What got another nonce meanwhile may have been taken then.
    const isUntouched = entries.includes(entry) && entry.moves === 0
    const reason = done.state === 'refused' ? done.reason : 'nonce_too_low'
    if (!isUntouched) return { state: 'doubtful', reason, transaction }
    drop(entry)
    return done.state === 'refused' ? done : enqueue((handOver) => send(outgoing, handOver, done.versions))
  }

  // Looking after ----------------------------------------------------------------------------------------------------

  /** @throws {ChainError} */
  async function readCounts(): Promise<Counts> {
    const [mined, pending] = (
      await rpc.ask(
        ['latest', 'pending'].map((block) => ({
          method: 'eth_getTransactionCount',
          params: [address, block],
        })),
        true,
      )
    ).map((reply) => (reply.ok ? readQuantity(reply.result) : undefined))
    if (mined === undefined || pending === undefined) throw new ChainError('refused', network.network)
    return { mined, pending }
  }

  /** Whether the node has a version under the nonce of now; undefined where it does not say. */
  async function isKnown(entry: Entry): Promise<boolean | undefined> {
    // One that a node led far ahead may wait there for ever.
    const versions = entry.versions.filter(({ nonce }) => nonce === nonceOf(entry))
    const calls = versions.map(({ transaction }) => ({
      method: 'eth_getTransactionByHash',
      params: [transaction],
    }))
    const replies = await rpc.ask(calls, true).catch(() => [])
    if (replies.some((reply) => reply.ok && reply.result !== null)) return true
    return replies.length > 0 && replies.every((reply) => reply.ok) ? false : undefined
  }

  const review = (): Promise<void> =>
    (reviewing ??= reviewAll()
      // A node that does not answer is asked again at the next review.
      .catch(() => undefined)
      .finally(() => (reviewing = undefined)))

  async function reviewAll(): Promise<void> {
    const ripe = entries.filter((entry) => isRipe(entry, now()))
    if (ripe.length === 0) return
    const [counts, ...known] = await Promise.all([readCounts(), ...ripe.map(isKnown)])
    for (const [i, entry] of ripe.entries()) {
      if (!entries.includes(entry)) continue
      const step = decideStep(entry, counts, known[i], now())
      if (step === 'look_for_receipt') await conclude(entry, known[i])
      else if (step !== 'wait') await enqueue((handOver) => putAgain(entry, step === 'raise_fees', handOver))
    }
    await enqueue(() => clearTheWay(counts))
  }

  /** The nonce of the entry is used: by one of its versions, or by somebody else's transaction. */
  async function conclude(entry: Entry, known: boolean | undefined): Promise<void> {
    if (await isMined(entry.versions)) return drop(entry)
    if (known !== false) return
    // One answer may be of a node that has the block and not its index.
    if (!entry.isMissed) {
      entry.isMissed = true
      return
    }
    floor = greater(floor, nonceOf(entry) + 1n)
    await enqueue(() => move(entry))
  }

  /** Its nonce is lost: the same call leaves under another one, unless it has nothing to do any more. */
  async function move(entry: Entry): Promise<void> {
    if (entry.isFiller) return drop(entry)
    if (entry.moves >= MAX_MOVES || !(await entry.isWanted())) {
      tell(entry, 'a transaction lost its nonce to another use of the key, and is not needed any more')
      return drop(entry)
    }
    tell(entry, 'a transaction lost its nonce to another use of the key: it gets another one')
    const moved = await put(entry.call, (await parts.fees()) ?? entry.versions[0].fees)
    if (moved.state === 'refused') return
    const fresh = entryOf(entry.call, [...moved.versions, ...entry.versions], entry.isWanted, false)
    drop(entry)
    // Whoever follows the old entry sees the new versions too.
    remember(Object.assign(entry, { ...fresh, moves: entry.moves + 1 }))
  }

  /** The node dropped it, or it waits for too long. */
  async function putAgain(entry: Entry, isTooSlow: boolean, handOver: () => void): Promise<void> {
    const isWanted = entry.isFiller || (await entry.isWanted())
    const isLast = entries.every((other) => nonceOf(other) <= nonceOf(entry))
    if (!isWanted && !isTooSlow && isLast) {
      // Nobody has it and nothing waits behind it: the next payment takes its nonce.
      nextNonce = undefined
      return drop(entry)
    }
    const [{ fees }] = entry.versions
    const market = await parts.fees()
    const offersEnough = market !== undefined && market.maxFeePerGas <= fees.maxFeePerGas
    const waited = now() - entry.since
    const mustOutbid =
      !isWanted ||
      (isTooSlow && (!offersEnough || waited > STUCK_MS)) ||
      (entry.isOccupied && waited > OCCUPIED_MS)
    // A node that holds nothing there asks for no more than the market: at the cap, where nothing can be outbid, all would wait behind it for good.
    const holdsNothing = !isTooSlow && !entry.isOccupied
    const raised =
      mustOutbid || !offersEnough
        ? (raiseFees(fees, market, maxFeePerGas) ?? (holdsNothing ? market : undefined))
        : undefined
    if (!isWanted && raised) {
      tell(entry, 'a transaction has nothing to do any more: an empty one takes its nonce')
      Object.assign(entry, { isFiller: true, call: { to: address, data: '0x', gas: FILLER_GAS } })
    }
    if (raised) await outbid(entry, raised, handOver)
    else if (isWanted && !isTooSlow) await resend(entry, handOver)
  }

  /** Under a nonce that was used before, so that nobody who comes next depends on the answer. */
  async function submitAgain(version: Version, handOver: () => void): Promise<Judgement> {
    const answer = submit(version)
    if (await isSlow(answer)) handOver()
    return answer
  }

  /** Hands the node the very bytes again: they can be mined once. */
  async function resend(entry: Entry, handOver: () => void): Promise<void> {
    const judged = await submitAgain(entry.versions[0], handOver)
    entry.sentAt = now()
    if (judged.state === 'taken') entry.isDoubtful = false
    entry.isOccupied = judged.state === 'nonce_taken'
  }

  async function outbid(entry: Entry, fees: Fees, handOver: () => void): Promise<void> {
    const version = signUnder(entry.call, nonceOf(entry), fees)
    const judged = await submitAgain(version, handOver)
    entry.sentAt = now()
    if (judged.state === 'refused' || judged.state === 'nonce_used') return
    // A node that asks for more has not taken it, but the next attempt begins here.
    entry.isOccupied = judged.state === 'nonce_taken'
    entry.versions = [version, ...entry.versions]
  }

  /** Ours wait behind a nonce that none of ours has: nobody uses it, or a transaction does that is not ours. */
  async function clearTheWay(counts: Counts): Promise<void> {
    const found = findObstacle(entries.map(nonceOf), counts)
    if (!found) {
      obstacle = undefined
      return
    }
    const key = `${found.state} ${found.first}`
    if (obstacle?.key !== key) obstacle = { key, since: now(), fees: undefined }
    if (now() - obstacle.since < (found.state === 'gap' ? GAP_MS : OCCUPIED_MS)) return
    const market = await parts.fees()
    if (!market) return
    if (found.state === 'occupied') {
      const fees = obstacle.fees ? raiseFees(obstacle.fees, market, maxFeePerGas) : market
      if (!fees) return
      obstacle = { ...obstacle, fees }
      return fill(found.first, fees)
    }
    if (found.last - found.first < MAX_GAP) {
      for (let nonce = found.first; nonce <= found.last; nonce++) await fill(nonce, market)
      return
    }
    // A node that counted wrongly led us there: everything leaves again where it counts now.
    floor = 0n
    let next = found.first
    for (const entry of entries) {
      nextNonce = next
      await move(entry)
      next = nextNonce ?? next
    }
    nextNonce = next
  }

  async function fill(nonce: bigint, fees: Fees): Promise<void> {
    const call = { to: address, data: '0x', gas: FILLER_GAS }
    const version = signUnder(call, nonce, fees)
    const judged = await submit(version)
    if (judged.state !== 'taken' && judged.state !== 'doubtful') return
    const entry = entryOf(call, [version], async () => true, judged.state === 'doubtful')
    tell(entry, 'an empty transaction was sent, because others waited behind its nonce')
    remember({ ...entry, isFiller: true })
  }

  const oldestMs = () => entries.reduce((most, { since }) => Math.max(most, now() - since), 0)
  return {
    address,
    load: () => ({ waiting: entries.length, oldestMs: oldestMs(), queueMs: waitMs() }),
    isStuck: () => oldestMs() > STUCK_MS,
    broadcast: (request) => enqueue((handOver) => send(request, handOver)),
    carrying: (data) =>
      entries.find(({ isFiller, call }) => !isFiller && call.data === data)?.versions[0].transaction,
    follow(transaction) {
      const entry = find(transaction)
      return () => (entry ? entry.versions.map((version) => version.transaction) : [transaction])
    },
    forget(transaction) {
      const entry = find(transaction)
      if (entry) drop(entry)
    },
    review,
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const greater = (a: bigint, b: bigint) => (a > b ? a : b)
const receiptOf = (transaction: string) => ({ method: 'eth_getTransactionReceipt', params: [transaction] })
