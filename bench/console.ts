// The console over 100,000 attempts and 100,000 payments of one account: how long the server takes for a page, plain, narrowed and far down,
// and how long a file of all of them takes and what memory. On both engines. `node bench/console.ts`
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { cookieName } from '../src/doors/console/cookie.ts'
import { newId } from '../src/lib/ids.ts'
import { newToken } from '../src/lib/tokens.ts'
import { startPostgres } from '../test/support/postgres.ts'
import {
  percentile,
  printTable,
  residentMb,
  type ServerProcess,
  START_FLAGS,
  startServer,
} from './support.ts'

const ROWS = Number(process.env['BENCH_ROWS'] ?? 100_000)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 40)
const TARGET_P50 = 50
const DAY = 86_400_000
const here = (path: string) => new URL(path, import.meta.url).pathname

/** Runs SQL text beside the gateway, which is stopped meanwhile. */
type Execute = (text: string) => Promise<readonly Record<string, unknown>[]>

const quoted = (value: string | number | null) =>
  value === null ? 'NULL' : typeof value === 'number' ? String(value) : `'${value}'`

async function insert(
  execute: Execute,
  table: string,
  rows: readonly Record<string, string | number | null>[],
) {
  const [first] = rows
  if (!first) return
  const names = Object.keys(first)
  for (let at = 0; at < rows.length; at += 500) {
    const values = rows
      .slice(at, at + 500)
      .map((row) => `(${names.map((name) => quoted(row[name] ?? null)).join(',')})`)
    await execute(`INSERT INTO ${table} (${names.join(',')}) VALUES ${values.join(',')}`)
  }
}

const digest = 'Z'.repeat(43)
const METHODS = ['GET', 'GET', 'GET', 'POST', 'PATCH']

/** A month of attempts, one of them to a host that nobody else asked for. */
const attempts = (accountId: string, since: number, isListed: boolean) =>
  Array.from({ length: ROWS }, (_, i) => {
    const at = since + Math.floor((i * 30 * DAY) / ROWS)
    const state = i % 500 === 0 ? 'ambiguous' : i % 50 === 0 ? 'refunded' : 'settled'
    return {
      id: newId('att', at),
      kind: i % 20 === 0 ? 'edge' : 'fetch',
      account_id: accountId,
      capability_id: `cap_${i % 40}`,
      credential_id: `cred_${i % 10}`,
      credential_version: 1,
      boot_id: 'bench',
      cost: 1,
      state,
      method: METHODS[i % METHODS.length] ?? 'GET',
      host: i === 100 ? 'rare.example.com' : `api${i % 25}.example.com`,
      request_digest: digest,
      created_at: at,
      sending_at: at + 1,
      finished_at: at + 90,
      upstream_status: state === 'settled' ? 200 : null,
      response_digest: digest,
      outcome: state === 'settled' ? 'delivered' : 'reset',
      receipt_id: newId('rcp', at),
      ...(isListed && { listed: 1 }),
    }
  })

const payments = (since: number) =>
  Array.from({ length: ROWS }, (_, i) => {
    const at = since + Math.floor((i * 30 * DAY) / ROWS)
    return {
      id: newId('clm', at),
      origin: 'tool',
      network: 'eip155:8453',
      asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
      payer: `0x${createHash('sha256')
        .update(String(i % 2000))
        .digest('hex')
        .slice(0, 40)}`,
      nonce: `0x${i.toString(16).padStart(64, '0')}`,
      pay_to: `0x${'cd'.repeat(20)}`,
      amount: String(1000 * (1 + (i % 5))),
      state: i % 100 === 0 ? 'canceled' : 'settled',
      tool: i === 100 ? 'gateway.rare' : `gateway.tool${i % 12}`,
      method: 'POST',
      resource: 'https://gateway.example/v1/tools/x',
      request_digest: digest,
      requirement_digest: digest,
      presentation_digest: digest,
      boot_id: 'bench',
      tx: `0x${i.toString(16).padStart(64, '1')}`,
      created_at: at,
      submitted_at: at + 1,
      finished_at: at + 500,
    }
  }).map(({ state, ...claim }, i) => ({
    ...claim,
    state,
    // A canceled payment is free again.
    payment_key: state === 'canceled' ? null : i,
  }))

