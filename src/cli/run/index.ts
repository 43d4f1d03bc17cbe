// `run` and `env`: programs that know nothing of the gateway.
import { type Command, Option } from 'commander'
import { loadConfig } from '../../app/config.ts'
import { findRunning } from '../../app/running.ts'
import type { Config } from '../../core/config.ts'
import { UNKNOWN_HOSTS, type UnknownHosts } from '../../doors/proxy/ports.ts'
import { connect, givenUpWith } from '../client.ts'
import { type EmbeddedSandbox, startEmbeddedSandbox } from '../embedded.ts'
import { CommandFailure, Exit } from '../exit.ts'
import { addConnectionOptions, collect, type ConnectionOptions } from '../options.ts'
import { readSecret } from '../secrets.ts'
import { holdCapability, holdCredentials } from './held.ts'
import { createDryRun } from './dry-run.ts'
import { filesNamedIn } from './gateway-data.ts'
import { readPolicy } from './policy.ts'
import { runProgram } from './session.ts'
import { letReaderGo, say } from './words.ts'

interface RunOptions extends ConnectionOptions {
  readonly credential?: readonly string[]
  readonly capabilityFile?: string
  readonly unknown: UnknownHosts
  readonly policy?: string
  readonly dryRun?: true
  readonly sandbox?: true
  readonly gatewayData?: string
  readonly summary?: string
}

/** `run -- <command>`. */
export function addRunCommand(program: Command): void {
  addConnectionOptions(program.command('run'))
    .description('start a program that sees placeholders, and put the secrets in on its way out')
    .argument('<command...>', 'the program and its arguments, after --')
    .option(
      '--credential <id>',
      'a stored credential it may use, by id or label; repeatable; default all',
      collect,
    )
    .option('--capability-file <file>', 'use this capability instead of a service key')
    .addOption(
      new Option('--unknown <policy>', 'hosts without a credential').choices(UNKNOWN_HOSTS).default('deny'),
    )
    .option('--policy <file>', 'rules for what it may call, one a line; see `policy suggest`')
    .option('--dry-run', 'refuse nothing by the policy; write down what is called, and what the policy says')
    .option('--sandbox', 'no network but the proxy (Linux: bubblewrap; macOS: sandbox-exec)')
    .option(
      '--gateway-data <directory>',
      'with --sandbox: data of a gateway on this machine, where it is not found; `none` where none can be read',
    )
    .option('--summary <file>', 'write what happened to this file, as JSON')
    .addHelpText(
      'after',
      `
The program gets HTTPS_PROXY, the variables by which programs learn whom to trust, and a placeholder where it looks for its key. Each request to a host
of a credential is one attempt: checked, paid, sent once with the secret, its answer searched, with a receipt. No secret and no
capability is in its environment. Other hosts are denied, passed on unopened (tunnel), or opened and passed on without a credential (inspect).
With --policy those of its tunnel lines are passed on unopened, and all others denied, whatever --unknown says.
With --sandbox nothing is started where the gateway is on this machine and its data directory, which is hidden, is not found: --gateway-data names it.
Without --sandbox a program that wants to can go around the proxy, and read whatever this user may read.
Works with the gateway that --url names, that GATEWAY_BASE_URL names or that owns the data directory; else a sandbox runs in this process.
The exit code is the program's (128 and the number of the signal that ended it), 127 where there is no such program and 126 where it could not be started.
What happened is told on stderr.

Example:
  agent-gateway run --credential openai --unknown tunnel -- python3 ask.py`,
    )
    .configureOutput({ outputError: (text, write) => write(text + whatToDo(text)) })
    .action(async (command: string[], options: RunOptions) => {
      try {
        process.exitCode = await run(command, options)
      } finally {
        // What failed is still to be said.
        letReaderGo()
      }
    })
}

/** `run curl -s …`: the option is the program's, and stands where those of `run` do. */
const whatToDo = (error: string): string =>
  error.includes('unknown option')
    ? 'Options of the program stand after --, and those of run before it: agent-gateway run -- PROGRAM [options]\n'
    : ''

async function run(command: readonly string[], options: RunOptions): Promise<number> {
  if (options.credential !== undefined && options.capabilityFile !== undefined)
    throw new CommandFailure(
      Exit.usage,
      'Give --credential or --capability-file, not both: a capability is for its credential.',
    )
  if (options.gatewayData !== undefined && !options.sandbox)
    throw new CommandFailure(
      Exit.usage,
      '--gateway-data is for --sandbox: without it nothing is hidden from the program.',
    )
  const policy = options.policy === undefined ? undefined : await readPolicy(options.policy)
  const held = options.dryRun ? undefined : policy
  // Else a host that no rule is for would pass, and what none fits is refused.
  const unknown = held ? 'deny' : options.unknown
  if (unknown !== options.unknown)
    say(
      `agent-gateway run: the policy decides, not --unknown ${options.unknown}: of the hosts without a credential those of its \`tunnel\` lines pass.\n`,
    )
  const config = loadConfig(process.env)
  const sandbox = await findGateway(options, config)
  try {
    const client = await connect(sandbox ? { ...options, url: sandbox.url } : options)
    const giveUp = new AbortController()
    const asked = givenUpWith(client, giveUp.signal)
    const label = `run ${command[0] ?? ''}`.slice(0, 100)
    const holder =
      options.capabilityFile === undefined
        ? await holdCredentials(asked, options.credential, { label, policy: held })
        : holdCapability(asked, await readSecret('capability', options.capabilityFile), {
            label,
            policy: held,
          })
    return await runProgram({
      client,
      holder,
      giveUp,
      config: sandbox?.config ?? config,
      unknown,
      policy,
      dryRun: options.dryRun && createDryRun(policy),
      isSandboxed: options.sandbox === true,
      gatewayData: options.gatewayData,
      secretFiles: secretFilesOf(options),
      command,
      env: process.env,
      summaryFile: options.summary,
    })
  } finally {
    await sandbox?.close()
  }
}

/** Whatever the options and the environment name as a file of this gateway: most of them hold a key. */
const secretFilesOf = ({ capabilityFile, keyFile }: RunOptions): readonly string[] => [
  ...[capabilityFile, keyFile].filter((file) => file !== undefined),
  ...filesNamedIn(process.env),
]

/** @returns a sandbox in this process where no gateway is named and none runs */
async function findGateway(options: RunOptions, config: Config): Promise<EmbeddedSandbox | undefined> {
  if ((options.url ?? config.baseUrl ?? (await findRunning(config.dataDir))) !== undefined) return undefined
  if (config.mode === 'production')
    throw new CommandFailure(
      Exit.unreachable,
      'No gateway runs: start it with `agent-gateway serve`, or name one with --url. (Only a sandbox runs in this process.)',
    )
  // Its log would be between the lines of the program.
  return await startEmbeddedSandbox({ ...config, logLevel: 'error' })
}
