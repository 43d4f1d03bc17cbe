import { watch } from 'node:fs'
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { replaceFile, tryReplacing, withFileLock } from '../../../src/receipts/adapters/key-file.ts'

let directory: string
/** The file of two replicas, by the link that each of them has in its own directory. */
let shared: string
let one: string
let two: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agw-key-file-'))
  const places = ['shared', 'one', 'two'].map((name) => join(directory, name))
  await Promise.all(places.map((place) => mkdir(place)))
  ;[shared, one, two] = places.map((place) => join(place, 'key.jwk')) as [string, string, string]
  await writeFile(shared, 'old', { mode: 0o600 })
  for (const link of [one, two]) await symlink(shared, link)
})
afterEach(() => rm(directory, { recursive: true }))

it('replaces the file that a link leads to, for everybody who has a link to it', async () => {
  await replaceFile(one, 'new')
  expect(await readFile(shared, 'utf8')).toBe('new')
  expect(await readFile(two, 'utf8')).toBe('new')
  expect((await lstat(one)).isSymbolicLink()).toBe(true)
})

it('lets one writer in at a time, by whichever link they come', async () => {
  await withFileLock(one, async () => {
    await expect(withFileLock(two, async () => {})).rejects.toMatchObject({ code: 'state_conflict' })
    await expect(withFileLock(shared, async () => {})).rejects.toMatchObject({ code: 'state_conflict' })
  })
  await withFileLock(two, async () => {})
})

it('tries to write where the file itself is, and leaves nothing there', async () => {
  const listed = async () => Promise.all([shared, one].map((file) => readdir(dirname(file))))
  const before = await listed()
  const seen: (string | null)[] = []
  const watcher = watch(dirname(shared), (_event, name) => seen.push(name))
  await tryReplacing(one)
  await expect.poll(() => seen.some((name) => name?.endsWith('.tmp'))).toBe(true)
  watcher.close()
  expect(await listed()).toEqual(before)
})

it('replaces a file that is no link, and one that is not there yet', async () => {
  await replaceFile(shared, 'new')
  const absent = join(directory, 'absent.jwk')
  await replaceFile(absent, 'first')
  expect([await readFile(shared, 'utf8'), await readFile(absent, 'utf8')]).toEqual(['new', 'first'])
})
