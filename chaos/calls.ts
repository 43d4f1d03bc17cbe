// Calls of agents: each is one order at an upstream over TLS, under an idempotency key of its own, repeated until its answer is final.
// What was acknowledged is kept here, and looked for afterwards.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AttemptRecord } from '../schemas/egress.ts'
import { must } from '../src/lib/must.ts'
import { JWS_TYPES, verifyJws } from '../src/receipts/types.ts'
import { createClient, createWorld, type RestAnswer, type World } from '../test/support/gateway.ts'
import { storedBytes } from '../test/support/stored-bytes.ts'
import type { Load, Scene, Verdict } from './fault.ts'
import { type Cluster, type ClusterOptions, createCluster } from './postgres.ts'
import { type Relay, startRelay } from './relay.ts'
import { type Replica, startReplica } from './replica.ts'
import { type Shift, startWorkers } from './workers.ts'

const WORKERS = 12
const PAUSE_MS = 25
const STRETCH = 150
/** What an agent waits for an answer before it asks again. */
const PATIENCE_MS = 10_000
const REPEAT_MS = 150
/** Of an order that is under way. */
const UPSTREAM_MS = 40
/** Short enough that the last of them are spent while the fault is there, or soon after. */
const POOR_CREDITS = 300
const RICH_CREDITS = 1_000_000
/** Of the credential that every call goes out with. */
export const SECRET = `chaos-secret-${randomUUID()}`

export interface CallsOptions {
  readonly engine: 'sqlite' | 'postgres'
  readonly replicas?: number
  /** Of the gateway; this release unless given. */
  readonly program?: string
  readonly cluster?: ClusterOptions
  /** Data directory of the gateway; below the world's unless given. */
  readonly dataDir?: string
  /** Further variables of a replica, by its number. */
  readonly envOf?: (replica: number) => Promise<Readonly<Record<string, string>>>
  readonly nameTtlSeconds?: number
  /** `fresh`: a repeat has another key, which is what callers must not do. */
  readonly keys?: 'kept' | 'fresh'
  /** Codes that are a right answer to the fault: such a call is refused, and has to be without effect. */
  readonly refusals?: readonly string[]
  /** Undoes what was made for this scene, after everything has ended. */
  readonly cleanUp?: () => Promise<void>
}

export interface CallScene extends Scene {
  readonly world: World
  readonly replicas: readonly Replica[]
  /** Of the first replica, for the operator. */
  readonly operator: ReturnType<typeof createClient>
  readonly calls: readonly Call[]
  /** A capability that is paid by an account with credits to spare. */
  readonly capability: string
  /** @throws where the engine is SQLite */
  database(): Cluster
  /** The way of all replicas to the database. @throws where the engine is SQLite */
  relay(): Relay
}

interface Call {
  /** Path at the upstream, which is another one for each call. */
  readonly target: string
  readonly replica: number
  state: 'open' | 'acknowledged' | 'unknown' | 'refused'
  attemptId?: string
  receiptId?: string
}

interface Account {
  readonly client: ReturnType<typeof createClient>
  readonly capability: string
  readonly deposit: number
  /** Whether there are credits left for another call. */
  hasCredits: boolean
}

export async function openCalls(options: CallsOptions): Promise<CallScene> {
  const { engine, replicas: count = 1, keys = 'kept', refusals = [], nameTtlSeconds = 60 } = options
  const opened: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const undo of opened.toReversed()) await undo()
  }
  if (options.cleanUp) opened.push(options.cleanUp)
  try {
    const database = engine === 'postgres' ? await createCluster(options.cluster) : undefined
    if (database) opened.push(() => database.close())
    const relay = database && (await startRelay(database.port))
    if (relay) opened.push(() => relay.close())
    const world = await createWorld({
      nameTtlSeconds,
      env: {
        GATEWAY_SERVICE_KEY_CREDITS: String(POOR_CREDITS),
        // No chain is needed here, and none has to start.
        GATEWAY_RPC_8453: 'http://127.0.0.1:1',
        GATEWAY_RPC_84532: 'http://127.0.0.1:1',
        ...(database && relay && { GATEWAY_DATABASE_URL: through(relay, database.url) }),
        ...(options.dataDir !== undefined && { GATEWAY_DATA_DIR: options.dataDir }),
      },
    })
    opened.push(() => world.close())
    world.upstream.respond((_request, res) => {
      setTimeout(
        () => res.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'),
        UPSTREAM_MS,
      )
    })
    const replicas: Replica[] = []
    opened.push(() => Promise.all(replicas.map((replica) => replica.stop('SIGKILL'))))
    for (let i = 0; i < count; i++)
      replicas.push(await startReplica(world, await options.envOf?.(i), options.program))
    const clients = replicas.map(({ url }) => createClient(url, world))
    const operator = must(clients[0], 'the first replica')
    const rich = await openAccount(operator, world, RICH_CREDITS)
    const accounts = [rich, rich, rich, await openAccount(operator, world)]
    const calls: Call[] = []
    const problems: string[] = []
    const load = startLoad({ world, replicas, accounts, calls, problems, keys, refusals })
    return {
      world,
      replicas,
      operator,
      calls,
      capability: rich.capability,
      database: () => must(database, 'a database of this scene'),
      relay: () => must(relay, 'a relay of this scene'),
      load,
      check: (patienceMs) =>
        check({ world, replicas, accounts: new Set(accounts), calls, problems, operator, patienceMs }),
      async close() {
        await load.abandon()
        await close()
      },
    }
  } catch (thrown) {
    await close()
    throw thrown
  }
}

