// The whole gateway in this process, with an upstream, a DNS server and a certificate authority of its own. Everything
// listens on 127.0.0.1 and is gone after `close`.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../src/app/config.ts'
import { type Gateway, type GatewayOptions, startGateway } from '../../src/app/gateway.ts'
import { must } from '../../src/lib/must.ts'
import type { Store } from '../../src/store/ports.ts'
import type { Services } from '../../tools/services.ts'
import { createLogger } from '../../src/lib/log.ts'
import { newToken } from '../../src/lib/tokens.ts'
import { createTestCa, type TestCa } from './ca.ts'
import { startDnsServer, type TestDnsServer } from './dns-server.ts'
import { LOOPBACK_IS_PUBLIC } from './loopback.ts'
import { databaseFor } from './postgres.ts'
import { startUpstream, type TestUpstream } from './upstream.ts'
import { removeFolder } from './remove-folder.ts'

export type Engine = 'sqlite' | 'postgres'
export const ENGINES: readonly Engine[] = ['sqlite', 'postgres']

/** A public name that leads to the local upstream, in tests. */
export const UPSTREAM_HOST = 'api.example.com'

/** What one analysis may take in tests, within what its source has in all: a process on a busy machine may stand still for seconds. */
const PATIENT_READING = { analyses: { budgetMs: 60_000 } } as const

export interface RestAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // Tests read what they expect out of it; a wrong shape fails them.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

export interface World {
  readonly ca: TestCa
  readonly dns: TestDnsServer
  readonly upstream: TestUpstream
  readonly dataDir: string
  /** What a gateway needs to reach this upstream under its public name. */
  readonly env: Readonly<Record<string, string>>
  readonly operatorKey: string
  /** `https://api.example.com:<port>` plus the path. */
  url(path: string): string
  close(): Promise<void>
}

export interface TestGateway extends World {
  readonly gateway: Gateway
  /** What is behind its doors. */
  readonly services: Services
  readonly store: Store
  readonly baseUrl: string
  /** Everything logged so far, one JSON text a line. */
  readonly log: () => string
  rest(method: string, path: string, body?: unknown, token?: string): Promise<RestAnswer>
  /** Stores a credential on the upstream and issues a capability on it. */
  grant(options?: GrantOptions): Promise<{ credentialId: string; capabilityId: string; capability: string }>
  /** One egress fetch with a capability. */
  fetch(capability: string, request: Record<string, unknown>): Promise<RestAnswer>
  balance(): Promise<number>
}

export interface GrantOptions {
  readonly secret?: string
  readonly credential?: Record<string, unknown>
  readonly capability?: Record<string, unknown>
}

export interface WorldOptions {
  readonly engine?: Engine | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Further upstream ports that requests may use. */
  readonly ports?: readonly number[] | undefined
  /** Further names that lead to the upstream. */
  readonly names?: readonly string[] | undefined
  /** How long the name of the upstream may be remembered; 0 unless given: every attempt asks. */
  readonly nameTtlSeconds?: number | undefined
}

/** Upstream, names, certificates and an empty data directory: all that a gateway process is started with. */
export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const ca = await createTestCa()
  const names = [UPSTREAM_HOST, ...(options.names ?? [])]
  const zone = { A: ['127.0.0.1'], ttl: options.nameTtlSeconds ?? 0 }
  const dns = await startDnsServer(Object.fromEntries(names.map((name) => [name, zone])))
  const upstream = await startUpstream(await ca.leaf(...names))
  const dataDir = await mkdtemp(join(tmpdir(), 'agent-gateway-'))
  const operatorKey = newToken('sk')
  const database = options.engine === 'postgres' ? await databaseFor('gateway') : undefined
  return {
    ca,
    dns,
    upstream,
    dataDir,
    operatorKey,
    env: {
      PORT: '0',
      GATEWAY_DATA_DIR: join(dataDir, 'data'),
      GATEWAY_DNS_SERVERS: dns.address,
      GATEWAY_EGRESS_PORTS: [443, upstream.port, ...(options.ports ?? [])].join(','),
      GATEWAY_RATE_LIMIT: '0',
      // Requests are counted in tests: what sites say is asked for where that is what the test is about.
      GATEWAY_ROBOTS: 'off',
      GATEWAY_OPERATOR_KEY: operatorKey,
      ...(database === undefined ? {} : { GATEWAY_DATABASE_URL: database }),
      ...options.env,
    },
    url: (path) => `https://${UPSTREAM_HOST}:${upstream.port}${path}`,
    async close() {
      await Promise.all([upstream.close(), dns.close()])
      await removeFolder(dataDir)
    },
  }
}

/** @param options.world starts on what an earlier gateway left there */
export async function startTestGateway(
  options: WorldOptions & Omit<GatewayOptions, 'extraCa'> & { readonly world?: World } = {},
): Promise<TestGateway> {
  const world = options.world ?? (await createWorld(options))
  const lines: string[] = []
  const config = loadConfig(world.env)
  const log = createLogger(
    config.logLevel,
    { write: (line: string) => void lines.push(line) },
    { isTraced: config.telemetry?.traces !== undefined },
  )
  const {
    engine: _engine,
    env: _env,
    ports: _ports,
    names: _names,
    world: given,
    ...gatewayOptions
  } = options
  let inside: { services: Services; store: Store } | undefined
  const gateway = await startGateway(config, log, {
    onOpen: (parts) => (inside = parts),
    publicAddresses: LOOPBACK_IS_PUBLIC,
    ...gatewayOptions,
    times: { reading: PATIENT_READING, ...gatewayOptions.times },
    extraCa: [world.ca.pem],
  })
  return {
    ...world,
    ...createClient(gateway.addresses.baseUrl, world),
    gateway,
    ...must(inside, 'the parts of a gateway that has started'),
    log: () => lines.join(''),
    async close() {
      await gateway.close(5000)
      // A world that was given outlives its gateway: that is what a restart is.
      if (given === undefined) await world.close()
    },
  }
}

/** What tests do over REST, whether the gateway runs in this process or in another. */
export function createClient(baseUrl: string, world: Pick<World, 'operatorKey'>) {
  async function rest(
    method: string,
    path: string,
    body?: unknown,
    token: string | undefined = world.operatorKey,
  ): Promise<RestAnswer> {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') ?? false
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined,
    }
  }
  return {
    baseUrl,
    rest,
    async grant({ secret = 'upstream-secret-1', credential = {}, capability = {} }: GrantOptions = {}) {
      const stored = await rest('POST', '/v1/egress/credentials', {
        provider: 'custom',
        label: 'test',
        secret,
        hosts: [UPSTREAM_HOST],
        path_prefixes: ['/'],
        methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'],
        ...credential,
      })
      if (stored.status !== 201) throw new Error(`credential: ${stored.text}`)
      const credentialId: string = stored.body.credential_id
      const issued = await rest('POST', '/v1/egress/capabilities', {
        credential_id: credentialId,
        shows_balance: true,
        ...capability,
      })
      if (issued.status !== 201) throw new Error(`capability: ${issued.text}`)
      return {
        credentialId,
        capabilityId: issued.body.capability_id as string,
        capability: issued.body.capability as string,
      }
    },
    fetch: (capability: string, request: Record<string, unknown>) =>
      rest('POST', '/v1/egress/fetch', request, capability),
    async balance(): Promise<number> {
      return (await rest('GET', '/v1/credits')).body.balance
    },
  }
}
