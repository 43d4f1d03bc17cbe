// Makes the file of domains from packages of npm, which are installed for development only: of 11 MB the gateway needs a table.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { toAscii } from '../domain.ts'
import { type ListOrigin, writeListFile } from '../list-file.ts'
import { MISSPELT_PROVIDERS } from '../providers.ts'
import { CURATED, FREE, OTHERS } from '../sources.ts'

/** Packages say their version, not their day: it is looked up for each version (`npm view <name> time`). */
const PUBLISHED: Readonly<Record<string, string>> = {
  'disposable-email-domains-js 1.26.0': '2026-09-21',
  'disposable-domains 2.0.1': '2026-08-24',
  'mailchecker 6.0.21': '2026-07-18',
  'freemail 1.7.0': '2024-12-13',
}
/** This many of the other lists have to agree. */
const VOTES = 2

const SOURCES: readonly (readonly [bit: number, name: string, read: (name: string) => unknown])[] = [
  [
    CURATED,
    'disposable-email-domains-js',
    (name) => (load(name) as { disposableEmailBlocklist(): unknown }).disposableEmailBlocklist(),
  ],
  [FREE, 'freemail', (name) => linesOf(name, 'data/free.txt')],
  [OTHERS[0], 'disposable-domains', (name) => load(name)],
  [OTHERS[1], 'mailchecker', (name) => [...(load(name) as { blacklist(): Set<unknown> }).blacklist()]],
  [OTHERS[2], 'freemail', (name) => linesOf(name, 'data/disposable.txt')],
]

/** @returns the text of src/data/files/email-domains.txt @throws {Error} when the day of a version is not known yet */
export function makeListFile(): string {
  const values = new Map<string, number>()
  const origins: ListOrigin[] = []
  for (const [bit, name, read] of SOURCES) {
    origins.push(originOf(bit, name))
    for (const domain of toNames(read(name)))
      if (bit !== FREE || !MISSPELT_PROVIDERS.has(domain)) values.set(domain, (values.get(domain) ?? 0) | bit)
  }
  const others = OTHERS.reduce((sum, bit) => sum | bit, 0)
  for (const [domain, value] of values) {
    if (countBits(value & others) >= VOTES) continue
    if ((value & ~others) === 0) values.delete(domain)
    else values.set(domain, value & ~others)
  }
  return writeListFile({ origins, values })
}

function countBits(value: number): number {
  let count = 0
  for (let rest = value; rest !== 0; rest &= rest - 1) count++
  return count
}

const fromHere = createRequire(import.meta.url)
const load = (name: string): unknown => fromHere(name)
const folderOf = (name: string) => dirname(fromHere.resolve(`${name}/package.json`))
const linesOf = (name: string, file: string) => readFileSync(join(folderOf(name), file), 'utf8').split('\n')

function originOf(bit: number, name: string): ListOrigin {
  const { version, license } = JSON.parse(readFileSync(join(folderOf(name), 'package.json'), 'utf8')) as {
    version: string
    license: string
  }
  const label = `${name} ${version}`
  const date = PUBLISHED[label]
  if (date === undefined)
    throw new Error(`${label}: look up the day it was published, and add it to PUBLISHED`)
  return { bit, name: label, date, licence: license }
}

/** Lower-case A-labels; what is no domain (lists have an error page's first line in them) is left out. */
function toNames(list: unknown): string[] {
  if (!Array.isArray(list)) throw new TypeError('a list of domains is not a list')
  const names: string[] = []
  for (const entry of list) {
    const name = typeof entry === 'string' ? toAscii(entry) : undefined
    if (name !== undefined) names.push(name)
  }
  return names
}
