// The handshake of a WebSocket (RFC 6455, section 4), as both sides of it read it.
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** @returns `Sec-WebSocket-Accept` for a `Sec-WebSocket-Key` */
export const acceptOf = (key: string): string =>
  createHash('sha1')
    .update(key + GUID)
    .digest('base64')

/** Whether a request asks for a WebSocket: whoever offers HTTP/2 by the same header is answered in HTTP/1.1. */
export const asksForWebSocket = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers.upgrade?.trim().toLowerCase() === 'websocket'

/** The names of a list header, in order. */
export const listed = (value: string | undefined): readonly string[] =>
  (value ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
