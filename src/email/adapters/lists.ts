// Brings the lists of the installed packages and the one that the operator refreshed together in one compact table. Half a
// second of work and fifty megabytes on the way: lists-process.ts does it in a process of its own.
import { toAscii } from '../domain.ts'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { buildNameTable } from '../compact-set.ts'
import { MISSPELT_PROVIDERS } from '../providers.ts'
import { CURATED, FREE, type ListSource, OTHERS, type CompactLists, REFRESHED } from '../sources.ts'
import type { RefreshedList } from './refreshed.ts'

/** Packages say their version, not their day: it is known for the versions that were looked at. */
const PUBLISHED: Readonly<Record<string, string>> = {
  'disposable-email-domains-js 1.26.0': '2026-09-21',
  'disposable-domains 2.0.1': '2026-08-24',
  'mailchecker 6.0.21': '2026-07-18',
  'freemail 1.7.0': '2024-12-13',
}
/** This many of the other lists have to agree. */
const VOTES = 2

/** Merges the installed lists and the refreshed one, if there is one. Blocks for half a second. */
export function compactLists(refreshed: RefreshedList | undefined): CompactLists {
  const values = new Map<string, number>()
  const add = (names: readonly string[], bit: number) => {
    for (const name of names) values.set(name, (values.get(name) ?? 0) | bit)
  }
  const others: ListSource[] = []
  for (const [bit, takeOther] of TAKE_OTHERS) {
    const { label, names } = takeOther()
    others.push({ bit, name: label, date: dateOf(label) })
    add(names, bit)
  }
  for (const [name, value] of values) if (countBits(value) < VOTES) values.delete(name)
  const curated = take('disposable-email-domains-js', (loaded) =>
    (loaded as { disposableEmailBlocklist(): unknown }).disposableEmailBlocklist(),
  )
  add(curated.names, CURATED)
  add(refreshed?.names ?? [], REFRESHED)
  const free = takeLines('freemail', 'data/free.txt')
  add(
    free.names.filter((name) => !MISSPELT_PROVIDERS.has(name)),
    FREE,
  )
  return {
    table: buildNameTable(values),
    sources: [
      // The refreshed list of the operator is newer than the installed ones.
      ...(refreshed ? [{ bit: REFRESHED, name: refreshed.name, date: refreshed.date }] : []),
      { bit: CURATED, name: curated.label, date: dateOf(curated.label) },
      ...others,
    ],
  }
}

const TAKE_OTHERS: readonly (readonly [bit: number, take: () => TakenList])[] = [
  [OTHERS[0], () => take('disposable-domains', (loaded) => loaded)],
  [
    OTHERS[1],
    () => take('mailchecker', (loaded) => [...(loaded as { blacklist(): Set<unknown> }).blacklist()]),
  ],
  [OTHERS[2], () => takeLines('freemail', 'data/disposable.txt')],
]

interface TakenList {
  /** Package and version. */
  readonly label: string
  readonly names: readonly string[]
}

const dateOf = (label: string) => PUBLISHED[label] ?? null

function countBits(value: number): number {
  let count = 0
  for (let rest = value; rest !== 0; rest &= rest - 1) count++
  return count
}

/** Takes a list through the package's own interface. */
const take = (name: string, read: (loaded: unknown) => unknown): TakenList => ({
  label: labelOf(name),
  names: toNames(read(createRequire(import.meta.url)(name))),
})

function takeLines(name: string, file: string): TakenList {
  return {
    label: labelOf(name),
    names: toNames(readFileSync(join(folderOf(name), file), 'utf8').split('\n')),
  }
}

const folderOf = (name: string) => dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))

function labelOf(name: string): string {
  const { version } = JSON.parse(readFileSync(join(folderOf(name), 'package.json'), 'utf8')) as {
    version: string
  }
  return `${name} ${version}`
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
