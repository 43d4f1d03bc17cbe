// MCP over HTTP with 30 tools and 16 connections: the gateway against the SDK's McpServer behind createMcpHandler, and against
// bare node:http as the ceiling. `node bench/mcp.ts`
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toolName } from './peers/mcp-tools.ts'
import {
  closedLoop,
  type LoadResult,
  median,
  percentile,
  printTable,
  type ServerProcess,
  type Shot,
  startServer,
} from './support.ts'

const ROUNDS = 5
/** The kernel counts CPU in hundredths of a second: enough requests a round that this does not show. */
const REQUESTS: Readonly<Record<string, number>> = {
  'bare node:http': 8000,
  'SDK McpServer': 500,
  gateway: 8000,
}
/** The same for all: a compiler that has seen less code run optimises less of it. */
const WARM_UP = 1500
const CONNECTIONS = 16
const here = (path: string) => new URL(path, import.meta.url).pathname
const name = toolName(17)
const call = { name, arguments: { text: 'hello', times: 2, tags: ['a', 'b'], mode: 'loud' } }

function shot(method: string, params: object, era: '2025' | '2026'): Shot {
  const common = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const message = { jsonrpc: '2.0', id: 1, method }
  return {
    path: '/mcp',
    method: 'POST',
    headers:
      era === '2025'
        ? { ...common, 'mcp-protocol-version': '2025-11-25' }
        : {
            ...common,
            'mcp-protocol-version': '2026-07-28',
            'mcp-method': method,
            ...('name' in params ? { 'mcp-name': name } : {}),
          },
    body: JSON.stringify({ ...message, params: era === '2025' ? params : { ...params, _meta } }),
  }
}

const SHOTS = [
  ['tools/call, 2026', shot('tools/call', call, '2026'), 1.5],
  ['tools/call, 2025', shot('tools/call', call, '2025'), 1.5],
  ['tools/list, 2026', shot('tools/list', {}, '2026'), 4],
  ['tools/list, 2025', shot('tools/list', {}, '2025'), 4],
] as const

/** A fast wrong answer would win: each server shows first that it answers what is asked. */
async function checkAnswer(server: ServerProcess, { path, ...rest }: Shot): Promise<void> {
  const text = await (await fetch(server.url + path, rest)).text()
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text
  const { result } = JSON.parse(data) as {
    result?: { tools?: unknown[]; structuredContent?: { text: string } }
  }
  if (result?.tools?.length !== 30 && result?.structuredContent?.text !== 'hello')
    throw new Error(`${server.url} answers ${text.slice(0, 500)}`)
}

const directory = await mkdtemp(join(tmpdir(), 'gateway-bench-'))
const servers: (readonly [string, ServerProcess])[] = []
try {
  servers.push(['bare node:http', await startServer(here('./peers/mcp-bare.ts'))])
  servers.push(['SDK McpServer', await startServer(here('./peers/mcp-sdk.ts'))])
  const env = {
    PORT: '0',
    GATEWAY_DATA_DIR: join(directory, 'data'),
    GATEWAY_LOG_LEVEL: 'error',
    GATEWAY_RATE_LIMIT: '0',
  }
  servers.push(['gateway', await startServer(here('./peers/mcp-gateway.ts'), env)])

  for (const [what, request, target] of SHOTS) {
    const results = new Map<string, LoadResult[]>()
    for (const [, server] of servers) {
      await checkAnswer(server, request)
      await closedLoop(server, request, { connections: CONNECTIONS, requests: WARM_UP })
    }
    for (let round = 0; round < ROUNDS; round++)
      for (const [who, server] of servers) {
        const result = await closedLoop(server, request, {
          connections: CONNECTIONS,
          requests: REQUESTS[who]!,
        })
        results.set(who, [...(results.get(who) ?? []), result])
      }
    report(what, results, target)
  }
} finally {
  await Promise.all(servers.map(([, server]) => server.stop()))
  await rm(directory, { recursive: true, force: true })
}

function report(what: string, results: ReadonlyMap<string, LoadResult[]>, target: number): void {
  const cpu = (who: string) => median(results.get(who)!.map(({ cpuUs }) => cpuUs))
  const rows = [...results].map(([who, rounds]) => [
    who,
    cpu(who).toFixed(0),
    (1e6 / cpu(who)).toFixed(0),
    `${(cpu('SDK McpServer') / cpu(who)).toFixed(2)}x`,
    `${(cpu('bare node:http') / cpu(who)).toFixed(2)}x`,
    median(rounds.map(({ latenciesMs }) => percentile(latenciesMs, 0.5))).toFixed(1),
    median(rounds.map(({ latenciesMs }) => percentile(latenciesMs, 0.99))).toFixed(1),
  ])
  printTable(
    `${what}: 30 tools, ${CONNECTIONS} connections, medians of ${ROUNDS} interleaved rounds ` +
      `(target: gateway at least ${target.toFixed(1)}x the SDK's requests per CPU-second)`,
    ['', 'CPU us/req', 'req/CPU-s', 'vs SDK', 'vs bare', 'p50 ms', 'p99 ms'],
    rows,
  )
}
