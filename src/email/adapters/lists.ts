// Brings the lists that the gateway comes with and the one that the operator refreshed together in one compact table. Tens of
// megabytes on the way: lists-process.ts does it in a process of its own.
import { readFileSync } from 'node:fs'
import { dataFile } from '../../data/file.ts'
import { buildNameTable } from '../compact-set.ts'
import { readListFile } from '../list-file.ts'
import { type CompactLists, FREE, REFRESHED } from '../sources.ts'
import type { RefreshedList } from './refreshed.ts'

/** Merges the lists of the file and the refreshed one, if there is one. Blocks while it reads. */
export function compactLists(refreshed: RefreshedList | undefined): CompactLists {
  const { origins, values } = readListFile(readFileSync(dataFile('email-domains.txt'), 'utf8'))
  const all = new Map(values)
  for (const name of refreshed?.names ?? []) all.set(name, (all.get(name) ?? 0) | REFRESHED)
  return {
    table: buildNameTable(all),
    sources: [
      // The refreshed list of the operator is newer than those of the file.
      ...(refreshed ? [{ bit: REFRESHED, name: refreshed.name, date: refreshed.date }] : []),
      ...origins.filter(({ bit }) => bit !== FREE).map(({ bit, name, date }) => ({ bit, name, date })),
    ],
  }
}
