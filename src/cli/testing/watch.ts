// `test --watch`: runs again whenever one of the files changed. Editors save in many ways (write, rename over, remove and make anew), and all
// of them show in the folder that holds the file, so folders are watched and never files.
import { type FSWatcher, watch } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CommandFailure, Exit } from '../exit.ts'
import { findSamples, isFolder, listFolders } from './samples.ts'

/** One save is several events; an editor is done with them by then. */
export const DEBOUNCE_MS = 100

export interface Watching {
  /** Files and folders, as they were named. */
  readonly names: readonly string[]
  /** Runs at the beginning and after each change; never two at once. What it throws ends the watch. */
  readonly run: () => Promise<void>
  /** The watch ends when it is aborted; a run that is under way ends first. */
  readonly signal: AbortSignal
}

/**
 * @returns when the signal was aborted
 * @throws {CommandFailure} where a folder cannot be watched
 */
export async function watchSamples({ names, run, signal }: Watching): Promise<void> {
  const bell = createBell()
  signal.addEventListener('abort', bell.ring, { once: true })
  let last: string | undefined
  while (!signal.aborted) {
    bell.reset()
    // Folders come and go while somebody works, and a watcher of one that was removed hears nothing of the next of its name.
    const watchers = await watchFolders(names, bell.ring)
    try {
      const state = await describeFiles(names)
      // What was written beside the samples is no reason to run: a badge, say.
      if (state !== last) await run()
      last = state
      await bell.rung()
      await untilQuiet(bell, signal)
    } finally {
      for (const watcher of watchers) watcher.close()
    }
  }
  signal.removeEventListener('abort', bell.ring)
}

interface Bell {
  readonly ring: () => void
  reset(): void
  /** Resolves with the first ring since the last reset. */
  rung(): Promise<void>
}

function createBell(): Bell {
  let { promise, resolve } = Promise.withResolvers<void>()
  return {
    ring: () => resolve(),
    reset() {
      ;({ promise, resolve } = Promise.withResolvers<void>())
    },
    rung: () => promise,
  }
}

async function untilQuiet(bell: Bell, signal: AbortSignal): Promise<void> {
  for (let isQuiet = false; !isQuiet && !signal.aborted;) {
    bell.reset()
    const silence = Promise.withResolvers<boolean>()
    const timer = setTimeout(silence.resolve, DEBOUNCE_MS, true)
    isQuiet = await Promise.race([silence.promise, bell.rung().then(() => false)])
    clearTimeout(timer)
  }
}

async function watchFolders(names: readonly string[], changed: () => void): Promise<FSWatcher[]> {
  const folders = new Set<string>()
  for (const name of names)
    for (const folder of (await isFolder(name)) ? await listFolders(name) : [await nearestFolder(name)])
      folders.add(folder)
  return [...folders].flatMap((folder) => watchFolder(folder, changed) ?? [])
}

/** @returns the folder of a file, or the one in which its folder is missing */
async function nearestFolder(name: string): Promise<string> {
  let folder = dirname(name)
  while (!(await isFolder(folder)) && folder !== dirname(folder)) folder = dirname(folder)
  return folder
}

function watchFolder(folder: string, changed: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, changed)
    watcher.on('error', changed)
    return watcher
  } catch (thrown) {
    if (isGone(thrown)) {
      // It was there a moment ago: looked for again.
      changed()
      return undefined
    }
    throw new CommandFailure(
      Exit.failed,
      `The folder ${folder} cannot be watched: this user may not read it, or watches too many.`,
    )
  }
}

const isGone = (thrown: unknown) => thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT'

/** Which files there are, and when each was written; the same text means that there is nothing to run for. */
async function describeFiles(names: readonly string[]): Promise<string> {
  try {
    const files = await findSamples(names)
    return JSON.stringify(await Promise.all(files.map(describeFile)))
  } catch (thrown) {
    if (thrown instanceof CommandFailure) return thrown.message
    throw thrown
  }
}

async function describeFile(file: string): Promise<readonly unknown[]> {
  try {
    const { mtimeMs, size, ino } = await stat(file)
    return [file, mtimeMs, size, ino]
  } catch {
    return [file]
  }
}
