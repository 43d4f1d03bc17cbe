// `sandbox install`, and the question that a start asks instead: the node of the sandbox's chains does not come with the published package.
import type { Command } from 'commander'
import { loadConfig } from '../app/config.ts'
import type { Config } from '../core/config.ts'
import { ConfigError } from '../core/errors.ts'
import { installAnvil, InstallError } from '../sandbox/install.ts'
import { canInstall, missingSandboxPackage } from '../sandbox/packages.ts'
import { confirm } from './confirm.ts'
import { CommandFailure, Exit } from './exit.ts'
import { printLine } from './output.ts'

/** Adds `sandbox install`. */
export function addSandboxCommands(program: Command): void {
  const sandbox = program.command('sandbox').description('what a sandbox needs besides the gateway')
  sandbox
    .command('install')
    .description('get the node that sandbox chains run on (anvil, 43 MB), once for each data directory')
    .addHelpText(
      'after',
      `
npm installs one package of a fixed version from the registry that it is set to, compares its SHA-512 with the one in this release, and runs
no script of it. It lies in GATEWAY_DATA_DIR/programs afterwards; delete that folder to be rid of it. Production never uses it.`,
    )
    .action(async () => {
      const config = loadConfig(process.env)
      printLine(`Installed: ${await install(config)}`)
    })
}

/**
 * Before a sandbox starts for somebody who will want to pay in it: what is missing is installed where a person says yes.
 * @throws {CommandFailure} missing: nobody can be asked, or the answer is no
 */
export async function ensureSandboxPackages(
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const config = readValid(env)
  if (config?.mode !== 'sandbox' || !canInstall()) return
  const missing = missingSandboxPackage(config)
  if (missing === undefined) return
  const words = `${missing} Or start without: \`agent-gateway serve --without-test-payments\`. Nothing was started.`
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new CommandFailure(Exit.missing, words)
  await confirm('Sandbox chains need anvil, which is not installed. Install it now (43 MB)?', words).catch(
    () => {
      throw new CommandFailure(Exit.missing, words)
    },
  )
  await install(config)
}

/** @returns undefined where a variable is wrong: whoever starts with it says what, all of it at once */
function readValid(env: Readonly<Record<string, string | undefined>>): Config | undefined {
  try {
    return loadConfig(env)
  } catch (thrown) {
    if (thrown instanceof ConfigError) return undefined
    throw thrown
  }
}

async function install({ dataDir }: Config): Promise<string> {
  try {
    return await installAnvil(dataDir, process.env)
  } catch (thrown) {
    if (thrown instanceof InstallError) throw new CommandFailure(Exit.failed, thrown.message)
    throw thrown
  }
}
