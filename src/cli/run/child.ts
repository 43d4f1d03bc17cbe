// The program of a run: started with this terminal, told of every signal, and its end is ours.
import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Writable } from 'node:stream'
import { isatty } from 'node:tty'
import { CommandFailure, Exit } from '../exit.ts'

const ENDING = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const

/** How signals get to the program. */
export interface SignalRoute {
  /** Names of signals are written to descriptor 3 of what is started, a line each, since it hands on none that it gets itself. */
  readonly isTold: boolean
  /** The program is in a session of its own, so that this terminal sends it nothing. */
  readonly isApart: boolean
  /** Told of each signal that this user may not send to the program, such as one that `sudo` started; it goes on. */
  readonly unsent?: () => void
}

const DIRECT: SignalRoute = { isTold: false, isApart: false }

/** They mean nothing but to the program, and are its own only as long as it runs. */
const OTHERS = ['SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const

/** A terminal sends these to the whole group: the program has them already, and a second one might mean something else to it. */
const OF_TERMINAL: ReadonlySet<NodeJS.Signals> = new Set(['SIGINT', 'SIGQUIT', 'SIGWINCH'])

/** What becomes of the signals that end a process, from before the run makes anything until it has given everything back. */
export interface EndingSignals {
  /** The first that came while there was no program yet: then none is started. */
  early(): NodeJS.Signals | undefined
  /** Whoever is told from now on. */
  passTo(tell: (signal: NodeJS.Signals) => void): void
  /** From now on there is nobody to tell: they are ignored until `release`. */
  ignore(): void
  /** Whether one came while there was nobody to tell. To be said when everything is taken back: whoever reads stderr may keep a word waiting. */
  wasIgnored(): boolean
  /** Aborted by the second that comes while there is nobody to tell: whoever sent it does not want to wait. */
  readonly impatient: AbortSignal
  /** They end this process again. */
  release(): void
}

/**
 * They are taken once and handed from hand to hand: between one listener and the next a signal would end this process, and leave
 * what the run made behind.
 */
export function takeEndingSignals(): EndingSignals {
  const impatience = new AbortController()
  let early: NodeJS.Signals | undefined
  let isIgnored = false
  let take = (signal: NodeJS.Signals): void => {
    early ??= signal
  }
  const handler = (signal: NodeJS.Signals) => take(signal)
  for (const signal of ENDING) process.on(signal, handler)
  return {
    early: () => early,
    impatient: impatience.signal,
    passTo(tell) {
      take = tell
    },
    ignore() {
      take = () => {
        isIgnored = true
        take = () => impatience.abort()
      }
    },
    wasIgnored: () => isIgnored,
    release() {
      for (const signal of ENDING) process.off(signal, handler)
    },
  }
}

/** @returns what a shell makes of an end by a signal */
export const exitCodeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal]

/**
 * @returns the exit code; 128 and the number of the signal where one ended it
 * @throws {CommandFailure} where there is no such program, or it cannot be started
 */
export function runChild(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  ending: EndingSignals,
  route: SignalRoute = DIRECT,
): Promise<number> {
  const [program = '', ...args] = command
  return new Promise<number>((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...env },
      stdio: ['inherit', 'inherit', 'inherit', ...(route.isTold ? (['pipe'] as const) : [])],
    })
    const stopForwarding = forwardSignals(child, ending, route)
    child.on('error', (thrown) => {
      if (child.pid !== undefined) return route.unsent?.()
      stopForwarding()
      reject(thrown)
    })
    child.once('exit', (code, signal) => {
      stopForwarding()
      resolve(code ?? (signal ? exitCodeOf(signal) : Exit.failed))
    })
  }).catch((thrown: unknown) => {
    throw notStarted(program, thrown)
  })
}

/** @param thrown what `spawn` says, in its event or at once */
export function notStarted(program: string, thrown: unknown): CommandFailure {
  const isMissing = thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT'
  return isMissing
    ? new CommandFailure(Exit.notFound, `There is no program ${program}. Check its name, or give its path.`)
    : new CommandFailure(Exit.notStarted, `${program} could not be started: may this user run it?`)
}

function forwardSignals(child: ChildProcess, ending: EndingSignals, route: SignalRoute): () => void {
  const send = senderTo(child, route)
  // By the descriptors: `process.stdin` would make a stream of what the program reads, after which nobody waits there for what comes.
  const isOnTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor))
  const tell = (signal: NodeJS.Signals) => {
    if (route.isApart || !(OF_TERMINAL.has(signal) && isOnTerminal)) send(signal)
  }
  for (const signal of OTHERS) process.on(signal, tell)
  ending.passTo(tell)
  return () => {
    ending.ignore()
    for (const signal of OTHERS) process.off(signal, tell)
  }
}

function senderTo(child: ChildProcess, { isTold }: SignalRoute): (signal: NodeJS.Signals) => void {
  const line = child.stdio[3] as Writable | null | undefined
  if (!isTold || !line) return (signal) => child.kill(signal)
  // It has ended, and nobody has to be told any more.
  line.on('error', () => {})
  return (signal) => line.write(`${signal}\n`)
}
