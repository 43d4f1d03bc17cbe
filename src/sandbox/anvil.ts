// Starts one anvil child: on loopback, on a free port, gone when this process is gone, however that ends.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { must } from '../lib/must.ts'
import { IS_PACKAGED } from '../lib/packaged.ts'
import { ANVIL_VERSION, pinOfThisMachine } from './anvil-pins.ts'

export interface Anvil {
  readonly rpcUrl: string
  /** The process of the node itself. */
  readonly pid: number
  /** Settles when the node has ended, for whatever reason. */
  readonly ended: Promise<void>
  /** Asks it to write its state and end. */
  stop(): Promise<void>
}

/** There is no binary for this platform, or it did not start: one line says what to do. */
export class AnvilError extends Error {
  /** The node was there and gave up: its state may be the reason. */
  readonly hasRun: boolean
  constructor(message: string, options: ErrorOptions & { hasRun?: boolean } = {}) {
    super(message, options)
    this.name = 'AnvilError'
    this.hasRun = options.hasRun ?? false
  }
}

const START_MS = 15_000
const STOP_MS = 5_000
const LISTENING = /Listening on (127\.0\.0\.1:\d+)/
const FILE = process.platform === 'win32' ? 'anvil.exe' : 'anvil'
const PLATFORMS: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

// The shell becomes the node, so that its pid is the node's. What it leaves behind reads our end of a pipe: that ends
// with this process even on SIGKILL, and then takes the node along, which has five seconds to write its state.
const WRAPPER = `exec 3<&0
node=$$
( cat <&3 >/dev/null
  kill -TERM $node || exit 0
  for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
    sleep 0.2
    kill -0 $node || exit 0
    case "$(cut -d ' ' -f 3 /proc/$node/stat)" in Z) exit 0;; esac
  done
  kill -KILL $node ) >/dev/null 2>&1 &
exec 3<&-
exec "$@" </dev/null`

/** Where `sandbox install` puts the node of this release: another release looks in another folder. */
export const installFolder = (dataDir: string): string => join(dataDir, 'programs', `anvil-${ANVIL_VERSION}`)

/** The program in that folder. Named whole: what Node would look for in folders above may be somebody else's. */
export const installedAnvil = (dataDir: string, name: string): string =>
  join(installFolder(dataDir), 'node_modules', name, 'bin', FILE)

/**
 * Looks beside the gateway, then in the data directory.
 * @throws {AnvilError}
 */
export function findAnvil(dataDir?: string): string {
  const name = `@foundry-rs/anvil-${process.platform}-${PLATFORMS[process.arch] ?? process.arch}`
  const fromHere = createRequire(import.meta.url)
  try {
    // The binary's package is a dependency of the wrapper package, not ours: where it lies is for npm to say.
    const wrapper = fromHere.resolve('@foundry-rs/anvil/package.json')
    return createRequire(wrapper).resolve(`${name}/bin/${FILE}`)
  } catch {
    const installed = dataDir === undefined ? undefined : installedAnvil(dataDir, name)
    if (installed !== undefined && existsSync(installed)) return installed
    const what =
      IS_PACKAGED && pinOfThisMachine() !== undefined
        ? 'run `agent-gateway sandbox install`'
        : `install ${name}`
    throw new AnvilError(
      `no embedded chain for ${process.platform}-${process.arch}: ${what}, or set GATEWAY_RPC_<chain id>`,
    )
  }
}

/**
 * @param args of anvil, without host and port
 * @param home where it keeps what it caches
 * @param dataDir where it may have been installed
 * @throws {AnvilError}
 */
export async function startAnvil(args: readonly string[], home: string, dataDir?: string): Promise<Anvil> {
  const binary = findAnvil(dataDir)
  const all = [
    '--host',
    '127.0.0.1',
    '--port',
    '0',
    '--accounts',
    '0',
    '--no-cors',
    '--color',
    'never',
    ...args,
  ]
  const [command, commandArgs] =
    process.platform === 'win32' ? [binary, all] : ['/bin/sh', ['-c', WRAPPER, 'anvil', binary, ...all]]
  const child = spawn(command, commandArgs, {
    stdio: ['pipe', 'pipe', 'pipe'],
    // Nothing of ours: the environment may hold keys. The shell needs cat, kill and sleep.
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home },
    windowsHide: true,
  })
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', () => resolve())
  })
  child.stdin.on('error', () => {})
  // The watcher outlives a node that ended by itself; it must not kill whoever gets its pid next.
  child.once('exit', () => child.stdin.destroy())
  const address = await readAddress(child)
  // Its words are read and dropped from here on; a full pipe would stop it.
  child.stdout.resume()
  child.stderr.resume()
  unref(child)
  return {
    rpcUrl: `http://${address}`,
    pid: must(child.pid, 'the pid of a node that answers'),
    ended,
    async stop() {
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      child.kill('SIGTERM')
      await ended
      clearTimeout(timer)
    },
  }
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** An idle chain keeps no process alive. */
function unref(child: Child) {
  child.unref()
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as Partial<Socket>).unref?.()
}

function readAddress(child: Child): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    const fail = (why: string, hasRun = false) => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      reject(new AnvilError(`the embedded chain did not start: ${why}`, { hasRun }))
    }
    const timer = setTimeout(() => fail(`silent for ${START_MS / 1000} s`), START_MS)
    const read = (chunk: Buffer) => {
      said = (said + chunk.toString('utf8')).slice(-4096)
      const address = LISTENING.exec(said)?.[1]
      if (address === undefined) return
      clearTimeout(timer)
      child.stdout.off('data', read)
      child.stderr.off('data', read)
      child.off('exit', onExit)
      child.off('error', onError)
      resolve(address)
    }
    const onExit = (code: number | null) => fail(findReason(said) || `ended with code ${code}`, true)
    const onError = (thrown: NodeJS.ErrnoException) => fail(thrown.code ?? 'not executable')
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', onExit)
    child.once('error', onError)
  })
}

/** The line that says what went wrong, or the last one. */
function findReason(text: string): string {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  return (lines.find((line) => /error|panicked|cannot|failed/i.test(line)) ?? lines.at(-1) ?? '').slice(
    0,
    200,
  )
}
