// Where the gateways of this machine keep their data, whichever folder a run is started in: a sandbox hides it. The kernel says which files a process
// has open, where it was started and with what (Linux); elsewhere the note in the run's own data directory has to do.
import { lookup } from 'node:dns/promises'
import { readdir, readFile, readlink, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { dirname, resolve } from 'node:path'
import { isLoopbackHost } from '../../app/addresses.ts'
import { findRunning } from '../../app/running.ts'
import { CommandFailure, Exit } from '../exit.ts'

export interface GatewayData {
  /** Data directories. */
  readonly folders: readonly string[]
  /** What the environment of those gateways names as files: most of them hold a key. */
  readonly files: readonly string[]
}

interface AskedGateway {
  /** Its address, as the run calls it. */
  readonly url: string
  /** The data directory of the run's own configuration. */
  readonly dataDir: string
  /** What `--gateway-data` says: a folder, or `none`. */
  readonly named: string | undefined
}

/** For `--gateway-data`: nothing of the gateway can be read here. */
const NOWHERE = 'none'

type Environment = Readonly<Record<string, string | undefined>>

/** @returns what an environment names as files of a gateway */
export const filesNamedIn = (env: Environment): readonly string[] =>
  Object.entries(env).flatMap(([name, value]) =>
    /^GATEWAY_\w+_FILE$/.test(name) && value ? value.split(',').map((file) => file.trim()) : [],
  )

/**
 * @returns of every gateway of this machine that this user could read
 * @throws {CommandFailure} where that which is asked is on this machine and nothing says where its data is
 */
export async function findGatewayData({ url, dataDir, named }: AskedGateway): Promise<GatewayData> {
  if (named !== undefined && named !== NOWHERE) await refuseNoFolder(named)
  const { port: given, protocol } = new URL(url)
  const port = Number(given || (protocol === 'https:' ? 443 : 80))
  const processes = process.platform === 'linux' ? await listProcesses() : []
  const gateways = processes.filter(({ data }) => data.folders.length > 0)
  const isKnown =
    named !== undefined ||
    (await isNoted(dataDir, port)) ||
    (await areGateways(await listListeners(port), gateways)) ||
    !(await isOfThisMachine(url))
  if (!isKnown)
    throw new CommandFailure(
      Exit.failed,
      `--sandbox hides the data directory of a gateway on this machine, and that of ${url} could not be found. Nothing was started. Name it with ` +
        `--gateway-data DIRECTORY, or write --gateway-data ${NOWHERE} where this user can read nothing of it: it runs on another machine behind a ` +
        'tunnel, or its files are closed to this user.',
    )
  return {
    folders: [
      ...new Set([
        ...gateways.flatMap(({ data }) => data.folders),
        ...(named === undefined || named === NOWHERE ? [] : [resolve(named)]),
      ]),
    ],
    files: [...new Set(gateways.flatMap(({ data }) => data.files))],
  }
}

async function refuseNoFolder(named: string): Promise<void> {
  const info = await stat(named).catch(() => undefined)
  if (!info?.isDirectory())
    throw new CommandFailure(
      Exit.usage,
      `--gateway-data: ${named} is no directory. Name the data directory of the gateway, or write ${NOWHERE}.`,
    )
}

/** Whether the gateway of the run's own data directory is the one at this port. */
async function isNoted(dataDir: string, port: number): Promise<boolean> {
  const running = await findRunning(dataDir)
  return running !== undefined && Number(new URL(running.url).port || 80) === port
}

/** A name that resolves no more may be one of this machine. */
async function isOfThisMachine(url: string): Promise<boolean> {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  const own = new Set(
    Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address)),
  )
  const addresses = isIP(host)
    ? [host]
    : await lookup(host, { all: true }).then(
        (all) => all.map(({ address }) => address),
        () => undefined,
      )
  return (
    addresses === undefined ||
    addresses.some(
      (address) => isLoopbackHost(address) || own.has(address) || /^(?:0\.0\.0\.0|::)$/.test(address),
    )
  )
}

/** A socket that listens, as the kernel has it. */
interface Listener {
  readonly inode: string
  /** User who made it. */
  readonly uid: number
}

/** State of a socket that listens (include/net/tcp_states.h). */
const LISTENING = '0A'

/** @returns all at this port, whatever address they listen on; none where the kernel does not say, as on every other system */
async function listListeners(port: number): Promise<readonly Listener[]> {
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((table) => readFile(table, 'latin1').catch(() => '')),
  )
  return tables.flatMap((table) => listenersIn(table, port))
}

/** @param table what proc_net_tcp(5) describes */
export const listenersIn = (table: string, port: number): readonly Listener[] =>
  table
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local = '', , state, , , , uid, , inode = ''] = line.trim().split(/\s+/)
      const isAtPort = Number.parseInt(local.split(':')[1] ?? '', 16) === port
      return state === LISTENING && isAtPort ? [{ inode, uid: Number(uid) }] : []
    })

/**
 * Whether each of them is a gateway whose data was found. One of another user keeps its files from this one, unless that is root, in whose name
 * containers are listened for, too: their data may be anybody's.
 */
async function areGateways(
  listeners: readonly Listener[],
  gateways: readonly LocalProcess[],
): Promise<boolean> {
  const own = process.getuid?.()
  return (
    listeners.length > 0 &&
    listeners.every(
      ({ inode, uid }) =>
        gateways.some(({ sockets }) => sockets.has(inode)) || (own !== 0 && uid !== own && uid !== 0),
    )
  )
}

interface LocalProcess {
  /** Inodes of the sockets that it holds. */
  readonly sockets: ReadonlySet<string>
  readonly data: GatewayData
}

/** @returns those that this user may look into */
async function listProcesses(): Promise<readonly LocalProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const found: LocalProcess[] = []
  for (const pid of pids) found.push(await readProcess(pid))
  return found
}

async function readProcess(pid: number): Promise<LocalProcess> {
  const folder = `/proc/${pid}/fd`
  const sockets = new Set<string>()
  const locked: string[] = []
  for (const name of await readdir(folder).catch(() => [])) {
    const file = await readlink(`${folder}/${name}`).catch(() => '')
    const [, inode] = /^socket:\[(\d+)\]$/.exec(file) ?? []
    if (inode !== undefined) sockets.add(inode)
    // In a container, files of another root may have the names of files here.
    else if (file.endsWith(LOCK) && (await isSameFile(`${folder}/${name}`, file))) locked.push(dirname(file))
  }
  return { sockets, data: await readData(pid, locked) }
}

/** With SQLite a gateway keeps this one open as long as it runs (`src/store/sqlite/lock.ts`). */
const LOCK = '/lock.db'

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => stat(path).catch(() => undefined)))
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}

/** A gateway with another database writes a note into its folder, which its environment names, or which is `data` where it was started. */
async function readData(pid: number, locked: readonly string[]): Promise<GatewayData> {
  const start = await readlink(`/proc/${pid}/cwd`).catch(() => undefined)
  if (start === undefined) return { folders: locked, files: [] }
  const text = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
  const env: Environment = Object.fromEntries(
    text.split('\0').map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  )
  const configured = resolve(start, env['GATEWAY_DATA_DIR'] || 'data')
  const isNotedThere = (await findRunning(configured))?.pid === pid
  const folders = [...new Set([...locked, ...(isNotedThere ? [configured] : [])])]
  return { folders, files: folders.length > 0 ? filesNamedIn(env).map((file) => resolve(start, file)) : [] }
}
