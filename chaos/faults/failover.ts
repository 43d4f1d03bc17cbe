// The primary dies, and a standby takes its place.
import { type CallScene, openCalls } from '../calls.ts'
import type { Fault } from '../fault.ts'
import type { Cluster } from '../postgres.ts'
import { startRelay } from '../relay.ts'

/** How far away the standby is, one way: as between two places of one region, and as where it lags. */
const NEAR_MS = 25
const LAGGING_MS = 1000

type FailoverScene = CallScene & { readonly standby: Cluster }

async function open(isSynchronous: boolean): Promise<FailoverScene> {
  const scene = await openCalls({ engine: 'postgres', replicas: 2 })
  const line = await startRelay(scene.database().port)
  line.delayMs = isSynchronous ? NEAR_MS : LAGGING_MS
  const close = async () => {
    await scene.close()
    await line.close()
  }
  try {
    const standby = await scene.database().standby(line.port)
    if (isSynchronous) {
      // Not before the copy was made: a standby that is promoted would wait for another one.
      await scene.database().query("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
      await scene.database().query('SELECT pg_reload_conf()')
    }
    return { ...scene, standby, close }
  } catch (thrown) {
    await close()
    throw thrown
  }
}

export const faults: readonly Fault<FailoverScene>[] = [
  {
    name: 'PostgreSQL failed over to a standby',
    command: "kill -9 of the primary, pg_ctl promote; `synchronous_standby_names = 'standby'`",
    promise: 'nothing acknowledged is lost: every commit waited for the standby',
    notCovered: 'two primaries at once: whoever promotes must see to it that the old one is off',
    open: () => open(true),
    inject: ({ database }) => database().kill(),
    async heal({ standby, relay }) {
      await standby.promote()
      // What an address that moves does, or the proxy in front.
      relay().target = standby.port
      relay().reset()
    },
    control: {
      what: '`synchronous_standby_names` empty, and a standby one second behind',
      open: () => open(false),
    },
  },
]
