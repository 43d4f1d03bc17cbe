// The files with certificates that a run's program trusts: 0600, in a folder of the run that is gone afterwards.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import type { TrustFiles } from './variables.ts'

/** Where the people of this machine say what is trusted beside the system's store. */
const NAMED_BY = ['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS'] as const

export interface RunFolder extends TrustFiles {
  readonly path: string
  remove(): Promise<void>
}

/** @param own PEM of the door's authority */
export async function makeRunFolder(
  own: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<RunFolder> {
  const path = await mkdtemp(join(tmpdir(), 'agent-gateway-run-'))
  const files = await writeTrustFiles(path, own, env)
  return { path, ...files, remove: () => rm(path, { recursive: true, force: true }) }
}

/** Writes `ca.pem` and `bundle.pem` into a folder that is there. */
export async function writeTrustFiles(
  folder: string,
  own: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<TrustFiles> {
  const files = { own: join(folder, 'ca.pem'), bundle: join(folder, 'bundle.pem') }
  await writeFile(files.own, own, { mode: 0o600 })
  await writeFile(files.bundle, [...(await machineRoots(env)), own].join('\n'), { mode: 0o600 })
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
