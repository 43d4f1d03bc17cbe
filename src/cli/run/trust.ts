// The files of a run, with certificates that its program trusts above all, in a folder (0700) of the run that is gone afterwards.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { getCACertificates } from 'node:tls'
import { javaTrustStore } from '../../interception/java-trust-store.ts'
import { formatValue } from '../output.ts'
import { NODE_AGENTS } from './node-agents.ts'
import { type TrustFiles, trustVariables } from './variables.ts'

/** Our variables, with the file that each is given. What they name already is merged into that file, since ours stand over it. */
const VARIABLES = Object.entries(trustVariables({ bundle: 'bundle', own: 'own' }))

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g
/** OpenSSL writes further kinds, and reads them all alike. */
const PEM_OF_ANY_KIND =
  /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[^-]+-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g

type Env = Readonly<Record<string, string | undefined>>

export interface RunFolder extends TrustFiles {
  readonly path: string
  /** The same as the bundle, as Java reads it. */
  readonly javaStore: string
  /** What programs of Node load first. */
  readonly nodeAgents: string
  remove(): Promise<void>
}

/** @param own PEM of the door's authority */
export async function makeRunFolder(own: string, env: Env): Promise<RunFolder> {
  // TMPDIR may be relative, and the program reads these files from wherever it goes.
  const path = await mkdtemp(join(resolve(tmpdir()), 'agent-gateway-run-'))
  const files = await writeTrustFiles(path, own, env)
  const javaStore = join(path, 'trust.jks')
  const blocks = (await readFile(files.bundle, 'utf8')).match(PEM) ?? []
  await writeFile(javaStore, javaTrustStore(blocks, Date.now()), { mode: 0o600 })
  const nodeAgents = join(path, 'node-agents.cjs')
  await writeFile(nodeAgents, NODE_AGENTS, { mode: 0o600 })
  return { path, ...files, javaStore, nodeAgents, remove: () => rm(path, { recursive: true, force: true }) }
}

/** Writes `ca.pem` and `bundle.pem` into a folder that is there. Says on stderr which certificates that a variable names are not in them. */
export async function writeTrustFiles(folder: string, own: string, env: Env): Promise<TrustFiles> {
  const files = { own: join(folder, 'ca.pem'), bundle: join(folder, 'bundle.pem') }
  const named = await readNamed(folder, env)
  const namedFor = (file: keyof TrustFiles) =>
    VARIABLES.filter(([, of]) => of === file).flatMap(([name]) => named.get(name) ?? [])
  const machine = [...getCACertificates('bundled'), ...getCACertificates('system')]
  const write = (path: string, pems: readonly string[]) =>
    // Anybody may read certificates, and nobody else may add one.
    writeFile(path, `${[...new Set(pems.map((pem) => pem.trim()))].join('\n')}\n`, { mode: 0o644 })
  await write(files.own, [own, ...namedFor('own')])
  await write(files.bundle, [...machine, ...[...named.values()].flat(), own])
  return files
}

/**
 * Certificates that the variables name already, and nothing else that stands in those files: a key may stand beside them.
 * @returns by the name of the variable
 */
async function readNamed(folder: string, env: Env): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>()
  const told = new Set<string>()
  for (const [name] of VARIABLES) {
    const file = env[name]
    // What stands in the folder was written by this command before.
    if (!file || dirname(resolve(file)) === resolve(folder)) continue
    const text = await readFile(file, 'utf8').catch(() => '')
    const pems = text.match(PEM_OF_ANY_KIND) ?? []
    found.set(name, pems)
    if (pems.length > 0 || told.has(file)) continue
    told.add(file)
    process.stderr.write(
      `agent-gateway: ${name} names ${formatValue(file)}, of which no certificate can be read: the program does not trust what is in there.\n`,
    )
  }
  return found
}
