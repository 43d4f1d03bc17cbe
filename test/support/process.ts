// Child processes of tests: what they wrote, how they ended, and no waiting by the clock.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { compileCacheEnv } from './compile-cache.ts'

export interface Started {
  readonly child: ChildProcess
  readonly pid: number
  /** What was written so far. */
  readonly stdout: () => string
  readonly stderr: () => string
  /** Resolves with the match as soon as what was written matches; rejects when the process ends first. */
  readonly until: (stream: 'stdout' | 'stderr', pattern: RegExp) => Promise<RegExpExecArray>
  /** Resolves when the process has ended and its pipes are closed. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  readonly kill: (signal: NodeJS.Signals) => boolean
}

export function start(
  command: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; stdin?: 'pipe' | 'ignore' } = {},
): Started {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { ...compileCacheEnv(), ...(options.env ?? process.env) },
    stdio: [options.stdin ?? 'ignore', 'pipe', 'pipe'],
  })
  const written = { stdout: '', stderr: '' }
  const streams = { stdout: child.stdout!, stderr: child.stderr! }
  for (const name of ['stdout', 'stderr'] as const)
    streams[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text
    })
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
  }))
  return {
    child,
    pid: child.pid!,
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    ended,
    kill: (signal) => child.kill(signal),
    until: (name, pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(written[name])
          if (!match) return
          streams[name].off('data', look)
          resolve(match)
        }
        streams[name].on('data', look)
        look()
        void ended.then(({ code, signal }) =>
          reject(
            new Error(
              `ended (${code ?? signal}) before ${String(pattern)}: ${written.stdout}${written.stderr}`,
            ),
          ),
        )
      }),
  }
}

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command to its end, with `input` on stdin. */
export async function finish(
  command: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; input?: string } = {},
): Promise<Finished> {
  const { input, ...rest } = options
  const started = start(command, args, { ...rest, stdin: input === undefined ? 'ignore' : 'pipe' })
  started.child.stdin?.on('error', () => {})
  started.child.stdin?.end(input)
  const { code } = await started.ended
  return { code, stdout: started.stdout(), stderr: started.stderr() }
}
