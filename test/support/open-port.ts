// Servers that say nothing when they have started: a connection is what tells.
import { once } from 'node:events'
import { connect } from 'node:net'

const PAUSE_MS = 20

/**
 * Resolves as soon as somebody takes connections at this port of loopback.
 * @param check looks at the server before each try; what it throws ends the waiting
 */
export async function untilOpen(port: number, check: () => void): Promise<void> {
  for (;;) {
    check()
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}
