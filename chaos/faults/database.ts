// PostgreSQL ends, stands still, or has no connection to give.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type CallScene, openCalls } from '../calls.ts'
import type { Fault } from '../fault.ts'
import { doubleOrder, loseReceipt, takeCredit } from '../spoil.ts'

const replicas = 2
/** Long enough that commits come between two writes of the log where nobody waits for them. */
const DOWN_MS = 3000
const PAUSE_MS = 30_000
const MAX_CONNECTIONS = 40

/** Everything that others can have: three are kept for superusers. */
async function takeConnections({ database }: CallScene): Promise<void> {
  const url = new URL(database().url)
  const taken: pg.Client[] = []
  const end = performance.now() + 10_000
  while (performance.now() < end) {
    // The gateway's connections end, as a server's do whose neighbour is greedy, and what is free is taken at once.
    await database()
      .query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'agent-gateway%'",
      )
      // Sessions that end still count, so that for a moment even a superuser finds no place.
      .catch(() => undefined)
    for (let isFull = false; !isFull;) {
      const client = new pg.Client({ connectionString: url.href, application_name: 'neighbour' })
      client.on('error', () => {})
      try {
        await client.connect()
        taken.push(client)
      } catch {
        isFull = true
      }
    }
    await sleep(250)
  }
  await Promise.all(taken.map((client) => client.end()))
}

export const faults: readonly Fault<CallScene>[] = [
  {
    name: 'PostgreSQL restarted',
    command: 'pg_ctl restart -m fast',
    promise: 'calls wait or are told to repeat; nothing acknowledged is lost',
    notCovered: 'an upgrade of PostgreSQL to another major version',
    open: () => openCalls({ engine: 'postgres', replicas }),
    async inject({ database }) {
      await database().stop('fast')
      await sleep(DOWN_MS)
    },
    heal: ({ database }) => database().start(),
    control: loseReceipt,
  },
  {
    name: 'PostgreSQL crashed',
    command: 'pg_ctl restart -m immediate',
    promise: 'as above: a commit that was acknowledged is in the log on disk',
    notCovered: 'power loss under PostgreSQL (below)',
    open: () => openCalls({ engine: 'postgres', replicas }),
    async inject({ database }) {
      await database().stop('immediate')
      await sleep(DOWN_MS)
    },
    heal: ({ database }) => database().start(),
    control: {
      what: '`synchronous_commit = off`',
      async open() {
        const scene = await openCalls({
          engine: 'postgres',
          replicas,
          cluster: {
            settings: ['synchronous_commit=off', 'wal_writer_delay=10s', 'wal_writer_flush_after=1GB'],
          },
        })
        // The set-up is there afterwards: who was to be charged is asked for.
        await scene.database().query('CHECKPOINT')
        return scene
      },
    },
  },
  {
    name: 'PostgreSQL stands still for 30 s',
    command: 'kill -STOP, 30 s, kill -CONT, every process of it',
    promise: 'calls are told to repeat while it lasts; nothing is lost or done twice',
    notCovered: 'a pause longer than `tcp_keepalives` allow, which ends the connections',
    open: () => openCalls({ engine: 'postgres', replicas }),
    async inject({ database }) {
      database().pause()
      await sleep(PAUSE_MS)
    },
    async heal({ database }) {
      database().resume()
    },
    control: doubleOrder,
  },
  {
    name: 'PostgreSQL out of connections',
    command: 'pg_terminate_backend of the gateway, and another client that takes every free slot, 10 s',
    promise: 'calls are told to repeat; the gateway connects again by itself',
    notCovered: 'a server whose `max_connections` is too small for all replicas (19 each) for good',
    open: () =>
      openCalls({
        engine: 'postgres',
        replicas,
        cluster: { settings: [`max_connections=${MAX_CONNECTIONS}`] },
      }),
    inject: takeConnections,
    control: takeCredit,
  },
]