function through(relay: Relay, url: string): string {
  const address = new URL(url)
  address.port = String(relay.port)
  return address.href
}

async function openAccount(
  operator: ReturnType<typeof createClient>,
  world: World,
  more = 0,
): Promise<Account> {
  const made = await operator.rest('POST', '/v1/keys', { account: 'new', name: 'chaos' })
  const client = createClient(operator.baseUrl, { ...world, operatorKey: made.body.key })
  if (more > 0) {
    const account = made.body.account_id
    const granted = await operator.rest('POST', '/v1/credits/grants', {
      amount: more,
      reference: 'chaos',
      account_id: account,
    })
    if (granted.status !== 201) throw new Error(`credits: ${granted.text}`)
  }
  const { capability } = await client.grant({ secret: SECRET, capability: { ttl_seconds: 86_400 } })
  return { client, capability, deposit: POOR_CREDITS + more, hasCredits: true }
}

export const dataDirOf = ({ env }: World): string => must(env['GATEWAY_DATA_DIR'], 'GATEWAY_DATA_DIR')

interface LoadParts {
  readonly world: World
  readonly replicas: readonly Replica[]
  readonly accounts: readonly Account[]
  readonly calls: Call[]
  readonly problems: string[]
  readonly keys: 'kept' | 'fresh'
  readonly refusals: readonly string[]
}

