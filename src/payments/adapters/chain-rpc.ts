// Keeps a node that is known to be of the right chain: it is asked for its id at first use, once a minute and after every
// failure. Questions that come within a millisecond travel in one HTTP request.
import { createBatcher } from '../../lib/batcher.ts'
import { isObject } from '../../lib/json.ts'
import { must } from '../../lib/must.ts'
import { ChainError, type ChainState } from '../chain-ports.ts'
import type { PaymentNetwork } from '../../core/networks.ts'
import { createJsonRpc, type JsonRpc, type RpcCall, type RpcReply, type Submission } from './json-rpc.ts'
import { readQuantity } from './usdc-abi.ts'

export interface ChainRpcOptions {
  readonly network: PaymentNetwork
  /** Asked at first use and after a failure: an embedded chain starts then, perhaps on another port. */
  readonly rpcUrl: () => Promise<string>
  readonly now: () => number
  readonly deadlineMs?: number
  /** Calls in one HTTP request. By default few for a provider, many for a node on this machine. */
  readonly maxCalls?: number
  /** The node answers again after a failure, and it may be another one. */
  readonly onReturn?: (() => void) | undefined
}

export interface ChainRpc {
  /**
   * Answers in the order of the calls.
   * @param isDecisive the node must say in the same request which chain it is of: what decides about money is never taken
   * from a node that changed since it was last asked
   * @throws {ChainError}
   */
  ask(calls: readonly RpcCall[], isDecisive?: boolean): Promise<readonly RpcReply[]>
  /** @throws {ChainError} before anything is sent: no node, or one of another chain */
  submit(method: string, params: readonly unknown[]): Promise<Submission>
  state(): ChainState
  close(): Promise<void>
}

const CHECK_EVERY_MS = 60_000
/** A question to a node takes longer, and providers count requests. */
const MAX_GATHER_MS = 1
/** Public endpoints refuse larger batches. A node next to us does not. */
const MAX_CALLS_REMOTE = 10
const MAX_CALLS_LOCAL = 64

const WORDS: Readonly<Record<ChainError['reason'], string>> = {
  timeout: 'did not answer in time',
  unreachable: 'cannot be reached',
  malformed: 'answered something that makes no sense',
  wrong_chain: 'answers for another chain: check the address',
  refused: 'refused the question',
}

interface Node {
  readonly url: string
  readonly rpc: JsonRpc
  readonly maxCalls: number
  checkedAt: number | undefined
}

interface Question {
  readonly calls: readonly RpcCall[]
  readonly isDecisive: boolean
  readonly resolve: (replies: readonly RpcReply[]) => void
  readonly reject: (error: ChainError) => void
}

