// The files that `test` is asked about. A folder stands for every .json file in it and below, so that a sample that broke is a failure
// and not one file less.
import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandFailure, Exit } from '../exit.ts'

/** More than any project has; a home folder named by mistake has more. */
export const MAX_FILES = 1000
/** Other people's packages hold other people's samples. */
const isPassedOver = (name: string) => name === 'node_modules' || name.startsWith('.')

/**
 * Links to folders are not followed: they can lead in circles and out of the project.
 * @param names files, folders, or `-` for stdin
 * @returns files in the order they were named, those of a folder by their path; none twice
 * @throws {CommandFailure} Exit.data where a folder holds no sample, Exit.usage where there are too many
 */
export async function findSamples(names: readonly string[]): Promise<string[]> {
  const found = new Set<string>()
  for (const name of names) {
    const files = (await isFolder(name)) ? await listFolder(name) : [name]
    if (files.length === 0) throw empty(name)
    for (const file of files) found.add(file)
    if (found.size > MAX_FILES) throw tooMany()
  }
  return [...found]
}

/** What is not there is a file that cannot be read, which says so itself. */
export async function isFolder(name: string): Promise<boolean> {
  if (name === '-') return false
  try {
    return (await stat(name)).isDirectory()
  } catch {
    return false
  }
}

async function listFolder(folder: string): Promise<string[]> {
  const files: string[] = []
  for (const each of await listFolders(folder)) {
    for (const entry of await readFolder(each))
      if (!isPassedOver(entry.name) && entry.name.endsWith('.json') && (await mayBeRead(each, entry)))
        files.push(join(each, entry.name))
    if (files.length > MAX_FILES) throw tooMany()
  }
  return files.toSorted((a, b) => (a < b ? -1 : 1))
}

/**
 * A device or a pipe of that name may have no end, and a pull request may hold a link to one. A link that leads nowhere counts: it is a
 * file that cannot be read.
 */
async function mayBeRead(folder: string, entry: Dirent): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isFile()
  try {
    return (await stat(join(folder, entry.name))).isFile()
  } catch {
    return true
  }
}

/**
 * @returns the folder and those below it
 * @throws {CommandFailure} Exit.usage where one cannot be read
 */
export async function listFolders(folder: string): Promise<string[]> {
  const found = [folder]
  for (const next of found) {
    for (const entry of await readFolder(next))
      if (entry.isDirectory() && !isPassedOver(entry.name)) found.push(join(next, entry.name))
    if (found.length > MAX_FILES) throw tooMany()
  }
  return found
}

async function readFolder(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch {
    throw new CommandFailure(Exit.usage, `The folder ${folder} cannot be read by this user.`)
  }
}

const empty = (folder: string) =>
  new CommandFailure(Exit.data, `The folder ${folder} holds no sample: no file in it or below ends in .json.`)

const tooMany = () =>
  new CommandFailure(
    Exit.usage,
    `These are more than ${MAX_FILES} files: name the folder that holds the samples.`,
  )
