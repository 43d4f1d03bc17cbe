// Whose connection it is, by what the kernel says (Linux): for programs that cannot send a password to a proxy. The socket at the other end has
// to be held by the program of this run, or by a process that descends from it.
import { readdir, readFile, readlink } from 'node:fs/promises'

/** Elsewhere nothing is proven, and programs have to send the password. */
export const CAN_PROVE_CALLER = process.platform === 'linux'

/** State of a connection that is open (include/net/tcp_states.h). */
const ESTABLISHED = '01'
/** Deeper than any tree of processes: where one changes while it is read, the way up ends all the same. */
const MOST_ANCESTORS = 64

/**
 * @param port of the other end, on 127.0.0.1
 * @param own port that it is connected to, on 127.0.0.1
 * @param ancestor the process that everything of the run descends from
 * @returns false where nothing is proven, as on every other system
 */
export async function isOfProcess(port: number, own: number, ancestor: number): Promise<boolean> {
  if (!CAN_PROVE_CALLER) return false
  try {
    const inode = await inodeOf(port, own)
    if (inode === undefined) return false
    for (const pid of await descendants(ancestor)) if (await holdsSocket(pid, inode)) return true
    return false
  } catch {
    return false
  }
}

/** @returns of the socket whose local end is `port`; proc_net_tcp(5): addresses are hexadecimal, 127.0.0.1 in the order of the machine */
async function inodeOf(port: number, own: number): Promise<string | undefined> {
  const hex = (value: number) => value.toString(16).toUpperCase().padStart(4, '0')
  // A socket for both families shows up among those of IPv6, as ::ffff:127.0.0.1.
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const lines = (await readFile(table, 'latin1').catch(() => '')).split('\n').slice(1)
    for (const line of lines) {
      const [, local = '', remote = '', state, , , , , , inode] = line.trim().split(/\s+/)
      const isLoopback = /(?:0100007F|7F000001):[\dA-F]{4}$/.test(local)
      if (
        isLoopback &&
        state === ESTABLISHED &&
        local.endsWith(`:${hex(port)}`) &&
        remote.endsWith(`:${hex(own)}`)
      )
        return inode
    }
  }
  return undefined
}

async function descendants(ancestor: number): Promise<readonly number[]> {
  const parents = new Map<number, number>()
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'latin1').catch(() => '')
    // The name of a program may hold anything, brackets too: what follows begins behind the last one.
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    if (parent > 0) parents.set(Number(name), parent)
  }
  return [...parents.keys()].filter((pid) => {
    let at: number | undefined = pid
    for (let depth = 0; at !== undefined && depth < MOST_ANCESTORS; depth++) {
      if (at === ancestor) return true
      at = parents.get(at)
    }
    return false
  })
}

async function holdsSocket(pid: number, inode: string): Promise<boolean> {
  const folder = `/proc/${pid}/fd`
  for (const name of await readdir(folder).catch(() => []))
    if ((await readlink(`${folder}/${name}`).catch(() => '')) === `socket:[${inode}]`) return true
  return false
}
