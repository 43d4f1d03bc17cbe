// How long an event loop was away, and whose fault that was. A timer of a millisecond looks each time how long the loop did not
// come round, how much of that the thread itself computed and how long it only waited for a core that others had (schedstat).
import { closeSync, openSync, readSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

export interface Turns {
  /** As Node's own histogram has it, milliseconds. */
  readonly maxDelayMs: number
  readonly p99DelayMs: number
  /** Most that the thread itself computed between two rounds of the loop: what would block on a machine with cores to spare. */
  readonly maxOwnMs: number
  /** Of the longest turn: wall time, and the part of it that the thread waited for a core. */
  readonly longestMs: number
  readonly longestWaitedMs: number
  /** All that the thread computed. */
  readonly cpuMs: number
}

export interface TurnMeter {
  start(): void
  stop(): Turns
  close(): void
}

const TICK_MS = 1

export function createTurnMeter(): TurnMeter {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')
  const text = Buffer.alloc(96)
  /** Time on a core and time in the queue for one, milliseconds. */
  const readThread = (): readonly [number, number] => {
    const [ran, waited] = text.toString('latin1', 0, readSync(file, text, 0, text.length, 0)).split(' ')
    return [Number(ran) / 1e6, Number(waited) / 1e6]
  }
  const delay = monitorEventLoopDelay({ resolution: TICK_MS })
  let timer: NodeJS.Timeout | undefined
  let last = { at: 0, ran: 0, waited: 0 }
  let ranAtStart = 0
  let most = { own: 0, longest: 0, waited: 0 }

  const look = () => {
    const [ran, waited] = readThread()
    const at = performance.now()
    const wallMs = at - last.at
    most.own = Math.max(most.own, ran - last.ran)
    if (wallMs > most.longest) most = { own: most.own, longest: wallMs, waited: waited - last.waited }
    last = { at, ran, waited }
  }

  return {
    start() {
      const [ran, waited] = readThread()
      last = { at: performance.now(), ran, waited }
      ranAtStart = ran
      most = { own: 0, longest: 0, waited: 0 }
      delay.reset()
      delay.enable()
      timer = setInterval(look, TICK_MS)
    },
    stop() {
      look()
      clearInterval(timer)
      delay.disable()
      return {
        maxDelayMs: delay.max / 1e6,
        p99DelayMs: delay.percentile(99) / 1e6,
        maxOwnMs: most.own,
        longestMs: most.longest,
        longestWaitedMs: most.waited,
        cpuMs: last.ran - ranAtStart,
      }
    },
    close: () => closeSync(file),
  }
}
