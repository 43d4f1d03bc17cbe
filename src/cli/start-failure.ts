// Why a start failed, for the person at the console: one line that names the thing and what to do about it.
import { sep } from 'node:path'
import type { Config } from '../core/config.ts'
import { GatewayError } from '../core/errors.ts'

type SystemError = Error & { code: string; path?: string; syscall?: string; address?: string }

const isSystemError = (thrown: unknown): thrown is SystemError =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string'

const isAboutAddress = ({ syscall }: SystemError) => syscall === 'listen' || syscall === 'getaddrinfo'

/** Whether somebody has to mend files before it is worth trying again. */
export const isAboutFiles = (thrown: unknown, { dataDir }: Pick<Config, 'dataDir'>): boolean =>
  isSystemError(thrown) && !isAboutAddress(thrown) && explainFile(thrown, dataDir) !== undefined

/** @returns undefined for what nobody foresaw: that belongs into the log */
export function explainStartFailure(thrown: unknown, config: Config): string | undefined {
  if (thrown instanceof GatewayError) return thrown.message
  if (!isSystemError(thrown)) return undefined
  return isAboutAddress(thrown) ? explainListen(thrown, config) : explainFile(thrown, config.dataDir)
}

function explainListen({ code, address }: SystemError, { host, port }: Config): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${address ?? host} is taken by another process. Stop that one, or set PORT (PORT=0 picks a free port).`
    case 'EACCES':
      return `This user may not listen on port ${port}. Set PORT to a number above 1023.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST=${host} is not an address of this machine. Use localhost, or 0.0.0.0 behind a firewall in production.`
    default:
      return undefined
  }
}

function explainFile({ code, path }: SystemError, dataDir: string): string | undefined {
  const place = path ?? dataDir
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return `${place} may not be read or written by this user. Give it to the user that runs the gateway, or set GATEWAY_DATA_DIR.`
    case 'EROFS':
      return `${place} is on a read-only file system. Set GATEWAY_DATA_DIR to a directory that can be written; where keys are mounted, this one is missing among them.`
    case 'ENOSPC':
    case 'EDQUOT':
      return `There is no space left for ${place}. Free some, or set GATEWAY_DATA_DIR to another disk.`
    case 'ENOENT':
      // A file of the package that is missing is no matter of the operator's directories.
      if (!isAlong(place, dataDir)) return undefined
      return `${place} does not exist and cannot be made; if it is a link, what it leads to is missing, such as a disk that is not mounted. Mend that, or set GATEWAY_DATA_DIR.`
    case 'ENOTDIR':
    case 'EEXIST':
      return `${place} is not a directory. Set GATEWAY_DATA_DIR to a directory; it is created when it does not exist.`
    default:
      return undefined
  }
}

/** Whether one is the other, or in it. */
const isAlong = (path: string, dataDir: string) =>
  `${path}${sep}`.startsWith(`${dataDir}${sep}`) || `${dataDir}${sep}`.startsWith(`${path}${sep}`)
