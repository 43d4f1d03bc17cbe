// What child processes compile of the sources is kept for the whole run, under the digest of each source: a gateway then
// starts in half the time, and some suites start one for every case. A process that is killed keeps nothing.
import { existsSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeFolder } from './remove-folder.ts'

const VARIABLE = 'GATEWAY_TEST_COMPILE_CACHE'

/** Once a run. @returns what removes it */
export async function openCompileCache(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-compiled-'))
  process.env[VARIABLE] = folder
  return () => removeFolder(folder)
}

/** Variables for a child process. */
export function compileCacheEnv(): Readonly<Record<string, string>> {
  const folder = process.env[VARIABLE]
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder }
}

/** @param fill starts and ends, in order, a process that loads what `what` names; only where no suite did before */
export async function fillCompileCache(what: string, fill: () => Promise<void>): Promise<void> {
  const folder = process.env[VARIABLE]
  if (folder === undefined) return
  const mark = join(folder, `${what}.filled`)
  if (existsSync(mark)) return
  await fill()
  await writeFile(mark, '')
}
