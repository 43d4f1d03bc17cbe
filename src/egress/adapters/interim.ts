// Interim answers (RFC 9110, 15.2): a client reads past them, whether it expects them or not. undici takes `100 Continue` for an
// error, which would leave an answered request ambiguous, and any number of others. They are taken out of the stream below it,
// within bounds; what frames a body, or is no proper head, is no interim answer and ends the connection.
import type { TLSSocket } from 'node:tls'

/** Interim answers before one final answer, and their bytes together: RFC 9110 says one or more, so that these are ours. */
const MOST = 100
const MOST_BYTES = 64 * 1024

/** Up to the first digit of the status; HTTP/1.0 knows no interim answers. */
const BEGINNING = Buffer.from('HTTP/1.1 1')
/** `HTTP/1.1 1xx` and the character behind it. */
const LINE_BYTES = 13
const HEAD_END = Buffer.from('\r\n\r\n')
const SWITCHING = 'HTTP/1.1 101'
// Lines as RFC 9112 has them, and none that frames a body: nothing of one could follow.
const HEAD =
  /^HTTP\/1\.1 1\d\d(?: [^\r\n\0]*)?(?:\r\n(?!content-length:|transfer-encoding:)[\w!#$%&'*+.^`|~-]+:[^\r\n\0]*)*$/i

type State = 'passing' | 'deciding' | 'skipping' | 'broken'

const filters = new WeakMap<TLSSocket, () => void>()

/** From here on the next head on this connection may be that of an interim answer. Does nothing for a socket without the filter. */
export const expectAnswer = (socket: TLSSocket): void => filters.get(socket)?.()

/** Takes interim answers out of what is read from the socket, each time after `expectAnswer`. */
export function skipInterimAnswers(socket: TLSSocket): void {
  const readAll = socket.read.bind(socket)
  let state: State = 'passing'
  let held: Buffer = Buffer.alloc(0)
  let count = 0
  let bytes = 0

  function refuse(): undefined {
    state = 'broken'
    held = Buffer.alloc(0)
    // Not within a read: whoever reads is not done with what came before.
    queueMicrotask(() => socket.destroy(new Error('bad response: interim answers')))
  }

  /** @returns what is left of the bytes for whoever reads; undefined where all of them are held or skipped */
  function filter(chunk: Buffer): Buffer | undefined {
    if (state === 'passing') return chunk
    if (state === 'broken') return undefined
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    for (;;) {
      if (state === 'deciding') {
        const isPossible = BEGINNING.subarray(0, held.length).equals(held.subarray(0, BEGINNING.length))
        if (isPossible && held.length < LINE_BYTES) return undefined
        if (!isPossible || held.toString('latin1', 0, SWITCHING.length) === SWITCHING) return pass()
        state = 'skipping'
      }
      const end = held.indexOf(HEAD_END)
      if (bytes + (end < 0 ? held.length : end) > MOST_BYTES) return refuse()
      if (end < 0) return undefined
      if (++count > MOST || !HEAD.test(held.toString('latin1', 0, end))) return refuse()
      bytes += end + HEAD_END.length
      held = held.subarray(end + HEAD_END.length)
      state = 'deciding'
      if (held.length === 0) return undefined
    }
  }
  function pass(): Buffer {
    const rest = held
    state = 'passing'
    held = Buffer.alloc(0)
    return rest
  }

  // undici reads whatever is there, without a size, until there is nothing.
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = readAll(size) as Buffer | null
      if (chunk === null) return null
      const rest = filter(chunk)
      if (rest) return rest
    }
  }
  filters.set(socket, () => {
    if (state === 'broken') return
    state = 'deciding'
    count = 0
    bytes = 0
  })
}
