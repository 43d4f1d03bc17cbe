// Containment on Linux: bubblewrap with an empty network namespace. The one way out is the door, as a Unix socket that is bound into it; a small
// forwarder on the inner loopback makes an address of it, since programs take no socket for a proxy. Pure, but for what looks at this machine: `findBubblewrap`, `findSockets`, `canTypeIntoTerminal`.
import { execFile } from 'node:child_process'
import { readFile, realpath, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { dirname, resolve } from 'node:path'
import { CommandFailure, Exit } from '../exit.ts'

/** The port of the door inside; nothing else listens there. */
export const INNER_PORT = 8403
/** Where the doors of runs are, whatever the folder for temporary files is: no sandbox shows it, so that none reaches the door of another run. */
export const DOORS_FOLDER = '/tmp'

/**
 * bubblewrap hands no signal on, and where one ends it the kernel kills everything inside (`--die-with-parent`). So it ignores them, as whatever a shell
 * starts ignores what the shell does; the forwarder is told of them by a line instead, and Node gives itself and the program the usual answers again.
 */
const IGNORING_SIGNALS = ['sh', '-c', 'trap "" HUP INT QUIT TERM USR1 USR2; exec "$@"', 'sh'] as const

/**
 * The forwarder, and then the program, with the same output. It is given the socket, the port and the command as arguments, and the names of signals for
 * the program on descriptor 3. Those that it gets itself a terminal has sent to the program, too.
 * A death by signal is passed on as 128 and its number.
 */
const INNER = `
for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2']) process.on(signal, () => {})
const { createServer, connect, Socket } = require('node:net'), { createInterface } = require('node:readline'), { spawn } = require('node:child_process'), { constants } = require('node:os')
const [socket, port, command, ...args] = process.argv.slice(1)
const server = createServer({ allowHalfOpen: true }, (inner) => {
  const outer = connect({ path: socket, allowHalfOpen: true })
  for (const [one, other] of [[inner, outer], [outer, inner]]) one.on('error', () => other.destroy()).pipe(other)
})
const fail = ({ code }) => { console.error('agent-gateway: ' + (code === 'ENOENT' ? 'there is no program ' + command : command + ' could not be started: may this user run it?')); process.exit(code === 'ENOENT' ? ${Exit.notFound} : ${Exit.notStarted}) }
server.listen(Number(port), '127.0.0.1', () => {
  let child
  try { child = spawn(command, args, { stdio: 'inherit' }) } catch (error) { return fail(error) }
  createInterface({ input: new Socket({ fd: 3 }).on('error', () => {}) }).on('line', (signal) => child.kill(signal))
  child.on('error', (error) => { if (child.pid === undefined) fail(error) })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
})`

export interface SandboxPlan {
  /** The Unix socket of the door, in a folder of its own. */
  readonly socket: string
  /** The folder of the run, with the certificates. */
  readonly runFolder: string
  readonly workingDirectory: string
  /** Not to be seen inside: the data of the gateway, and what `login` keeps. */
  readonly hidden: readonly string[]
  /** Files that cannot be opened inside: with secrets, and sockets of other programs. */
  readonly hiddenFiles: readonly string[]
  readonly node: string
  /** Whether input could be typed into this terminal from inside (TIOCSTI); then the program gets no controlling terminal. */
  readonly needsNewSession: boolean
  readonly command: readonly string[]
}

/**
 * What lies in `/run` and `/tmp` are the sockets of other programs: of Docker, of the desktop, of the agent with the SSH keys. Whoever reaches
 * one of those is out, and so is a root without capabilities who may write to `/proc/sys`: the kernel starts what `core_pattern` names, outside.
 * Later mounts lie over earlier ones, so what is hidden comes last.
 */
export function bubblewrapCommand(plan: SandboxPlan): string[] {
  return [...IGNORING_SIGNALS, 'bwrap', ...bubblewrapArguments(plan)]
}

function bubblewrapArguments(plan: SandboxPlan): string[] {
  const { socket, runFolder, workingDirectory, hidden, hiddenFiles, node, needsNewSession, command } = plan
  const tmpfs = (path: string) => ['--tmpfs', path]
  const prepared = [
    '--unshare-net --unshare-pid --unshare-ipc --cap-drop ALL --die-with-parent'.split(' '),
    needsNewSession ? ['--new-session'] : [],
    '--bind / / --dev /dev --proc /proc'.split(' '),
    ['/proc/sys', '/sys'].flatMap((path) => ['--ro-bind-try', path, path]),
    ['/run', '/tmp', '/var/tmp'].flatMap(tmpfs),
    isBelowTmp(workingDirectory) ? ['--bind', workingDirectory, workingDirectory] : [],
    [runFolder, dirname(socket)].flatMap((path) => ['--ro-bind', path, path]),
    isBelowTmp(node) ? ['--ro-bind', node, node] : [],
    // On NixOS the programs themselves are found there.
    ['--ro-bind-try', '/run/current-system', '/run/current-system'],
    hiddenFiles.flatMap((path) => ['--ro-bind', '/dev/null', path]),
    hidden.flatMap(tmpfs),
    ['--chdir', workingDirectory],
  ]
  return [...prepared.flat(), '--', node, '-e', INNER, socket, String(INNER_PORT), ...command]
}

const isBelowTmp = (path: string) => /^\/(?:run|tmp|var\/tmp)\//.test(path)

const KERNEL_TABLES = { sockets: '/proc/net/unix', mounts: '/proc/self/mountinfo' }

/**
 * The sockets of other programs that would be seen inside, in a home folder or where a service keeps its own: those on which somebody listens now, those
 * that are mounted, and those that the environment names. Where a socket was moved, or bound by a name relative to another folder, the kernel tells no
 * place of it.
 * @param env of the program
 * @param tables files of the kernel
 * @returns their paths, without links
 */
export async function findSockets(
  workingDirectory: string,
  env: Readonly<Record<string, string | undefined>>,
  tables = KERNEL_TABLES,
): Promise<readonly string[]> {
  const [sockets, mounts] = await Promise.all(
    [tables.sockets, tables.mounts].map((path) => readFile(path, 'utf8').catch(() => '')),
  )
  const isShownThere = isBelowTmp(workingDirectory)
  const seen = async (names: readonly string[]): Promise<readonly string[]> => {
    const found = await Promise.all(
      [...new Set(names.map((name) => resolve(workingDirectory, name)))].map(async (path) => {
        try {
          const real = await realpath(path)
          const isSeen = !isBelowTmp(real) || (isShownThere && real.startsWith(`${workingDirectory}/`))
          return isSeen && (await stat(real)).isSocket() ? [real] : []
        } catch {
          return []
        }
      }),
    )
    return found.flat()
  }
  const [listening, named] = await Promise.all([
    seen([...boundNames(sockets ?? ''), ...mountPoints(mounts ?? '')]),
    seen(namesInEnvironment(env)),
  ])
  // A server puts its socket into the place of one that an earlier start left, which could not be removed while something is mounted over it.
  const left = await Promise.all(named.map(isLeft))
  return [...new Set([...listening, ...named.filter((_, i) => !left[i])])]
}

/** @returns whether nobody listens there; whatever else keeps this process from asking counts as somebody */
const isLeft = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path)
    const answer = (isRefused: boolean) => {
      socket.destroy()
      resolve(isRefused)
    }
    socket.once('connect', () => answer(false))
    socket.once('error', ({ code }: NodeJS.ErrnoException) => answer(code === 'ECONNREFUSED'))
  })

