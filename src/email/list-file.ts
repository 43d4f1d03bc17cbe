// The file of domains that the gateway comes with, as text: which lists it was made of, then the names under what the lists say of them.
// Text and one name a line, so that a diff shows what a refresh changed.
import type { ListSource } from './sources.ts'

/** A list that the file was made of. */
export interface ListOrigin extends ListSource {
  /** SPDX identifier. */
  readonly licence: string
}

export interface ListFile {
  readonly origins: readonly ListOrigin[]
  /** Lower-case A-labels with the bits of the lists that have them. */
  readonly values: ReadonlyMap<string, number>
}

const ORIGIN = /^# list (\d+): (\S+ \S+), (\S+), (\S+)$/

export function writeListFile({ origins, values }: ListFile): string {
  const named = Map.groupBy([...values.keys()].sort(), (name) => values.get(name) ?? 0)
  return `${[
    '# Domains of mailboxes that are thrown away, and of those that anybody gets for nothing. `npm run refresh-data` writes this file.',
    '# A name stands under the sum of its lists. Of lists that only count where two agree, names that one has alone are left out.',
    ...origins.map(({ bit, name, date, licence }) => `# list ${bit}: ${name}, ${date}, ${licence}`),
    ...[...named].sort(([a], [b]) => a - b).flatMap(([value, names]) => [`= ${value}`, ...names]),
  ].join('\n')}\n`
}

/** @throws {Error} for a line that belongs under no value: the file was cut or edited */
export function readListFile(text: string): ListFile {
  const origins: ListOrigin[] = []
  const values = new Map<string, number>()
  let value = 0
  for (const line of text.split('\n')) {
    if (line === '') continue
    const origin = line.startsWith('#') ? ORIGIN.exec(line) : undefined
    if (origin) {
      const [, bit, name = '', date = '', licence = ''] = origin
      origins.push({ bit: Number(bit), name, date, licence })
    } else if (line.startsWith('= ')) value = Number(line.slice(2))
    else if (!line.startsWith('#')) {
      if (!(value > 0)) throw new Error(`the file of domains has ${line} under no list`)
      values.set(line, value)
    }
  }
  return { origins, values }
}
