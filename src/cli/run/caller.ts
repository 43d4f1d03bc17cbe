// Whose connection it is, by what the kernel says (Linux): for programs that cannot send a password to a proxy. The socket at the other end has
// to be held by the program of this run, or by a process that descends from it.
import { readdir, readFile, readlink } from 'node:fs/promises'

/** Elsewhere nothing is proven, and programs have to send the password. */
export const CAN_PROVE_CALLER = process.platform === 'linux'

/** State of a connection that is open (include/net/tcp_states.h). */
const ESTABLISHED = '01'
/** Deeper than any tree of processes: where one changes while it is read, the way up ends all the same. */
const MOST_ANCESTORS = 64

/** The door listens there, and what connects to it without a choice of its own comes from there, too. */
const LOOPBACK = '127.0.0.1'
/** As proc_net_tcp(5) has it: hexadecimal, in the order of the machine. A socket for both families shows up as ::ffff:127.0.0.1. */
const LOOPBACK_SPELLINGS = [
  '0100007F',
  '7F000001',
  '0000000000000000FFFF00000100007F',
  '00000000000000000000FFFF7F000001',
]

/** The other end of a connection, as a socket tells it. */
export interface Peer {
  readonly address: string
  readonly port: number
}

/**
 * @param peer whose process is asked for. Ports alone name no connection: from another address of the machine anybody may use one that the run uses, too
 * @param own port that it is connected to, on 127.0.0.1
 * @param ancestor the process that everything of the run descends from
 * @returns false where nothing is proven, as on every other system
 */
export async function isOfProcess(peer: Peer, own: number, ancestor: number): Promise<boolean> {
  if (!CAN_PROVE_CALLER || peer.address !== LOOPBACK) return false
  const ends = { port: peer.port, own, uid: process.getuid?.() }
  try {
    for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
      const inode = inodeIn(await readFile(table, 'latin1').catch(() => ''), ends)
      if (inode === undefined) continue
      for (const pid of await descendants(ancestor)) if (await holdsSocket(pid, inode)) return true
      return false
    }
    return false
  } catch {
    return false
  }
}

/**
 * @param table what proc_net_tcp(5) describes
 * @param ends `port` of the socket and `own` of what it is connected to, and the user of the run: sockets of others are not looked for, unless that
 * is root, whose programs may become somebody else
 * @returns of the open socket from 127.0.0.1 to 127.0.0.1 with these ports
 */
export function inodeIn(
  table: string,
  { port, own, uid }: { readonly port: number; readonly own: number; readonly uid: number | undefined },
): string | undefined {
  for (const line of table.split('\n').slice(1)) {
    const [, local = '', remote = '', state, , , , user, , inode] = line.trim().split(/\s+/)
    if (state !== ESTABLISHED || !isAt(local, port) || !isAt(remote, own)) continue
    return uid === 0 || user === String(uid) ? inode : undefined
  }
  return undefined
}

function isAt(end: string, port: number): boolean {
  const [address = '', hex = ''] = end.split(':')
  return LOOPBACK_SPELLINGS.includes(address) && Number.parseInt(hex, 16) === port
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
