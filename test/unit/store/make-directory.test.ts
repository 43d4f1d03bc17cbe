import { mkdtemp, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeDirectory } from '../../../src/store/make-directory.ts'
import { removeFolder } from '../../support/remove-folder.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'make-directory-'))
})
afterEach(() => removeFolder(folder))

it('makes a directory and those above it, for their owner alone, and is content with one that is there', async () => {
  const path = join(folder, 'a', 'b')
  makeDirectory(path)
  makeDirectory(path)
  for (const made of [join(folder, 'a'), path]) expect((await stat(made)).mode & 0o777).toBe(0o700)
})

it('takes a link to a directory for one', async () => {
  await symlink(folder, join(folder, 'link'))
  makeDirectory(join(folder, 'link', 'a'))
  expect((await stat(join(folder, 'a'))).isDirectory()).toBe(true)
})

it('says that a link leads nowhere, and that a file is no directory', async () => {
  const link = join(folder, 'link')
  await symlink(join(folder, 'not-mounted'), link)
  for (const path of [link, join(link, 'data')])
    expect(() => makeDirectory(path)).toThrow(expect.objectContaining({ code: 'ENOENT', path: link }))
  const file = join(folder, 'file')
  await writeFile(file, '')
  expect(() => makeDirectory(file)).toThrow(expect.objectContaining({ code: 'EEXIST', path: file }))
  expect(() => makeDirectory(join(file, 'data'))).toThrow(expect.objectContaining({ code: 'ENOTDIR' }))
})

it.runIf(process.platform === 'linux')('ends where a directory that is there refuses to hold another', () => {
  for (const path of ['/proc/nope', '/proc/nope/data'])
    expect(() => makeDirectory(path)).toThrow(expect.objectContaining({ path: '/proc/nope' }))
})
