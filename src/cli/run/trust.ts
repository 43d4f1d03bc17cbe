// The files of a run, with certificates that its program trusts above all, in a folder (0700) of the run that is gone afterwards.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import { javaTrustStore } from '../../interception/java-trust-store.ts'
import { NODE_AGENTS } from './node-agents.ts'
import type { TrustFiles } from './variables.ts'

/** Where the people of this machine say what is trusted beside the system's store. */
const NAMED_BY = ['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS'] as const

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

export interface RunFolder extends TrustFiles {
  readonly path: string
  /** The same as the bundle, as Java reads it. */
  readonly javaStore: string
  /** What programs of Node load first. */
  readonly nodeAgents: string
  remove(): Promise<void>
}

/** @param own PEM of the door's authority */
export async function makeRunFolder(
  own: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<RunFolder> {
  const path = await mkdtemp(join(tmpdir(), 'agent-gateway-run-'))
  const roots = await machineRoots(env)
  const files = await writeFiles(path, own, roots)
  const javaStore = join(path, 'trust.jks')
  const blocks = [...roots, own].flatMap((pems) => pems.match(PEM) ?? [])
  await writeFile(javaStore, javaTrustStore(blocks, Date.now()), { mode: 0o600 })
  const nodeAgents = join(path, 'node-agents.cjs')
  await writeFile(nodeAgents, NODE_AGENTS, { mode: 0o600 })
  return { path, ...files, javaStore, nodeAgents, remove: () => rm(path, { recursive: true, force: true }) }
}

/** Writes `ca.pem` and `bundle.pem` into a folder that is there. */
export async function writeTrustFiles(
  folder: string,
  own: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<TrustFiles> {
  return await writeFiles(folder, own, await machineRoots(env))
}

async function writeFiles(folder: string, own: string, roots: readonly string[]): Promise<TrustFiles> {
  const files = { own: join(folder, 'ca.pem'), bundle: join(folder, 'bundle.pem') }
  // Anybody may read certificates, and nobody else may add one.
  await writeFile(files.own, own, { mode: 0o644 })
  await writeFile(files.bundle, [...roots, own].join('\n'), { mode: 0o644 })
  return files
}

async function machineRoots(env: Readonly<Record<string, string | undefined>>): Promise<readonly string[]> {
  const named = await Promise.all(
    NAMED_BY.map(async (name) => (env[name] ? readFile(env[name], 'utf8').catch(() => '') : '')),
  )
  const roots = new Set(
    [...getCACertificates('bundled'), ...getCACertificates('system')].map((pem) => pem.trim()),
  )
  return [...roots, ...named]
}
