// MCP's older transport (HTTP with SSE, 2024-11-05): the first event of a stream, `endpoint`, names the address that messages are posted to.
// Behind a base URL it has to lead through that base URL again. Nothing else of an answer is ever changed.
import type { AnswerSink } from '../../core/message.ts'

export interface BaseUrl {
  /** Path that stands for the upstream's origin, without a slash at its end: `/via/tools`. */
  readonly base: string
  /** What the program asked for, at the upstream. */
  readonly url: string
}

/** @returns a sink that writes the address of a first event `endpoint` anew, where it is at the upstream's own origin */
export function leadThroughBase(sink: AnswerSink, through: BaseUrl): AnswerSink {
  let isLooking = false
  return {
    get isGone() {
      return sink.isGone
    },
    begin(status, headers) {
      const value = (wanted: string) => headers.find(([name]) => name === wanted)?.[1]
      // An answer whose length was said is no stream of that transport, and could not become longer.
      isLooking =
        /^text\/event-stream\b/i.test(value('content-type') ?? '') && value('content-length') === undefined
      sink.begin(status, headers, through.url)
    },
    write(bytes) {
      if (!isLooking || bytes.length === 0) return sink.write(bytes)
      const { isFound, changed } = changeFirstEvent(bytes, through)
      if (isFound) isLooking = false
      return sink.write(changed)
    },
    end: (trailers) => sink.end(trailers),
    abort: (last) => sink.abort(last),
  }
}

/** Lines up to an empty one (WHATWG HTML, 9.2.5); what is written ends with an event. */
const BLOCK = /(?:[^\r\n]+(?:\r\n|\r|\n))+/g

function changeFirstEvent(
  bytes: Uint8Array,
  through: BaseUrl,
): { readonly isFound: boolean; readonly changed: Uint8Array } {
  // Byte for byte: what is not the address goes on as it came.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
  for (const { 0: block, index } of text.matchAll(BLOCK)) {
    const data = [...block.matchAll(/^data: ?(.*)$/gm)]
    // Comments, and the time to wait before a new connection, are no event.
    if (data.length === 0) continue
    const [only] = data
    const address = only?.[1]?.trim() ?? ''
    if (!only || data.length > 1 || !/^event: ?endpoint\r?$/m.test(block)) break
    const led = leadThrough(address, through)
    if (led === undefined) break
    const at = index + only.index + only[0].indexOf(address)
    const changed = text.slice(0, at) + led + text.slice(at + address.length)
    return { isFound: true, changed: Buffer.from(changed, 'latin1') }
  }
  return { isFound: /^data:/m.test(text), changed: bytes }
}

/** @returns undefined for an address elsewhere, and for one that is read against the base URL anyway */
function leadThrough(address: string, { base, url }: BaseUrl): string | undefined {
  const asked = new URL(url)
  const isAbsolute = /^(?:\/|[a-z][a-z\d+.-]*:)/i.test(address)
  if (!isAbsolute || !URL.canParse(address, asked)) return undefined
  const named = new URL(address, asked)
  return named.origin === asked.origin ? `${base}${named.pathname}${named.search}` : undefined
}