function startLoad(parts: LoadParts): Load & { abandon(): Promise<void> } {
  const { world, replicas, accounts, calls, problems, keys, refusals } = parts

  async function ask(replica: Replica, capability: string, key: string, target: string): Promise<Answer> {
    try {
      const response = await fetch(`${replica.url}/v1/egress/fetch`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${capability}`,
          'idempotency-key': key,
        },
        body: JSON.stringify({ method: 'POST', url: world.url(target) }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
      const text = await response.text()
      if (text.includes(SECRET)) problems.push(`the secret is in an answer with status ${response.status}`)
      return { status: response.status, body: JSON.parse(text) }
    } catch {
      // Refused, reset, too slow, or cut off in the middle.
      return undefined
    }
  }
  /** One call to its final answer, which any replica may give. */
  async function call(first: number, account: Account, shift: Shift): Promise<void> {
    const id = randomUUID()
    const beganAt = performance.now()
    for (let tries = 0; !shift.isAbandoned(); tries++) {
      const at = (first + tries) % replicas.length
      const record: Call = { target: `/orders/${id}`, replica: at, state: 'open' }
      const key = keys === 'kept' || tries === 0 ? id : randomUUID()
      const answer = await ask(must(replicas[at], 'a replica'), account.capability, key, record.target)
      const final = answer && read(answer, record, account)
      if (!final) {
        await sleep(REPEAT_MS)
        continue
      }
      calls.push(record)
      if (record.state === 'acknowledged') shift.acknowledged(at, beganAt)
      return
    }
  }
  /** @returns whether the answer is final */
  function read({ status, body }: NonNullable<Answer>, record: Call, account: Account): boolean {
    if (status === 200) {
      record.state = 'acknowledged'
      record.attemptId = body.attempt_id
      record.receiptId = body.receipt.receipt_id
      return true
    }
    if (body.code === 'outcome_ambiguous') record.state = 'unknown'
    else if (status === 402) {
      record.state = 'refused'
      account.hasCredits = false
    } else if (refusals.includes(body.code)) record.state = 'refused'
    else if (status >= 500 || body.code === 'idempotency_key_in_use') return false
    else problems.push(`an answer that no caller can expect: ${status} ${body.code}: ${body.detail}`)
    return true
  }
  async function work(worker: number, shift: Shift): Promise<void> {
    for (let i = worker; !shift.isStopping(); i++) {
      const account = must(accounts[i % accounts.length], 'an account')
      // Once in a while it is asked again: a credit that was given back can be spent.
      if (account.hasCredits || i % 10 === 0) await call(i % replicas.length, account, shift)
      await sleep(PAUSE_MS)
    }
  }
  return startWorkers({ workers: WORKERS, replicas: replicas.length, stretch: STRETCH }, work)
}

// Read as what a caller expects of it; a wrong shape is a finding.
// oxlint-disable-next-line typescript/no-explicit-any
type Answer = { readonly status: number; readonly body: any } | undefined

interface CheckParts {
  readonly world: World
  readonly replicas: readonly Replica[]
  readonly accounts: ReadonlySet<Account>
  readonly calls: readonly Call[]
  readonly problems: readonly string[]
  readonly operator: ReturnType<typeof createClient>
  readonly patienceMs: number
}

async function check(parts: CheckParts): Promise<Verdict> {
  const { world, replicas, accounts, calls, operator } = parts
  const problems = [...parts.problems]
  const attempts = new Map<string, AttemptRecord>()
  const until = performance.now() + parts.patienceMs
  for (const account of accounts) {
    await tidied(account, until)
    const own = await allOf<AttemptRecord>(account, '/v1/egress/attempts', 'attempts')
    for (const attempt of own) attempts.set(attempt.attempt_id, attempt)
    problems.push(...(await creditFaults(account, own)))
  }
  const lost = await lostOf(operator, calls, attempts)

  const sent = new Map<string, number>()
  const charged = new Set(
    [...attempts.values()]
      .filter(({ credits_charged }) => credits_charged === 1)
      .map((attempt) => attempt.idempotency_key),
  )
  for (const { target, headers } of world.upstream.requests) {
    sent.set(target, (sent.get(target) ?? 0) + 1)
    const key = headers.find(([name]) => name === 'idempotency-key')?.[1] ?? ''
    if (!charged.has(key)) problems.push(`${target} was sent, and no attempt was charged for it`)
  }
  const doubled = [...sent]
    .filter(([, times]) => times > 1)
    .map(([target, times]) => `${target}: ${times} times`)

  const stored = await storedBytes({ ...world, dataDir: dataDirOf(world) })
  if (stored.includes(SECRET)) problems.push('the secret is in clear in what the gateway has stored')
  if (replicas.some((replica) => replica.said().includes(SECRET))) problems.push('the secret is in a log')
  const inState = (state: Call['state']) => calls.filter((call) => call.state === state).length
  return {
    acknowledged: inState('acknowledged'),
    lost,
    doubled,
    unknown: inState('unknown'),
    problems,
  }
}

/** Waits until nothing of the account is under way any more; what stays is found by the sums. */
async function tidied({ client }: Account, until: number): Promise<void> {
  for (;;) {
    const open = await Promise.all(
      ['reserved', 'sending'].map((state) => client.rest('GET', `/v1/egress/attempts?state=${state}`)),
    )
    if (open.every(({ body }) => body.attempts.length === 0) || performance.now() > until) return
    await sleep(500)
  }
}

async function lostOf(
  operator: ReturnType<typeof createClient>,
  calls: readonly Call[],
  attempts: ReadonlyMap<string, AttemptRecord>,
): Promise<string[]> {
  const jwks = (await operator.rest('GET', '/.well-known/gateway-egress-key.json')).body
  const lost: string[] = []
  const waiting = calls.filter(({ state }) => state === 'acknowledged')
  const next = waiting.values()
  async function look(): Promise<void> {
    for (const { target, attemptId, receiptId } of next) {
      const attempt = attempts.get(attemptId ?? '')
      const answer = await operator.rest('GET', `/v1/receipts/${receiptId}`, undefined, '')
      const why = await whyLost(answer, attempt, attemptId)
      if (why !== undefined) lost.push(`${target}: ${why}`)
    }
  }
  async function whyLost(answer: RestAnswer, attempt: AttemptRecord | undefined, attemptId = '') {
    if (attempt?.state !== 'settled') return `its attempt is ${attempt?.state ?? 'not there'}`
    if (answer.status !== 200) return `its receipt is not there (${answer.status})`
    const verdict = await verifyJws(answer.body.jws, jwks, JWS_TYPES.receipt)
    if (!verdict.ok) return `its receipt does not verify (${verdict.reason})`
    return verdict.payload['attempt_id'] === attemptId ? undefined : 'its receipt is of another attempt'
  }
  await Promise.all(Array.from({ length: 8 }, look))
  return lost
}

async function creditFaults(account: Account, attempts: readonly AttemptRecord[]): Promise<string[]> {
  const { client, deposit } = account
  const ledger = await allOf<{ amount: number }>(account, '/v1/credits', 'ledger')
  const balance = await client.balance()
  const sum = ledger.reduce((total, { amount }) => total + amount, 0)
  const charged = attempts.reduce((total, { credits_charged }) => total + credits_charged, 0)
  const open = attempts.filter(({ state }) => state === 'reserved' || state === 'sending')
  const problems: string[] = []
  if (open.length > 0) problems.push(`${open.length} attempts are still ${open[0]?.state}`)
  if (balance < 0) problems.push(`a balance is negative: ${balance}`)
  if (sum !== balance) problems.push(`a ledger sums up to ${sum} and the balance is ${balance}`)
  if (balance !== deposit - charged)
    problems.push(`a balance is ${balance}, and deposits less charges are ${deposit - charged}`)
  return problems
}

async function allOf<T>({ client }: Account, path: string, member: string): Promise<T[]> {
  const all: T[] = []
  for (let before = ''; ;) {
    const { body } = await client.rest('GET', `${path}?limit=100${before && `&before=${before}`}`)
    all.push(...(body[member] as T[]))
    if (body.next === null) return all
    before = encodeURIComponent(body.next)
  }
}
