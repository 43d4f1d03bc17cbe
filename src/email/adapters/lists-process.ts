// The program that compacts the lists and ends: what it took on the way goes with it, and no turn of the gateway's event
// loop waits for it. The gateway imports this file too, for its place: a bundle gives it a name of its own.
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { encodeLists } from '../list-codec.ts'
import { compactLists } from './lists.ts'
import { readRefreshedList } from './refreshed.ts'

/** Started with the data directory as its argument, writes one `CompactLists` to LISTS_FD and ends. */
export const LISTS_PROGRAM = fileURLToPath(import.meta.url)
/** The lists do not go to standard output, because packages may print there while they are loaded. */
export const LISTS_FD = 3

const [, program, dataDir] = process.argv
if (program === LISTS_PROGRAM && dataDir !== undefined)
  new Socket({ fd: LISTS_FD }).end(encodeLists(compactLists(await readRefreshedList(dataDir))))
