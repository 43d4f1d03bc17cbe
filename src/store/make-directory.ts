// Makes a directory with those above it. `recursive` of Node never ends where one that is there refuses to hold another (/proc/x).
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes the directory for its owner alone, where it is not there.
 * @throws what the file system says; ENOENT also for a link that leads nowhere
 */
export function makeDirectory(path: string): void {
  const missing: string[] = []
  for (let at = path; !isThere(at); at = dirname(at)) missing.unshift(at)
  for (const directory of missing)
    try {
      mkdirSync(directory, { mode: 0o700 })
    } catch (thrown) {
      if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST')) throw thrown
      // Another process was first, or it is a link that leads nowhere.
      statSync(directory)
    }
  // What is there and is no directory is named as the file system names it.
  if (!statSync(path).isDirectory()) mkdirSync(path)
}

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined
