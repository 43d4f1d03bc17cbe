// `env`: the variables by which programs of a build find the proxy of a running gateway.
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { loadConfig } from '../../app/config.ts'
import { findRunning } from '../../app/running.ts'
import { CA_PATH } from '../../doors/proxy/index.ts'
import { openProviders } from '../../egress/adapters/providers-file.ts'
import type { Provider } from '../../egress/providers/index.ts'
import { nearestTo } from '../../lib/edit-distance.ts'
import { CommandFailure, Exit } from '../exit.ts'
import { collect } from '../options.ts'
import { formatValue } from '../output.ts'
import { readSecret } from '../secrets.ts'
import { writeTrustFiles } from './trust.ts'
import {
  awsVariables,
  placeholderVariables,
  proxyVariables,
  toEnvFile,
  toShell,
  trustVariables,
} from './variables.ts'

interface EnvOptions {
  readonly capabilityFile?: string
  readonly proxy?: string
  readonly provider?: readonly string[]
  readonly folder?: string
  readonly format: keyof typeof FORMATS
}

const FORMATS = { shell: toShell, 'env-file': toEnvFile }

/** `env`: prints `export` lines, or those of an `--env-file`. */
export function addEnvCommand(program: Command): void {
  program
    .command('env')
    .description('print the variables with which programs use the proxy of a running gateway')
    .option('--capability-file <file>', 'the capability that they get; default stdin')
    .option('--proxy <url>', 'the proxy; default that of the gateway which owns the data directory')
    .option('--provider <id>', 'put a placeholder where its programs look for their key; repeatable', collect)
    .option(
      '--folder <path>',
      'where the certificates are written; default proxy-trust in the data directory',
    )
    .addOption(
      new Option(
        '--format <format>',
        'for a shell, or for --env-file of docker and podman and for $GITHUB_ENV',
      )
        .choices(Object.keys(FORMATS))
        .default('shell'),
    )
    .addHelpText(
      'after',
      `
The gateway has to run with GATEWAY_PROXY_PORT. The lines hold the capability: they are for a shell that you trust with it, and \`run\` gives a
program none at all.

Examples:
  eval "$(agent-gateway env --capability-file agent.cap --provider openai)"
  agent-gateway env --capability-file agent.cap --folder trust --format env-file > agent.env`,
    )
    .action(async (options: EnvOptions) => {
      const config = loadConfig(process.env)
      const providers = (await openProviders(config.providersFile)).list()
      for (const id of options.provider ?? []) refuseUnknownProvider(id, providers)
      const proxy = options.proxy ?? (await findRunning(config.dataDir))?.proxy_url
      if (proxy === undefined || !URL.canParse(proxy))
        throw new CommandFailure(
          Exit.unreachable,
          'No proxy runs here. Start the gateway with GATEWAY_PROXY_PORT, or name the proxy with --proxy http://127.0.0.1:PORT.',
        )
      const address = new URL(proxy)
      refusePassword(address)
      const capability = await readSecret('capability', options.capabilityFile)
      // A folder that is named may be mounted into a container, where another user reads it.
      const [folder, mode] = options.folder
        ? [resolve(options.folder), 0o755]
        : [join(config.dataDir, 'proxy-trust'), 0o700]
      await mkdir(folder, { recursive: true, mode })
      const files = await writeTrustFiles(folder, await readAuthority(address), process.env)
      address.username = 'agent'
      capability.use((token) => (address.password = token))
      process.stdout.write(
        FORMATS[options.format]({
          ...proxyVariables(address.href.replace(/\/$/, '')),
          ...trustVariables(files),
          ...awsVariables,
          ...placeholderVariables(providers, new Set(options.provider)),
        }),
      )
    })
}

function refuseUnknownProvider(id: string, providers: readonly Provider[]): void {
  const known = providers.map((provider) => provider.id)
  if (known.includes(id)) return
  const nearest = nearestTo(id, known)
  throw new CommandFailure(
    Exit.usage,
    `--provider: there is no provider ${formatValue(id)}.${nearest === undefined ? '' : ` Did you mean ${nearest}?`} Those with a placeholder: ${providers
      .filter(({ variables }) => variables.length > 0)
      .map((provider) => provider.id)
      .join(', ')}.`,
  )
}

/** An address that holds a secret is not repeated: what failed stands in the log of a build. */
function refusePassword({ username, password }: URL): void {
  if (username === '' && password === '') return
  throw new CommandFailure(
    Exit.usage,
    '--proxy takes the address without a user and a password: http://127.0.0.1:PORT. The capability is read from stdin, or from --capability-file.',
  )
}

async function readAuthority(proxy: URL): Promise<string> {
  try {
    const answer = await fetch(new URL(CA_PATH, proxy), { signal: AbortSignal.timeout(5_000) })
    const text = await answer.text()
    if (answer.ok && text.startsWith('-----BEGIN CERTIFICATE-----')) return text
  } catch {
    // It is said below.
  }
  throw new CommandFailure(Exit.unreachable, `No proxy of a gateway answers at ${proxy.origin}.`)
}