/** proc_net(5): the path is what stands behind the inode; sockets of other roots have theirs there, too. Names with `@` are in no file system. */
const boundNames = (table: string): readonly string[] =>
  table.split('\n').flatMap((line) => /^(?:\S+ +){6}\d+ ([^@].*)$/.exec(line)?.[1] ?? [])

/** proc_pid_mountinfo(5), of what is a part of its file system: a socket is never all of one. */
const mountPoints = (table: string): readonly string[] =>
  table.split('\n').flatMap((line) => {
    const [, , , root, place] = line.split(' ')
    return root === '/' || !place
      ? []
      : place.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
  })

/** As in `SSH_AUTH_SOCK`, `DOCKER_HOST` (`unix:///…`) and `DBUS_SESSION_BUS_ADDRESS` (`unix:path=…,guid=…;…`). */
const namesInEnvironment = (env: Readonly<Record<string, string | undefined>>): readonly string[] =>
  Object.values(env).flatMap((value = '') =>
    [value, ...value.split(/[,;]/)].map((part) => part.replace(/^unix:(?:\/\/|path=)?/, '')),
  )

/** @throws {CommandFailure} where bubblewrap is missing or the machine allows no namespaces */
export async function findBubblewrap(): Promise<string> {
  if (process.platform !== 'linux')
    throw new CommandFailure(
      Exit.failed,
      '--sandbox needs Linux with bubblewrap, or macOS with sandbox-exec.',
    )
  const problem = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    execFile('bwrap', ['--unshare-net', '--unshare-pid', '--bind', '/', '/', '--', 'true'], (error) =>
      resolve(error as NodeJS.ErrnoException | null),
    )
  })
  if (problem === null) return 'bwrap'
  throw new CommandFailure(
    Exit.failed,
    problem.code === 'ENOENT'
      ? '--sandbox needs bubblewrap (bwrap), which this machine does not have: install the package bubblewrap, or run without --sandbox. ' +
          'Without it a program that wants to can go around the proxy.'
      : '--sandbox needs user namespaces, which this machine does not allow (kernel.unprivileged_userns_clone, AppArmor, or a container ' +
          'without them). Allow them for bwrap, or run without --sandbox: a program that wants to can then go around the proxy.',
  )
}

/** Linux 6.2 and newer can refuse it; where nobody says so, it may be possible. */
export const canTypeIntoTerminal = async (): Promise<boolean> =>
  (await readFile('/proc/sys/dev/tty/legacy_tiocsti', 'utf8').catch(() => '1')).trim() !== '0'
