// Nobody else on the machine reads the database, whatever the directory it is in was made with.
import { chmod, mkdir, mkdtemp, readdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createLogger } from '../../../src/lib/log.ts'
import { lockDirectory } from '../../../src/store/sqlite/lock.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { removeFolder } from '../../support/remove-folder.ts'

const FILES = ['gateway.db', 'gateway.db-shm', 'gateway.db-wal', 'lock.db']

/** Root may write anywhere: somebody else asks. */
const NOBODY = 65534

let folder: string
let dataDir: string
let umask: number
beforeEach(async () => {
  umask = process.umask(0o022)
  folder = await mkdtemp(join(tmpdir(), 'private-'))
  dataDir = join(folder, 'data')
  await mkdir(dataDir)
})
afterEach(async () => {
  process.umask(umask)
  await removeFolder(folder)
})

const open = () => openSqliteStore({ dataDir, log: createLogger('silent') })
/** The files that others may read, or write, of those that are there. */
async function findOpen(): Promise<readonly string[]> {
  const names = await readdir(dataDir)
  expect(names).toEqual(expect.arrayContaining(FILES))
  const modes = await Promise.all(names.map(async (name) => (await stat(join(dataDir, name))).mode & 0o777))
  return names.filter((_, i) => modes[i] !== 0o600)
}

it('makes its files for their owner alone in a directory that was there before', async () => {
  const store = await open()
  expect(await findOpen()).toEqual([])
  await store.close()
})

it('closes the files that an earlier release left open', async () => {
  await (await open()).close()
  for (const name of ['gateway.db', 'lock.db']) await chmod(join(dataDir, name), 0o644)
  const store = await open()
  expect(await findOpen()).toEqual([])
  await store.close()
})

it('says that this user may not write in the directory, and speaks of no file that is not there', async () => {
  await chmod(dataDir, 0o555)
  await chmod(folder, 0o755)
  const isRoot = process.getuid?.() === 0
  if (isRoot) process.seteuid?.(NOBODY)
  try {
    expect(() => lockDirectory(dataDir)).toThrow(
      expect.objectContaining({
        problems: [expect.stringMatching(/^GATEWAY_DATA_DIR: this user may not write in \S+ \(EACCES\)/)],
      }),
    )
  } finally {
    if (isRoot) process.seteuid?.(0)
    await chmod(dataDir, 0o755)
  }
})
