// What the processes of a run compile is kept for the whole run, under the digest of each source. A gateway then starts in half the
// time, and some suites start one for every case; the store's thread, which hundreds of tests open, in two thirds; a test file costs
// its worker a sixth less. A process that is killed keeps nothing.
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
  // The workers start later than this, with what stands here; their threads share what they keep.
  process.env['NODE_COMPILE_CACHE'] = folder
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
