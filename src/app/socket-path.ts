// Makes room for a Unix socket at a path that somebody configured: what a killed process left behind goes, everything else stays.
import { lstat, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { ConfigError, GatewayError } from '../core/errors.ts'

/**
 * @param variable that names the path
 * @throws {ConfigError} where something else is at the path
 * @throws {GatewayError} where a process listens there, which may be about to end
 */
export async function clearSocketPath(variable: string, path: string): Promise<void> {
  const found = await lstat(path).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return undefined
    throw thrown
  })
  if (!found) return
  if (!found.isSocket())
    throw new ConfigError([
      `${variable}: ${path} is there and no socket, so it is left as it is. Name another path, or take it away.`,
    ])
  if (!(await isLeftBehind(path)))
    throw new GatewayError(
      'state_conflict',
      `${variable}: another process listens at ${path}, so it is left as it is. Stop that process, or name another path.`,
    )
  await rm(path, { force: true })
}

/** Nobody listens at a socket that refuses; one that may not be asked, or is too busy to answer, is somebody's. */
function isLeftBehind(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path })
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code === 'ECONNREFUSED' || code === 'ENOENT'),
    )
  })
}
