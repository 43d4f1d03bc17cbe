// The program that packs the lists and ends: what it took on the way goes with it, and no turn of the gateway's event loop
// waits for it. The gateway imports this file too, for its place: a bundle gives it a name of its own.
import { fileURLToPath } from 'node:url'
import { packLists } from './lists.ts'
import { readRefreshedList } from './refreshed.ts'

/** Started with the data directory as its argument, sends one `PackedLists` and ends. */
export const LISTS_PROGRAM = fileURLToPath(import.meta.url)

const [, program, dataDir] = process.argv
if (program === LISTS_PROGRAM && dataDir !== undefined) {
  const lists = packLists(await readRefreshedList(dataDir))
  process.send!(lists, () => process.disconnect())
}
