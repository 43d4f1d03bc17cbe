// The live log: what it costs a call that somebody watches, at 1,000 decisions a second, and what it costs where nobody does. Watched and
// unwatched rounds alternate, so that both meet the same machine; the medians over the rounds are compared, of CPU and of latency.
// `node bench/live.ts`
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { cookieName } from '../src/doors/console/cookie.ts'
import { newId } from '../src/lib/ids.ts'
import { newToken } from '../src/lib/tokens.ts'
import {
  median,
  openLoop,
  percentile,
  printTable,
  type ServerProcess,
  START_FLAGS,
  startServer,
} from './support.ts'

const PER_SECOND = 1000
const REQUESTS = Number(process.env['BENCH_REQUESTS'] ?? 5000)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 9)
/** Most that watching may add to a call, in percent. */
const TARGET_PERCENT = 5
const PAGES = 3

const directory = await mkdtemp(join(tmpdir(), 'gateway-bench-'))

/** Signs somebody in beside the gateway. @returns their cookie */
function signIn(baseUrl: string): string {
  const db = new DatabaseSync(join(directory, 'gateway.db'), { timeout: 5000 })
  const account = String(
    db.prepare('SELECT account_id AS a FROM service_keys WHERE admin = 1 ORDER BY id LIMIT 1').get()?.['a'],
  )
  const now = Date.now()
  const [person, session, token] = [newId('per', now), newId('ses', now), newToken('ss')]
  db.prepare('INSERT INTO people (id, name, created_at) VALUES (?, ?, ?)').run(person, 'Bench', now)
  db.prepare(
    `INSERT INTO memberships (account_id, person_id, role, admin, created_at) VALUES (?, ?, 'owner', 1, ?)`,
  ).run(account, person, now)
  db.prepare(
    `INSERT INTO sessions (id, person_id, account_id, token_hash, method, address, user_agent, created_at, seen_at, fresh_at, expires_at)
     VALUES (?, ?, ?, ?, 'passkey', '127.0.0.1', 'bench', ?, ?, ?, ?)`,
  ).run(
    session,
    person,
    account,
    createHash('sha256').update(token).digest(),
    now,
    now,
    now,
    now + 43_200_000,
  )
  db.close()
  return `${cookieName(baseUrl, '')}=${token}`
}

interface Page {
  /** Ends it. @returns how many decisions it was told of, and how many it missed */
  close(): { readonly heard: number; readonly missed: number }
}

/** A page that listens. It reads what it heard when it is closed, since this process asks the calls, too. */
async function openPage(url: string, cookie: string): Promise<Page> {
  const pieces: Buffer[] = []
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(
      `${url}/console/events?topics=decision`,
      { headers: { accept: 'text/event-stream', cookie, 'sec-fetch-site': 'same-origin' } },
      resolve,
    ).on('error', reject)
  })
  if (answer.statusCode !== 200) throw new Error(`the stream answers ${answer.statusCode}`)
  answer.on('data', (piece: Buffer) => void pieces.push(piece))
  return {
    close() {
      answer.destroy()
      let [heard, missed] = [0, 0]
      for (const event of Buffer.concat(pieces).toString('utf8').split('\n\n')) {
        const data = /^data: (.*)$/m.exec(event)?.[1]
        if (data === undefined) continue
        if (event.includes('event: news')) heard += (JSON.parse(data) as unknown[]).length
        if (event.includes('event: gap')) missed += (JSON.parse(data) as { missed: number }).missed
      }
      return { heard, missed }
    },
  }
}

async function measure(gateway: ServerProcess): Promise<boolean> {
  const key = (await readFile(join(directory, 'operator.key'), 'utf8')).trim()
  const shot = { path: '/v1/keys', method: 'GET' as const, headers: { authorization: `Bearer ${key}` } }
  const cookie = signIn(gateway.url)
  const load = (requests: number) =>
    openLoop(gateway, shot, { connections: 16, perSecond: PER_SECOND, requests })
  await load(2000)
  const [plain, watched]: [number[], number[]] = [[], []]
  const [plainP50, watchedP50]: [number[], number[]] = [[], []]
  let [heard, missed] = [0, 0]
  for (let round = 0; round < ROUNDS; round++) {
    const without = await load(REQUESTS)
    plain.push(without.cpuUs)
    plainP50.push(percentile(without.latenciesMs, 0.5))
    const pages = await Promise.all(Array.from({ length: PAGES }, () => openPage(gateway.url, cookie)))
    const withPages = await load(REQUESTS)
    watched.push(withPages.cpuUs)
    watchedP50.push(percentile(withPages.latenciesMs, 0.5))
    // What was decided last is written within 200 ms.
    await new Promise((resolve) => setTimeout(resolve, 400))
    const read = pages.map((page) => page.close())
    heard += Math.min(...read.map((page) => page.heard))
    missed += Math.max(...read.map((page) => page.missed))
    // A channel remembers for half a minute; a round without anybody begins without one.
    await new Promise((resolve) => setTimeout(resolve, 31_000))
  }
  const added = (median(watched) / median(plain) - 1) * 100
  const addedP50 = (median(watchedP50) / median(plainP50) - 1) * 100
  printTable(
    `Live log at ${PER_SECOND.toLocaleString('en')} decisions a second, ${PAGES} pages that listen (target: ${TARGET_PERCENT} % more for a call)`,
    ['', 'CPU us a call', 'p50 ms'],
    [
      ['nobody listens', median(plain).toFixed(0), median(plainP50).toFixed(2)],
      [`${PAGES} pages listen`, median(watched).toFixed(0), median(watchedP50).toFixed(2)],
      ['more, %', added.toFixed(1), addedP50.toFixed(1)],
      ['decisions that every page heard', `${heard} of ${ROUNDS * REQUESTS}`, `missed ${missed}`],
    ],
  )
  return added <= TARGET_PERCENT && addedP50 <= TARGET_PERCENT && heard === ROUNDS * REQUESTS && missed === 0
}

const gateway = await startServer(
  new URL('../dist/main.js', import.meta.url).pathname,
  { PORT: '0', GATEWAY_LOG_LEVEL: 'warn', GATEWAY_RATE_LIMIT: '0', GATEWAY_DATA_DIR: directory },
  START_FLAGS,
)
let isMet = false
try {
  isMet = await measure(gateway)
} finally {
  await gateway.stop()
  await rm(directory, { recursive: true })
}
process.exit(isMet ? 0 : 1)