const entries = (accountId: string, since: number) =>
  Array.from({ length: ROWS }, (_, i) => {
    const at = since + Math.floor((i * 30 * DAY) / ROWS)
    const transaction = newId('txn', at)
    const common = { transaction_id: transaction, kind: 'egress', reference: `ref ${i}`, created_at: at }
    return [
      { ...common, account: accountId, amount: -1 },
      { ...common, account: 'system:usage', amount: 1 },
    ]
  }).flat()

/** @returns the cookie of an owner of the first account, over whose records the pages are */
async function fill(execute: Execute, baseUrl: string, engine: 'sqlite' | 'postgres'): Promise<string> {
  const [row] = await execute(
    'SELECT account_id AS account FROM service_keys WHERE admin = 1 ORDER BY id LIMIT 1',
  )
  const accountId = String(row?.['account'])
  const now = Date.now()
  const since = now - 30 * DAY
  await execute('BEGIN')
  await insert(execute, 'attempts', attempts(accountId, since, engine === 'sqlite'))
  const bytes = (i: number) => i.toString(16).padStart(32, '0')
  const claims = payments(since)
  const [first] = claims
  const names = Object.keys(first ?? {})
  for (let at = 0; at < claims.length; at += 500) {
    const values = claims.slice(at, at + 500).map(
      (claim) =>
        `(${names
          .map((name) => {
            const value = claim[name as keyof typeof claim]
            if (name !== 'payment_key' || value === null) return quoted(value)
            return engine === 'sqlite' ? `x'${bytes(Number(value))}'` : `'\\x${bytes(Number(value))}'`
          })
          .join(',')})`,
    )
    await execute(`INSERT INTO payment_claims (${names.join(',')}) VALUES ${values.join(',')}`)
  }
  await insert(execute, 'ledger_entries', entries(accountId, since))
  const [person, session, token] = [newId('per', now), newId('ses', now), newToken('ss')]
  const hash = createHash('sha256').update(token).digest('hex')
  await insert(execute, 'people', [{ id: person, name: 'Bench', created_at: now }])
  await insert(execute, 'memberships', [
    { account_id: accountId, person_id: person, role: 'owner', admin: 1, created_at: now },
  ])
  await execute(
    `INSERT INTO sessions (id, person_id, account_id, token_hash, method, address, user_agent, created_at, seen_at, fresh_at, expires_at)
     VALUES ('${session}', '${person}', '${accountId}', ${engine === 'sqlite' ? `x'${hash}'` : `'\\x${hash}'`}, 'passkey', '127.0.0.1',
       'bench', ${now}, ${now}, ${now}, ${now + DAY / 2})`,
  )
  await execute('COMMIT')
  if (engine === 'postgres') await execute('VACUUM ANALYZE')
  return `${cookieName(baseUrl, '')}=${token}`
}

interface Answer {
  readonly status: number
  readonly body: string
  readonly ms: number
}

function ask(url: string, cookie: string, form?: Record<string, string>): Promise<Answer> {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const asked = request(
      url,
      {
        method: form ? 'POST' : 'GET',
        headers: {
          accept: 'text/html',
          cookie,
          'sec-fetch-site': 'same-origin',
          ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
        },
      },
      (res) => {
        let body = ''
        let length = 0
        res.setEncoding('utf8').on('data', (chunk: string) => {
          length += chunk.length
          // A file is counted and thrown away.
          if (form === undefined) body += chunk
        })
        res.on('end', () =>
          resolve({
            status: res.statusCode ?? 0,
            body: form ? String(length) : body,
            ms: performance.now() - started,
          }),
        )
      },
    )
    asked.on('error', reject)
    asked.end(form && new URLSearchParams(form).toString())
  })
}

const PAGES = [
  ['attempts, the newest', '/console/attempts'],
  ['attempts, the oldest', '/console/attempts?before={deep}'],
  ['attempts that wait for a decision', '/console/attempts?state=ambiguous'],
  ['attempts of a host in 25', '/console/attempts?host=api7.example.com'],
  ['attempts of a host asked for once', '/console/attempts?host=rare.example.com'],
  ['attempts by credential and method', '/console/attempts?credential=cred_4&method=PATCH'],
  ['attempts of one day', '/console/attempts?since={day}&until={day}&kind=edge'],
  ['payments, the newest', '/console/payments'],
  ['payments for a tool paid once', '/console/payments?tool=gateway.rare'],
  ['edge calls', '/console/edge'],
  ['credits', '/console/ledger'],
] as const

