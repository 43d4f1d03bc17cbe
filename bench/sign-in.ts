// Who calls, by the token of a connection (OAuth) against a capability that an operator issued: the look-up in the store alone, the cheapest
// call that needs one, and an egress fetch, in turn, on both engines. `node bench/sign-in.ts`
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { loadConfig } from '../src/app/config.ts'
import { createLogger } from '../src/lib/log.ts'
import { newToken } from '../src/lib/tokens.ts'
import { openStore } from '../src/store/index.ts'
import type { Store } from '../src/store/ports.ts'
import { addMember, newConnection, termsOn } from '../test/support/connections.ts'
import { createClient } from '../test/support/gateway.ts'
import { startPostgres } from '../test/support/postgres.ts'
import {
  closedLoop,
  median,
  printTable,
  type Shot,
  START_FLAGS,
  type ServerProcess,
  startServer,
} from './support.ts'
import { prepareTlsUpstream } from './tls-upstream.ts'

const HOST = 'api.example.com'
const ROUNDS = 11
const REQUESTS = Number(process.env['BENCH_REQUESTS'] ?? 1500)
const LOOKUPS = Number(process.env['BENCH_LOOKUPS'] ?? 20_000)
const DAY = 24 * 3_600_000
/** Most that a call by an access token may cost, of one by a capability. */
const TARGET = 1.05
const here = (path: string) => new URL(path, import.meta.url).pathname

const behind = await prepareTlsUpstream(HOST)
const { directory, caFile, dns } = behind
const hashOf = (token: string) => createHash('sha256').update(token).digest()

interface Setting {
  readonly capability: string
  readonly capabilityId: string
  readonly access: string
  readonly rootId: string
}

const open = (env: Record<string, string>) =>
  openStore({ config: loadConfig(env), log: createLogger('silent'), bootId: 'bench' })

/** An assistant that a person connected, over the credential that a capability was issued on. */
async function connect(store: Store, capability: string): Promise<Pick<Setting, 'access' | 'rootId'>> {
  const held = await store.findCapability(hashOf(capability))
  if (held?.credentialId == null) throw new Error('no capability')
  const personId = await addMember(store, held.accountId)
  const expiresAt = Date.now() + DAY
  const connection = newConnection(held.accountId, personId, { expiresAt })
  await store.openConnection({
    connection,
    terms: termsOn([{ id: held.credentialId }], { expiresAt, scope: held.scope, showsBalance: true }),
  })
  const access = newToken('at')
  await store.addAccessToken({
    tokenHash: hashOf(access),
    connectionId: connection.id,
    createdAt: Date.now(),
    expiresAt,
  })
  return { access, rootId: connection.capabilityId }
}

/** Microseconds a look-up, of the calling thread. */
async function timeLookups(look: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  for (let i = 0; i < LOOKUPS; i++) await look()
  return ((performance.now() - started) * 1000) / LOOKUPS
}

async function measure(engine: string, env: Record<string, string>, origin: string): Promise<boolean> {
  let gateway = await startServer(here('../test/support/loopback-gateway.ts'), env, START_FLAGS)
  const { capability, capabilityId } = await createClient(gateway.url, {
    operatorKey: env['GATEWAY_OPERATOR_KEY']!,
  }).grant()
  await gateway.stop()
  const store = await open(env)
  const setting: Setting = { capability, capabilityId, ...(await connect(store, capability)) }
  const looks: Record<string, () => Promise<unknown>> = {
    capability: () => store.findCapability(hashOf(setting.capability)),
    'access token': () => store.findAccessToken(hashOf(setting.access)),
    'its credentials': () => store.findParts(setting.rootId),
  }
  const times = new Map(Object.keys(looks).map((name) => [name, [] as number[]]))
  for (let round = 0; round <= ROUNDS; round++)
    for (const [name, look] of Object.entries(looks)) {
      const us = await timeLookups(look)
      if (round > 0) times.get(name)!.push(us)
    }
  await store.close()
  printTable(
    `Look-up in the store, ${engine}: ${ROUNDS} rounds of ${LOOKUPS.toLocaleString('en')}`,
    ['', 'us'],
    [...times].map(([name, rounds]) => [name, median(rounds).toFixed(2)]),
  )

  gateway = await startServer(here('../test/support/loopback-gateway.ts'), env, START_FLAGS)
  try {
    const fetch = JSON.stringify({ url: `${origin}/v1/items`, method: 'GET' })
    const shots: Record<string, (token: string) => Shot> = {
      'GET /v1/credits': (token) => ({
        path: '/v1/credits?limit=1',
        method: 'GET',
        headers: { authorization: `Bearer ${token}` },
      }),
      'POST /v1/egress/fetch': (token) => ({
        path: '/v1/egress/fetch',
        method: 'POST',
        body: fetch,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      }),
    }
    const rows: string[][] = []
    let isMet = true
    for (const [name, shot] of Object.entries(shots)) {
      const cpu = { capability: [] as number[], access: [] as number[] }
      for (let round = -1; round < ROUNDS; round++)
        for (const by of round % 2 === 0
          ? (['capability', 'access'] as const)
          : (['access', 'capability'] as const)) {
          const { cpuUs } = await load(gateway, shot(setting[by]))
          if (round >= 0) cpu[by].push(cpuUs)
        }
      const ratio = median(cpu.access) / median(cpu.capability)
      if (ratio > TARGET) isMet = false
      rows.push([
        name,
        median(cpu.capability).toFixed(0),
        median(cpu.access).toFixed(0),
        `${ratio.toFixed(3)}x`,
      ])
    }
    printTable(
      `Calls by a capability and by an access token, ${engine}: ${ROUNDS} rounds of ${REQUESTS}, in turn (target: at most ${TARGET}x)`,
      ['', 'capability, CPU us', 'access token, CPU us', 'ratio'],
      rows,
    )
    return isMet
  } finally {
    await gateway.stop()
  }
}

const load = (gateway: ServerProcess, shot: Shot) =>
  closedLoop(gateway, shot, { connections: 8, requests: REQUESTS })

let upstream: ServerProcess | undefined
let isMet = true
try {
  upstream = await startServer(here('./peers/upstream.ts'), behind.env)
  const { port } = new URL(upstream.url)
  const origin = `https://${HOST}:${port}`
  const envOf = (engine: string, more: Record<string, string> = {}) => ({
    PORT: '0',
    GATEWAY_DATA_DIR: join(directory, engine),
    GATEWAY_LOG_LEVEL: 'error',
    GATEWAY_RATE_LIMIT: '0',
    GATEWAY_SERVICE_KEY_CREDITS: '10000000',
    GATEWAY_OPERATOR_KEY: newToken('sk'),
    GATEWAY_DNS_SERVERS: dns.address,
    GATEWAY_EGRESS_PORTS: port,
    NODE_EXTRA_CA_CERTS: caFile,
    ...more,
  })
  isMet = await measure('SQLite', envOf('sqlite'), origin)
  const server = await startPostgres()
  try {
    const env = envOf('postgres', { GATEWAY_DATABASE_URL: server.url })
    isMet = (await measure('PostgreSQL on the same machine', env, origin)) && isMet
  } finally {
    await server.stop()
  }
} finally {
  await upstream?.stop()
  await behind.close()
}
process.exit(isMet ? 0 : 1)