/** @param options.deadlineMs for one HTTP request */
export function createChainRpc(options: ChainRpcOptions): ChainRpc {
  const { rpcUrl, now, deadlineMs } = options
  const { network, chainId } = options.network
  let node: Node | undefined
  let connecting: Promise<Node> | undefined
  let last: { ok: boolean; at: number; detail: string } | undefined
  let waiting: Question[] = []
  let latestBlock: bigint | undefined

  const observe = (error?: ChainError, detail: string = error ? WORDS[error.reason] : 'answers') => {
    last = { ok: error === undefined, at: now(), detail }
  }

  async function connect(): Promise<Node> {
    let url: string
    try {
      url = await rpcUrl()
    } catch (thrown) {
      const error = new ChainError('unreachable', network, { cause: thrown })
      // The message is the gateway's own: what to install, or what to configure.
      observe(error, thrown instanceof Error ? thrown.message : undefined)
      throw error
    }
    if (node?.url === url) return node
    void node?.rpc.close()
    const rpc = createJsonRpc({ network, url, ...(deadlineMs !== undefined && { deadlineMs }) })
    const isLocal = ['127.0.0.1', '[::1]', 'localhost'].includes(new URL(url).hostname)
    const maxCalls = options.maxCalls ?? (isLocal ? MAX_CALLS_LOCAL : MAX_CALLS_REMOTE)
    node = { url, rpc, maxCalls, checkedAt: undefined }
    return node
  }

  async function use(): Promise<Node> {
    if (node?.checkedAt !== undefined) return node
    connecting ??= connect().finally(() => (connecting = undefined))
    return connecting
  }

  const isDue = ({ checkedAt }: Node) => checkedAt === undefined || now() - checkedAt > CHECK_EVERY_MS

  /** Sends one HTTP request, which also asks for the chain id when that is due or when the answer is decisive. */
  async function exchange(calls: readonly RpcCall[], isDecisive: boolean): Promise<readonly RpcReply[]> {
    const current = await use()
    const check = isDecisive || isDue(current)
    try {
      const replies = await current.rpc.batch(check ? [CHAIN_ID, ...calls] : calls)
      if (check) {
        const [id] = replies
        if (!id?.ok || typeof id.result !== 'string') throw new ChainError('malformed', network)
        if (Number(id.result) !== chainId) throw new ChainError('wrong_chain', network)
        current.checkedAt = now()
      }
      if (last?.ok === false) options.onReturn?.()
      observe()
      const answers = check ? replies.slice(1) : replies
      latestBlock = latestIn(calls, answers) ?? latestBlock
      return answers
    } catch (thrown) {
      current.checkedAt = undefined
      const error = thrown instanceof ChainError ? thrown : new ChainError('malformed', network)
      observe(error)
      throw error
    }
  }

  function flush() {
    const questions = waiting
    waiting = []
    // One place is kept for the chain id.
    const limit = (node?.maxCalls ?? options.maxCalls ?? MAX_CALLS_REMOTE) - 1
    let batch: Question[] = []
    let count = 0
    for (const question of questions) {
      if (batch.length > 0 && count + question.calls.length > limit) {
        void answer(batch)
        batch = []
        count = 0
      }
      batch.push(question)
      count += question.calls.length
    }
    if (batch.length > 0) void answer(batch)
  }

  async function answer(questions: readonly Question[]) {
    try {
      const replies = await exchange(
        questions.flatMap(({ calls }) => calls),
        questions.some(({ isDecisive }) => isDecisive),
      )
      let at = 0
      for (const { calls, resolve } of questions) resolve(replies.slice(at, (at += calls.length)))
    } catch (thrown) {
      for (const { reject } of questions) reject(thrown as ChainError)
    }
  }

  const batcher = createBatcher({
    count: () => waiting.length,
    maxMs: MAX_GATHER_MS,
    now: () => performance.now(),
    flush,
  })

  return {
    ask(calls, isDecisive = false) {
      return new Promise((resolve, reject) => {
        waiting.push({ calls, isDecisive, resolve, reject })
        batcher.add()
      })
    },
    async submit(method, params) {
      if (!node || isDue(node)) await exchange([], false)
      const current = must(node, 'the node that has just been asked for its chain')
      const submission = await current.rpc.submit(method, params)
      if (submission.state !== 'answered') {
        current.checkedAt = undefined
        observe(new ChainError('unreachable', network))
      }
      return submission
    },
    state() {
      if (!last) return { state: 'unknown', detail: 'not asked yet', age_ms: null }
      const state = last.ok ? ('ok' as const) : ('failing' as const)
      const block = latestBlock === undefined ? {} : { latest_block: String(latestBlock) }
      return { state, detail: last.detail, age_ms: now() - last.at, ...block }
    },
    async close() {
      await connecting?.catch(() => {})
      await node?.rpc.close()
    },
  }
}

/** Number of the newest block, where these calls asked for it. */
function latestIn(calls: readonly RpcCall[], replies: readonly RpcReply[]): bigint | undefined {
  const at = calls.findIndex(
    ({ method, params }) => method === 'eth_getBlockByNumber' && params[0] === 'latest',
  )
  const reply = at < 0 ? undefined : replies[at]
  return reply?.ok && isObject(reply.result) ? readQuantity(reply.result['number']) : undefined
}

const CHAIN_ID: RpcCall = { method: 'eth_chainId', params: [] }
