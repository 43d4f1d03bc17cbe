// An operator's own providers, read once at start. A mistake in them stops the start, with everything that is wrong in words: a
// gateway that ran without half of its providers would fail later, and elsewhere.
import { readFile } from 'node:fs/promises'
import { ConfigError } from '../../core/errors.ts'
import { builtIn, createProviders, type Providers } from '../providers/index.ts'
import { readOwnProviders } from '../providers/schema.ts'

const VARIABLE = 'GATEWAY_PROVIDERS_FILE'

/** @throws {ConfigError} when the file cannot be read or says something that cannot be */
export async function openProviders(file: string | undefined): Promise<Providers> {
  if (file === undefined) return createProviders()
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unreadable'
    throw new ConfigError([`${VARIABLE}: ${file} cannot be read (${code})`])
  }
  const read = readOwnProviders(text, new Set(builtIn.map(({ id }) => id)))
  if (!read.ok) throw new ConfigError(read.problems.map((problem) => `${VARIABLE}: ${problem}`))
  return createProviders(read.providers)
}
