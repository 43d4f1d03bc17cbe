// The head of an answer: its headers as they came, and what they say about the body behind them.
import type { IncomingHttpHeaders } from 'undici/types/header.js'
import type { OutboundResponse } from '../ports.ts'

export type ReceivedHeaders = OutboundResponse['headers']

/** How an answer says that it is put together. */
export interface Framing {
  /** Bytes that follow; 0 where it does not say. */
  readonly declared: number
  /** Two lengths, or a length and chunks: somebody on the way may have read another message than we would. */
  readonly isFramedTwice: boolean
  /**
   * Below the chunks, which the parser takes off, something else would be left: nobody asked for it, nor says that it is
   * there.
   */
  readonly isTransferEncoded: boolean
  readonly isEncoded: boolean
}

/** Reads what the headers say about the body that follows. */
export function readFraming(headers: ReceivedHeaders): Framing {
  let lengths = 0
  let declared = 0
  let transfers = 0
  let isTransferEncoded = false
  let isEncoded = false
  for (const { name, value } of headers)
    if (name === 'content-length') {
      if (lengths++ === 0) declared = Number(value)
    } else if (name === 'transfer-encoding') {
      transfers++
      isTransferEncoded ||= value.trim().toLowerCase() !== 'chunked'
    } else if (name === 'content-encoding') isEncoded ||= value.trim().toLowerCase() !== 'identity'
  return { declared, isFramedTwice: lengths + transfers > 1, isTransferEncoded, isEncoded }
}

/** @param raw names and values in turn, as undici gives them
 * @returns them in pairs, lower-case names, repeated ones apart */
export function readPairs(
  raw: Buffer[] | string[] | IncomingHttpHeaders | null | undefined,
): ReceivedHeaders {
  if (!raw) return []
  if (!Array.isArray(raw))
    return Object.entries(raw).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value ?? '']).map((one) => ({ name: name.toLowerCase(), value: one })),
    )
  const pairs: { name: string; value: string }[] = []
  let name: string | undefined
  for (const item of raw)
    if (name === undefined) name = textOf(item).toLowerCase()
    else {
      pairs.push({ name, value: textOf(item) })
      name = undefined
    }
  return pairs
}

const textOf = (item: Buffer | string) => (typeof item === 'string' ? item : item.toString('latin1'))
