// A process of the gateway, as `npm start` starts it, under a supervisor: whatever ends it, it is started again at the same address.
import { setTimeout as sleep } from 'node:timers/promises'
import { START_FLAGS } from '../bench/support.ts'
import { must } from '../src/lib/must.ts'
import type { World } from '../test/support/gateway.ts'
import { type Started, start } from '../test/support/process.ts'
import { programFile } from '../test/support/program-bundle.ts'

/** As systemd's `RestartSec` is, unless set. */
const RESTART_MS = 100

export interface Replica {
  readonly url: string
  /** Undefined between an end and the next start. */
  pid(): number | undefined
  /** The supervisor starts it again. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Ends it for good; `resume` starts it. */
  stop(signal: NodeJS.Signals): Promise<void>
  resume(): Promise<void>
  /** Asks it to end, and starts another program in its place. */
  upgrade(program: string): Promise<void>
  /** All that its processes have written. */
  said(): string
}

/** @param program of the gateway; this release unless given */
export async function startReplica(
  world: World,
  env: Readonly<Record<string, string>> = {},
  program = programFile('loopback-gateway'),
): Promise<Replica> {
  let file = program
  /** A free one at the first start, and the same from then on. */
  let port = '0'
  const ca = await world.ca.write(world.dataDir)
  const written: Started[] = []
  let current: Started | undefined
  let isWanted = false

  function launch(): Started {
    const child = start(process.execPath, [...START_FLAGS, file], {
      env: {
        PATH: process.env['PATH'],
        ...world.env,
        NODE_EXTRA_CA_CERTS: ca,
        ...env,
        PORT: port,
      },
    })
    written.push(child)
    current = child
    void child.ended.then(async () => {
      current = undefined
      await sleep(RESTART_MS)
      if (isWanted && current === undefined) launch()
    })
    return child
  }
  async function resume(): Promise<void> {
    isWanted = true
    const [, given] = await launch().until('stdout', /^listening on \S+:(\d+)$/m)
    port = must(given, 'the port of a gateway that listens')
  }
  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = current
    if (!ending) return
    ending.kill(signal)
    await ending.ended
  }
  async function stop(signal: NodeJS.Signals): Promise<void> {
    isWanted = false
    await end(signal)
  }
  try {
    await resume()
  } catch (thrown) {
    isWanted = false
    throw thrown
  }
  return {
    url: `http://127.0.0.1:${port}`,
    pid: () => current?.pid,
    kill: end,
    stop,
    resume,
    async upgrade(next) {
      await stop('SIGTERM')
      file = next
      await resume()
    },
    said: () => written.map((child) => child.stdout() + child.stderr()).join(''),
  }
}
