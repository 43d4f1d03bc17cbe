// What a load of egress fetches takes: PostgreSQL, an upstream over TLS, and gateways whose accounts have a capability each.
import { join } from 'node:path'
import { newToken } from '../src/lib/tokens.ts'
import { createClient } from '../test/support/gateway.ts'
import { startPostgres } from '../test/support/postgres.ts'
import type { FloodShot } from './peers/flood.ts'
import { createServers, type ServerProcess, START_FLAGS } from './support.ts'
import { prepareTlsUpstream } from './tls-upstream.ts'

const HOST = 'api.example.com'

export interface FetchCaller {
  readonly fetch: FloodShot
  readonly key: string
}

export interface FetchWorld {
  readonly databaseUrl: string
  startGateway(): Promise<ServerProcess>
  /** So many new accounts. */
  callers(gateway: ServerProcess, accounts: number): Promise<readonly FetchCaller[]>
  close(): Promise<void>
}

/** An HTTP/1.1 request as it goes over the wire. */
export function bytesOf(
  gateway: ServerProcess,
  { method, path, token, body }: { method: string; path: string; token: string; body?: unknown },
): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  return (
    `${method} ${path} HTTP/1.1\r\nhost: ${new URL(gateway.url).host}\r\nauthorization: Bearer ${token}\r\n` +
    (body === undefined ? '' : `content-type: application/json\r\ncontent-length: ${text.length}\r\n`) +
    `\r\n${text}`
  )
}

export async function createFetchWorld(name: string): Promise<FetchWorld> {
  const behind = await prepareTlsUpstream(HOST)
  const servers = createServers()
  const database = await startPostgres()
  const operatorKey = newToken('sk')
  const upstream = await servers.start('./peers/upstream.ts', behind.env)
  const { port } = new URL(upstream.url)
  return {
    databaseUrl: database.url,
    startGateway: () =>
      servers.start(
        '../test/support/loopback-gateway.ts',
        {
          PORT: '0',
          GATEWAY_MODE: 'production',
          GATEWAY_BASE_URL: 'https://gateway.example',
          GATEWAY_DATA_DIR: join(behind.directory, name),
          GATEWAY_DATABASE_URL: database.url,
          GATEWAY_LOG_LEVEL: 'error',
          GATEWAY_RATE_LIMIT: '0',
          GATEWAY_SERVICE_KEY_CREDITS: '100000000',
          GATEWAY_OPERATOR_KEY: operatorKey,
          GATEWAY_DNS_SERVERS: behind.dns.address,
          GATEWAY_EGRESS_PORTS: port,
          NODE_EXTRA_CA_CERTS: behind.caFile,
        },
        START_FLAGS,
      ),
    async callers(gateway, accounts) {
      const callers: FetchCaller[] = []
      for (let i = 0; i < accounts; i++) {
        const operator = createClient(gateway.url, { operatorKey })
        const { key } = (await operator.rest('POST', '/v1/keys', { account: 'new', name: `account ${i}` }))
          .body
        const { capability } = await createClient(gateway.url, { operatorKey: key }).grant({
          capability: { ttl_seconds: 3600 },
        })
        const asked = {
          method: 'POST',
          path: '/v1/egress/fetch',
          token: capability,
          body: { method: 'GET', url: `https://${HOST}:${port}/v1/items` },
        }
        callers.push({ fetch: { kind: 'fetch', bytes: bytesOf(gateway, asked) }, key })
      }
      return callers
    },
    async close() {
      await servers.stop()
      await database.stop()
      await behind.close()
    },
  }
}
