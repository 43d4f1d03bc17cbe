// Gets the node of the sandbox's chains where it did not come with the gateway: npm installs one package of a fixed version into the data
// directory, compares its digest, and runs nothing of it.
import { execFile } from 'node:child_process'
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installedAnvil, installFolder } from './anvil.ts'
import { ANVIL_VERSION, pinOfThisMachine } from './anvil-pins.ts'

const INSTALL_MS = 10 * 60_000

/** Why it was not installed, in a sentence that says what to do. */
export class InstallError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'InstallError'
  }
}

/**
 * Installs the node for this machine, once. What is half installed is never used: the folder gets its name when it is whole.
 *
 * @param env what npm is started with, without the gateway's own variables: they may hold keys
 * @returns where its program lies @throws {InstallError}
 */
export async function installAnvil(
  dataDir: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const pin = pinOfThisMachine()
  if (pin === undefined)
    throw new InstallError(
      `There is no embedded chain for ${process.platform}-${process.arch}. Set GATEWAY_RPC_8453 and GATEWAY_RPC_84532 to nodes of yours.`,
    )
  const program = installedAnvil(dataDir, pin.name)
  if (await exists(program)) return program
  const folder = installFolder(dataDir)
  const half = `${folder}.${process.pid}`
  try {
    await mkdir(half, { recursive: true, mode: 0o700 })
    await writeFile(join(half, 'package.json'), JSON.stringify(manifestOf(pin.name)))
    await writeFile(join(half, 'package-lock.json'), JSON.stringify(lockOf(pin)))
    await runNpm(half, env)
    await rename(half, folder).catch(async (thrown: unknown) => {
      // Another process was faster.
      if (!(await exists(program))) throw thrown
    })
  } catch (thrown) {
    throw thrown instanceof InstallError
      ? thrown
      : new InstallError(`${folder} cannot be written: ${(thrown as Error).message}`, { cause: thrown })
  } finally {
    await rm(half, { recursive: true, force: true })
  }
  return program
}

const manifestOf = (name: string) => ({ private: true, dependencies: { [name]: ANVIL_VERSION } })

/** A lock file, so that npm refuses whatever has another digest, from whichever registry it is set to. */
const lockOf = ({ name, integrity }: { name: string; integrity: string }) => ({
  lockfileVersion: 3,
  requires: true,
  packages: {
    '': manifestOf(name),
    [`node_modules/${name}`]: { version: ANVIL_VERSION, integrity },
  },
})

async function runNpm(folder: string, env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const own = Object.entries(env).filter(([name]) => !name.startsWith('GATEWAY_'))
  try {
    await promisify(execFile)(
      'npm',
      ['ci', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
      {
        cwd: folder,
        env: Object.fromEntries(own),
        timeout: INSTALL_MS,
        shell: process.platform === 'win32',
        windowsHide: true,
      },
    )
  } catch (cause) {
    const { code, stderr } = cause as { code?: unknown; stderr?: string }
    if (code === 'ENOENT')
      throw new InstallError(
        'npm was not found. It comes with Node: install it, or add its folder to PATH.',
        {
          cause,
        },
      )
    const said = (stderr ?? '').split('\n').find((line) => line.trim() !== '') ?? 'it did not end in time'
    throw new InstallError(`npm could not install it: ${said.slice(0, 300)}`, { cause })
  }
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )
