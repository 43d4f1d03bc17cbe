// A real PKCS#11 token in software (SoftHSM, from Debian), set up with OpenSC's tool as an operator sets up a token, and the
// package that calls it, which `.ci/install-programs` compiles beside the other programs.
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export const SOFTHSM = '/usr/lib/softhsm/libsofthsm2.so'
/** Where `pkcs11js` is; Node looks there for what is required, as in a folder of the installation. */
export const PACKAGES = join(process.env['TEST_PROGRAMS_PATH'] ?? '', '../node_modules')

export interface SoftHsm {
  readonly directory: string
  readonly tokens: string
  readonly pinFile: string
  readonly pin: string
  /** Variables that the library and its tools are configured by. */
  readonly env: Readonly<Record<string, string>>
  /** What the configuration calls a key. @param attributes e.g. `object=agent-gateway` */
  uri(attributes: string, pinFile?: string): string
  initToken(label: string): Promise<void>
  /** OpenSC's tool, logged in as the user of the first token. */
  tool(...args: string[]): Promise<string>
  makeKey(label: string, id: string, type?: string): Promise<void>
  close(): Promise<void>
}

export async function createSoftHsm(): Promise<SoftHsm> {
  const directory = await mkdtemp(join(tmpdir(), 'agw-hsm-'))
  const tokens = join(directory, 'tokens')
  const pinFile = join(directory, 'pin')
  const pin = '826491'
  const env = { SOFTHSM2_CONF: join(directory, 'softhsm2.conf') }
  await mkdir(tokens)
  await writeFile(env.SOFTHSM2_CONF, `directories.tokendir = ${tokens}\n`)
  await writeFile(pinFile, `${pin}\n`, { mode: 0o600 })
  const inEnv = { env: { ...process.env, ...env } }

  async function tool(...args: string[]): Promise<string> {
    const login = ['--module', SOFTHSM, '--token-label', 'gateway', '--login', '--pin', pin]
    return (await run('/usr/bin/pkcs11-tool', [...login, ...args], inEnv)).stdout
  }
  async function initToken(label: string): Promise<void> {
    const pins = ['--pin', pin, '--so-pin', '5678']
    await run('/usr/bin/softhsm2-util', ['--init-token', '--free', '--label', label, ...pins], inEnv)
  }
  await initToken('gateway')
  return {
    directory,
    tokens,
    pinFile,
    pin,
    env,
    initToken,
    tool,
    uri: (attributes, file = pinFile) =>
      `pkcs11:token=gateway;${attributes}?module-path=${SOFTHSM}&pin-source=file:${file}`,
    async makeKey(label, id, type = 'EC:prime256v1') {
      await tool('--keypairgen', '--key-type', type, '--label', label, '--id', id, '--usage-derive')
    },
    async close() {
      // A test may have taken it away.
      await chmod(directory, 0o700)
      await rm(directory, { recursive: true })
    },
  }
}

/** Processes with this in their command line, by their ids. @param parent that started them, where it matters */
export async function processesOf(command: string, parent?: number): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const [stat, line] = await Promise.all([
        readFile(`/proc/${name}/stat`, 'utf8'),
        readFile(`/proc/${name}/cmdline`, 'utf8'),
      ])
      const [state, startedBy] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const isOfParent = parent === undefined || Number(startedBy) === parent
      if (isOfParent && state !== 'Z' && line.includes(command)) found.push(Number(name))
    } catch {
      // It ended meanwhile.
    }
  }
  return found
}

/** Processes of this one that have a token's library in them, by their ids. */
export const tokenProcesses = () => processesOf('pkcs11/process.ts', process.pid)

/** Names and values that a process was started with. */
export async function environmentOf(pid: number): Promise<string[]> {
  return (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0').filter((pair) => pair !== '')
}
