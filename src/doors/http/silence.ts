// Connections on which nothing moves are closed (src/app/listener.ts). One that waits for a call that may take long is not dead.
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Enough for what a call does beside waiting for its upstream. */
const MARGIN_MS = 30_000

/** Lets the connection be silent for as long as its call may take; afterwards the usual bound holds again. */
export function allowSilence({ socket }: IncomingMessage, res: ServerResponse, ms: number): void {
  const usual = socket.timeout ?? 0
  if (usual === 0 || ms + MARGIN_MS <= usual) return
  socket.setTimeout(ms + MARGIN_MS)
  res.once('close', () => socket.setTimeout(usual))
}
