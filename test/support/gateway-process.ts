// The real server in a process of its own, as an operator runs it; killed by its own pid.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { expect, vi } from 'vitest'
import { fillCompileCache } from './compile-cache.ts'
import { createClient, type World } from './gateway.ts'
import { type Started, start } from './process.ts'
import { type Program, programFile } from './program-bundle.ts'
import { removeFolder } from './remove-folder.ts'

export interface GatewayProcess extends ReturnType<typeof createClient> {
  readonly process: Started
  /** Resolves when the process has ended, whoever ended it. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

/**
 * Resolves when the gateway listens, which is after it has settled what an earlier process left behind.
 * @param program the product, to which the world's upstream on 127.0.0.1 counts as public, or what is started in its place
 */
export async function startGatewayProcess(
  world: World,
  env: Readonly<Record<string, string>> = {},
  program: Program = 'loopback-gateway',
): Promise<GatewayProcess> {
  await fillCompileCache('gateway', startAndEnd)
  const child = start(process.execPath, [programFile(program)], {
    env: {
      PATH: process.env['PATH'],
      ...world.env,
      NODE_EXTRA_CA_CERTS: await world.ca.write(world.dataDir),
      ...env,
    },
  })
  const [, url] = await child.until('stdout', /^listening on (\S+)$/m)
  return {
    ...createClient(url!, world),
    process: child,
    async stop(signal = 'SIGKILL') {
      child.kill(signal)
      await child.ended
    },
  }
}

/**
 * Resolves when PostgreSQL knows that the processes on the database of this world are dead; at once where there is none. A start takes
 * over once, from those whose lock is free, and then only a minute later.
 */
export async function untilUnlocked({ env }: Pick<World, 'env'>): Promise<void> {
  const connectionString = env['GATEWAY_DATABASE_URL']
  if (connectionString === undefined) return
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    const leases = `SELECT pid FROM pg_stat_activity
      WHERE application_name = 'agent-gateway lease' AND datname = current_database()`
    // Also in hooks, in which nothing can be polled.
    const look = async () => expect((await client.query(leases)).rows).toEqual([])
    await vi.waitFor(look, { timeout: 60_000, interval: 20 })
  } finally {
    await client.end()
  }
}

async function startAndEnd(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'agent-gateway-first-'))
  const env = { PATH: process.env['PATH'], PORT: '0', GATEWAY_DATA_DIR: dataDir }
  const child = start(process.execPath, [programFile('loopback-gateway')], { env })
  await child.until('stdout', /^listening on /m)
  child.kill('SIGTERM')
  await child.ended
  await removeFolder(dataDir)
}
