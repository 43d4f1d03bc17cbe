// POST /verify of a valid EIP-3009 payment: the gateway with its firewall, rate and claim look-up on, against the
// protocol's own facilitator behind node:http; same node, same chain, same client. Then with few and many claims in the
// store. `node bench/verify.ts`
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requirementsOf, signPayment, startTestChain } from '../test/support/chain.ts'
import { preloadClaims, preloadOpenClaims } from './preload.ts'
import {
  closedLoop,
  createServers,
  type LoadResult,
  median,
  percentile,
  printTable,
  START_FLAGS,
  type ServerProcess,
  type Shot,
} from './support.ts'

const CHAIN_ID = 84532
const ROUNDS = 9
/** Each with a nonce of its own: nobody may remember one of them, and claims are looked up all over the index. */
const PAYMENTS = 2000
const DAY_SECONDS = 86_400
/** With other payments open the payer's balance is one question more. */
const OPEN_CLAIMS = 4

interface Contender {
  readonly name: string
  readonly server: ServerProcess
}

const directory = await mkdtemp(join(tmpdir(), 'gateway-bench-'))
const chain = await startTestChain(CHAIN_ID)
const servers = createServers()

try {
  const requirements = { ...requirementsOf(chain), maxTimeoutSeconds: DAY_SECONDS }
  const shots: Shot[] = []
  for (let i = 0; i < PAYMENTS; i++) {
    const payment = await signPayment({ account: chain.payers[i % chain.payers.length]!, requirements })
    shots.push({
      path: '/verify',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        x402Version: 2,
        paymentPayload: payment,
        paymentRequirements: requirements,
      }),
    })
  }
  let at = 0
  const shot = () => shots[at++ % PAYMENTS]!
  const environment = (data: string) => ({
    ...chain.env,
    PORT: '0',
    GATEWAY_DATA_DIR: join(directory, data),
    GATEWAY_LOG_LEVEL: 'error',
    GATEWAY_RATE_LIMIT: '0',
  })
  const startGateway = (data: string) => servers.start('../src/cli/main.ts', environment(data), START_FLAGS)

  const gateway = { name: 'gateway POST /verify', server: await startGateway('data') }
  const sdk = {
    name: '@x402/core + @x402/evm',
    server: await servers.start('./peers/facilitator-sdk.ts', {
      CHAIN_ID: String(CHAIN_ID),
      RPC_URL: chain.rpcUrl,
      SETTLER_KEY: chain.settlerKeys[0]!,
    }),
  }
  await (await startGateway('data-open')).stop()
  const open = {
    network: requirements.network,
    asset: requirements.asset.toLowerCase(),
    payers: chain.payers.map(({ address }) => address.toLowerCase()),
  }
  preloadOpenClaims(join(directory, 'data-open'), open, OPEN_CLAIMS)
  const bound = {
    name: `the same, ${OPEN_CLAIMS} payments of the payer open`,
    server: await startGateway('data-open'),
  }
  // Until the compiler has seen everything: what is measured are servers that have been up for half a minute.
  await closedLoop(sdk.server, shot, { connections: 16, requests: 3000 })
  for (const { server } of [gateway, bound])
    await closedLoop(server, shot, { connections: 16, requests: 30_000 })
  const busy = await rounds([sdk, gateway, bound], ({ server }) =>
    // As long for one as for the other: a shared machine has slow seconds, and a short round falls between them.
    closedLoop(server, shot, { connections: 16, requests: server === sdk.server ? 500 : 5000 }),
  )
  report(`16 connections, closed loop, medians of ${ROUNDS} interleaved rounds (target: at least 8x)`, busy)
  const single = await rounds([sdk, gateway], ({ server }) =>
    closedLoop(server, shot, { connections: 1, requests: 100 }),
  )
  report('1 connection, closed loop', single)

  const filled: Contender[] = []
  for (const size of [1000, 1_000_000]) {
    const data = `data-${size}`
    // Started once for its tables, filled while nobody has the file open, and started again.
    await (await startGateway(data)).stop()
    preloadClaims(join(directory, data), size)
    filled.push({ name: `${size.toLocaleString('en')} claims stored`, server: await startGateway(data) })
  }
  for (const { server } of filled) await closedLoop(server, shot, { connections: 16, requests: 12_000 })
  const stored = await rounds(filled, ({ server }) =>
    closedLoop(server, shot, { connections: 1, requests: 500 }),
  )
  report('1 connection, claims in the store (target: p50 within 20 %)', stored)
} finally {
  await servers.stop()
  await chain.close()
  await rm(directory, { recursive: true, force: true })
}

/** In turn, so that a busy minute of the machine falls on all of them. */
async function rounds(
  contenders: readonly Contender[],
  run: (contender: Contender) => Promise<LoadResult>,
): Promise<readonly { name: string; runs: LoadResult[] }[]> {
  const results = contenders.map(({ name }) => ({ name, runs: [] as LoadResult[] }))
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, contender] of contenders.entries()) results[i]!.runs.push(await run(contender))
  return results
}

function report(title: string, results: readonly { name: string; runs: readonly LoadResult[] }[]): void {
  const rows = results.map(({ name, runs }) => ({
    name,
    cpuUs: median(runs.map((run) => run.cpuUs)),
    perSecond: median(runs.map((run) => run.requests / run.seconds)),
    p50: median(runs.map((run) => percentile(run.latenciesMs, 0.5))),
    p99: median(runs.map((run) => percentile(run.latenciesMs, 0.99))),
  }))
  const base = rows[0]!
  printTable(
    title,
    ['', 'CPU us/verify', 'verifies/CPU-s', 'ratio', 'requests/s', 'p50 ms', 'p99 ms', 'p50 ratio'],
    rows.map((row) => [
      row.name,
      row.cpuUs.toFixed(0),
      (1e6 / row.cpuUs).toFixed(0),
      `${(base.cpuUs / row.cpuUs).toFixed(2)}x`,
      row.perSecond.toFixed(0),
      row.p50.toFixed(2),
      row.p99.toFixed(2),
      (row.p50 / base.p50).toFixed(2),
    ]),
  )
}