let isMissed = false

async function measure(gateway: ServerProcess, cookie: string, engine: string): Promise<void> {
  const day = new Date(Date.now() - 20 * DAY).toISOString().slice(0, 10)
  const deep = `${newId('att', Date.now() - 29 * DAY).slice(0, 13)}`
  const rows: (string | number)[][] = []
  for (const [name, path] of PAGES) {
    const url = gateway.url + path.replaceAll('{day}', day).replace('{deep}', deep)
    const times: number[] = []
    let kb = 0
    for (let round = 0; round < ROUNDS + 3; round++) {
      const { status, ms, body } = await ask(url, cookie)
      if (status !== 200 || !body.includes('<tbody>')) throw new Error(`${path}: ${status}`)
      if (round >= 3) times.push(ms)
      kb = body.length / 1024
    }
    times.sort((a, b) => a - b)
    const p50 = percentile(times, 0.5)
    if (p50 > TARGET_P50) isMissed = true
    rows.push([name, kb.toFixed(0), p50.toFixed(1), percentile(times, 0.95).toFixed(1)])
  }
  printTable(
    `Tables of the console over ${ROWS.toLocaleString('en')} attempts and as many payments, ${engine} (p50 target ${TARGET_P50} ms)`,
    ['page', 'KB', 'p50 ms', 'p95 ms'],
    rows,
  )
  const form = await ask(`${gateway.url}/console/attempts`, cookie)
  const [, csrf = ''] = /name="_csrf" value="([^"]+)"/.exec(form.body) ?? []
  const before = residentMb(gateway.pid)
  const file = await ask(`${gateway.url}/console/attempts`, cookie, {
    _csrf: csrf,
    _action: 'export',
    format: 'csv',
  })
  const after = residentMb(gateway.pid)
  const money = await ask(`${gateway.url}/console/money?period=30`, cookie)
  if (file.status !== 200 || money.status !== 200) throw new Error(`${file.status} ${money.status}`)
  printTable(
    `All of it at once, ${engine}`,
    ['', 'MB', 'ms', 'memory MB'],
    [
      [
        `a file of ${ROWS.toLocaleString('en')} attempts`,
        (Number(file.body) / 1e6).toFixed(1),
        file.ms.toFixed(0),
        `+${(after - before).toFixed(0)}`,
      ],
      ['revenue and credits of 30 days', '', money.ms.toFixed(0), ''],
    ],
  )
}

const directory = await mkdtemp(join(tmpdir(), 'gateway-bench-'))
const baseUrl = 'http://localhost:18999'
const startGateway = (env: Record<string, string>) =>
  startServer(
    here('../dist/main.js'),
    {
      PORT: '18999',
      GATEWAY_LOG_LEVEL: 'error',
      GATEWAY_RATE_LIMIT: '0',
      ...env,
    },
    START_FLAGS,
  )

async function bench(engine: 'sqlite' | 'postgres', databaseUrl?: string): Promise<void> {
  const env = {
    GATEWAY_DATA_DIR: join(directory, engine),
    ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
  }
  // The first start makes the tables and the account.
  await (await startGateway(env)).stop()
  let cookie: string
  if (databaseUrl === undefined) {
    const db = new DatabaseSync(join(env.GATEWAY_DATA_DIR, 'gateway.db'))
    cookie = await fill(
      (text) => Promise.resolve(text.startsWith('SELECT') ? db.prepare(text).all() : (db.exec(text), [])),
      baseUrl,
      engine,
    )
    db.close()
  } else {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    cookie = await fill(
      async (text) => (await client.query<Record<string, unknown>>(text)).rows,
      baseUrl,
      engine,
    )
    await client.end()
  }
  const gateway = await startGateway(env)
  try {
    await measure(gateway, cookie, engine === 'sqlite' ? 'SQLite' : 'PostgreSQL on the same machine')
  } finally {
    await gateway.stop()
  }
}

try {
  await bench('sqlite')
  const server = await startPostgres()
  try {
    await bench('postgres', server.url)
  } finally {
    await server.stop()
  }
} finally {
  await rm(directory, { recursive: true, force: true })
}
if (isMissed) process.exitCode = 1
