// Bytes between a program and a host, counted and not opened.
import type { Duplex } from 'node:stream'

/** Nothing moved for so long: whoever forgot the connection will not miss it. */
const IDLE_MS = 10 * 60_000

/**
 * @param cut aborts when they are not to go on
 * @returns when both ways are over, with the bytes that went each
 */
export function joinStreams(
  program: Duplex,
  upstream: Duplex,
  cut?: AbortSignal,
): Promise<{ readonly bytesUp: number; readonly bytesDown: number }> {
  let bytesUp = 0
  let bytesDown = 0
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout
    const stay = () => {
      clearTimeout(timer)
      timer = setTimeout(end, IDLE_MS)
      timer.unref()
    }
    function end() {
      clearTimeout(timer)
      cut?.removeEventListener('abort', end)
      program.destroy()
      upstream.destroy()
      resolve({ bytesUp, bytesDown })
    }
    stay()
    cut?.addEventListener('abort', end)
    program.on('data', (chunk: Buffer) => {
      bytesUp += chunk.length
      stay()
    })
    upstream.on('data', (chunk: Buffer) => {
      bytesDown += chunk.length
      stay()
    })
    // One side may be done while the other still sends: that is what `pipe` passes on. A failure ends both.
    let open = 2
    for (const side of [program, upstream]) side.on('error', end).on('close', () => --open === 0 && end())
    program.on('close', () => upstream.end())
    upstream.on('close', () => program.end())
    program.pipe(upstream)
    upstream.pipe(program)
  })
}
