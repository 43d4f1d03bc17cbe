// The command line and the gateway as processes, without the launcher.
import { dirname } from 'node:path'
import { finish, type Finished, start, type Started } from './process.ts'
import { programFile } from './program-bundle.ts'
import { type OnTerminal, startOnTerminal } from './terminal.ts'

export const COMMAND = programFile('cli')

/** What the launcher does, which is not in front here: it hides what Node 22 says of node:sqlite, and lets a process end for certain. */
const NODE_FLAGS = ['--disable-warning=ExperimentalWarning', '--no-concurrent-sparkplug']

/** Nothing of the machine's own configuration, only what a process needs to run. */
export const bareEnv = (env: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
  ...env,
})

export const runCli = (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input?: string,
): Promise<Finished> =>
  finish(process.execPath, [...NODE_FLAGS, COMMAND, ...args], {
    env: bareEnv(env),
    ...(input === undefined ? {} : { input }),
  })

/** A script in which `agent-gateway` is the command line: what a shell does around it. */
export const runShell = (script: string, env: Readonly<Record<string, string>>): Promise<Finished> =>
  finish(
    'bash',
    ['-c', `agent-gateway() { '${process.execPath}' ${NODE_FLAGS.join(' ')} '${COMMAND}' "$@"; }\n${script}`],
    { env: bareEnv(env) },
  )

export const startCli = (args: readonly string[], env: Readonly<Record<string, string>>): Started =>
  start(process.execPath, [...NODE_FLAGS, COMMAND, ...args], { env: bareEnv(env), stdin: 'pipe' })

/** On a terminal of its own. */
export const startCliOnTerminal = (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): OnTerminal => startOnTerminal([process.execPath, ...NODE_FLAGS, COMMAND, ...args], bareEnv(env))

export interface GatewayProcess extends Started {
  /** Resolves with the address once the gateway answers requests. */
  readonly listening: Promise<string>
}

/**
 * What `npm start` runs. The test that starts it ends it.
 * @param options.upstreamsOnLoopback upstreams of the test on 127.0.0.1 count as public
 */
export function startGatewayProcess(
  env: Readonly<Record<string, string>>,
  options: { readonly upstreamsOnLoopback?: boolean } = {},
): GatewayProcess {
  const main = programFile(options.upstreamsOnLoopback ? 'loopback-gateway' : 'main')
  const started = start(process.execPath, [...NODE_FLAGS, main], { env: bareEnv(env) })
  const listening = started.until('stdout', /^listening on (\S+)$/m).then((match) => match[1]!)
  // Whoever expects a failed start looks at `ended` and never at this.
  listening.catch(() => {})
  return { ...started, listening }
}
